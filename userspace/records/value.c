// SPDX-License-Identifier: GPL-2.0
/* Values of the expressions of a history block, see value.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "history/formats/edn_word.h"
#include "history/spell.h"
#include "records/value.h"
#include "spec/spec.h"

/* Tell nil, true and false from other values. */
static void classify(const struct kl_edn_val *edn, struct kl_map_value *v)
{
	v->edn = *edn;
	v->kind = KL_V_EDN;
	if (edn->kind == KL_EDN_NIL) {
		v->kind = KL_V_NULL;
	} else if (edn->kind == KL_EDN_WORD) {
		v->truth = kl_scan_is(edn->s, edn->len, "true");
		if (v->truth || kl_scan_is(edn->s, edn->len, "false"))
			v->kind = KL_V_BOOL;
	}
}

/* Keep what can be said of a path that the first record lacks which it is looked for in. */
static int keep_hint(struct kl_mapper *m, const struct kl_map_expr *e, const struct kl_edn_val *at,
		     const struct kl_map_step *step)
{
	char hint[KL_RECORD_HINT];

	if (m->hints[e->path])
		return 0;
	kl_record_hint(m->r, at, step, hint);
	m->hints[e->path] = strdup(hint);
	return m->hints[e->path] ? 0 : -ENOMEM;
}

static int eval_path(struct kl_mapper *m, const struct kl_map_expr *e, struct kl_map_value *v)
{
	struct kl_edn_val at = e->element ? *m->element : m->r->record, next;
	bool missing = false;
	unsigned int i;
	int ret;

	for (i = 0; i < e->nsteps; i++) {
		ret = kl_record_step(m->r, &at, &e->steps[i], &next);
		if (ret == 1 && !missing)
			ret = keep_hint(m, e, &at, &e->steps[i]) ?: 1;
		if (ret < 0)
			return ret;
		missing |= ret;
		at = next;
	}
	m->seen[e->path] |= missing ? KL_SEEN_MISSING : KL_SEEN_FOUND;
	classify(&at, v);
	return 0;
}

/* Return: the text of a value in the file, and its length. */
static const char *source(const struct kl_mapper *m, const struct kl_edn_val *v, size_t *n)
{
	const char *tok = kl_record_source(m->r, v->tok);

	*n = kl_record_source(m->r, v->end) - tok;
	return tok;
}

/* Write the members of @word to @buf, as a set.  Return: 0, or -EINVAL if it is too small. */
static int put_set(const struct kl_mapper *m, uint64_t word, char *buf, size_t size)
{
	unsigned int i;
	size_t len;

	len = snprintf(buf, size, "{");
	for (i = 0; i < m->nmembers && len < size; i++)
		if (word >> i & 1)
			len += snprintf(buf + len, size - len, "%s%s", len > 1 ? " " : "",
					m->member[i]);
	if (len < size)
		len += snprintf(buf + len, size - len, "}");
	return len < size ? 0 : -EINVAL;
}

struct bits {
	struct kl_mapper *m;
	uint64_t word;
};

/* Add a member to the word of a set. */
static int add_member(void *ctx, const struct kl_edn_val *v)
{
	struct bits *b = ctx;
	struct kl_mapper *m = b->m;
	const char *canon, *text;
	uint64_t number;
	char key[24];
	size_t len, n;
	int ret;

	canon = kl_edn_canon(&m->r->edn, v, &len);
	/* A number would be its own word, and is followed by a blank so that it is none. */
	if (v->kind == KL_EDN_INT) {
		len = snprintf(key, sizeof(key), "%" PRId64 " ", v->v);
		canon = key;
	}
	ret = kl_words_get(&m->members, canon, len, &number);
	number -= ret ? 0 : KL_WORDS_FIRST;
	if (!ret && number == KL_BITS_MAX)
		return kl_record_bad(m->r, v->tok,
				     "bits() can tell %d members of sets apart, and "
				     "this is one more: this log "
				     "cannot be decided",
				     KL_BITS_MAX);
	if (!ret && number == m->nmembers) {
		text = source(m, v, &n);
		m->member[m->nmembers] = strndup(text, n);
		ret = m->member[m->nmembers] ? 0 : -ENOMEM;
		m->nmembers += !ret;
	}
	if (!ret)
		b->word |= (uint64_t)1 << number;
	return ret;
}

