// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of EDN, see edn_form.h: integers of any size (1N equals 1), ratios, floating-point
 * numbers and decimals.  As in Clojure, 1.0, 1.0M and 1 are three different values; 0x10, 020,
 * 16r10 and 16 are equal; 010/3 is 10/3.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/edn_big.h"
#include "history/formats/edn_form.h"

#define TOO_LARGE	"a number below 2^1024, or a decimal integer, which has no bound"
#define EXPECTED	"a number as in 1, -2N, 0x1f, 017, 2r101, 3/4, 1.5, 2e10 or 1.50M"

static const char *digits(const char *p)
{
	while (kl_scan_digit(*p))
		p++;
	return p;
}

/* Return: the value of a digit or a letter as a digit; 36 for any other character. */
static unsigned int digit(char c)
{
	if (kl_scan_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 36;
}

/* Append @v, or with @minus -@v, in decimal; -0 becomes 0. */
static int put_big(struct kl_edn *e, bool minus, const struct kl_big *v)
{
	char text[KL_BIG_TEXT];
	const size_t n = kl_big_print(v, text);
	int ret = minus && !kl_big_is(v, 0) ? kl_edn_put(e, "-", 1) : 0;

	return ret ?: kl_edn_put(e, text, n);
}

/*
 * Read an integer whose radix is not 10 and whose digits begin at @p.  @bad is the message for a
 * digit that the radix does not have.  With @big, an N may follow.
 */
static int of_radix(struct kl_edn *e, const char *tok, const char *p, unsigned int radix,
		    bool big, const char *bad)
{
	const char *start = p;
	struct kl_big v = { 0 };

	for (; digit(*p) < radix; p++)
		if (!kl_big_append(&v, radix, digit(*p)))
			return kl_scan_bad(&e->scan, tok, TOO_LARGE);
	if (p == start)
		return kl_scan_bad(&e->scan, tok, bad);
	p += big && *p == 'N';
	if (!kl_edn_ends(*p))
		return kl_scan_bad(&e->scan, tok, bad);
	e->p = p;
	return put_big(e, *tok == '-', &v);
}

/* Read RADIXrDIGITS; the r is at @at. */
static int with_radix(struct kl_edn *e, const char *tok, const char *first, const char *at)
{
	const unsigned int radix = strtoul(first, NULL, 10);

	if (*first == '0' || at - first > 2 || radix < 2 || radix > 36)
		return kl_scan_bad(&e->scan, tok, "a radix from 2 to 36 in front of the r");
	/* An N is a digit in large radixes, so it is no suffix here. */
	return of_radix(e, tok, at + 1, radix, false, "digits of the radix in front of the r");
}

/* Read the digits of an integer, from @p, behind its sign at @tok, to @end; -0 becomes 0. */
static int integer(struct kl_edn *e, const char *tok, const char *p, const char *end)
{
	int ret = 0;

	if (*p == '0' && end > p + 1)
		return of_radix(e, tok, p + 1, 8, true,
				"an octal number after the zero, or no zero in front");
	if (*tok == '-' && *p != '0')
		ret = kl_edn_put(e, "-", 1);
	return ret ?: kl_edn_put(e, p, end - p);
}

/* Read the decimal digits from @p to @end.  Return: false if the number is too large. */
static bool read_big(const char *p, const char *end, struct kl_big *v)
{
	*v = (struct kl_big){ 0 };
	for (; p < end; p++)
		if (!kl_big_append(v, 10, digit(*p)))
			return false;
	return true;
}

static int ratio(struct kl_edn *e, const char *tok, const char *p, const char *slash,
		 const char *end)
{
	struct kl_big n, d;
	int ret;

	if (!read_big(p, slash, &n) || !read_big(slash + 1, end, &d))
		return kl_scan_bad(&e->scan, tok, TOO_LARGE);
	if (kl_big_is(&d, 0))
		return kl_scan_bad(&e->scan, tok, "a ratio that divides by another number than 0");
	kl_big_reduce(&n, &d);
	ret = put_big(e, *tok == '-', &n);
	if (ret || kl_big_is(&d, 1))
		return ret;
	return kl_edn_put(e, "/", 1) ?: put_big(e, false, &d);
}

/*
 * Append a decimal, such as 1.50M, as digits that neither begin nor end with zeros, and an
 * exponent: 15e-1M.
 */
static int decimal(struct kl_edn *e, const char *tok, const char *p, const char *end)
{
	const size_t at = e->ncanon;
	const char *s = p;
	char text[32];
	int64_t exponent = 0;
	int ret = *tok == '-' ? kl_edn_put(e, "-", 1) : 0;
	const size_t first = at + (*tok == '-');
	bool fraction = false;

	for (; s < end && (*s | 0x20) != 'e' && *s != 'M' && !ret; s++) {
		if (*s == '.') {
			fraction = true;
			continue;
		}
		exponent -= fraction;
		if (*s != '0' || e->ncanon > first)
			ret = kl_edn_put(e, s, 1);
	}
	if (ret)
		return ret;
	if (s < end && (*s | 0x20) == 'e') {
		if (end - s > 12)
			return kl_scan_bad(&e->scan, tok, "an exponent of up to 9 digits");
		exponent += strtoll(s + 1, NULL, 10);
	}
	for (; e->ncanon > first && e->canon[e->ncanon - 1] == '0'; exponent++)
		e->ncanon--;
	if (e->ncanon == first) {
		e->ncanon = at;
		return kl_edn_put(e, "0M", 2);
	}
	return kl_edn_put(e, text, snprintf(text, sizeof(text), "e%" PRId64 "M", exponent));
}

static int floating(struct kl_edn *e, const char *tok)
{
	/* For every text that passed the checks above, strtod() gives the value of EDN. */
	const double v = strtod(tok, NULL);
	char text[48];
	int len;

	if (v > 1.7976931348623157e308 || v < -1.7976931348623157e308)
		return v > 0 ? kl_edn_put(e, "##Inf", 5) : kl_edn_put(e, "##-Inf", 6);
	len = snprintf(text, sizeof(text), "%.17g", v == 0 ? 0.0 : v);
	if (!strpbrk(text, ".e"))
		len += snprintf(text + len, sizeof(text) - len, ".0");
	return kl_edn_put(e, text, len);
}

int kl_edn_number(struct kl_edn *e)
{
	const char *tok = e->p, *first = tok + (*tok == '-' || *tok == '+'), *whole = digits(first);
	const char *p = whole;

	if (*first == '0' && (first[1] | 0x20) == 'x')
		return of_radix(e, tok, first + 2, 16, true, "hexadecimal digits after 0x");
	if ((*p | 0x20) == 'r')
		return with_radix(e, tok, first, p);
	if (*p == '/' && kl_scan_digit(p[1]) && kl_edn_ends(*digits(p + 1))) {
		e->p = digits(p + 1);
		return ratio(e, tok, first, whole, e->p);
	}
	if (kl_edn_ends(*p) || (*p == 'N' && kl_edn_ends(p[1]))) {
		e->p = p + (*p == 'N');
		return integer(e, tok, first, whole);
	}
	if (*p == '.')
		p = digits(p + 1);
	if ((*p | 0x20) == 'e') {
		p += 1 + (p[1] == '-' || p[1] == '+');
		if (!kl_scan_digit(*p))
			return kl_scan_bad(&e->scan, tok, EXPECTED);
		p = digits(p);
	}
	if (*p == 'M' && kl_edn_ends(p[1])) {
		e->p = p + 1;
		return decimal(e, tok, first, p);
	}
	if (!kl_edn_ends(*p))
		return kl_scan_bad(&e->scan, tok, EXPECTED);
	e->p = p;
	return floating(e, tok);
}
