// SPDX-License-Identifier: GPL-2.0
/* Spellings that klin-replay does not need: of threads, methods and results; see spell.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/spell.h"
#include "history/string_pool.h"

int kl_history_spell_method(struct kl_history *h, const char *name, const char *text, size_t len)
{
	const uint64_t word = kl_hash_bytes(name, strlen(name));

	if (strlen(name) == len && !memcmp(name, text, len))
		return 0;
	return kl_history_spell_kind(h, KL_SPELLED_METHOD, word, text, len);
}

int kl_history_spell_result(struct kl_history *h, const char *name, unsigned int i, uint64_t v,
			    const char *text, size_t len)
{
	return kl_history_spell_kind(h, KL_SPELLED_RESULT, kl_result_word(name, i, v), text, len);
}

int kl_history_print_result(char *buf, size_t size, const struct kl_history *h, const char *name,
			    unsigned int i, struct kl_val v)
{
	const char *said = kl_history_result_said(h, name, i, v);

	return said ? snprintf(buf, size, "%s", said) : kl_history_print_val(buf, size, h, v);
}

void kl_history_print_thread(char *buf, size_t size, const struct kl_history *h, uint32_t thread)
{
	const uint64_t number = h->threads[thread];
	const char *spelling = number < KL_WORDS_FIRST ? NULL : kl_history_spelling(h, number);

	if (spelling)
		snprintf(buf, size, "%s", spelling);
	else if (h->view.threadless)
		snprintf(buf, size, "lane %" PRIu64, number + 1);
	else
		snprintf(buf, size, "t%" PRIu64, number);
}

/*
 * Return: the spelling of the number at @p, which may be @shown, or NULL; @end is set to the
 * number's end.
 */
static const char *number(const struct kl_history *h, const char *p, char **end, char shown[32])
{
	const char *spelling;
	uint64_t word;

	errno = 0;
	word = strtoull(p, end, p[0] == '0' && p[1] == 'x' ? 16 : 10);
	if (errno || word < KL_WORDS_FIRST)
		return NULL;
	spelling = kl_history_spelling(h, word);
	if (spelling)
		return spelling;
	kl_history_print_val(shown, 32, h, kl_word(word));
	return shown;
}

void kl_history_spell_out(const struct kl_history *h, char *text, size_t size)
{
	size_t len = strlen(text), n;
	char *p = text, *end, shown[32];
	const char *spelling;

	while (*p) {
		if ((unsigned int)(*p - '0') >= 10) {
			p++;
			continue;
		}
		spelling = number(h, p, &end, shown);
		n = spelling ? strlen(spelling) : 0;
		if (!spelling || len - (end - p) + n >= size) {
			p = end;
			continue;
		}
		memmove(p + n, end, text + len + 1 - end);
		memcpy(p, spelling, n);
		len += n - (end - p);
		p += n;
	}
}
