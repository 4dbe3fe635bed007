// SPDX-License-Identifier: GPL-2.0
/*
 * Histories of Jepsen, Knossos and Porcupine in EDN: maps, one after the other or in a vector or
 * list.  jepsen.h and kv.h describe what the maps mean.
 *
 *	{:process 0, :type :invoke, :f :write, :value 3}
 *	{:process 9, :type :invoke, :f :append, :key "0", :value "x 9 0 y"}
 *
 * The order of the maps is the order of events, whatever their :time says; reports show the :time
 * and the :index.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "history/formats/edn_entry.h"
#include "history/formats/edn_form.h"
#include "history/formats/edn_keys.h"
#include "history/formats/jepsen_value.h"
#include "history/formats/kv.h"

#define MAX_ERRORS	20
#define INDEX		":index"
#define MAX_KEYS	64 /* maximal number of keys of an operation */

struct reader {
	struct kl_edn edn;
	struct kl_jepsen j;
	struct kl_kv *kv; /* the reader of keys and values, or NULL before the first :key */
	struct kl_edn_keys keys;
	bool looking; /* this pass only finds out whether keys are independent */
};

/* The keys of a map that have a meaning. */
enum { PROCESS, TYPE, F, KEY, VALUE, KEYS };

/*
 * Return: true if @key is the key at @p.  The function is inlined, so that the compiler compares
 * numbers.  The zero byte at the end of the text ends a key, too.
 */
__attribute__((always_inline))
static inline bool is_key(const char *p, const char *key, size_t len)
{
	return !memcmp(p, key, len) && kl_edn_ends(p[len]);
}

/* Return: the key at @p, with @len as its length, or KEYS and 0 if it has no meaning. */
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

/* As which_key(), for a text of @len characters, which may be the last readable ones. */
static unsigned int which_text(const char *s, size_t len)
{
	char text[16] = { 0 };
	size_t n;
	unsigned int i;

	if (len >= sizeof(text) - 1)
		return KEYS;
	memcpy(text, s, len);
	text[len] = ' ';
	i = which_key(text, &n);
	return n == len ? i : (unsigned int)KEYS;
}

/*
 * The keys of an operation so far: a bit for each key with a meaning, and the texts of the
 * others.
 */
struct keys {
	unsigned int seen, n;
	struct kl_edn_val other[MAX_KEYS];
};

/* Add a key without a meaning to @keys, or report that it occurs twice. */
static int check_key(struct kl_edn *e, struct keys *keys, const struct kl_edn_val *key)
{
	const char *s, *t;
	size_t len, n;
	unsigned int i;

	s = kl_edn_canon(e, key, &len);
	for (i = 0; i < keys->n; i++) {
		t = kl_edn_canon(e, &keys->other[i], &n);
		if (n == len && !memcmp(s, t, n))
			return kl_scan_bad(&e->scan, key->tok, "each key of a map once");
	}
	if (keys->n == MAX_KEYS)
		return kl_scan_bad(&e->scan, key->tok, "an operation of at most 64 keys");
	keys->other[keys->n++] = *key;
	return 0;
}

/* Refuse an operation without a :value if another key is nearly this one. */
static int check_value(struct kl_edn *e, const struct keys *keys)
{
	unsigned int i;

	for (i = 0; i < keys->n && !(keys->seen & 1u << VALUE); i++) {
		const struct kl_edn_val *key = &keys->other[i];

		if (*key->tok == ':' && kl_edits(key->tok, key->end - key->tok, ":value") == 1)
			return kl_scan_bad(&e->scan, key->tok, ":value");
	}
	return 0;
}

/* Read the next key.  Most keys are recognized by which_key(), without reading a form. */
static int scan_key(struct kl_edn *e, struct keys *keys, struct kl_edn_val *key,
		    unsigned int *which)
{
	size_t len, n;
	const char *s;
	int ret;

	key->tok = e->p;
	*which = which_key(e->p, &len);
	e->p += len;
	if (*which == KEYS) {
		ret = kl_edn_value(e, key);
		if (ret)
			return ret;
		/* Metadata may stand in front of a key that has a meaning. */
		s = kl_edn_canon(e, key, &n);
		if (key->ncanon)
			*which = which_text(s, n);
		if (*which == KEYS)
			return check_key(e, keys, key);
	}
	if (keys->seen & 1u << *which)
		return kl_scan_bad(&e->scan, key->tok, "each key of a map once");
	keys->seen |= 1u << *which;
	return 0;
}

