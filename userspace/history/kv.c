// SPDX-License-Identifier: GPL-2.0
/* Strings of key-value logs as words, see kv.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "history/kv.h"

#define AHEAD		16	/* operations */
#define MAX_PLACES	3	/* as many as specs/kv.lin has appends for */

enum kind { GET, PUT, APPEND };

/* Ours, in specs/map.lin and specs/kv.lin. */
enum { M_PUT, M_APPEND, M_APPEND2, M_APPEND3, M_GET, M_REMOVE, METHODS };

/* Beside each operation of the history. */
struct extra {
	const char *s;		/* the string that it puts or appends, or got */
	size_t len;
	uint64_t key;
	uint64_t piece;		/* of an append: its string as a word */
	unsigned int line;
	uint8_t kind;
	bool got;		/* the string is known */
};

/* Pairs of words to numbers, open addressing. */
struct table {
	struct entry {
		uint64_t a, b;
		uint32_t v;	/* 0: free */
	} *slot;
	size_t mask, used;
};

struct kl_kv {
	struct kl_jepsen *j;
	struct extra *extra;
	size_t cextra;
	int method[METHODS];	/* index + 1 in the history, once one is needed */
	struct table roots;	/* key, 0: the node of "" */
	struct table nodes;	/* node, piece: the node of both strings together */
	struct table places;	/* key, piece: index in place[] + 1 */
	struct place {
		uint32_t n, from[MAX_PLACES], to[MAX_PLACES];
	} *place;		/* where a piece leads in the tree of a key */
	size_t nplaces, cplaces;
	uint32_t nnodes;
	char mark;		/* what pieces begin with, if there are appends */
};

