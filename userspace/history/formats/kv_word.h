/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of a key-value log's keys and strings, and their spellings for people.
 *
 * Keys are equal if Clojure's `=' calls them equal: "0", 0, :0 and [0] are four keys.  A number is
 * its own word.  A string of digits, as in Porcupine's logs, is the word of its number, unless the
 * log has numbers, too, or appends.
 */
#ifndef KL_HISTORY_FORMATS_KV_WORD_H
#define KL_HISTORY_FORMATS_KV_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/formats/edn.h"
#include "history/formats/jepsen.h"

#define KL_KV_SPELLED	60 /* maximal length of a spelling */

struct kl_kv_keys {
	struct kl_jepsen *j;
	const struct kl_edn *edn;
	struct kl_words others;		/* keys that are neither strings nor numbers */
	bool numbers; /* some keys are numbers, or numbers have another meaning */
};

/* Get the word of a string.  Return: 0, -ENOMEM or -EOVERFLOW. */
int kl_kv_string(struct kl_jepsen *j, const char *s, size_t len, uint64_t *word);

/*
 * Get the word of a key that is not nil.
 * Return: 0, -EINVAL after a message, -ENOMEM or -EOVERFLOW.
 */
int kl_kv_key(struct kl_kv_keys *keys, const struct kl_edn_val *key, uint64_t *word);

/*
 * Replace the word of a string by its final word, and spell it, after the last key was read.  If
 * some keys are numbers, a string of digits gets another word than its number.
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
int kl_kv_apart(const struct kl_kv_keys *keys, uint64_t *word);

/*
 * Set the spelling of a string; a long string is spelled as dots and its end.  With @appended,
 * @word stands for any value that ends in @s and that no get returns.  Its spelling has dots
 * before the quote, so that kl_op_print() shows @s as the appended string.
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
int kl_kv_spell(struct kl_history *h, uint64_t word, const char *s, size_t len, bool appended);

#endif
