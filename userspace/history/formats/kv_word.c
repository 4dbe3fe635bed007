// SPDX-License-Identifier: GPL-2.0
/* Words and spellings of keys, see kv_word.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "history/formats/kv_word.h"
#include "history/spell.h"

#define SPELLED		KL_KV_SPELLED
#define OTHERS_FIRST	((uint64_t)1 << 50) /* offset of other keys, above strings and nodes */
/* offset of the words of keys that are strings of digits, above all other words */
#define DIGITS_FIRST	((uint64_t)1 << 60)

/* Cut a long text to its end, at a character of UTF-8.  Return: true if it was cut. */
static bool take_end(const char **s, size_t *len)
{
	if (*len <= SPELLED)
		return false;
	*s += *len - SPELLED;
	*len = SPELLED;
	while (*len && (**s & 0xc0) == 0x80) {
		++*s;
		--*len;
	}
	return true;
}

/* Write a text on one line; with @quoted, escape it for use in quotes.  Return: the length. */
static size_t put(char *text, const char *s, size_t len, bool quoted)
{
	size_t n = 0;

	for (; len; s++, len--) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			n += sprintf(text + n, "\\u%04x", *s);
		else if (quoted && (*s == '"' || *s == '\\'))
			n += sprintf(text + n, "\\%c", *s);
		else
			text[n++] = *s;
	}
	return n;
}

int kl_kv_spell(struct kl_history *h, uint64_t word, const char *s, size_t len, bool appended)
{
	char text[6 * SPELLED + 10];
	const bool cut = take_end(&s, &len);
	size_t n;

	n = sprintf(text, "%s\"%s", appended || cut ? "..." : "", appended && cut ? "..." : "");
	n += put(text + n, s, len, true);
	text[n++] = '"';
	return kl_history_spell(h, word, text, n);
}

static int spell_other(struct kl_history *h, uint64_t word, const char *s, size_t len)
{
	char text[6 * SPELLED + 10];
	size_t n = take_end(&s, &len) ? sprintf(text, "...") : 0;

	n += put(text + n, s, len, false);
	return kl_history_spell(h, word, text, n);
}

int kl_kv_string(struct kl_jepsen *j, const char *s, size_t len, uint64_t *word)
{
	const size_t before = j->words.n;
	const int ret = kl_words_get(&j->words, s, len, word);

	return ret || j->words.n == before ? ret : kl_kv_spell(j->pairs.h, *word, s, len, false);
}

int kl_kv_key(struct kl_kv_keys *keys, const struct kl_edn_val *key, uint64_t *word)
{
	const size_t before = keys->others.n;
	const char *s;
	size_t len;
	int ret;

	if (key->kind == KL_EDN_INT) {
		keys->numbers = true;
		*word = key->v;
		return 0;
	}
	if (key->kind == KL_EDN_STRING)
		return kl_kv_string(keys->j, key->s, key->len, word);
	s = kl_edn_canon(keys->edn, key, &len);
	/* A string with metadata has the canonical text of the string alone. */
	if (*s == '"')
		return kl_scan_bad(&keys->j->scan, key->tok, "a :key without metadata");
	ret = kl_words_get(&keys->others, s, len, word);
	if (ret)
		return ret;
	*word += OTHERS_FIRST;
	return keys->others.n == before ? 0 : spell_other(keys->j->pairs.h, *word, s, len);
}

int kl_kv_apart(const struct kl_kv_keys *keys, uint64_t *word)
{
	char digits[24];
	size_t len;

	if (*word >= KL_WORDS_FIRST)
		return 0;
	len = snprintf(digits, sizeof(digits), "%" PRIu64, *word);
	if (keys->numbers)
		*word += KL_WORDS_FIRST + DIGITS_FIRST;
	return kl_kv_spell(keys->j->pairs.h, *word, digits, len, false);
}