/* Evaluate bits(): the word of a list or a set, or of a single member. */
static int eval_bits(struct kl_mapper *m, const struct kl_map_expr *e, struct kl_map_value *v)
{
	struct bits b = { .m = m };
	char text[1024];
	struct kl_map_value set;
	const char *tok;
	int ret = kl_map_eval(m, e->a, &set);

	if (ret)
		return ret;
	*v = (struct kl_map_value){ .kind = KL_V_WORD, .edn = set.edn, .expr = e };
	if (set.kind == KL_V_WORD) {
		v->word = set.word;
		return set.word.tag == KL_WORD ?
			       kl_record_bad(m->r, NULL,
					     "bits() in line %u of the specification has a "
					     "number that is not from the record",
					     e->pos.line) :
			       0;
	}
	tok = set.edn.tok;
	if (set.kind != KL_V_NULL && (*tok == '[' || *tok == '(' || *tok == '{' ||
				      (*tok == '#' && tok[1] == '{') || *tok == '^'))
		ret = kl_record_each(m->r, &set.edn, add_member, &b);
	else if (set.kind != KL_V_NULL)
		ret = add_member(&b, &set.edn);
	v->word = kl_word(b.word);
	if (!ret && !put_set(m, b.word, text, sizeof(text)) && !strpbrk(text, "\r\n"))
		ret = kl_history_spell(m->h, b.word, text, strlen(text));
	return ret;
}

/* Return: true for a string that consists of an optional minus and digits. */
static bool is_digits(const struct kl_edn_val *v)
{
	size_t i = v->kind == KL_EDN_STRING && v->len > 1 && *v->s == '-';

	while (v->kind == KL_EDN_STRING && i < v->len && kl_scan_digit(v->s[i]))
		i++;
	return v->kind == KL_EDN_STRING && v->len && i == v->len;
}

/* Warn, once, of a number of the record that is compared with a text of the same digits. */
static void warn_text(struct kl_mapper *m, const struct kl_edn_val *v, const struct kl_map_expr *e)
{
	char digits[24];

	if (m->mixed || v->kind != KL_EDN_INT || !e->len ||
	    (!kl_scan_digit(*e->text) && *e->text != '-'))
		return;
	snprintf(digits, sizeof(digits), "%" PRId64, v->v);
	if (strlen(digits) != e->len || memcmp(digits, e->text, e->len))
		return;
	m->mixed = true;
	kl_record_warn(
		m->r, v->tok,
		"this number is not the text in line %u of the specification; write %s there, "
		"without quotes",
		e->pos.line, digits);
}

/* The same for a text of the record that is compared with a number. */
static void warn_number(struct kl_mapper *m, const struct kl_edn_val *v,
			const struct kl_map_expr *e)
{
	char digits[24];

	if (m->mixed || e->kind != KL_M_NUMBER || !is_digits(v))
		return;
	snprintf(digits, sizeof(digits), "%" PRId64, (int64_t)e->val.v);
	if (strlen(digits) != v->len || memcmp(digits, v->s, v->len))
		return;
	m->mixed = true;
	kl_record_warn(m->r, v->tok,
		       "this text is not the number in line %u of the specification; write \"%s\" "
		       "there, with quotes",
		       e->pos.line, digits);
}

static bool is_text(struct kl_mapper *m, const struct kl_edn_val *v, const struct kl_map_expr *e)
{
	warn_text(m, v, e);
	return kl_record_is(v, e->text, e->len);
}

static bool is_word(struct kl_mapper *m, const struct kl_edn_val *v, const struct kl_map_value *w)
{
	warn_number(m, v, w->expr);
	return v->kind == KL_EDN_INT && (uint64_t)v->v == w->word.v;
}

static bool equal(struct kl_mapper *m, const struct kl_map_value *a, const struct kl_map_value *b)
{
	const char *s, *t;
	size_t len, n;

	if (a->kind == KL_V_TEXT && b->kind == KL_V_EDN)
		return is_text(m, &b->edn, a->expr);
	if (b->kind == KL_V_TEXT && a->kind == KL_V_EDN)
		return is_text(m, &a->edn, b->expr);
	if (a->kind == KL_V_WORD && b->kind == KL_V_EDN)
		return is_word(m, &b->edn, a);
	if (b->kind == KL_V_WORD && a->kind == KL_V_EDN)
		return is_word(m, &a->edn, b);
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case KL_V_NULL:
		return true;
	case KL_V_BOOL:
		return a->truth == b->truth;
	case KL_V_TEXT:
		return a->expr->len == b->expr->len &&
		       !memcmp(a->expr->text, b->expr->text, a->expr->len);
	case KL_V_WORD:
		return kl_val_eq(a->word, b->word);
	case KL_V_EDN:
		break;
	}
	s = kl_edn_canon(&m->r->edn, &a->edn, &len);
	t = kl_edn_canon(&m->r->edn, &b->edn, &n);
	return len == n && !memcmp(s, t, n);
}

