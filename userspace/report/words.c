// SPDX-License-Identifier: GPL-2.0
/* Text with line breaks between words, see words.h. */
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

int kl_put_word(FILE *f, const char *word, int len, int at, int indent, int width)
{
	if (at > indent && at + 1 + len > width) {
		fprintf(f, "\n%*s", indent, "");
		at = indent;
	}
	return at + fprintf(f, "%s%.*s", at > indent ? " " : "", len, word);
}

void kl_put_words(FILE *f, const char *text, int at, int indent, int width)
{
	int len;

	for (;; text += len) {
		text += strspn(text, " \n");
		len = strcspn(text, " \n");
		if (!len)
			break;
		at = kl_put_word(f, text, len, at, indent, width);
	}
	putc('\n', f);
}

void kl_put_sentence(FILE *f, const char *before, const char *text)
{
	/* Without memory for the full stop, the sentence has none. */
	char *whole = NULL;

	if (asprintf(&whole, "%s.", text) < 0)
		whole = NULL;
	fputs(before, f);
	kl_put_words(f, whole ? whole : text, strlen(before), 2, KL_REPORT_WIDTH);
	free(whole);
}