static int table_reserve(struct table *t)
{
	size_t size = t->slot ? t->mask + 1 : 0, want = size ? size * 2 : 64, i, at;
	struct entry *slot;

	if (t->used * 2 < size)
		return 0;
	slot = calloc(want, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (i = 0; i < size; i++) {
		if (!t->slot[i].v)
			continue;
		at = kl_mix(t->slot[i].a, t->slot[i].b) & (want - 1);
		while (slot[at].v)
			at = (at + 1) & (want - 1);
		slot[at] = t->slot[i];
	}
	free(t->slot);
	t->slot = slot;
	t->mask = want - 1;
	return 0;
}

/* Where a and b are or, if v is 0, would be; NULL without memory. */
static struct entry *table_find(struct table *t, uint64_t a, uint64_t b)
{
	size_t at;

	if (table_reserve(t))
		return NULL;
	for (at = kl_mix(a, b) & t->mask; t->slot[at].v; at = (at + 1) & t->mask)
		if (t->slot[at].a == a && t->slot[at].b == b)
			break;
	return &t->slot[at];
}

static void table_put(struct table *t, struct entry *e, uint64_t a, uint64_t b, uint32_t v)
{
	*e = (struct entry){ .a = a, .b = b, .v = v };
	t->used++;
}

bool kl_kv_is(const char *f, size_t len)
{
	return kl_scan_is(f, len, "get") || kl_scan_is(f, len, "put") ||
	       kl_scan_is(f, len, "append");
}

struct kl_kv *kl_kv_new(struct kl_jepsen *j)
{
	struct kl_kv *kv = calloc(1, sizeof(*kv));

	if (!kv)
		return NULL;
	kv->j = j;
	j->spec = "map";
	return kv;
}

void kl_kv_free(struct kl_kv *kv)
{
	if (!kv)
		return;
	free(kv->extra);
	free(kv->roots.slot);
	free(kv->nodes.slot);
	free(kv->places.slot);
	free(kv->place);
	free(kv);
}

static int set_method(struct kl_kv *kv, struct kl_shape *s, int m)
{
	static const char *const names[METHODS] = {
		"put", "append", "append2", "append3", "get", "remove",
	};
	int64_t method;

	if (!kv->method[m]) {
		method = kl_history_method(kv->j->pairs.h, names[m], strlen(names[m]));
		if (method < 0)
			return method;
		kv->method[m] = method + 1;
	}
	s->method = kv->method[m] - 1;
	return 0;
}

static int find_kind(struct kl_kv *kv, const char *tok, const char *f, size_t len)
{
	/* Literals, so that they are compared as numbers. */
	if (kl_scan_is(f, len, "get"))
		return GET;
	if (kl_scan_is(f, len, "put"))
		return PUT;
	if (kl_scan_is(f, len, "append"))
		return APPEND;
	return kl_scan_bad(&kv->j->scan, tok, "get, put or append");
}

static int invoke(struct kl_kv *kv, const char *tok, struct kl_process *process, int kind,
		  const struct kl_edn_val *key, const struct kl_edn_val *v)
{
	/* put_op() says which method it is, and with what values. */
	struct kl_history *h = kv->j->pairs.h;
	struct kl_shape s = { 0 };
	struct extra *x;
	int ret;

	if (key->kind != KL_EDN_STRING && key->kind != KL_EDN_INT && key->kind != KL_EDN_WORD)
		return kl_scan_bad(&kv->j->scan, key->tok ? key->tok : tok, "a :key, a string");
	if (kind != GET && v->kind != KL_EDN_STRING)
		return kl_scan_bad(&kv->j->scan, v->tok ? v->tok : tok, "a :value, a string");
	ret = set_method(kv, &s, M_GET);
	if (!ret)
		ret = kl_grow(kv->extra, kv->cextra, h->nops + 1);
	if (ret)
		return ret;
	x = &kv->extra[h->nops];
	*x = (struct extra){ .kind = kind, .line = kv->j->scan.line };
	if (kind != GET) {
		x->s = v->s;
		x->len = v->len;
		x->got = true;
	}
	x->key = key->v;
	if (key->kind != KL_EDN_INT)
		ret = kl_words_get(&kv->j->words, key->s, key->len, &x->key);
	return ret ? ret : kl_pairs_call(&kv->j->pairs, tok, process, &s, NULL);
}

int kl_kv_event(struct kl_kv *kv, const char *tok, uint64_t number, enum kl_jepsen_type type,
		const char *f, size_t len, const struct kl_edn_val *key,
		const struct kl_edn_val *v)
{
	struct kl_pairs *pairs = &kv->j->pairs;
	struct kl_process *process;
	struct extra *x;
	int kind = kl_pairs_process(pairs, number, &process);

	if (kind < 0)
		return kind;
	if (type == KL_JEPSEN_INFO && !process->op) {
		kl_scan_skipped(&kv->j->scan, KL_SKIP_REMARK, tok);
		return 0;
	}
	kind = find_kind(kv, tok, f, len);
	if (kind < 0)
		return kind;
	if (type == KL_JEPSEN_INVOKE)
		return invoke(kv, tok, process, kind, key, v);
	if (!process->op)
		return kl_scan_bad(&kv->j->scan, tok, "an :invoke of this process before");
	x = &kv->extra[process->op - 1];
	if (x->kind != kind)
		return kl_scan_bad(&kv->j->scan, tok, "the end of what this process had invoked");
	if (type == KL_JEPSEN_INFO)
		return kl_pairs_lose(pairs, process);
	if (type == KL_JEPSEN_FAIL)
		return kl_pairs_drop(pairs, process);
	if (kind == GET && v->kind != KL_EDN_STRING && v->kind != KL_EDN_NIL)
		return kl_scan_bad(&kv->j->scan, v->tok ? v->tok : tok,
				   "a :value, a string or nil");
	if (kind == GET) {
		x->s = v->kind == KL_EDN_STRING ? v->s : "";
		x->len = v->kind == KL_EDN_STRING ? v->len : 0;
		x->got = true;
	}
	return kl_pairs_return(pairs, process, NULL);
}

/* ---- appends ---- */

/* A message about operation @i, quoting nothing of its line. */
static int refuse(struct kl_kv *kv, size_t i, const char *expected)
{
	kv->j->scan.line = kv->extra[i].line;
	return kl_scan_bad(&kv->j->scan, "append\n", expected);
}

/* The length of the first piece: up to where the next one begins. */
static size_t piece(const struct kl_kv *kv, const char *s, size_t len)
{
	const char *next = len > 1 ? memchr(s + 1, kv->mark, len - 1) : NULL;

	return next ? (size_t)(next - s) : len;
}

static int find_pieces(struct kl_kv *kv)
{
	const struct kl_history *h = kv->j->pairs.h;
	size_t i;
	int ret;

	for (i = 0; i < h->nops; i++) {
		struct extra *x = &kv->extra[i];

		if (x->kind != APPEND || kl_pairs_dropped(&h->ops[i]))
			continue;
		if (!kv->mark && x->len)
			kv->mark = *x->s;
		if (!x->len || *x->s != kv->mark || piece(kv, x->s, x->len) != x->len)
			return refuse(kv, i, "strings that all begin with one character which is "
				      "nowhere else in them (only such appends are understood)");
		ret = kl_words_get(&kv->j->words, x->s, x->len, &x->piece);
		if (ret)
			return ret;
	}
	return 0;
}

static int new_node(struct kl_kv *kv, struct table *t, struct entry *e, uint64_t a, uint64_t b)
{
	if (kv->nnodes == UINT32_MAX / 2)
		return -EOVERFLOW;
	table_put(t, e, a, b, ++kv->nnodes);
	return 0;
}

static int add_place(struct kl_kv *kv, uint64_t key, uint64_t word, uint32_t from, uint32_t to)
{
	struct entry *e = table_find(&kv->places, key, word);
	struct place *p;
	int ret;

	if (!e)
		return -ENOMEM;
	if (!e->v) {
		ret = kl_grow(kv->place, kv->cplaces, kv->nplaces + 1);
		if (ret)
			return ret;
		kv->place[kv->nplaces] = (struct place){ 0 };
		table_put(&kv->places, e, key, word, ++kv->nplaces);
	}
	p = &kv->place[e->v - 1];
	if (p->n < MAX_PLACES) {
		p->from[p->n] = from;
		p->to[p->n] = to;
	}
	p->n += p->n <= MAX_PLACES;
	return 0;
}

/*
 * The node of the string that operation @i knows; 0 if it is "".  Without appends
 * it does not matter which.
 */
static int walk(struct kl_kv *kv, size_t i, uint32_t *node)
{
	const struct extra *x = &kv->extra[i];
	const char *s = x->s;
	size_t len = x->len, n;
	struct entry *e;
	uint32_t from;
	uint64_t word;
	int ret = 0;

	*node = kv->mark ? 0 : len > 0;
	if (!len || !kv->mark)
		return 0;
	e = table_find(&kv->roots, x->key, 0);
	if (e && !e->v)
		ret = new_node(kv, &kv->roots, e, x->key, 0);
	if (!e || ret)
		return e ? ret : -ENOMEM;
	for (*node = e->v; len; s += n, len -= n) {
		n = piece(kv, s, len);
		ret = kl_words_get(&kv->j->words, s, n, &word);
		if (ret)
			return ret;
		from = *node;
		e = table_find(&kv->nodes, from, word);
		if (!e)
			return -ENOMEM;
		if (!e->v) {
			ret = new_node(kv, &kv->nodes, e, from, word);
			*node = e->v;
			if (!ret && x->kind == GET)
				ret = add_place(kv, x->key, word, s == x->s ? 0 : from, *node);
			if (ret)
				return ret;
		}
		*node = e->v;
	}
	return 0;
}

/* The method and the values of append @i. */
static int append_shape(struct kl_kv *kv, size_t i, struct kl_shape *s, struct kl_val *v)
{
	const struct extra *x = &kv->extra[i];
	struct place none = { 0 };
	const struct place *p = &none;
	struct entry *e;
	uint32_t k;

	e = table_find(&kv->places, x->key, x->piece);
	if (!e)
		return -ENOMEM;
	if (e->v)
		p = &kv->place[e->v - 1];
	if (p->n > MAX_PLACES)
		return refuse(kv, i, "strings that are in at most three places of what was got of "
			      "the key (only such appends are understood)");
	*v++ = kl_word(x->key);
	for (k = 0; k < p->n; k++) {
		*v++ = kl_word(p->from[k]);
		*v++ = kl_word(p->to[k]);
	}
	*v = kl_word((uint64_t)kv->nnodes + 1 + i);
	s->nargs = 2 + 2 * p->n;
	return set_method(kv, s, M_PUT + p->n);
}

/* The same of any operation, whose string is at @node. */
static int op_shape(struct kl_kv *kv, size_t i, uint32_t node, struct kl_shape *s, struct kl_val *v)
{
	const struct extra *x = &kv->extra[i];
	struct kl_val val;
	int ret = 0;

	if (x->kind == APPEND)
		return append_shape(kv, i, s, v);
	val = node ? kl_word(node) : kl_special(KL_ABSENT);
	/* Without appends a node is one string, and its word tells more. */
	if (!kv->mark && node)
		ret = kl_words_get(&kv->j->words, x->s, x->len, &val.v);
	if (ret)
		return ret;
	v[0] = kl_word(x->key);
	if (x->kind == PUT && node) {
		s->nargs = 2;
		v[1] = val;
		return set_method(kv, s, M_PUT);
	}
	s->nargs = 1;
	s->nres = 1;
	v[1] = x->kind == GET && x->got ? val : kl_special(KL_ANY);
	return set_method(kv, s, x->kind == GET ? M_GET : M_REMOVE);
}

static int put_op(struct kl_kv *kv, size_t i, uint32_t node)
{
	struct kl_history *h = kv->j->pairs.h;
	struct kl_val v[KL_MAX_ARGS];
	struct kl_shape s = { 0 };
	int64_t shape;
	int ret;

	ret = op_shape(kv, i, node, &s, v);
	if (ret)
		return ret;
	shape = kl_history_shape(h, &s, v, v + s.nargs);
	if (shape < 0)
		return shape;
	h->ops[i].shape = shape;
	return 0;
}

int kl_kv_end(struct kl_kv *kv)
{
	const struct kl_history *h = kv->j->pairs.h;
	uint32_t *node;
	size_t i;
	int ret;

	node = calloc(h->nops + 1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	ret = find_pieces(kv);
	for (i = 0; i < h->nops && !ret; i++)
		if (kv->extra[i].kind == GET && kv->extra[i].got)
			ret = walk(kv, i, &node[i]);
	/* What is put and never got may be any value that is never got. */
	for (i = 0; i < h->nops && !ret; i++)
		if (kv->extra[i].kind == PUT)
			ret = walk(kv, i, &node[i]);
	for (i = 0; i < h->nops && !ret; i++) {
		/* The strings are far from one another. */
		if (i + AHEAD < h->nops)
			__builtin_prefetch(kv->extra[i + AHEAD].s);
		ret = put_op(kv, i, node[i]);
	}
	if (kv->mark)
		kv->j->spec = "kv";
	free(node);
	return ret;
}
