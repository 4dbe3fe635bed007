// SPDX-License-Identifier: GPL-2.0
/* Advice on tokens that the parser did not expect, see advice.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "spec/lang/advice.h"

#define WORDS_MAX	16 /* maximal number of words that a message quotes */
#define WORD_SIZE	24

/* The mistake: what was expected, the token that was found, and the two before it. */
struct mistake {
	struct kl_parser *p;
	const char *what, *text;
	const struct kl_tok *t, *before, *before2; /* NULL: none */
	bool impl;
};

static bool is_word(const struct mistake *m, const struct kl_tok *t, const char *word)
{
	return t && t->kind == KL_TOK_NAME && t->len == strlen(word) &&
	       !memcmp(m->text + t->off, word, t->len);
}

static bool expects(const struct mistake *m, const char *begin)
{
	return !strncmp(m->what, begin, strlen(begin));
}

/* Return: true where an item of a probe clause, or a part of a history block's rule, begins. */
static bool expects_item(const struct mistake *m)
{
	return expects(m, "'object', 'when'") || expects(m, "'argument' or 'result'");
}

static bool is_kind(const struct kl_tok *t, int kind)
{
	return t && t->kind == kind;
}

/* Return: true if the token is a name, and no reserved word. */
static bool is_name(const struct kl_tok *t)
{
	return is_kind(t, KL_TOK_NAME) && t->kw == KL_KW_NONE;
}

static const char *copy_word(char word[WORD_SIZE], const struct mistake *m, const struct kl_tok *t)
{
	snprintf(word, WORD_SIZE, "%.*s", (int)t->len, m->text + t->off);
	return word;
}

/* Find a word that is quoted in the list of what was expected, and is nearly the word found. */
static const char *near_expected(const struct mistake *m, char buf[KL_ADVICE_MAX])
{
	char words[WORDS_MAX][WORD_SIZE], found[WORD_SIZE];
	const char *names[WORDS_MAX], *s = m->what, *end;
	size_t n = 0, len;

	while (n < WORDS_MAX && (s = strchr(s, '\'')) && (end = strchr(++s, '\''))) {
		for (len = 0; isalnum((unsigned char)s[len]) || s[len] == '_'; len++)
			;
		snprintf(words[n], WORD_SIZE, "%.*s", (int)len, s);
		names[n] = words[n];
		n += len > 0;
		s = end + 1;
	}
	return kl_advise_name(copy_word(found, m, m->t), names, n, buf);
}

/* A statement began with a name that is nearly a word of the language: `retrun x'. */
static const char *near_statement(const struct mistake *m, char buf[KL_ADVICE_MAX])
{
	enum { OF_IMPLEMENTATION = 6 }; /* the last words */
	static const char *const words[] = {
		"atomic", "atomic_flush", "assume", "return", "choose", "either",
		"else",	  "while",	  "fence",  "word",   "bool",	"assert",
		"break",  "continue",	  "lock",   "unlock", "call",
	};
	const size_t n = sizeof(words) / sizeof(*words);
	char word[WORD_SIZE];
	const char *advice;

	advice = kl_advise_name(copy_word(word, m, m->before), words,
				m->impl ? n : n - OF_IMPLEMENTATION, buf);
	if (*advice || !m->impl || !is_name(m->t) || m->before->len >= WORD_SIZE)
		return advice;
	snprintf(buf, KL_ADVICE_MAX, "; if '%s' is a struct, write '%s *%.*s'", word, word,
		 (int)m->t->len < WORD_SIZE ? (int)m->t->len : WORD_SIZE, m->text + m->t->off);
	return buf;
}

/* A ')' is missing: say which '(' it would close. */
static const char *on_paren(const struct mistake *m, char buf[KL_ADVICE_MAX])
{
	const struct kl_tok *t = m->t;
	size_t n = kl_p_mark(m->p);
	unsigned int closed = 0;

	while (n--) {
		t--;
		closed += t->kind == ')';
		if (t->kind != '(' || closed--)
			continue;
		snprintf(buf, KL_ADVICE_MAX, "; it closes the '(' in column %u of line %u",
			 t->pos.col, t->pos.line);
		return buf;
	}
	return "";
}

