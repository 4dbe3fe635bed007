/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Logs of key-value stores whose values are strings: get, put and append, as
 * Porcupine's tests have them.  A key begins as "".
 *
 * They are read as operations of a map of words.  What equals a string is a word;
 * "" is a key that is not there, so that putting it is a removal.
 *
 * Appending is read as a compare-and-set, exactly, when all that is appended to a
 * key is different, and begins with a character that is nowhere else in it:
 * then strings that were got fall apart in one way only, and in each of them an
 * appended string stands where its operation put it.  That tells the values before
 * and after.  What nobody got makes a value that nobody gets.  Other appends are
 * refused.
 */
#ifndef KL_HISTORY_KV_H
#define KL_HISTORY_KV_H

#include "history/edn.h"
#include "history/jepsen.h"

struct kl_kv;

struct kl_kv *kl_kv_new(struct kl_jepsen *j);
void kl_kv_free(struct kl_kv *kv);
/* Is this one of its methods? */
bool kl_kv_is(const char *f, size_t len);
/* As kl_jepsen_event(); the strings must stay. */
int kl_kv_event(struct kl_kv *kv, const char *tok, uint64_t process, enum kl_jepsen_type type,
		const char *f, size_t len, const struct kl_edn_val *key,
		const struct kl_edn_val *v);
/* After the last event: turn strings to words. */
int kl_kv_end(struct kl_kv *kv);

#endif
