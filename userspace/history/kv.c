// SPDX-License-Identifier: GPL-2.0
/* Strings of key-value logs as words, see kv.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "history/kv.h"

enum kind { GET, PUT, APPEND };

/* Beside each operation of the history. */
struct extra {
	const char *s;		/* the string that it puts or appends, or got */
	size_t len;
	uint64_t key;
	uint32_t pre, post;	/* of an append: nodes, post is 0 while not known */
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
	int put, get, remove, insert, cas;	/* methods */
	struct table appends;	/* key, piece: index of the operation + 1 */
	struct table nodes;	/* node, piece: the node of both strings together */
	uint32_t nnodes;	/* 0 is "" */
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
	struct kl_history *h = j->pairs.h;
	struct kl_kv *kv = calloc(1, sizeof(*kv));

	if (!kv)
		return NULL;
	kv->j = j;
	kv->put = kl_history_method(h, "put", 3);
	kv->get = kl_history_method(h, "get", 3);
	kv->remove = kl_history_method(h, "remove", 6);
	kv->insert = kl_history_method(h, "insert", 6);
	kv->cas = kl_history_method(h, "cas", 3);
	if (kv->put < 0 || kv->get < 0 || kv->remove < 0 || kv->insert < 0 || kv->cas < 0) {
		free(kv);
		return NULL;
	}
	j->spec = "specs/map.lin";
	return kv;
}

void kl_kv_free(struct kl_kv *kv)
{
	if (!kv)
		return;
	free(kv->extra);
	free(kv->appends.slot);
	free(kv->nodes.slot);
	free(kv);
}

static int find_kind(struct kl_kv *kv, const char *tok, const char *f, size_t len)
{
	static const char *const kinds[] = { [GET] = "get", [PUT] = "put", [APPEND] = "append" };
	int i;

	for (i = 0; i < 3; i++)
		if (kl_scan_is(f, len, kinds[i]))
			return i;
	return kl_scan_bad(&kv->j->scan, tok, "get, put or append");
}

static int invoke(struct kl_kv *kv, const char *tok, uint64_t process, int kind,
		  const struct kl_edn_val *key, const struct kl_edn_val *v)
{
	/* As many as it may become. */
	struct kl_op op = { .method = kv->get, .nargs = 3, .nres = 1 };
	struct kl_history *h = kv->j->pairs.h;
	struct kl_val args[3] = { { 0 } };
	struct extra *x;
	int ret;

	if (key->kind != KL_EDN_STRING && key->kind != KL_EDN_INT && key->kind != KL_EDN_WORD)
		return kl_scan_bad(&kv->j->scan, key->tok ? key->tok : tok, "a :key, a string");
	if (kind != GET && v->kind != KL_EDN_STRING)
		return kl_scan_bad(&kv->j->scan, v->tok ? v->tok : tok, "a :value, a string");
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
	return ret ? ret : kl_pairs_call(&kv->j->pairs, tok, process, &op, args);
}

int kl_kv_event(struct kl_kv *kv, const char *tok, uint64_t process, enum kl_jepsen_type type,
		const char *f, size_t len, const struct kl_edn_val *key,
		const struct kl_edn_val *v)
{
	struct kl_pairs *pairs = &kv->j->pairs;
	struct kl_op *op = kl_pairs_open(pairs, process);
	struct kl_val res = kl_special(KL_ANY);
	struct extra *x;
	int kind;

	if (type == KL_JEPSEN_INFO && !op)
		return 0;
	kind = find_kind(kv, tok, f, len);
	if (kind < 0)
		return kind;
	if (type == KL_JEPSEN_INVOKE)
		return invoke(kv, tok, process, kind, key, v);
	if (!op)
		return kl_scan_bad(&kv->j->scan, tok, "an :invoke of this process before");
	x = &kv->extra[op - pairs->h->ops];
	if (x->kind != kind)
		return kl_scan_bad(&kv->j->scan, tok, "the end of what this process had invoked");
	if (type == KL_JEPSEN_INFO) {
		kl_pairs_lose(pairs, op);
	} else if (type == KL_JEPSEN_FAIL) {
		kl_pairs_drop(pairs, op);
	} else {
		if (kind == GET && v->kind != KL_EDN_STRING && v->kind != KL_EDN_NIL)
			return kl_scan_bad(&kv->j->scan, v->tok ? v->tok : tok,
					   "a :value, a string or nil");
		if (kind == GET) {
			x->s = v->kind == KL_EDN_STRING ? v->s : "";
			x->len = v->kind == KL_EDN_STRING ? v->len : 0;
			x->got = true;
		}
		kl_pairs_return(pairs, op, &res);
	}
	return 0;
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
	const char *next = kv->mark && len > 1 ? memchr(s + 1, kv->mark, len - 1) : NULL;

	return next ? (size_t)(next - s) : len;
}

