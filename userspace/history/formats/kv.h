/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Logs of key-value stores whose values are strings: get, put and append, as in Porcupine's tests.
 * A key holds "" at first.
 *
 * A log becomes a history of a map of words.  Equal strings have equal words.  A key that holds
 * "" is missing, so a put of "" is a removal.
 *
 * With appends a word stands for a string that a get returned, or for a beginning of such a
 * string; kv_tree.h explains why these are enough.  An append leads from one word to another,
 * or to a value that no get returns, see specs/kv.lin.  If an append leads from more than three
 * words, the history carries a spec of its own, see kv_spec.h.
 */
#ifndef KL_HISTORY_FORMATS_KV_H
#define KL_HISTORY_FORMATS_KV_H

#include "history/formats/edn.h"
#include "history/formats/jepsen.h"

struct kl_kv;

struct kl_kv *kl_kv_new(struct kl_jepsen *j, const struct kl_edn *edn);
void kl_kv_free(struct kl_kv *kv);
/* Return: true if @f is a method of a key-value store. */
bool kl_kv_is(const char *f, size_t len);
/* As kl_jepsen_event(); the strings must live until kl_kv_end(). */
int kl_kv_event(struct kl_kv *kv, const char *tok, uint64_t number, enum kl_jepsen_type type,
		const char *f, size_t len, const struct kl_edn_val *key,
		const struct kl_edn_val *v);
/* Turn strings into words, after the last event. */
int kl_kv_end(struct kl_kv *kv);

#endif
