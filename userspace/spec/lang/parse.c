// SPDX-License-Identifier: GPL-2.0
/* The parser: its position, recovery from errors, and the way from a text to a spec. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "history/wrong_file.h"
#include "spec/lang/advice.h"
#include "base/shipped.h"
#include "spec/classify/word.h"

struct kl_parser {
	struct kl_diag d;
	struct kl_spec *spec;
	struct kl_tok *tok;
	size_t pos;
	unsigned int depth;
	jmp_buf *recover; /* the innermost guard, the target after an error in the text */
	jmp_buf fatal; /* the target without memory, or after too many errors */
	int fatal_err;
	bool end_told; /* a message said that the file ends too early */
	bool impl; /* the position is in an implementation or a client */
};

struct kl_tok *kl_p_peek(struct kl_parser *p)
{
	return &p->tok[p->pos];
}

struct kl_tok *kl_p_ahead(struct kl_parser *p, unsigned int n)
{
	size_t i = p->pos;

	while (n-- && p->tok[i].kind != KL_TOK_EOF)
		i++;
	return &p->tok[i];
}

struct kl_tok *kl_p_next(struct kl_parser *p)
{
	struct kl_tok *t = &p->tok[p->pos];

	if (t->kind != KL_TOK_EOF)
		p->pos++;
	return t;
}

size_t kl_p_mark(const struct kl_parser *p)
{
	return p->pos;
}

void kl_p_rewind(struct kl_parser *p, size_t mark)
{
	p->pos = mark;
}

bool kl_p_is(struct kl_parser *p, int kind)
{
	return kl_p_peek(p)->kind == kind;
}

bool kl_p_is_kw(struct kl_parser *p, enum kl_kw kw)
{
	return kl_p_peek(p)->kw == kw;
}

static bool tok_is_word(struct kl_parser *p, const struct kl_tok *t, const char *word)
{
	return t->kind == KL_TOK_NAME && t->len == strlen(word) &&
	       !memcmp(p->spec->text + t->off, word, t->len);
}

bool kl_p_is_word(struct kl_parser *p, const char *word)
{
	return tok_is_word(p, kl_p_peek(p), word);
}

bool kl_p_take(struct kl_parser *p, int kind)
{
	return kl_p_is(p, kind) && kl_p_next(p);
}

bool kl_p_take_kw(struct kl_parser *p, enum kl_kw kw)
{
	return kl_p_is_kw(p, kw) && kl_p_next(p);
}

bool kl_p_take_word(struct kl_parser *p, const char *word)
{
	return kl_p_is_word(p, word) && kl_p_next(p);
}

static void fatal(struct kl_parser *p, int err)
{
	p->fatal_err = err;
	longjmp(p->fatal, 1);
}

void kl_p_give_up(struct kl_parser *p)
{
	if (p->d.errors >= KL_ERRORS_MAX)
		fatal(p, -EINVAL);
	longjmp(*p->recover, 1);
}

__attribute__((noreturn)) static void expected(struct kl_parser *p, const char *what,
					       const char *kind)
{
	const struct kl_tok *t = kl_p_peek(p);
	char buf[48], advice[KL_ADVICE_MAX];

	/*
	 * At the end of the file every open block is incomplete; one message is enough.  So is that
	 * about the character before the token.
	 */
	if (!p->end_told && !t->after_bad)
		kl_diag_err(&p->d, t->pos, "expected %s, found %s%s%s", what, kind,
			    kl_tok_show(buf, p->spec->text, t),
			    kl_advise_token ? kl_advise_token(p, what, advice) : "");
	p->end_told |= kl_p_is(p, KL_TOK_EOF);
	kl_p_give_up(p);
	__builtin_unreachable();
}

void kl_p_expected(struct kl_parser *p, const char *what)
{
	expected(p, what, "");
}

void kl_p_fail(struct kl_parser *p, struct kl_pos pos, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_diag_err(&p->d, pos, "%s", msg);
	kl_p_give_up(p);
	__builtin_unreachable();
}

struct kl_tok *kl_p_expect(struct kl_parser *p, int kind, const char *what)
{
	if (!kl_p_is(p, kind))
		kl_p_expected(p, what);
	return kl_p_next(p);
}

