// SPDX-License-Identifier: GPL-2.0
/* Reads key-value logs, and turns their strings into words; see kv.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "history/formats/kv.h"
#include "history/formats/kv_spec.h"
#include "history/formats/kv_tree.h"
#include "history/formats/kv_word.h"
#include "history/spell.h"

#define AHEAD		16 /* a string is prefetched this number of operations before its own */
#define NODES_FIRST	(KL_WORDS_FIRST + ((uint64_t)1 << 40)) /* the first word of a node */

enum kind { GET, PUT, APPEND };

/* klin's methods, in specs/map.lin, specs/kv.lin and the specs that kv_spec.c writes. */
enum { M_PUT, M_APPEND, M_APPEND2, M_APPEND3, M_GET, M_REMOVE, M_APPEND_ANY, M_APPEND0,
       METHODS };

/* What the reader keeps of an operation beside the history. */
struct extra {
	const char *s; /* the string that was put, appended or got */
	size_t len;
	uint64_t key;
	unsigned int line;
	uint8_t kind;
	bool got;		/* the string is known */
	bool quoted;		/* the key is a string */
};

struct kl_kv {
	struct kl_jepsen *j;
	struct extra *extra;
	size_t cextra;
	int method[METHODS]; /* index + 1 of each method in the history; 0: not used so far */
	struct kl_intern keys;
	uint32_t (*roots)[2]; /* the roots of each key's trees, see root(); 0: none so far */
	size_t nroots, croots;
	struct kl_kv_tree tree;
	struct kl_kv_keys key; /* words of the keys */
	bool appends; /* the log has appends */
};

bool kl_kv_is(const char *f, size_t len)
{
	return kl_scan_is(f, len, "get") || kl_scan_is(f, len, "put") ||
	       kl_scan_is(f, len, "append");
}

struct kl_kv *kl_kv_new(struct kl_jepsen *j, const struct kl_edn *edn)
{
	struct kl_kv *kv = calloc(1, sizeof(*kv));

	if (!kv)
		return NULL;
	kv->j = kv->key.j = j;
	kv->key.edn = edn;
	j->spec = "map";
	return kv;
}

void kl_kv_free(struct kl_kv *kv)
{
	if (!kv)
		return;
	free(kv->extra);
	kl_words_free(&kv->key.others);
	kl_intern_free(&kv->keys);
	free(kv->roots);
	kl_kv_tree_free(&kv->tree);
	free(kv);
}

