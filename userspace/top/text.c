// SPDX-License-Identifier: GPL-2.0
/* Texts for a terminal, see text.h. */
#include <langinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "top/text.h"

/*
 * Decode the UTF-8 character at @s.  @c: gets the code point.  Return: the character's length; 0
 * if it is malformed, too long for its code point, or half of a surrogate pair.
 */
static int decode(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const int n = kl_utf8_length(*s);
	int i;

	*c = n == 1 ? *s : *s & (0xff >> (n + 1));
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return n && *c >= least[n] && *c <= 0x10ffff && (*c < 0xd800 || *c > 0xdfff) ? n : 0;
}

/* Return: true if a terminal may obey the character, or show others in another order. */
static bool acts(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff0 && c <= 0xfffb) || c >= 0xe0000;
}

void top_text_clean(char *dst, size_t size, const char *src, int lines)
{
	const unsigned char *s = (const unsigned char *)src;
	uint32_t c;
	size_t k = 0;
	int n;

	while (*s) {
		n = decode(s, &c);
		if (k + (n ? n : 1) >= size)
			break;
		if (*s == '\t') {
			dst[k++] = ' ';
		} else if (!n || (acts(c) && !(lines && c == '\n'))) {
			dst[k++] = '?';
		} else {
			memcpy(dst + k, s, n);
			k += n;
		}
		s += n ? n : 1;
	}
	dst[k] = '\0';
}

int top_text_cut(char *dst, size_t size, const char *src, int width, const char **next)
{
	const bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	size_t k = 0;
	uint32_t c;
	int n, w, columns = 0;

	while (*src && *src != '\n') {
		n = decode((const unsigned char *)src, &c);
		w = n == 1 ? 1 : utf8 && n ? wcwidth(c) : 0;
		if (columns + (w > 0 ? w : 1) > width || k + (n ? n : 1) >= size)
			break;
		if (w > 0 && (n > 1 || !acts(c))) {
			memcpy(dst + k, src, n);
			k += n;
		} else {
			dst[k++] = '?';
		}
		columns += w > 0 ? w : 1;
		src += n ? n : 1;
	}
	dst[k] = '\0';
	if (next)
		*next = src;
	return columns;
}

void top_text_number(char *buf, size_t size, double v)
{
	static const char units[] = "kMGTPE";
	int i = -1;

	if (v < 99999.5) {
		snprintf(buf, size, "%.0f", v);
		return;
	}
	while (v >= 999.5 && units[i + 1]) {
		v /= 1000;
		i++;
	}
	snprintf(buf, size, v < 9.95 ? "%.1f%c" : "%.0f%c", v, units[i]);
}

void top_text_time(char *buf, size_t size, uint64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
		      { "d", 86400e9 } };
	size_t i = 0;
	double v;

	if (ns < 1000) {
		snprintf(buf, size, ns ? "%dns" : "%d", (int)ns);
		return;
	}
	while (i + 1 < sizeof(units) / sizeof(*units) && ns >= units[i + 1].ns)
		i++;
	v = ns / units[i].ns;
	snprintf(buf, size, v < 9.95 ? "%.1f%s" : "%.0f%s", v, units[i].unit);
}