/*
 * Return: true if the text begins with a discarded form, or with a map that has a tag, metadata
 * or a namespace.  In a comment of another format a blank follows the `#'.
 */
static bool is_marked(const struct kl_head *head)
{
	const char *p = head->first;

	if (head->end - p < 2)
		return false;
	if (*p == '^')
		return true;
	if (*p++ != '#')
		return false;
	if (*p == '_' || *p == '^')
		return true;
	while (p < head->end && (kl_scan_name(*p) || *p == '.' || *p == '/' || *p == '-' ||
				 *p == ':'))
		p++;
	while (p < head->end && kl_scan_blank(*p))
		p++;
	return p < head->end && *p == '{' && p > head->first + 1;
}

/* Return: true if the text begins with an object of JSON, which has a colon after its first key. */
static bool is_json(const struct kl_head *head)
{
	const char *p = head->data;

	while (p < head->end && (*p == '[' || *p == '{' || kl_scan_blank(*p) || *p == '\n'))
		p++;
	if (p == head->end || *p != '"')
		return false;
	for (p++; p < head->end && *p != '"' && *p != '\n'; p++)
		p += *p == '\\';
	/* Writers of EDN put a blank between a key and its value, which may be a keyword. */
	p++;
	if (p < head->end && *p == ':')
		return true;
	while (p < head->end && kl_scan_blank(*p))
		p++;
	return p < head->end && *p == ':' && p + 1 < head->end &&
	       (kl_scan_end(p[1]) || p[1] == '"');
}

static bool is_edn(const struct kl_head *head)
{
	const char *p = head->data;

	if (is_json(head))
		return false;

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

/*
 * Get the number of the process @v of the operation at @tok.  That of a process with a name, as
 * "client-3" or a #uuid, is a word whose spelling is the name.
 */
static int process_number(struct reader *r, const struct kl_edn_val *v, const char *tok,
			  uint64_t *number)
{
	const bool tagged = v->kind == KL_EDN_OTHER && v->tok && *v->tok == '#';
	const char *canon;
	size_t len = 0;

	if (v->kind == KL_EDN_INT && v->v >= 0) {
		*number = v->v;
		return 0;
	}
	while (v->tok && v->tok + len < v->end && (unsigned char)v->tok[len] >= ' ')
		len++;
	if ((v->kind != KL_EDN_STRING && !tagged) || v->tok + len < v->end)
		return kl_scan_bad(&r->j.scan, v->tok ? v->tok : tok,
				   "an operation with a :process that is a number, a string or a "
				   "#uuid");
	canon = kl_edn_canon(&r->edn, v, &len);
	return kl_jepsen_word(&r->j, canon, len, v->tok, v->end - v->tok, number);
}

static int event(struct reader *r, const char *tok, const struct kl_edn_val *val)
{
	const struct kl_edn_val *process = &val[PROCESS], *f = &val[F];
	uint64_t number;
	int type, ret;

	/* The nemesis and other processes with names do not use the data structure. */
	if (process->kind == KL_EDN_WORD) {
		kl_scan_skipped(&r->j.scan, KL_SKIP_NAMED, tok);
		return kl_pairs_other(&r->j.pairs);
	}
	ret = process_number(r, process, tok, &number);
	if (ret)
		return ret;
	type = val[TYPE].kind == KL_EDN_WORD ? kl_jepsen_type(val[TYPE].s, val[TYPE].len) : -1;
	if (type < 0)
		return kl_scan_bad(&r->j.scan, val[TYPE].tok ? val[TYPE].tok : tok,
				   "an operation with a :type, :invoke, :ok, :fail or :info");
	if (f->kind != KL_EDN_WORD || *f->s != ':')
		return kl_scan_bad(&r->j.scan, f->tok ? f->tok : tok,
				   "an operation with an :f, as in :f :read");
	if (!r->kv && !r->j.pairs.h->nops && kl_kv_is(f->s + 1, f->len - 1)) {
		r->kv = kl_kv_new(&r->j, &r->edn);
		if (!r->kv)
			return -ENOMEM;
	}
	if (r->kv)
		return kl_kv_event(r->kv, f->tok, number, type, f->s + 1, f->len - 1,
				   &val[KEY], &val[VALUE]);
	if (val[KEY].kind != KL_EDN_NIL)
		return kl_scan_bad(&r->j.scan, val[KEY].tok, "a :key only of put, get and append: "
				   "others have [KEY VALUE], with --independent=yes");
	return kl_jepsen_value_event(&r->j, &r->edn, r->keys.independent, tok, number, type, f,
				     &val[VALUE]);
}

/* Decide by an operation whether keys are independent, if it can decide. */
static int look(struct reader *r, const struct kl_edn_val *val)
{
	const struct kl_edn_val *f = &val[F], *type = &val[TYPE];

	if (val[PROCESS].kind == KL_EDN_WORD || f->kind != KL_EDN_WORD || type->kind != KL_EDN_WORD)
		return 0;
	return kl_edn_keys_look(&r->keys, &r->edn, kl_jepsen_type(type->s, type->len), f,
				&val[VALUE]);
}

/* Read the map at the scanner's position. */
static int operation(struct reader *r)
{
	/* val[KEYS] is the value of a key without a meaning. */
	struct kl_edn_val key, val[KEYS + 1];
	struct keys keys;
	struct kl_edn *e = &r->edn;
	const char *tok = e->p;
	unsigned int i, line = e->scan.line;
	bool more;
	int ret;

	keys.seen = keys.n = 0;
	r->j.pairs.index = 0;
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
		ret = kl_edn_wrong_bracket(e, '}') ?: scan_key(e, &keys, &key, &i);
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
		if (i == KEYS && !memcmp(key.tok, INDEX, sizeof(INDEX) - 1) &&
		    kl_edn_ends(key.tok[sizeof(INDEX) - 1]) && val[i].kind == KL_EDN_INT &&
		    val[i].v >= 0 && val[i].v < UINT32_MAX)
			r->j.pairs.index = val[i].v + 1;
	}
	e->p++;
	r->j.scan.line = e->scan.line;
	ret = check_value(e, &keys) ?: look(r, val);
	return ret || r->looking ? ret : event(r, tok, val);
}

