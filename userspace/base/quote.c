// SPDX-License-Identifier: GPL-2.0
/* Words of a command line, see quote.h. */
#include <string.h>

#include "base/quote.h"

void kl_put_quoted(FILE *f, const char *word)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_-=./,:+@%";

	if (*word && !word[strspn(word, harmless)]) {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}
