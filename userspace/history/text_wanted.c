// SPDX-License-Identifier: GPL-2.0
/* What to write in a history in place of words that are no values, for messages. */
#include <ctype.h>
#include <string.h>

#include "base/nearest.h"
#include "history/text.h"

const char *kl_scan_odd(const char *tok)
{
	static const struct {
		const char *text, *advice;
	} odd[] = {
		{ "\xc2\xa0", "; the word has a blank that does not break: write a blank" },
		{ "\xe2\x80\xaf", "; the word has a blank that does not break: write a blank" },
		{ "\xe3\x80\x80", "; the word has a wide blank: write a blank" },
		{ "\xe2\x80\x8b", "; the word has a blank without width: remove it" },
		{ "\xe2\x88\x92", "; the word has a minus sign of typography: write `-'" },
		{ "\xe2\x86\x92", "; write `->' for the arrow" },
	};
	const size_t n = kl_scan_word(tok);
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if (memmem(tok, n, odd[i].text, strlen(odd[i].text)))
			return odd[i].advice;
	return "";
}

const char *kl_text_wanted(const char *p, size_t n)
{
	static const char *const names[] = { "empty", "full", "absent", "true", "false" };
	static const char *const wanted[] = {
		KL_TEXT_VALUE "; write `empty'",  KL_TEXT_VALUE "; write `full'",
		KL_TEXT_VALUE "; write `absent'", KL_TEXT_VALUE "; write `true'",
		KL_TEXT_VALUE "; write `false'",
	};
	static const char *const attributes[] = { "cpu", "point", "drain", "stack" };
	size_t i;

	if (*p == '#')
		return "a comment in a line of its own";
	if ((*p == '-' || *p == '=') && p[1] == '>')
		return "`->' with blanks around it, before results";
	for (i = 0; i < n && isxdigit((unsigned char)p[i]); i++)
		;
	if (n && i == n)
		return KL_TEXT_VALUE "; hexadecimal numbers begin with 0x";
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (kl_edits(p, n, names[i]) <= 2 ||
		    (n == strlen(names[i]) && !strncasecmp(p, names[i], n)))
			return wanted[i];
	for (i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (kl_scan_is(p, n, attributes[i]))
			return KL_TEXT_VALUE "; attributes have no blanks, as in cpu=3";
	if (kl_scan_is(p, n, "nil") || kl_scan_is(p, n, "null") || kl_scan_is(p, n, "NULL") ||
	    kl_scan_is(p, n, "None"))
		return KL_TEXT_VALUE "; write `empty' or `absent' where nothing was there";
	return KL_TEXT_VALUE;
}
