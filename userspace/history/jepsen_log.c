// SPDX-License-Identifier: GPL-2.0
/*
 * Jepsen's log lines, see jepsen.h for what they mean:
 *
 *	INFO  jepsen.util - 2	:invoke	:write	4
 *	INFO  jepsen.util - 2	:info	:write	:timed-out
 *	INFO [2024-11-26 16:34:02,623] jepsen worker 2 - jepsen.util 2	:invoke	:write	4
 *
 * Lines of other programs in the log, and those of the nemesis, are passed over.
 */
#include <errno.h>
#include <string.h>

#include "history/jepsen.h"

#define PROGRAM	"jepsen.util"

static bool is_jepsen(const struct kl_head *head)
{
	const char *p = head->data;
	size_t n = kl_head_word(head, &p);

	/* Other programs may have written the first lines. */
	if (p < head->end && !strchr("{([#;", *p) &&
	    memmem(p, head->end - p, PROGRAM, sizeof(PROGRAM) - 1))
		return true;
	/* A level, or the date in front of it. */
	if (n < 4 || (!kl_scan_digit(*p) && (*p < 'A' || *p > 'Z')))
		return false;
	for (p += n; (n = kl_head_word(head, &p)); p += n)
		if (n >= 7 && !memcmp(p, "jepsen.", 7))
			return true;
	return false;
}

static int scan_number(struct kl_jepsen *j, const char *tok, const char **pp, uint64_t *out)
{
	const char *p = *pp, *start;
	uint64_t v = 0;
	bool minus = *p == '-';

	p += minus;
	for (start = p; kl_scan_digit(*p); p++)
		v = v * 10 + (*p - '0');
	if (p == start || p - start > 18)
		return kl_scan_bad(&j->scan, tok, "a number of up to 18 digits");
	*out = minus ? -v : v;
	if (*out == KL_JEPSEN_NIL)
		return kl_scan_bad(&j->scan, tok, "a number other than -1, which stands for nil");
	*pp = p;
	return 0;
}

/* nil, 3, [1 2], or a keyword. */
static int scan_value(struct kl_jepsen *j, const char **pp, struct kl_jepsen_value *v)
{
	const char *p = kl_scan_skip(*pp), *tok = p;
	size_t n = kl_scan_word(p);

	if (kl_scan_is(p, n, "nil") || !n) {
		v->kind = KL_JEPSEN_NONE;
		p += n;
	} else if (*p == ':') {
		v->kind = KL_JEPSEN_OTHER;
		p += n;
	} else if (*p == '[') {
		v->kind = KL_JEPSEN_PAIR;
		p++;
		if (scan_number(j, tok, &p, &v->v[0]))
			return -EINVAL;
		p = kl_scan_skip(p);
		if (scan_number(j, tok, &p, &v->v[1]))
			return -EINVAL;
		if (*p++ != ']')
			return kl_scan_bad(&j->scan, tok, "two numbers as in [1 2]");
	} else {
		v->kind = KL_JEPSEN_WORD;
		if (scan_number(j, tok, &p, &v->v[0]))
			return -EINVAL;
	}
	/* Behind another tab stands an error. */
	if (*p != '\t' && kl_scan_eol(&j->scan, &p))
		return -EINVAL;
	*pp = p;
	return 0;
}

static int scan_line(void *ctx, const char **pp)
{
	struct kl_jepsen *j = ctx;
	struct kl_jepsen_value v = { 0 };
	const char *p = *pp, *tok, *f;
	uint64_t process;
	size_t n;
	int type;

	while ((n = kl_scan_word(p)) && !kl_scan_is(p, n, PROGRAM) &&
	       !kl_scan_is(p, n, PROGRAM ":"))
		p = kl_scan_skip(p + n);
	if (!n) {
		kl_scan_skipped(&j->scan, KL_SKIP_FOREIGN, *pp);
		return 0;
	}
	p = kl_scan_skip(p + n);
	if (*p == '-' && kl_scan_end(p[1]))
		p = kl_scan_skip(p + 1);
	tok = p;
	if (*p == ':') {
		kl_scan_skipped(&j->scan, KL_SKIP_NAMED, *pp);
		return 0;
	}
	if (kl_scan_short(&j->scan, &p, &process, "a process, a number, or :nemesis"))
		return -EINVAL;
	p = kl_scan_skip(p);
	n = kl_scan_word(p);
	type = kl_jepsen_type(p, n);
	if (type < 0)
		return kl_scan_bad(&j->scan, p, ":invoke, :ok, :fail or :info");
	p = kl_scan_skip(p + n);
	f = p;
	n = kl_scan_word(p);
	if (*p != ':')
		return kl_scan_bad(&j->scan, p, "an operation as in :read");
	p += n;
	if (type == KL_JEPSEN_INFO)
		return kl_jepsen_event(j, tok, process, type, f + 1, n - 1, &v);
	if (scan_value(j, &p, &v))
		return -EINVAL;
	*pp = p;
	return kl_jepsen_event(j, f, process, type, f + 1, n - 1, &v);
}

static int read_jepsen(struct kl_input *in, struct kl_history **out)
{
	struct kl_jepsen j;
	int ret;

	ret = kl_jepsen_begin(&j, in->name, true);
	if (!ret)
		ret = kl_scan_lines(&j.scan, in, scan_line, &j);
	return kl_jepsen_end(&j, ret, out);
}

const struct kl_form kl_form_jepsen = {
	.name = "jepsen", .example = "INFO  jepsen.util - 2 :invoke :write 4",
	.is = is_jepsen, .read = read_jepsen, .write = kl_jepsen_write_log,
	.specs = { "register" },
};
