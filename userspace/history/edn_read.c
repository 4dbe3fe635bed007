// SPDX-License-Identifier: GPL-2.0
/*
 * Histories of Jepsen, Knossos and Porcupine in EDN: maps, one after the other or
 * in a vector or list, see jepsen.h and kv.h for what they mean.
 *
 *	{:process 0, :type :invoke, :f :write, :value 3}
 *	{:process 9, :type :invoke, :f :append, :key "0", :value "x 9 0 y"}
 *
 * Their order is what counts, not :time or :index.
 */
#include <errno.h>
#include <string.h>

#include "history/edn.h"
#include "history/jepsen.h"
#include "history/kv.h"

#define MAX_ERRORS	20

struct reader {
	struct kl_edn edn;
	struct kl_jepsen j;
	struct kl_kv *kv;	/* once there was a key */
};

/* The keys of a map that count. */
enum { PROCESS, TYPE, F, KEY, VALUE, KEYS };

/* Inlined, so that @key is compared as a number.  The text's end is no key's, and ends one. */
__attribute__((always_inline))
static inline bool is_key(const char *p, const char *key, size_t len)
{
	return !memcmp(p, key, len) && kl_edn_ends(p[len]);
}

/* Which one is at @p, of @len characters; KEYS and 0 if none. */
__attribute__((always_inline))
static inline unsigned int which_key(const char *p, size_t *len)
{
	if (is_key(p, ":process", *len = 8))
		return PROCESS;
	if (is_key(p, ":type", *len = 5))
		return TYPE;
	if (is_key(p, ":f", *len = 2))
		return F;
	if (is_key(p, ":key", *len = 4))
		return KEY;
	if (is_key(p, ":value", *len = 6))
		return VALUE;
	*len = 0;
	return KEYS;
}

/* The key of the next value, as a rule at once. */
static int scan_key(struct kl_edn *e, struct kl_edn_val *key, unsigned int *which)
{
	size_t len;
	int ret;

	key->tok = e->p;
	*which = which_key(e->p, &len);
	e->p += len;
	if (*which < KEYS)
		return 0;
	ret = kl_edn_value(e, key);
	/* Behind a tag there may be one. */
	if (!ret && key->kind == KL_EDN_WORD)
		*which = which_key(key->s, &len);
	return ret;
}

/* A form that is discarded, or a map with a tag: no comment, which has a blank behind the mark. */
static bool is_marked(const struct kl_head *head)
{
	const char *p = head->first;

	if (head->end - p < 2 || *p++ != '#')
		return false;
	if (*p == '_')
		return true;
	while (p < head->end && (kl_scan_name(*p) || *p == '.' || *p == '/' || *p == '-'))
		p++;
	while (p < head->end && kl_scan_blank(*p))
		p++;
	return p < head->end && *p == '{' && p > head->first + 1;
}

static bool is_edn(const struct kl_head *head)
{
	const char *p = head->data;

	if (is_marked(head))
		return true;
	if (p == head->end)
		return head->first < head->end && *head->first == ';';
	if (*p == '(' || *p == '{')
		return true;
	if (*p++ != '[')
		return false;
	while (p < head->end && (kl_scan_end(*p) || *p == ','))
		p++;
	return p == head->end || *p == '{' || *p == '#' || *p == ']' || *p == ';';
}

/* A value as Jepsen's structures hold it. */
static int word_of(struct reader *r, const char *tok, int kind, const char *s, size_t len,
		   int64_t v, uint64_t *word)
{
	if (kind == KL_EDN_STRING || kind == KL_EDN_WORD)
		return kl_words_get(&r->j.words, s, len, word);
	*word = v;
	if (kind != KL_EDN_INT)
		return kl_scan_bad(&r->j.scan, tok, "a number or a word");
	if (*word == KL_JEPSEN_NIL)
		return kl_scan_bad(&r->j.scan, tok, "a number other than -1, which stands for nil");
	return 0;
}

static int convert(struct reader *r, const struct kl_edn_val *v, struct kl_jepsen_value *out)
{
	int i, ret = 0;

	*out = (struct kl_jepsen_value){ .kind = KL_JEPSEN_OTHER };
	switch (v->kind) {
	case KL_EDN_NIL:
		out->kind = KL_JEPSEN_NONE;
		return 0;
	case KL_EDN_PAIR:
		out->kind = KL_JEPSEN_PAIR;
		for (i = 0; i < 2 && !ret; i++)
			ret = word_of(r, v->tok, v->pair[i].kind, v->pair[i].s, v->pair[i].len,
				      v->pair[i].v, &out->v[i]);
		return ret;
	case KL_EDN_OTHER:
		return 0;
	default:
		out->kind = KL_JEPSEN_WORD;
		return word_of(r, v->tok, v->kind, v->s, v->len, v->v, &out->v[0]);
	}
}

