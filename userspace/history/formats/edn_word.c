// SPDX-License-Identifier: GPL-2.0
/* Words for values of EDN, see edn_word.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "history/formats/edn_word.h"
#include "history/spell.h"

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

int kl_edn_word(struct kl_words *words, struct kl_history *h, const char *canon, size_t len,
		const char *text, size_t n, uint64_t *word)
{
	int ret = kl_words_get(words, canon, len, word);
	char *line;
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < n && !is_control(text[i]); i++)
		;
	if (i == n)
		return kl_history_spell(h, *word, text, n);
	/* In a canonical text, only strings contain control characters. */
	line = malloc(len * 6 + 1);
	if (!line)
		return -ENOMEM;
	for (i = 0, n = 0; i < len; i++) {
		if (is_control(canon[i]))
			n += sprintf(line + n, "\\u%04x", canon[i]);
		else
			line[n++] = canon[i];
	}
	ret = kl_history_spell(h, *word, line, n);
	free(line);
	return ret;
}