static int find_appends(struct kl_kv *kv)
{
	const struct kl_history *h = kv->j->pairs.h;
	struct entry *e;
	uint64_t word;
	size_t i;
	int ret;

	for (i = 0; i < h->nops; i++) {
		const struct extra *x = &kv->extra[i];

		if (x->kind != APPEND || kl_pairs_dropped(&h->ops[i]))
			continue;
		if (!kv->mark && x->len)
			kv->mark = *x->s;
		if (!x->len || *x->s != kv->mark || piece(kv, x->s, x->len) != x->len)
			return refuse(kv, i, "strings that begin with a character which is nowhere "
				      "else in them (only such appends are understood)");
		ret = kl_words_get(&kv->j->words, x->s, x->len, &word);
		if (ret)
			return ret;
		e = table_find(&kv->appends, x->key, word);
		if (!e)
			return -ENOMEM;
		if (e->v)
			return refuse(kv, i, "strings that differ from all that are appended to the "
				      "same key (only such appends are understood)");
		table_put(&kv->appends, e, x->key, word, i + 1);
	}
	return 0;
}

/* The node of a string that operation @i knows; appends in what was got are found. */
static int walk(struct kl_kv *kv, size_t i, uint32_t *node)
{
	const struct extra *x = &kv->extra[i];
	const char *s = x->s;
	size_t len = x->len, n;
	struct entry *e;
	uint64_t word;
	int ret;

	for (*node = 0; len; s += n, len -= n) {
		uint32_t from = *node;

		n = piece(kv, s, len);
		ret = kl_words_get(&kv->j->words, s, n, &word);
		if (ret)
			return ret;
		e = table_find(&kv->nodes, from, word);
		if (!e)
			return -ENOMEM;
		if (!e->v) {
			if (kv->nnodes == UINT32_MAX / 2)
				return -EOVERFLOW;
			table_put(&kv->nodes, e, from, word, ++kv->nnodes);
		}
		*node = e->v;
		if (!kv->mark)
			continue;
		e = table_find(&kv->appends, x->key, word);
		if (!e)
			return -ENOMEM;
		if (e->v && x->kind == PUT)
			return refuse(kv, e->v - 1, "strings that are in none that is put at the "
				      "same key (only such appends are understood)");
		if (e->v && !kv->extra[e->v - 1].post) {
			kv->extra[e->v - 1].pre = from;
			kv->extra[e->v - 1].post = *node;
		}
	}
	return 0;
}

/* A node's value; without appends a node is one string, and its word tells more. */
static int value_of(struct kl_kv *kv, const struct extra *x, uint32_t node, struct kl_val *v)
{
	*v = node ? kl_word(node) : kl_special(KL_ABSENT);
	return kv->mark || !node ? 0 : kl_words_get(&kv->j->words, x->s, x->len, &v->v);
}

static int put_op(struct kl_kv *kv, size_t i, uint32_t node)
{
	struct kl_history *h = kv->j->pairs.h;
	const struct extra *x = &kv->extra[i];
	struct kl_op *op = &h->ops[i];
	struct kl_val *v = h->vals + op->vals, val, res = kl_word(1);
	int ret;

	ret = value_of(kv, x, node, &val);
	if (ret)
		return ret;
	v[0] = kl_word(x->key);
	op->nargs = 2;
	op->nres = 0;
	if (x->kind == GET || (x->kind == PUT && !node)) {
		op->method = x->kind == GET ? kv->get : kv->remove;
		op->nargs = 1;
		op->nres = 1;
		res = x->kind == GET && x->got ? val : kl_special(KL_ANY);
	} else if (x->kind == PUT) {
		op->method = kv->put;
		v[1] = val;
	} else if (!x->post) {
		op->method = kv->put;
		v[1] = kl_word((uint64_t)kv->nnodes + 1 + i);
	} else if (!x->pre) {
		op->method = kv->insert;
		op->nres = 1;
		v[1] = kl_word(x->post);
	} else {
		op->method = kv->cas;
		op->nargs = 3;
		op->nres = 1;
		v[1] = kl_word(x->pre);
		v[2] = kl_word(x->post);
	}
	if (op->nres)
		v[op->nargs] = op->flags & KL_OP_PENDING ? kl_special(KL_ANY) : res;
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
	ret = find_appends(kv);
	for (i = 0; i < h->nops && !ret; i++)
		if (kv->extra[i].kind != APPEND && kv->extra[i].got &&
		    !kl_pairs_dropped(&h->ops[i]))
			ret = walk(kv, i, &node[i]);
	for (i = 0; i < h->nops && !ret; i++)
		ret = put_op(kv, i, node[i]);
	free(node);
	return ret;
}