static int set_method(struct kl_kv *kv, struct kl_opsig *s, int m)
{
	static const char *const names[METHODS] = {
		"put", "append", "append2", "append3", "get", "remove", "append_any",
		"append0",
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
	/* The compiler compares names with literals as numbers. */
	if (kl_scan_is(f, len, "get"))
		return GET;
	if (kl_scan_is(f, len, "put"))
		return PUT;
	if (kl_scan_is(f, len, "append"))
		return APPEND;
	return kl_scan_stop(&kv->j->scan, tok, "get, put or append" KL_JEPSEN_OTHERS);
}

static int invoke(struct kl_kv *kv, const char *tok, struct kl_process *process, int kind,
		  const struct kl_edn_val *key, const struct kl_edn_val *v)
{
	/* The method and the values are set later, by put_op(). */
	struct kl_history *h = kv->j->pairs.h;
	struct kl_opsig s = { 0 };
	struct extra *x;
	int ret;

	if (key->kind == KL_EDN_NIL)
		return kl_scan_bad(&kv->j->scan, key->tok ? key->tok : tok, "a :key, as in \"x\"");
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
	x->quoted = key->kind == KL_EDN_STRING;
	ret = kl_kv_key(&kv->key, key, &x->key);
	return ret ? ret : kl_pairs_call(&kv->j->pairs, tok, process, &s, NULL);
}

/* Check that the event that ends an operation repeats the key and value of its :invoke. */
static int check_again(struct kl_kv *kv, const struct extra *x, enum kl_jepsen_type type,
		       const struct kl_edn_val *key, const struct kl_edn_val *v)
{
	uint64_t word;
	int ret;

	if (key->kind != KL_EDN_NIL) {
		ret = kl_kv_key(&kv->key, key, &word);
		if (ret)
			return ret;
		if (word != x->key || (key->kind == KL_EDN_STRING) != x->quoted)
			return kl_scan_bad(&kv->j->scan, key->tok, "the :key that its :invoke has");
	}
	if (type != KL_JEPSEN_OK || x->kind == GET || v->kind == KL_EDN_NIL)
		return 0;
	if (v->kind != KL_EDN_STRING || v->len != x->len || memcmp(v->s, x->s, x->len))
		return kl_scan_bad(&kv->j->scan, v->tok, "the :value that its :invoke has");
	return 0;
}

int kl_kv_event(struct kl_kv *kv, const char *tok, uint64_t number, enum kl_jepsen_type type,
		const char *f, size_t len, const struct kl_edn_val *key,
		const struct kl_edn_val *v)
{
	struct kl_pairs *pairs = &kv->j->pairs;
	struct kl_process *process;
	struct extra *x;
	int kind = kl_pairs_process(pairs, number, &process), ret;

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
	/* After an error this is most often the end of the operation in error. */
	if (!process->op && kv->j->scan.errors)
		return -EINVAL;
	if (!process->op)
		return kl_scan_bad(&kv->j->scan, tok,
				   "an :invoke of this process before its completion");
	x = &kv->extra[process->op - 1];
	if (x->kind != kind)
		return kl_scan_bad(&kv->j->scan, tok,
				   "a completion of this process's pending :invoke first");
	ret = check_again(kv, x, type, key, v);
	if (ret)
		return ret;
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

/*
 * Get the root of the tree of the strings that a key may hold (@kind 0), or of the tree of the
 * strings that were appended to it (@kind 1).
 */
static int root(struct kl_kv *kv, uint64_t key, unsigned int kind, uint32_t *out)
{
	const int64_t i = kl_intern(&kv->keys, &key, 1);
	int ret = i < 0 ? i : 0;

	if (!ret && (size_t)i >= kv->nroots) {
		ret = kl_grow(kv->roots, kv->croots, i + 1);
		if (!ret)
			memset(kv->roots[kv->nroots++], 0, sizeof(*kv->roots));
	}
	if (!ret && !kv->roots[i][kind])
		ret = kl_kv_tree_root(&kv->tree, &kv->roots[i][kind]);
	if (!ret)
		*out = kv->roots[i][kind];
	return ret;
}

static int walk(struct kl_kv *kv, size_t i, unsigned int kind, bool add, uint32_t *node)
{
	const struct extra *x = &kv->extra[i];
	int ret = root(kv, x->key, kind, node);

	return ret ? ret : kl_kv_tree_walk(&kv->tree, *node, x->s, x->len, add, node);
}

/*
 * Build the trees of the strings that were got and appended, and find the steps between nodes.
 * @node receives the node of each operation's string, or 0.
 */
static int build(struct kl_kv *kv, uint32_t *node)
{
	const struct kl_history *h = kv->j->pairs.h;
	uint32_t appends, empty;
	struct extra *x;
	size_t i;
	int ret;

	for (i = 0; i < h->nops; i++) {
		x = &kv->extra[i];
		if (kl_pairs_dropped(&h->ops[i]) || x->kind == PUT || !x->got)
			continue;
		ret = walk(kv, i, x->kind == APPEND, true, &node[i]);
		if (ret)
			return ret;
		kv->tree.node[node[i]].ends = true;
	}
	for (i = 0; i < h->nops; i++) {
		x = &kv->extra[i];
		if (kl_pairs_dropped(&h->ops[i]))
			continue;
		ret = root(kv, x->key, 0, &empty) ?: root(kv, x->key, 1, &appends) ?:
		      kl_kv_tree_reach(&kv->tree, empty, appends);
		if (!ret && x->kind == PUT)
			ret = walk(kv, i, 0, false, &node[i]) ?:
			      kl_kv_tree_reach(&kv->tree, node[i], appends);
		if (ret)
			return ret;
	}
	return kl_kv_tree_steps(&kv->tree);
}

/* Spell the word of a node's string, unless the node is the root. */
static int spell_node(struct kl_kv *kv, uint32_t node)
{
	char s[KL_KV_SPELLED + 1];
	size_t n = sizeof(s);
	uint32_t at = node;

	for (; n && kv->tree.node[at].parent; at = kv->tree.node[at].parent)
		s[--n] = kv->tree.node[at].c;
	return n == sizeof(s) ? 0 :
	       kl_kv_spell(kv->j->pairs.h, NODES_FIRST + node, s + n, sizeof(s) - n, false);
}

/* Get the word of a node's string.  The word of "", which a missing key holds, is 0. */
static int node_word(struct kl_kv *kv, uint32_t empty, uint32_t node, struct kl_val *v)
{
	*v = kl_word(node == empty ? 0 : NODES_FIRST + node);
	return node == empty ? 0 : spell_node(kv, node);
}

/* Return: true if step @s is useful, and its append has too many steps for arguments. */
static bool is_rule(const struct kl_kv_tree *t, const struct kl_kv_step *s)
{
	const struct kl_kv_node *to = &t->node[s->to];

	return t->node[s->append].nsteps > KL_KV_STEPS && (to->ends || to->useful);
}

/* Make a spec that has the steps of all appends with too many steps, if there are any. */
static int make_spec(struct kl_kv *kv)
{
	const struct kl_kv_tree *t = &kv->tree;
	struct kl_kv_rule *rule;
	size_t n = 0, i;
	int ret;

	for (i = 0; i < t->nsteps; i++)
		n += is_rule(t, &t->step[i]);
	if (!n)
		return 0;
	rule = calloc(n, sizeof(*rule));
	if (!rule)
		return -ENOMEM;
	for (i = 0, n = 0; i < t->nsteps; i++) {
		const struct kl_kv_step *s = &t->step[i];

		if (!is_rule(t, s))
			continue;
		/* States may hold these strings, although nobody got them. */
		ret = spell_node(kv, s->from) ?: spell_node(kv, s->to);
		if (ret)
			goto out;
		rule[n++] = (struct kl_kv_rule){
			.s = NODES_FIRST + s->append, .to = NODES_FIRST + s->to,
			.from = t->node[s->from].parent ? NODES_FIRST + s->from : 0,
		};
	}
	ret = kl_kv_spec(rule, n, &kv->j->pairs.h->spec_text);
out:
	free(rule);
	return ret;
}

/* Get the method and the values of operation @i, an append. */
static int append_sig(struct kl_kv *kv, size_t i, uint32_t node, struct kl_opsig *s,
			struct kl_val *v)
{
	/* The node of an appended string is never a value's node, so no get returns this. */
	const struct kl_val other = kl_word(NODES_FIRST + node);
	const struct extra *x = &kv->extra[i];
	const struct kl_kv_node *n;
	uint32_t k, steps, empty;
	bool any;
	int ret = root(kv, x->key, 0, &empty);

	if (ret)
		return ret;
	n = &kv->tree.node[node];
	*v++ = kl_word(x->key);
	any = n->nsteps > KL_KV_STEPS;
	/* An append without steps gets one anyway, because otherwise it would be a put. */
	steps = any || !x->len ? 0 : n->nsteps ?: 1;
	for (k = 0; k < steps && !ret; k++, v += 2) {
		v[0] = v[1] = other;
		if (k < n->nsteps)
			ret = node_word(kv, empty, n->from[k], &v[0]) ?:
			      node_word(kv, empty, n->to[k], &v[1]);
	}
	*v = other;
	s->nargs = 2 + 2 * steps;
	ret = ret ?: kl_kv_spell(kv->j->pairs.h, other.v, x->s, x->len, true);
	if (ret)
		return ret;
	return set_method(kv, s, !x->len ? M_APPEND0 : any ? M_APPEND_ANY : M_PUT + steps);
}

/* Get the method and the values of operation @i, whose string has the node @node, or 0. */
static int op_sig(struct kl_kv *kv, size_t i, uint32_t node, struct kl_opsig *s, struct kl_val *v)
{
	const struct extra *x = &kv->extra[i];
	struct kl_val val = kl_special(KL_ABSENT);
	int ret = 0;

	if (x->kind == APPEND)
		return append_sig(kv, i, node, s, v);
	/* A string that was put and has no node is never got. */
	if (x->len)
		val = kl_word(NODES_FIRST + (node ? node : kv->tree.n + i));
	if (kv->appends && x->len && x->got)
		ret = kl_kv_spell(kv->j->pairs.h, val.v, x->s, x->len, false);
	/* In a log without appends a string of digits is a number. */
	if (!kv->appends && x->len && !ret)
		ret = kl_kv_string(kv->j, x->s, x->len, &val.v) ?: kl_kv_apart(&kv->key, &val.v);
	if (ret)
		return ret;
	v[0] = kl_word(x->key);
	if (x->kind == PUT && x->len) {
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
	struct kl_opsig s = { 0 };
	int64_t sig;
	int ret;

	ret = op_sig(kv, i, node, &s, v);
	if (ret)
		return ret;
	sig = kl_history_sig(h, &s, v, v + s.nargs);
	if (sig < 0)
		return sig;
	h->ops[i].sig = sig;
	return 0;
}

int kl_kv_end(struct kl_kv *kv)
{
	const struct kl_history *h = kv->j->pairs.h;
	uint32_t *node;
	int ret = 0;
	size_t i;

	node = calloc(h->nops + 1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	for (i = 0; i < h->nops; i++)
		kv->appends |= kv->extra[i].kind == APPEND && !kl_pairs_dropped(&h->ops[i]);
	/* With appends the word 0 is the value "", so the key "0" must not be 0, too. */
	if (kv->appends && !kv->key.numbers)
		ret = kl_history_spell(kv->j->pairs.h, 0, "\"\"", 2);
	kv->key.numbers |= kv->appends;
	for (i = 0; i < h->nops && !ret; i++) {
		if (kv->extra[i].quoted)
			ret = kl_kv_apart(&kv->key, &kv->extra[i].key);
	}
	if (!ret && kv->appends)
		ret = build(kv, node) ?: make_spec(kv);
	if (ret == -E2BIG) {
		kv->j->scan.errors++;
		kl_err("%s: the appended strings can make the value of a get in too many ways "
		       "(%zu%s): expected strings with fewer occurrences in it, or fewer "
		       "operations",
		       kv->j->scan.name, kv->tree.nsteps, kv->tree.ntodo ? " and more" : "");
		ret = -EINVAL;
	}
	for (i = 0; i < h->nops && !ret; i++) {
		/* The strings are far from each other in memory, so prefetch them. */
		if (i + AHEAD < h->nops)
			__builtin_prefetch(kv->extra[i + AHEAD].s);
		if (!kl_pairs_dropped(&h->ops[i]))
			ret = put_op(kv, i, node[i]);
	}
	if (kv->appends)
		kv->j->spec = "kv";
	free(node);
	return ret;
}