/* Evaluate an operator.  The right side of && and || counts only if the left one is not enough. */
static int eval_truth(struct kl_mapper *m, const struct kl_map_expr *e, bool *truth)
{
	struct kl_map_value a, b;
	int ret;

	switch (e->kind) {
	case KL_M_EQ:
	case KL_M_NE:
		ret = kl_map_eval(m, e->a, &a) ?: kl_map_eval(m, e->b, &b);
		*truth = !ret && equal(m, &a, &b) == (e->kind == KL_M_EQ);
		return ret;
	case KL_M_NOT:
		ret = kl_map_truth(m, e->a, truth);
		*truth = !*truth;
		return ret;
	default:
		ret = kl_map_truth(m, e->a, truth);
		if (ret || *truth == (e->kind == KL_M_OR))
			return ret;
		return kl_map_truth(m, e->b, truth);
	}
}

int kl_map_eval(struct kl_mapper *m, const struct kl_map_expr *e, struct kl_map_value *v)
{
	bool truth;
	int ret;

	*v = (struct kl_map_value){ .kind = KL_V_WORD, .expr = e, .word = e->val };
	switch (e->kind) {
	case KL_M_PATH:
		return eval_path(m, e, v);
	case KL_M_TEXT:
		v->kind = KL_V_TEXT;
		return 0;
	case KL_M_NUMBER:
	case KL_M_SPECIAL:
		return 0;
	case KL_M_BOOL:
		v->kind = KL_V_BOOL;
		v->truth = e->val.v;
		return 0;
	case KL_M_NULL:
		v->kind = KL_V_NULL;
		return 0;
	case KL_M_COND:
		ret = kl_map_truth(m, e->a, &truth);
		return ret ? ret : kl_map_eval(m, truth ? e->b : e->c, v);
	case KL_M_BITS:
		return eval_bits(m, e, v);
	case KL_M_EQ:
	case KL_M_NE:
	case KL_M_AND:
	case KL_M_OR:
	case KL_M_NOT:
		break;
	}
	v->kind = KL_V_BOOL;
	return eval_truth(m, e, &v->truth);
}

int kl_map_truth(struct kl_mapper *m, const struct kl_map_expr *e, bool *truth)
{
	struct kl_map_value v;
	int ret;

	*truth = false;
	if (!e)
		return 0;
	ret = kl_map_eval(m, e, &v);
	if (ret)
		return ret;
	if (v.kind != KL_V_BOOL)
		return kl_record_bad(m->r, v.edn.tok,
				     "expected true or false, for the condition "
				     "in line %u of the specification",
				     e->pos.line);
	*truth = v.truth;
	return 0;
}

/* Get the word of a value that is no number of up to 18 digits. */
static int intern(struct kl_mapper *m, const struct kl_map_value *v, uint64_t *word)
{
	static const char *const nil[] = {
		[KL_RECORDS_EDN] = "nil",
		[KL_RECORDS_JSON] = "null",
		[KL_RECORDS_CSV] = "nothing",
	};
	const char *canon, *text;
	size_t len, n;

	if (v->kind == KL_V_NULL) {
		text = nil[m->r->form];
		return kl_edn_word(&m->words, m->h, "nil", 3, text, strlen(text), word);
	}
	if (v->kind == KL_V_BOOL) {
		text = v->truth ? "true" : "false";
		return kl_edn_word(&m->words, m->h, text, strlen(text), text, strlen(text), word);
	}
	canon = kl_edn_canon(&m->r->edn, &v->edn, &len);
	text = source(m, &v->edn, &n);
	return kl_edn_word(&m->words, m->h, canon, len, text, n, word);
}

/*
 * Return: true if the value is a whole number that is its own word, from -2^63 to 2^62 - 1.  The
 * words of other values begin at 2^62.
 */