/* Advice on a sign that C, Python or another language has at this place. */
static const char *on_sign(const struct mistake *m)
{
	switch (m->t->kind) {
	case KL_TOK_INC:
	case KL_TOK_DEC:
		return expects(m, "a statement") ? "; write '+= 1' or '-= 1'" :
						   ": '++' and '--' do not exist";
	case KL_TOK_ARROW:
	case '*':
		if (expects(m, "a member's name"))
			return "";
		if (m->impl && expects(m, "a statement"))
			return "; write 'NAME->FIELD' for a field of what NAME points to";
		return m->impl || !expects(m, "a name") ?
			       (m->impl ? "; only structs have pointers: 'STRUCT *NAME'" :
					  "; a specification has no pointers") :
			       "; a specification has no pointers";
	case '&':
		return m->impl ? "; write the name alone" : "";
	case KL_OP_EQ:
		return expects(m, "an assignment") ? "; write '=' to assign" : "";
	case '=':
		if (m->t[1].kind == '>')
			return "; write '->'";
		if (is_kind(m->before, KL_OP_EQ))
			return "; write '=='";
		return strstr(m->what, "condition") || expects(m, "';', or 'at call'") ||
				       expects(m, "';' after 'return'") ?
			       "; write '==' to compare" :
			       "";
	case '<':
	case '>':
		if (is_kind(m->before, '<') && expects(m, "an expression"))
			return "; write '!='";
		return m->t[1].kind == '-' && expects(m, "an assignment") ? "; write '='" : "";
	case ':':
		return expects(m, "an assignment") && m->t[1].kind == '=' ? "; write '='" :
		       expects(m, "'{' and the method's body")		  ? "; write '->'" :
		       expects(m, "';' or ',' after a variable")	  ? "; write '='" :
									    "";
	case ';':
		return expects(m, "')' or ','") ? "; write ','" : "";
	case ')':
		if (!expects(m, "a name") || !m->before)
			return "";
		return m->before->kw == KL_KW_WORD || m->before->kw == KL_KW_BOOL ?
			       "; write its name after the type, as in 'word v'" :
			       "";
	case '+':
		return is_kind(m->before, '=') && expects(m, "an expression") ?
			       "; write '+=' to add" :
			       "";
	case KL_TOK_STRING:
		return expects(m, "an expression") ? "; values are whole numbers, true and false" :
		       expects(m, "the number of an item") ?
			       "; write '.' and the text for a member" : "";
	case '.':
		if (is_kind(m->before, KL_TOK_NUM))
			return "; numbers are whole";
		if (m->impl && is_name(m->before))
			return "; write '->'";
		return expects(m, "'(' and the names") ?
			       "; write MODULE:FUNCTION for a function of a module" : "";
	case ',':
		return expects(m, "an assignment") ?
			       "; write one assignment after the other" :
		       expects(m, "';' after a constant") ?
			       "; write 'const' before each" :
		       expects(m, "'{' and the method's body") || expects(m, "the result's name") ?
			       "; several results need parentheses: '-> (word a, word b)'" :
			       "";
	case ']':
		return is_kind(m->before, '[') ?
			       "; an array has a constant length, as in 'word a[8];'" : "";
	case '}':
		return expects(m, "'spec'") ? "; this '}' closes nothing" : "";
	case '(':
		if (expects(m, "';' or ',' after a variable"))
			return "; write 'method NAME(...)' for a method";
		if (is_word(m, m->before2, "new"))
			return "; write 'new STRUCT' without parentheses";
		return is_name(m->before) && is_word(m, m->before2, "thread") ?
			       "; write 'thread NAME[NUMBER]' for several threads" : "";
	case '{':
		if (!expects(m, "an expression"))
			return "";
		return m->before && m->before->kw == KL_KW_RETURN ?
			       "; several results need parentheses: 'return (a, b);'" :
			       "; an array has one initial value, for all elements";
	default:
		return "";
	}
}

/* Advice on a word at a place where it is known, but wrong. */
static const char *on_word(const struct mistake *m)
{
	static const char *const parts[] = { "shared", "struct", "client", "thread", "method" };
	enum kl_cont_kind k;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts) && expects(m, "';'"); i++)
		if (is_word(m, m->t, parts[i]))
			return "; a ';' is missing before it";
	if (is_word(m, m->t, "empty") && expects(m, "a container's method"))
		return "; write 'size() == 0'";
	if (expects(m, "the type 'word' or 'bool'") && is_name(m->t) &&
	    (m->t[1].kind == ')' || m->t[1].kind == ',' || m->t[1].kind == ':'))
		return "; write the type before the name, as in 'word v'";
	if (is_word(m, m->t, "lin") && m->impl)
		return "; write '@lin'";
	if (expects(m, "'sc' or 'tso'") && !memcmp(m->text + m->t->off, "x", 1))
		return "; x86 has 'tso'";
	if (expects_item(m) && m->t[1].kind == '=' && is_kind(m->before, ';'))
		return "; write ',' between values, and ';' behind the last";
	if ((m->t->kw == KL_KW_WORD || m->t->kw == KL_KW_BOOL) && expects(m, "'spec'"))
		return "; write 'shared word NAME' for a variable of an implementation";
	if (is_word(m, m->before, "call") && expects(m, "';' after a declaration"))
		return "; declare the variable first, then write 'NAME = call METHOD(...);'";
	if (m->t->kw == KL_KW_METHOD && expects(m, "a statement"))
		return "; a '}' is missing before it";
	if ((m->t->kw == KL_KW_WORD || m->t->kw == KL_KW_BOOL) && is_kind(m->before, '('))
		return "; there are no casts";
	if (m->t->kw == KL_KW_WORD && expects(m, "a constant's name"))
		return "; write 'const NAME = VALUE;'";
	if (strstr(m->what, "a parameter"))
		return "; write the names of parameters, without types";
	if (expects(m, "a variable (") &&
	    (is_word(m, m->t, "max") || is_word(m, m->t, "min")))
		return "; write 'pqueue<word> max NAME'";
	for (k = KL_C_QUEUE; k <= KL_C_BAG; k++)
		if (expects(m, "a variable (") && is_word(m, m->t, kl_cont_name(k)))
			return k == KL_C_MAP ? "; write 'map<word, word> NAME'" :
			       "; write its type, as in 'queue<word> NAME'";
	return "";
}

