// SPDX-License-Identifier: GPL-2.0
/*
 * Settings written to debugfs as words "name=value".  All of them are checked before any is
 * used, and a refusal comes with a message.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "option.h"

/**
 * klin_complain() - record why settings are refused
 * @c: receives the message
 * @fmt: the message, one line without a newline
 *
 * Return: -EINVAL, for the caller to return.
 */
int klin_complain(struct klin_complaint *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(c->text, sizeof(c->text), fmt, args);
	va_end(args);
	return -EINVAL;
}

static const struct klin_option *find(const char *name, const struct klin_option *options,
				      unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

/* kstrtoull() accepts signs, white space and 0x; settings are plain decimal numbers. */
static int parse_number(const struct klin_option *o, const char *value, void *into,
			struct klin_complaint *c)
{
	u64 number;

	if (!*value || strspn(value, "0123456789") != strlen(value) ||
	    kstrtou64(value, 10, &number) || number < o->min || number > o->max)
		return klin_complain(c, "%s=%.40s: expected a number from %llu to %llu", o->name,
				     value, o->min, o->max);
	*(u64 *)(into + o->offset) = number;
	return 0;
}

/**
 * klin_options_parse() - parse settings
 * @text: words "name=value" between white space; changed, and strings in @into point
 *	to it
 * @options: the options; each may be given at most once
 * @n: number of options, at most 64
 * @into: the structure to fill; holds the defaults before the call
 * @c: receives the complaint
 *
 * Return: 0, or -EINVAL with @c filled (@into may then be partly filled).
 */
int klin_options_parse(char *text, const struct klin_option *options, unsigned int n, void *into,
		       struct klin_complaint *c)
{
	u64 seen = 0;
	char *word;

	while ((word = strsep(&text, " \t\n"))) {
		const struct klin_option *o;
		char *value;
		int err;

		if (!*word)
			continue;
		value = strchr(word, '=');
		if (!value)
			return klin_complain(c, "'%.40s': expected name=value", word);
		*value++ = '\0';

		o = find(word, options, n);
		if (!o)
			return klin_complain(c, "unknown setting '%.40s'", word);
		if (seen & BIT_ULL(o - options))
			return klin_complain(c, "%s= is given twice: give it once", o->name);
		seen |= BIT_ULL(o - options);

		if (o->word) {
			if (!*value)
				return klin_complain(c, "%s=: expected a value", o->name);
			*(const char **)(into + o->offset) = value;
			continue;
		}
		err = parse_number(o, value, into, c);
		if (err)
			return err;
	}
	return 0;
}