/* Read all operations.  After an error the next operation is read, to report its errors, too. */
static int operations(struct reader *r)
{
	struct kl_edn *e = &r->edn;
	const char *open = NULL;
	unsigned int line = 1;
	char close = 0;
	int ret;

	e->p = e->scan.text;
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
			r->j.whole = true;
			e->p++;
			if (!kl_edn_skip(e))
				return 0;
			return kl_scan_bad(&e->scan, e->p, "the end of the file");
		}
		r->j.pairs.entry = e->p;
		ret = kl_edn_prefixes(e);
		if (ret)
			return ret;
		if (*e->p != '{')
			return kl_scan_bad(&e->scan, e->p, "an operation as in {:process 0, :type "
					   ":invoke, :f :read, :value nil}");
		e->ncanon = 0;
		ret = operation(r);
		if (r->looking && !ret && r->keys.told)
			return 0;
		if (ret && (ret != -EINVAL || e->scan.errors || r->j.scan.stop ||
			    r->j.scan.errors >= MAX_ERRORS))
			return ret;
	}
	if (!open)
		return 0;
	e->scan.line = line;
	return kl_scan_bad(&e->scan, open, "a closing bracket");
}

static int read_text(struct reader *r)
{
	int ret;

	r->looking = true;
	ret = operations(r) ?: kl_edn_keys_decide(&r->keys, &r->j.scan);
	r->looking = false;
	ret = ret ?: operations(r);
	return ret ?: r->j.scan.errors ? -EINVAL : 0;
}

static int read_edn(struct kl_input *in, struct kl_history **out)
{
	struct reader r = { .keys.wanted = in->independent };
	const char *text = NULL;
	int ret;

	ret = kl_jepsen_begin(&r.j, in->name, false);
	r.edn.scan.name = in->name;
	if (!ret)
		ret = kl_input_text(in, &text, &r.edn.end);
	r.edn.scan.text = r.j.scan.text = text;
	r.edn.scan.end = r.j.scan.end = r.edn.end;
	if (!ret)
		ret = read_text(&r);
	if (!ret && r.kv)
		ret = kl_kv_end(r.kv);
	if (!ret)
		r.j.pairs.h->keyed = r.keys.independent;
	kl_kv_free(r.kv);
	kl_edn_free(&r.edn);
	return kl_jepsen_end(&r.j, ret, out);
}

const struct kl_form kl_form_edn = {
	.name = "edn",
	.rank = 80,
	.help = "Jepsen's and Knossos' maps, and Porcupine's key-value logs",
	.example = "{:process 0, :type :invoke, :f :write, :value 4}",
	.is = is_edn,
	.keys = true,
	.places = KL_PLACES_OFFSETS,
	.read = read_edn,
	.write = kl_jepsen_write_edn,
	.entry = kl_edn_entry,
	.specs = { "register", "queue", "lock", "map", "kv" },
};
KL_FORM(kl_form_edn);