const char *kl_p_name(struct kl_parser *p, const char *what)
{
	struct kl_tok *t = kl_p_peek(p);
	char *s;

	if (t->kind != KL_TOK_NAME || t->kw)
		expected(p, what, t->kw ? "the reserved word " : "");
	kl_p_next(p);
	s = kl_p_alloc(p, t->len + 1);
	return memcpy(s, p->spec->text + t->off, t->len);
}

void *kl_p_alloc(struct kl_parser *p, size_t size)
{
	void *mem = kl_arena_alloc(&p->spec->arena, size);

	if (!mem)
		fatal(p, -ENOMEM);
	return mem;
}

void *kl_p_add_(struct kl_parser *p, void **items, size_t *n, size_t *cap, size_t size,
		const char *what)
{
	int ret;

	if (*n >= KL_ITEMS_MAX)
		kl_p_fail(p, kl_p_peek(p)->pos, "a specification has at most %d %s", KL_ITEMS_MAX,
			  what);
	ret = *n < *cap ? 0 : kl_grow_(items, cap, *n + 1, size);
	if (ret)
		fatal(p, ret);
	return memset((char *)*items + (*n)++ * size, 0, size);
}

bool kl_p_impl(struct kl_parser *p)
{
	return p->impl;
}

void kl_p_set_impl(struct kl_parser *p, bool impl)
{
	p->impl = impl;
}

struct kl_spec *kl_p_spec(struct kl_parser *p)
{
	return p->spec;
}

struct kl_diag *kl_p_diag(struct kl_parser *p)
{
	return &p->d;
}

void kl_p_enter(struct kl_parser *p)
{
	if (p->depth >= KL_DEPTH_MAX)
		kl_p_fail(p, kl_p_peek(p)->pos, "nested more than %d deep", KL_DEPTH_MAX);
	p->depth++;
}

void kl_p_leave(struct kl_parser *p)
{
	p->depth--;
}

/*
 * Skip to behind the next ';' or a whole '{ }', or to before the '}' that ends the present block.
 */
static void skip(struct kl_parser *p)
{
	size_t depth = 0, parens = 0;

	for (; !kl_p_is(p, KL_TOK_EOF); kl_p_next(p)) {
		if (kl_p_is(p, '(')) {
			parens++;
		} else if (kl_p_is(p, ')')) {
			parens -= parens > 0;
		} else if (kl_p_is(p, '{')) {
			depth++;
			parens = 0;
		} else if (kl_p_is(p, '}')) {
			if (!depth)
				return;
			if (!--depth) {
				kl_p_next(p);
				return;
			}
		} else if (kl_p_is(p, ';') && !depth && !parens) {
			kl_p_next(p);
			return;
		}
	}
}

void kl_p_guard(struct kl_parser *p, void (*fn)(struct kl_parser *p, void *arg), void *arg)
{
	jmp_buf *const outer = p->recover;
	const unsigned int depth = p->depth;
	jmp_buf here;

	if (!setjmp(here)) {
		p->recover = &here;
		fn(p, arg);
	} else {
		skip(p);
	}
	p->recover = outer;
	p->depth = depth;
}

/* Parse a declaration by @decl, or skip it if this program is linked without @decl. */
static void parse_optional(struct kl_parser *p, void (*decl)(struct kl_parser *p))
{
	if (decl) {
		decl(p);
		return;
	}
	do {
		kl_p_next(p);
		skip(p);
	} while (kl_p_is_kw(p, KL_KW_OR));	/* the next target of a probe clause */
	kl_p_take(p, ';');
}

static void parse_top(struct kl_parser *p, void *arg)
{
	struct kl_spec *s = p->spec;

	(void)arg;
	if (kl_p_is_kw(p, KL_KW_SPEC)) {
		kl_p_spec_decl(p);
	} else if ((kl_p_is_kw(p, KL_KW_PROBE) || kl_p_is_word(p, "history")) && !s->name) {
		kl_p_fail(p, kl_p_peek(p)->pos, "'%s' before 'spec': write the specification first",
			  kl_p_is_word(p, "history") ? "history" : "probe");
	} else if (kl_p_is_kw(p, KL_KW_PROBE)) {
		parse_optional(p, kl_p_probe);
	} else if (kl_p_is_word(p, "history")) {
		s->maps = true;
		parse_optional(p, kl_p_history);
	} else if (kl_p_is_impl_word(p) || kl_p_is_kw(p, KL_KW_METHOD)) {
		parse_optional(p, kl_p_impl_decl);
	} else {
		kl_p_expected(
			p, "'spec', 'probe', 'history', or a part of an implementation or client "
			   "('struct', 'shared', 'method', 'init', 'client', 'thread', "
			   "'final')");
	}
}

