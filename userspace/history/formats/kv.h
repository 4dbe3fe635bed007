/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Logs of key-value stores whose values are strings: get, put and append, as
 * Porcupine's tests have them.  A key begins as "".
 *
 * They are read as operations of a map of words.  What equals a string is a word;
 * "" is a key that is not there, so that putting it is a removal.
 *
 * With appends a word stands for a string that was got or a beginning of one; kv_tree.h says
 * why these are enough.  Appending leads from one of them to another, or to a value that
 * nobody gets, as specs/kv.lin has it.  Where one leads from more than three, the history
 * carries a specification of its own, see kv_spec.h.
 */
#ifndef KL_HISTORY_FORMATS_KV_H
#define KL_HISTORY_FORMATS_KV_H

#include "history/formats/edn.h"
#include "history/formats/jepsen.h"

struct kl_kv;

struct kl_kv *kl_kv_new(struct kl_jepsen *j, const struct kl_edn *edn);
void kl_kv_free(struct kl_kv *kv);
/* Is this one of its methods? */
bool kl_kv_is(const char *f, size_t len);
/* As kl_jepsen_event(); the strings must stay. */
int kl_kv_event(struct kl_kv *kv, const char *tok, uint64_t number, enum kl_jepsen_type type,
		const char *f, size_t len, const struct kl_edn_val *key,
		const struct kl_edn_val *v);
/* After the last event: turn strings to words. */
int kl_kv_end(struct kl_kv *kv);

#endif