static int event(struct reader *r, const char *tok, const struct kl_edn_val *val)
{
	const struct kl_edn_val *process = &val[PROCESS], *f = &val[F];
	struct kl_jepsen_value v = { .kind = KL_JEPSEN_NONE };
	int type, ret = 0;

	/* The nemesis and other processes of a name do nothing to the structure. */
	if (process->kind == KL_EDN_WORD)
		return 0;
	if (process->kind != KL_EDN_INT || process->v < 0)
		return kl_scan_bad(&r->j.scan, process->tok ? process->tok : tok,
				   "an operation with a :process that is a number");
	type = val[TYPE].kind == KL_EDN_WORD ? kl_jepsen_type(val[TYPE].s, val[TYPE].len) : -1;
	if (type < 0)
		return kl_scan_bad(&r->j.scan, val[TYPE].tok ? val[TYPE].tok : tok,
				   "an operation with a :type, :invoke, :ok, :fail or :info");
	if (f->kind != KL_EDN_WORD || *f->s != ':')
		return kl_scan_bad(&r->j.scan, f->tok ? f->tok : tok,
				   "an operation with an :f, as in :f :read");
	if (!r->kv && !r->j.pairs.h->nops && kl_kv_is(f->s + 1, f->len - 1)) {
		r->kv = kl_kv_new(&r->j);
		if (!r->kv)
			return -ENOMEM;
	}
	if (r->kv)
		return kl_kv_event(r->kv, f->tok, process->v, type, f->s + 1, f->len - 1,
				   &val[KEY], &val[VALUE]);
	if (type == KL_JEPSEN_INVOKE || type == KL_JEPSEN_OK)
		ret = convert(r, &val[VALUE], &v);
	if (ret)
		return ret;
	return kl_jepsen_event(&r->j, f->tok, process->v, type, f->s + 1, f->len - 1, &v);
}

/* A map at the scanner's place. */
static int operation(struct reader *r)
{
	/* Behind those of the keys that count is that of another one. */
	struct kl_edn_val key, val[KEYS + 1];
	struct kl_edn *e = &r->edn;
	const char *tok = e->p;
	unsigned int i, line = e->scan.line;
	bool more;
	int ret;

	for (i = 0; i < KEYS; i++) {
		val[i].kind = KL_EDN_NIL;
		val[i].tok = NULL;
	}
	e->p++;
	for (;;) {
		if (!kl_edn_skip(e)) {
			e->scan.line = line;
			return kl_scan_bad(&e->scan, tok, "a closing bracket");
		}
		if (e->bad)
			return -EINVAL;
		if (*e->p == '}')
			break;
		ret = scan_key(e, &key, &i);
		if (ret)
			return ret;
		more = kl_edn_skip(e);
		if (e->bad)
			return -EINVAL;
		if (more && *e->p == '}')
			return kl_scan_bad(&e->scan, key.tok, "a value for each key");
		ret = more ? kl_edn_value_here(e, &val[i]) : kl_edn_value(e, &val[i]);
		if (ret)
			return ret;
	}
	e->p++;
	r->j.scan.line = e->scan.line;
	return event(r, tok, val);
}

/* All operations; what is wrong with one does not keep the next from being read. */
static int operations(struct reader *r)
{
	struct kl_edn *e = &r->edn;
	const char *open = NULL;
	unsigned int line = 1;
	char close = 0;
	int ret;

	e->scan.line = 1;
	if (kl_edn_skip(e) && (*e->p == '[' || *e->p == '(')) {
		line = e->scan.line;
		open = e->p;
		close = *e->p++ == '[' ? ']' : ')';
	}
	while (kl_edn_skip(e)) {
		if (e->bad)
			return -EINVAL;
		if (close && *e->p == close) {
			e->p++;
			if (!kl_edn_skip(e))
				return 0;
			return kl_scan_bad(&e->scan, e->p, "the end of the file");
		}
		while (*e->p == '#' && e->p[1] != '{') {
			while (*e->p != '{' && !kl_scan_end(*e->p))
				e->p++;
			if (!kl_edn_skip(e))
				return kl_scan_bad(&e->scan, e->end - 1, "an operation");
			if (e->bad)
				return -EINVAL;
		}
		if (*e->p != '{')
			return kl_scan_bad(&e->scan, e->p, "an operation as in {:process 0, :type "
					   ":invoke, :f :read, :value nil}");
		ret = operation(r);
		if (ret && (ret != -EINVAL || e->scan.errors || r->j.scan.errors >= MAX_ERRORS))
			return ret;
	}
	if (!open)
		return 0;
	e->scan.line = line;
	return kl_scan_bad(&e->scan, open, "a closing bracket");
}

static int read_edn(struct kl_input *in, struct kl_history **out)
{
	struct reader r = { 0 };
	int ret;

	ret = kl_jepsen_begin(&r.j, in->name, false);
	r.edn.scan.name = in->name;
	if (!ret)
		ret = kl_input_text(in, &r.edn.p, &r.edn.end);
	if (!ret)
		ret = operations(&r);
	if (!ret && r.j.scan.errors)
		ret = -EINVAL;
	if (!ret && r.kv)
		ret = kl_kv_end(r.kv);
	kl_kv_free(r.kv);
	return kl_jepsen_end(&r.j, ret, out);
}

const struct kl_form kl_form_edn = {
	.name = "edn", .is = is_edn, .read = read_edn, .write = kl_jepsen_write_edn,
	.specs = { "register", "queue", "lock", "map", "kv" },
};