static int parse(struct kl_parser *p)
{
	if (setjmp(p->fatal))
		return p->fatal_err;
	while (!kl_p_is(p, KL_TOK_EOF)) {
		size_t before = p->pos;

		kl_p_guard(p, parse_top, NULL);
		if (p->pos == before)	/* a stray '}' */
			kl_p_next(p);
	}
	if (!p->spec->name && !p->d.errors)
		kl_diag_err(&p->d, (struct kl_pos){ 0 },
			    "the file has no specification: expected 'spec NAME { ... }'");
	return p->d.errors ? -EINVAL : 0;
}

static int compile(struct kl_spec *s)
{
	struct kl_parser p = { .d = { .file = s->path, .text = s->text }, .spec = s };
	size_t len = strlen(s->text);
	int ret;

	ret = kl_lex(&p.d, s->text, len, &p.tok);
	if (ret)
		return ret;
	ret = parse(&p);
	if (!ret)
		ret = kl_spec_check(s, &p.d);
	if (!ret && p.d.errors)
		ret = -EINVAL;
	if (!ret)
		ret = kl_spec_gen(s, &p.d);
	if (!ret && s->impl)
		ret = kl_impl_gen(s, &p.d);
	if (!ret)
		ret = kl_infer_words(s);
	free(p.tok);
	return ret;
}

int kl_spec_parse(const char *name, const char *text, size_t len, struct kl_spec **out)
{
	struct kl_diag d = { .file = name };
	const struct kl_file_kind *kind = kl_file_kind ? kl_file_kind(text, len) : NULL;
	const int mark = kl_text_start(name, text, len);
	struct kl_spec *s;
	int ret;

	if (kind && kind->not_spec) {
		kl_diag_err(&d, (struct kl_pos){ 0 }, "the file is %s: %s", kind->what,
			    kind->not_spec);
		return -EINVAL;
	}
	if (len > KL_TEXT_MAX && mark >= 0) {
		kl_diag_err(&d, (struct kl_pos){ 0 }, "%zu bytes are too many for a specification, "
			    "at most %u are read", len, KL_TEXT_MAX);
		return -EINVAL;
	}
	if (mark < 0 || kl_text_zero(name, 1, text, len))
		return -EINVAL;
	text += mark;
	len -= mark;
	s = calloc(1, sizeof(*s));
	if (!s)
		goto no_memory;
	s->path = kl_arena_strndup(&s->arena, name, strlen(name));
	s->text = kl_arena_strndup(&s->arena, text, len);
	if (!s->path || !s->text)
		goto no_memory;
	ret = compile(s);
	if (ret == -ENOMEM)
		goto no_memory;
	if (ret) {
		kl_spec_free(s);
		return ret;
	}
	*out = s;
	return 0;

no_memory:
	kl_spec_free(s);
	kl_err("%s: out of memory", name);
	return -ENOMEM;
}

int kl_spec_load(const char *path, struct kl_spec **out)
{
	const char *shipped = kl_shipped_text(path);
	char hint[KL_FILE_HINT];
	struct stat st;
	char *text;
	size_t len;
	int ret;

	/* A name in a history always means the shipped spec, whatever klin's directory contains. */
	if (shipped) {
		if (!stat(path, &st) && S_ISREG(st.st_mode))
			kl_warn("'%s' is the shipped specification; to use the file of that name, "
				"say ./%s", path, path);
		text = strdup(shipped);
		len = strlen(shipped);
		ret = text ? 0 : -ENOMEM;
	} else {
		ret = kl_read_file(path, &text, &len);
	}
	if (ret) {
		kl_err("cannot read specification %s: %s%s", path, strerror(-ret),
		       kl_spec_hint ? kl_spec_hint(path, ret, hint) : "");
		return ret;
	}
	ret = kl_spec_parse(path, text, len, out);
	free(text);
	return ret;
}
