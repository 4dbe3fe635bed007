// SPDX-License-Identifier: GPL-2.0
/* Text with line breaks between words, see words.h. */
#include <stdbool.h>
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

/* Print words and then @end, which no line break parts from the last word. */
static void put_words(FILE *f, const char *text, const char *end, int at, int indent, int width)
{
	int len, more;
	bool last;

	for (text += strspn(text, " \n"); *text; text += len + more) {
		len = strcspn(text, " \n");
		more = strspn(text + len, " \n");
		last = !text[len + more];
		at = kl_put_word(f, text, len, at, indent, last ? width - (int)strlen(end) : width);
	}
	fprintf(f, "%s\n", end);
}

void kl_put_words(FILE *f, const char *text, int at, int indent, int width)
{
	put_words(f, text, "", at, indent, width);
}

void kl_put_sentence(FILE *f, const char *before, const char *text)
{
	fputs(before, f);
	put_words(f, text, ".", strlen(before), 2, KL_REPORT_WIDTH);
}