static bool is_number(const struct kl_mapper *m, const struct kl_map_value *v, uint64_t *word)
{
	const char *s;
	size_t len, i;
	bool minus;

	if (v->kind != KL_V_EDN || v->edn.kind == KL_EDN_STRING)
		return false;
	*word = v->edn.v;
	if (v->edn.kind == KL_EDN_INT)
		return true;
	s = kl_edn_canon(&m->r->edn, &v->edn, &len);
	minus = *s == '-';
	*word = 0;
	for (i = minus; i < len && len < 21 && kl_scan_digit(s[i]); i++)
		if (__builtin_mul_overflow(*word, 10u, word) ||
		    __builtin_add_overflow(*word, (uint64_t)(s[i] - '0'), word))
			return false;
	if (i < len || i == minus || *word > (minus ? (uint64_t)1 << 63 : KL_WORDS_FIRST - 1))
		return false;
	*word = minus ? -*word : *word;
	return true;
}

/* Get the word of a value in the record. */
static int word_of(struct kl_mapper *m, const struct kl_map_value *v, uint64_t *word)
{
	const char *text;
	size_t n;

	if (!is_number(m, v, word))
		return intern(m, v, word);
	text = source(m, &v->edn, &n);
	return kl_is_plain(text, n) ? 0 : kl_history_spell_number(m->h, *word, text, n);
}

static int bool_of(struct kl_mapper *m, const struct kl_map_value *v, const struct kl_param *p,
		   const char *method, struct kl_val *word)
{
	const bool number = v->kind == KL_V_EDN && v->edn.kind == KL_EDN_INT;

	if (v->kind == KL_V_BOOL)
		*word = kl_word(v->truth);
	else if (number && (v->edn.v == 0 || v->edn.v == 1))
		*word = kl_word(v->edn.v);
	else if (v->kind == KL_V_WORD &&
		 (v->word.tag == KL_ANY || (v->word.tag == KL_WORD && v->word.v <= 1)))
		*word = v->word;
	else
		return kl_record_bad(m->r, v->edn.tok,
				     "expected true or false for '%s' of method "
				     "'%s'; compare it, as in .value == \"yes\"",
				     p->name, method);
	return 0;
}

int kl_map_word(struct kl_mapper *m, const struct kl_map_expr *e, const struct kl_param *p,
		const char *method, struct kl_val *word)
{
	struct kl_map_value v;
	uint64_t w = 0;
	bool number;
	int ret = kl_map_eval(m, e, &v);

	if (ret)
		return ret;
	if (p->type == KL_T_BOOL)
		return bool_of(m, &v, p, method, word);
	if (v.kind == KL_V_WORD) {
		*word = v.word;
		return 0;
	}
	number = p->use & (KL_USE_COMPUTED | KL_USE_ORDERED | KL_USE_INDEX);
	if (number && v.expr->kind == KL_M_PATH && m->seen[v.expr->path] == KL_SEEN_MISSING) {
		kl_spec_err_at(m->spec, v.expr->pos,
			       "no record of %s up to here has this part, and method '%s' computes "
			       "with '%s'%s",
			       m->r->scan.name, method, p->name, kl_map_hint(m, v.expr));
		return -EINVAL;
	}
	if (number && !is_number(m, &v, &w))
		return kl_record_bad(m->r, v.edn.tok,
				     "expected a whole number below 2^62 for '%s', since method "
				     "'%s' computes with it",
				     p->name, method);
	ret = word_of(m, &v, &w);
	m->numbers += v.kind == KL_V_EDN && v.edn.kind == KL_EDN_INT;
	m->digits += v.kind == KL_V_EDN && is_digits(&v.edn);
	m->nils += v.kind == KL_V_NULL && e->kind == KL_M_PATH;
	*word = kl_word(w);
	return ret;
}

