// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of EDN, see edn_form.h: integers of any size (1N is 1), ratios, and floating-point
 * numbers and decimals, which equal no integer (1.0 is not 1, and 1.0M is neither).  As
 * Clojure's reader has it, 0x10, 020, 16r10 and 16 are equal, and 010/3 is 10/3.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/edn_form.h"

#define EXPECTED	"a number as in 1, -2N, 0x1f, 017, 2r101, 3/4, 1.5, 2e10 or 1.50M"

static const char *digits(const char *p)
{
	while (kl_scan_digit(*p))
		p++;
	return p;
}

/* The value of a digit or a letter, 36 if it is neither. */
static unsigned int digit(char c)
{
	if (kl_scan_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 36;
}

/*
 * An integer of another radix than 10, whose digits begin at @p; @bad if they are none of it.
 * @big: an N may follow.
 */
static int of_radix(struct kl_edn *e, const char *tok, const char *p, unsigned int radix,
		    bool big, const char *bad)
{
	const char *start = p;
	uint64_t v = 0;
	char text[32];

	for (; digit(*p) < radix; p++)
		if (__builtin_mul_overflow(v, radix, &v) ||
		    __builtin_add_overflow(v, digit(*p), &v))
			return kl_scan_bad(&e->scan, tok, "a number below 2^64, or a decimal one");
	if (p == start)
		return kl_scan_bad(&e->scan, tok, bad);
	p += big && *p == 'N';
	if (!kl_edn_ends(*p))
		return kl_scan_bad(&e->scan, tok, bad);
	e->p = p;
	return kl_edn_put(e, text, snprintf(text, sizeof(text), "%s%" PRIu64,
					    *tok == '-' && v ? "-" : "", v));
}

/* RADIXrDIGITS, @at the r. */
static int with_radix(struct kl_edn *e, const char *tok, const char *first, const char *at)
{
	const unsigned int radix = strtoul(first, NULL, 10);

	if (*first == '0' || at - first > 2 || radix < 2 || radix > 36)
		return kl_scan_bad(&e->scan, tok, "a radix from 2 to 36 in front of the r");
	/* N would be a digit. */
	return of_radix(e, tok, at + 1, radix, false, "digits of the radix in front of the r");
}

/* An integer's digits behind its sign; -0 is 0. */
static int integer(struct kl_edn *e, const char *tok, const char *p, const char *end)
{
	int ret = 0;

	if (*p == '0' && end > p + 1)
		return of_radix(e, tok, p + 1, 8, true, "an octal number behind the zero, or no "
				"zero in front");
	if (*tok == '-' && *p != '0')
		ret = kl_edn_put(e, "-", 1);
	return ret ?: kl_edn_put(e, p, end - p);
}

static int ratio(struct kl_edn *e, const char *tok, const char *p, const char *slash,
		 const char *end)
{
	const char *q = slash + 1;
	uint64_t a, b, c, n, d;
	char text[64];
	int len;

	for (; *p == '0' && p + 1 < slash; p++)
		;
	for (; *q == '0' && q + 1 < end; q++)
		;
	if (slash - p > 18 || end - q > 18)
		return kl_scan_bad(&e->scan, tok, "a ratio of numbers of up to 18 digits");
	n = strtoull(p, NULL, 10);
	d = strtoull(q, NULL, 10);
	if (!d)
		return kl_scan_bad(&e->scan, tok, "a ratio that divides by another number than 0");
	for (a = n, b = d; b; a = b, b = c)
		c = a % b;
	len = snprintf(text, sizeof(text), "%s%" PRIu64, *tok == '-' && n ? "-" : "", n / a);
	if (d != a)
		len += snprintf(text + len, sizeof(text) - len, "/%" PRIu64, d / a);
	return kl_edn_put(e, text, len);
}

/* 1.50M and 15e-1M are equal: digits without zeros at either end, and their exponent. */
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
	/* Nothing of the form it has means something else to strtod(). */
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
		return of_radix(e, tok, first + 2, 16, true, "hexadecimal digits behind 0x");
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