/* Advice on the words before the token. */
static const char *on_words_before(const struct mistake *m, char buf[KL_ADVICE_MAX])
{
	char word[WORD_SIZE];
	const char *advice = "";

	if ((m->t->kind == '=' || m->t->kind == ':') && is_name(m->before) &&
	    expects(m, "an expression")) {
		snprintf(buf, KL_ADVICE_MAX, "; write '%s EXPRESSION;'",
			 copy_word(word, m, m->before));
		return buf;
	}
	if (is_word(m, m->before, "lock") || is_word(m, m->before, "unlock"))
		return m->impl ? "; write 'lock(NAME);' or 'unlock(NAME);'" : "";
	if (is_word(m, m->before, "inline") && expects(m, "'(' and the names"))
		return "; write 'inlined'";
	if (expects(m, "'(' after the container's method"))
		return "; only containers have members, and these are methods, as in 'q.size()'";
	if (m->before && m->before->kw == KL_KW_ATOMIC && m->t->kind == '-')
		return "; did you mean 'atomic_flush'?";
	if (!is_name(m->before))
		return "";
	if (expects(m, "an assignment") || expects(m, "'*'"))
		advice = kl_advise_word(m->text + m->before->off, m->before->len, m->impl);
	if (!strcmp(advice, "; leave it out")) {
		snprintf(buf, KL_ADVICE_MAX, "; leave '%s' out", copy_word(word, m, m->before));
		return buf;
	}
	return *advice || !expects(m, "an assignment") ? advice : near_statement(m, buf);
}

const char *kl_advise_token(struct kl_parser *p, const char *what, char buf[KL_ADVICE_MAX])
{
	const struct kl_tok *t = kl_p_peek(p);
	const size_t before = kl_p_mark(p);
	struct mistake m = {
		.p = p, .what = what, .text = kl_p_spec(p)->text, .t = t, .impl = kl_p_impl(p),
		.before = before ? t - 1 : NULL, .before2 = before > 1 ? t - 2 : NULL,
	};
	const char *advice = "";

	if (t->kind == KL_TOK_EOF)
		return "";
	if (expects_item(&m))
		advice = kl_advise_item(m.text + t->off, t->len);
	if (*advice)
		return advice;
	if ((!strcmp(what, "')'") || expects(&m, "')' after the type")) && t->kind != '=')
		return on_paren(&m, buf);
	if (t->kind != KL_TOK_NAME)
		advice = on_sign(&m);
	else
		advice = on_word(&m);
	if (!*advice && t->kind == KL_TOK_NAME)
		advice = kl_advise_word(m.text + t->off, t->len, m.impl);
	if (!*advice && is_name(t))
		advice = near_expected(&m, buf);
	return *advice ? advice : on_words_before(&m, buf);
}

/* Return: true if the file declares a method of this name. */
static bool is_method(struct kl_parser *p, const char *name)
{
	const struct kl_tok *t = kl_p_peek(p) - kl_p_mark(p);
	const size_t len = strlen(name);

	for (; t->kind != KL_TOK_EOF; t++)
		if (t->kw == KL_KW_METHOD && t[1].kind == KL_TOK_NAME && t[1].len == len &&
		    !memcmp(kl_p_spec(p)->text + t[1].off, name, len))
			return true;
	return false;
}

void kl_advise_no_method(struct kl_parser *p, struct kl_pos pos, const char *name)
{
	const struct kl_spec *s = kl_p_spec(p);
	char near[KL_ADVICE_MAX];

	if (kl_p_diag(p)->errors && is_method(p, name))
		kl_p_give_up(p);
	kl_p_fail(p, pos, "'%s' has no method '%s'%s", s->name, name,
		  kl_spec_near_method(s, name, near, sizeof(near)));
}

const char *kl_advise_call(struct kl_parser *p, const char *name, char buf[KL_ADVICE_MAX])
{
	static const char *const functions[] = { "assume", "assert", "cas",   "xchg",
						 "fadd",   "lock",   "unlock" };
	const bool impl = kl_p_impl(p);
	const char *advice;
	char near[KL_ADVICE_MAX];

	if (is_method(p, name))
		return impl ? ": a method cannot call another one; a thread writes 'call NAME(...)'" :
			      ": a method cannot call another one";
	advice = kl_advise_word(name, strlen(name), impl);
	if (!impl && (!strcmp(name, "lock") || !strcmp(name, "unlock")))
		advice = "; a specification needs no locks, since an atomic block is one step";
	if (!*advice)
		advice = kl_advise_name(name, functions,
					impl ? sizeof(functions) / sizeof(*functions) : 2, near);
	if (!*advice)
		advice = impl ? "; there are cas, xchg, fadd, lock and unlock" :
				"; containers have methods, as in 'q.push(v)'";
	snprintf(buf, KL_ADVICE_MAX, ": no such function%s", advice);
	return buf;
}