int kl_map_name(struct kl_mapper *m, const struct kl_map_expr *e, bool process, uint64_t *word)
{
	const char *what = process ? "a process" : "an object";
	struct kl_map_value v;
	char canon[24], path[100];
	const char *text;
	size_t n;
	int ret = kl_map_eval(m, e, &v);

	if (ret)
		return ret;
	if (v.kind == KL_V_NULL)
		return kl_record_bad(m->r, v.edn.tok,
				     "expected a record with %s%s, by line %u of the "
				     "specification",
				     what, kl_map_path(e, path, sizeof(path)), e->pos.line);
	if (v.kind == KL_V_WORD) {
		*word = v.word.v;
		return v.word.tag == KL_WORD ? 0 :
					       kl_record_bad(m->r, NULL,
							     "expected %s that is "
							     "known",
							     what);
	}
	if (v.kind == KL_V_TEXT)
		return kl_record_bad(m->r, NULL, "expected %s that is no text of the specification",
				     what);
	m->process_numbers |= process && v.edn.kind == KL_EDN_INT;
	m->process_texts |= process && is_digits(&v.edn);
	/* A set of the members of bits() may have the word of this number. */
	if (is_number(m, &v, word) && ((m->map->bits && !process) || *word >> 63)) {
		text = source(m, &v.edn, &n);
		return kl_edn_word(&m->words, m->h, canon,
				   snprintf(canon, sizeof(canon), "%" PRId64 " ", (int64_t)*word),
				   text, n, word);
	}
	return word_of(m, &v, word);
}

int kl_map_time(struct kl_mapper *m, const struct kl_map_expr *e, uint64_t *time)
{
	struct kl_map_value v;
	const char *s;
	size_t len, i;
	int ret = kl_map_eval(m, e, &v);

	if (ret)
		return ret;
	*time = KL_TIME_MAX;
	if (v.kind == KL_V_NULL)
		return 0;
	if (v.kind == KL_V_EDN && v.edn.kind != KL_EDN_STRING) {
		s = kl_edn_canon(&m->r->edn, &v.edn, &len);
		*time = 0;
		for (i = 0; i < len && kl_scan_digit(s[i]); i++)
			if (__builtin_mul_overflow(*time, 10u, time) ||
			    __builtin_add_overflow(*time, (uint64_t)(s[i] - '0'), time))
				break;
		if (i == len && *time < KL_TIME_MAX)
			return 0;
	}
	return kl_record_bad(m->r, v.edn.tok,
			     "expected a time, for line %u of the specification: a "
			     "whole number from 0 on, such as nanoseconds",
			     e->pos.line);
}

const char *kl_map_meant(struct kl_mapper *m, const struct kl_map_expr *e, char *buf, size_t size)
{
	char found[64], text[64];
	const char *name = text;
	struct kl_map_value a, b;

	*buf = 0;
	if (!e)
		return buf;
	if (e->kind == KL_M_AND || e->kind == KL_M_OR || e->kind == KL_M_NOT)
		return *kl_map_meant(m, e->a, buf, size) || !e->b ?
			       buf :
			       kl_map_meant(m, e->b, buf, size);
	if (e->kind != KL_M_EQ || e->a->kind != KL_M_PATH || e->b->kind != KL_M_TEXT ||
	    kl_map_eval(m, e->a, &a) || kl_map_eval(m, e->b, &b) || a.kind != KL_V_EDN ||
	    (a.edn.kind != KL_EDN_STRING && a.edn.kind != KL_EDN_WORD))
		return buf;
	snprintf(found, sizeof(found), "%.*s", (int)(a.edn.len - (*a.edn.s == ':')),
		 a.edn.s + (*a.edn.s == ':'));
	snprintf(text, sizeof(text), "%.*s", (int)e->b->len, e->b->text);
	if (strcmp(found, text) && kl_nearest(found, &name, 1))
		snprintf(buf, size, "; it has \"%s\", and line %u of the specification \"%s\"",
			 found, e->pos.line, text);
	return buf;
}

const char *kl_map_path(const struct kl_map_expr *e, char *buf, size_t size)
{
	size_t len = snprintf(buf, size, "%s", e->kind == KL_M_PATH ? ", in " : "");
	unsigned int i;

	for (i = 0; i < e->nsteps && len < size; i++) {
		const struct kl_map_step *s = &e->steps[i];

		if (s->name)
			len += snprintf(buf + len, size - len, ".%.*s", (int)s->len, s->name);
		else
			len += snprintf(buf + len, size - len, "[%" PRIu64 "]", s->index);
	}
	return buf;
}

const char *kl_map_hint(const struct kl_mapper *m, const struct kl_map_expr *e)
{
	return m->hints[e->path] ? m->hints[e->path] : "";
}

void kl_mapper_free(struct kl_mapper *m)
{
	unsigned int i;

	for (i = 0; i < m->nmembers; i++)
		free(m->member[i]);
	for (i = 0; m->hints && i < m->map->npaths; i++)
		free(m->hints[i]);
	free(m->hints);
	free(m->seen);
	kl_words_free(&m->words);
	kl_words_free(&m->members);
}
