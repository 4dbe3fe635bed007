// SPDX-License-Identifier: GPL-2.0
/*
 * Times of EDN, see edn_form.h, in each notation that Clojure reads.  The canonical text is the
 * time in UTC, with the fraction of the second.  All parts after the year are optional:
 *
 *	#inst "2020"	#inst "2020-01-01T01:00+01:00"	#inst "2020-01-01T00:00:00.000Z"
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "history/formats/edn_form.h"

#define EXPECTED	"a time as in #inst \"2024-11-26T16:34:02.623-00:00\", or the first parts " \
			"of one, as in #inst \"2024-11-26\""

/*
 * Read a number from @least to @most, of @n digits, behind the character @before (0: none).
 * Return: false if there is no such number.
 */
static bool number(const char **pp, char before, unsigned int n, int least, int most, int *out)
{
	const char *p = *pp + !!before, *end = p + n;
	int v = 0;

	if (before && **pp != before)
		return false;
	for (; p < end; p++) {
		if (!kl_scan_digit(*p))
			return false;
		v = v * 10 + (*p - '0');
	}
	if (v < least || v > most)
		return false;
	*pp = p;
	*out = v;
	return true;
}

/* Read a month or a day, from 1 to @most.  If a colon follows, the digits belong to an offset. */
static bool part(const char **pp, int most, int *out)
{
	const char *p = *pp;

	if (!number(&p, '-', 2, 1, most, out) || *p == ':')
		return false;
	*pp = p;
	return true;
}

/* Read hours, minutes and seconds.  The @fraction of a second has @digits digits. */
static bool time_of_day(const char **pp, struct tm *tm, const char **fraction, size_t *digits)
{
	if (!number(pp, 'T', 2, 0, 23, &tm->tm_hour))
		return false;
	if (**pp != ':')
		return true;
	if (!number(pp, ':', 2, 0, 59, &tm->tm_min))
		return false;
	if (**pp != ':')
		return true;
	/* A leap second can only be the last second of an hour. */
	if (!number(pp, ':', 2, 0, tm->tm_min == 59 ? 60 : 59, &tm->tm_sec))
		return false;
	if (**pp != '.')
		return true;
	*fraction = ++*pp;
	while (kl_scan_digit(**pp))
		++*pp;
	*digits = *pp - *fraction;
	return *digits;
}

static int days_of(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return days[month - 1] + (leap && month == 2);
}

/* Read all parts of a time except the offset from UTC. */
static bool parts(const char **pp, struct tm *tm, const char **fraction, size_t *digits)
{
	int year, month, day;

	if (!number(pp, 0, 4, 0, 9999, &year))
		return false;
	tm->tm_year = year - 1900;
	if (!part(pp, 12, &month))
		return true;
	tm->tm_mon = month - 1;
	if (!part(pp, days_of(year, month), &day))
		return true;
	tm->tm_mday = day;
	return **pp != 'T' || time_of_day(pp, tm, fraction, digits);
}

/* Read the offset of local time from UTC, in seconds; a time without an offset has 0. */
static bool offset(const char **pp, int *out)
{
	const int sign = **pp == '-' ? -1 : 1;
	int hours, minutes;

	*out = 0;
	if (**pp == 'Z')
		++*pp;
	else if (**pp == '-' || **pp == '+') {
		if (!number(pp, **pp, 2, 0, 23, &hours) || !number(pp, ':', 2, 0, 59, &minutes))
			return false;
		*out = sign * (hours * 3600 + minutes * 60);
	}
	return true;
}

int kl_edn_inst(struct kl_edn *e, const char *tok, size_t at)
{
	const char *s = e->canon + at, *p = s + 1, *fraction = p;
	const size_t old = e->ncanon;
	struct tm tm = { .tm_mday = 1 };
	size_t digits = 0, from;
	time_t second;
	char text[64];
	int ahead, ret;

	/* The last character is the closing quote of the string. */
	if (*s != '"' || !parts(&p, &tm, &fraction, &digits) || !offset(&p, &ahead) ||
	    p != e->canon + old - 1)
		return kl_scan_bad(&e->scan, tok, EXPECTED);
	/* Trailing zeros of the fraction do not change the time. */
	while (digits && fraction[digits - 1] == '0')
		digits--;
	from = fraction - e->canon;
	second = timegm(&tm) - ahead;
	gmtime_r(&second, &tm);
	/*
	 * Room for the whole text is made at once, so that @fraction stays valid until it is
	 * copied.
	 */
	ret = kl_grow(e->canon, e->ccanon, old + sizeof(text) + digits + 4);
	if (ret)
		return ret;
	ret = kl_edn_put(e, text, strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%S", &tm));
	if (!ret && digits)
		ret = kl_edn_put(e, ".", 1) ?: kl_edn_put(e, e->canon + from, digits);
	ret = ret ?: kl_edn_put(e, "Z\"", 2);
	memmove(e->canon + at, e->canon + old, e->ncanon - old);
	e->ncanon -= old - at;
	return ret;
}
