/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of a key-value log's keys and strings, and how people see them.
 *
 * Keys are equal if Clojure's `=' calls them equal: "0", 0, :0 and [0] are four keys.  A
 * number is its own word.  So is a string of digits, as those of Porcupine's logs, unless
 * there are numbers, too.
 */
#ifndef KL_HISTORY_FORMATS_KV_WORD_H
#define KL_HISTORY_FORMATS_KV_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/formats/edn.h"
#include "history/formats/jepsen.h"

#define KL_KV_SPELLED	60	/* characters of a string that people see */

struct kl_kv_keys {
	struct kl_jepsen *j;
	const struct kl_edn *edn;
	struct kl_words others;		/* keys that are neither strings nor numbers */
	bool numbers;			/* there are some */
};

/* The word of a string; 0, -ENOMEM, -EOVERFLOW. */
int kl_kv_string(struct kl_jepsen *j, const char *s, size_t len, uint64_t *word);

/* The word of a key that is not nil; 0, -EINVAL after a message, -ENOMEM, -EOVERFLOW. */
int kl_kv_key(struct kl_kv_keys *keys, const struct kl_edn_val *key, uint64_t *word);

/*
 * After the last key: the word of the string whose word was @word, which is another one if
 * it is a number's.  0, -ENOMEM, -EOVERFLOW.
 */
int kl_kv_key_apart(struct kl_kv_keys *keys, uint64_t *word);

/*
 * How a string is spelled: its end, if it is long, behind dots.  A value that ends in an
 * appended string, @appended, and that nobody got, is spelled with dots before the quote:
 * kl_op_print() shows such a string as what is appended.  The same.
 */
int kl_kv_spell(struct kl_history *h, uint64_t word, const char *s, size_t len, bool appended);

#endif
