// SPDX-License-Identifier: GPL-2.0
/* Conversion of EDN values to those of Jepsen's structures, see jepsen_value.h. */
#include <errno.h>

#include "history/formats/edn_word.h"
#include "history/formats/jepsen_value.h"
#include "history/spell.h"

struct conversion {
	struct kl_jepsen *j;
	struct kl_edn *e;
	bool ended; /* the event is :fail or :info, so the value may be a remark */
	bool text; /* something in the value is neither a number nor nil */
	bool strange; /* something in the value never occurred before, so the value is a remark */
};

static int word_of(struct conversion *c, const struct kl_edn_val *v, uint64_t *word)
{
	const char *canon;
	size_t len;

	*word = v->kind == KL_EDN_NIL ? KL_JEPSEN_NIL : (uint64_t)v->v;
	if (v->kind == KL_EDN_INT && !c->ended && !kl_is_plain(v->tok, v->end - v->tok))
		return kl_history_spell_number(c->j->pairs.h, *word, v->tok, v->end - v->tok);
	if (v->kind == KL_EDN_NIL || v->kind == KL_EDN_INT)
		return 0;
	c->text = true;
	canon = kl_edn_canon(c->e, v, &len);
	if (!c->ended)
		return kl_edn_word(&c->j->words, c->j->pairs.h, canon, len, v->tok, v->end - v->tok,
				   word);
	/* The value may be a remark, so it must not add a word to the history. */
	c->strange |= !kl_words_find(&c->j->words, canon, len, word);
	return 0;
}

/* Convert a value; with @pair it is the value of a cas. */
static int convert(struct conversion *c, const struct kl_edn_val *v, bool pair,
		   struct kl_jepsen_value *out)
{
	struct kl_edn_val item;
	unsigned int i;
	int ret = 0;

	if (v->kind == KL_EDN_NIL) {
		out->kind = KL_JEPSEN_NONE;
		return 0;
	}
	if (!pair || v->kind != KL_EDN_PAIR) {
		out->kind = KL_JEPSEN_WORD;
		return word_of(c, v, &out->v[0]);
	}
	out->kind = KL_JEPSEN_PAIR;
	for (i = 0; i < 2 && !ret; i++)
		ret = kl_edn_item(c->e, v, i, &item) ?: word_of(c, &item, &out->v[i]);
	return ret;
}

/* Convert a [KEY VALUE]. */
static int convert_keyed(struct conversion *c, const char *tok, const struct kl_edn_val *v,
			 bool pair, struct kl_jepsen_value *out)
{
	struct kl_edn_val key, value;
	int ret;

	if (v->kind != KL_EDN_PAIR) {
		out->kind = KL_JEPSEN_OTHER;
		if (c->ended && v->kind != KL_EDN_INT)
			return 0;
		return kl_scan_bad(&c->j->scan, v->tok ? v->tok : tok,
				   "a :value as in [KEY VALUE], as keys are independent here");
	}
	out->keyed = true;
	ret = kl_edn_item(c->e, v, 0, &key) ?: word_of(c, &key, &out->key);
	return ret ?: kl_edn_item(c->e, v, 1, &value) ?: convert(c, &value, pair, out);
}

int kl_jepsen_value_event(struct kl_jepsen *j, struct kl_edn *e, bool independent,
			  const char *tok, uint64_t number, enum kl_jepsen_type type,
			  const struct kl_edn_val *f, const struct kl_edn_val *v)
{
	const bool pair = kl_scan_is(f->s, f->len, ":cas");
	struct conversion c = {
		.j = j, .e = e, .ended = type == KL_JEPSEN_FAIL || type == KL_JEPSEN_INFO,
	};
	struct kl_jepsen_value value = { .kind = KL_JEPSEN_NONE };
	int ret = independent ? convert_keyed(&c, tok, v, pair, &value) :
		  convert(&c, v, pair, &value);

	if (ret)
		return ret;
	value.text = c.text;
	value.missing = !v->tok;
	if (c.strange)
		value = (struct kl_jepsen_value){ .kind = KL_JEPSEN_OTHER };
	return kl_jepsen_event(j, f->tok, number, type, f->s + 1, f->len - 1, &value);
}
