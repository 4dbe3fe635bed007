// SPDX-License-Identifier: GPL-2.0
/* Reads entries of EDN again, see edn_entry.h. */
#include <errno.h>

#include "history/formats/edn_entry.h"
#include "history/formats/edn_form.h"

int kl_edn_prefixes(struct kl_edn *e)
{
	const char *tok = e->p;
	int ret = 0;

	while (!ret && *e->p != '{') {
		tok = e->p;
		if (*tok == '#' && (unsigned int)((tok[1] | 0x20) - 'a') < 26)
			e->p = kl_edn_atom_end(tok + 1);
		else if (*tok == '^' || (*tok == '#' && tok[1] == '^'))
			ret = kl_edn_metadata(e);
		else
			break;
		if (!ret && !kl_edn_skip(e))
			ret = kl_scan_bad(&e->scan, e->end - 1, "an operation");
		if (!ret && e->bad)
			ret = -EINVAL;
	}
	return ret;
}

static struct kl_piece span_of(const struct kl_edn_val *v)
{
	return (struct kl_piece){ v->tok, v->tok ? v->end - v->tok : 0 };
}

void kl_edn_entry_words(const struct kl_history *h, struct kl_edn *e, const struct kl_edn_val *v,
			struct kl_entry *out)
{
	struct kl_edn_val value = *v, item;
	unsigned int i;

	if (h->keyed && (v->kind != KL_EDN_PAIR || kl_edn_item(e, v, 1, &value)))
		return;
	if (value.kind != KL_EDN_PAIR || !kl_scan_is(out->f.s, out->f.len, ":cas")) {
		out->word[0] = span_of(&value);
		out->nwords = 1;
		return;
	}
	for (i = 0; i < 2 && !kl_edn_item(e, &value, i, &item); i++)
		out->word[out->nwords++] = span_of(&item);
}

/* Note a key and its value, if the key has a meaning here. */
static void note(struct kl_entry *out, const struct kl_edn_val *key, const struct kl_edn_val *val)
{
	const size_t len = key->end - key->tok;

	if (kl_scan_is(key->tok, len, ":process"))
		out->process = span_of(val);
	if (kl_scan_is(key->tok, len, ":type"))
		out->type = span_of(val);
	if (kl_scan_is(key->tok, len, ":f"))
		out->f = span_of(val);
	if (kl_scan_is(key->tok, len, ":value"))
		out->value = span_of(val);
	if (kl_scan_is(key->tok, len, ":time") && val->kind == KL_EDN_INT && val->v >= 0) {
		out->timed = true;
		out->time = val->v;
	}
}

/* Read the next value.  Return: false at the end of the text, or after an error. */
static bool next_value(struct kl_edn *e, struct kl_edn_val *v)
{
	return kl_edn_skip(e) && !e->bad && *e->p != '}' && !kl_edn_value_here(e, v);
}

static bool read_map(const struct kl_history *h, struct kl_edn *e, struct kl_entry *out)
{
	struct kl_edn_val key, val, value = { .kind = KL_EDN_NIL };
	bool kv = false;

	if (!kl_edn_skip(e) || e->bad || kl_edn_prefixes(e) || *e->p++ != '{')
		return false;
	while (next_value(e, &key) && next_value(e, &val)) {
		note(out, &key, &val);
		if (kl_scan_is(key.tok, key.end - key.tok, ":value"))
			value = val;
		kv |= kl_scan_is(key.tok, key.end - key.tok, ":key");
	}
	if (e->bad || e->scan.errors || e->p >= e->end || *e->p != '}')
		return false;
	e->p++;
	/* Strings of key-value logs are spelled in one way. */
	if (value.tok && !kv)
		kl_edn_entry_words(h, e, &value, out);
	return true;
}

bool kl_edn_entry(const struct kl_history *h, const char *text, const char *end,
		  struct kl_entry *out)
{
	struct kl_edn e = {
		.scan = { .quiet = true, .text = text, .end = end },
		.p = text,
		.end = end,
	};
	bool whole;

	*out = (struct kl_entry){ 0 };
	whole = read_map(h, &e, out);
	out->len = e.p - text;
	kl_edn_free(&e);
	return whole;
}
