// SPDX-License-Identifier: GPL-2.0
/*
 * Jepsen's log lines; jepsen.h describes their meaning:
 *
 *	INFO  jepsen.util - 2	:invoke	:write	4
 *	INFO  jepsen.util - 2	:info	:write	:timed-out
 *	INFO [2024-11-26 16:34:02,623] jepsen worker 2 - jepsen.util 2	:invoke	:write	4
 *
 * Values are EDN, as in jepsen_value.h.  A tab and an error text may follow the value.  Lines of
 * other programs and of the nemesis are skipped.
 */
#include <errno.h>
#include <string.h>

#include "history/formats/edn_entry.h"
#include "history/formats/edn_keys.h"
#include "history/formats/jepsen_value.h"

#define PROGRAM	"jepsen.util"

struct reader {
	struct kl_edn edn; /* scanner of the line's value */
	struct kl_jepsen j;
	struct kl_edn_keys keys;
	bool looking; /* this pass only finds out whether keys are independent */
};

static bool is_jepsen(const struct kl_head *head)
{
	const char *p = head->data;
	size_t n = kl_head_word(head, &p);

	/* The first lines may be those of other programs. */
	if (p < head->end && !strchr("{([#;", *p) &&
	    memmem(p, head->end - p, PROGRAM, sizeof(PROGRAM) - 1))
		return true;
	/* A line begins with a level or a date. */
	if (n < 4 || (!kl_scan_digit(*p) && (*p < 'A' || *p > 'Z')))
		return false;
	for (p += n; (n = kl_head_word(head, &p)); p += n)
		if (n >= 7 && !memcmp(p, "jepsen.", 7))
			return true;
	return false;
}

/* Read the value at @p (nil at the end of the line), and skip an error text that may follow. */
static int scan_value(struct reader *r, const char *p, struct kl_edn_val *v)
{
	struct kl_edn *e = &r->edn;
	int ret = 0;

	e->scan.line = r->j.scan.line;
	e->p = p;
	e->end = (const char *)rawmemchr(p, '\n') + 1;
	e->ncanon = 0;
	e->bad = false;
	*v = (struct kl_edn_val){ .kind = KL_EDN_NIL };
	if (kl_edn_skip(e))
		ret = e->bad ? -EINVAL : kl_edn_value_here(e, v);
	e->scan.line = r->j.scan.line;
	if (!ret && v->tok && *e->p != '\t')
		ret = kl_scan_eol(&e->scan, &e->p);
	return ret;
}

/* As scan_value(), for an :info.  If its text is no EDN, it is a remark, and the value is nil. */
static int scan_info(struct reader *r, const char *p, struct kl_edn_val *v)
{
	int ret;

	r->edn.scan.quiet = true;
	ret = scan_value(r, p, v);
	r->edn.scan.quiet = false;
	if (ret != -EINVAL)
		return ret;
	r->edn.scan.errors = 0;
	*v = (struct kl_edn_val){ .kind = KL_EDN_NIL };
	return 0;
}

static int event(struct reader *r, const char *tok, uint64_t process, enum kl_jepsen_type type,
		 const struct kl_edn_val *f, const char *value)
{
	struct kl_edn_val v;
	int ret;

	ret = type == KL_JEPSEN_INFO ? scan_info(r, value, &v) : scan_value(r, value, &v);
	ret = ret ?: kl_edn_keys_look(&r->keys, &r->edn, type, f, &v);
	r->j.scan.errors += r->edn.scan.errors;
	r->edn.scan.errors = 0;
	if (r->looking) {
		r->j.scan.stop = !ret && r->keys.told;
		return ret;
	}
	return ret ?: kl_jepsen_value_event(&r->j, &r->edn, r->keys.independent, tok, process, type,
					    f, &v);
}

static int pass_over(struct reader *r, enum kl_skip kind, const char *line)
{
	if (r->looking)
		return 0;
	kl_scan_skipped(&r->j.scan, kind, line);
	return kind == KL_SKIP_NAMED ? kl_pairs_other(&r->j.pairs) : 0;
}

/* Return: the process in the line at @p, or NULL if the line is another program's. */
static const char *find_process(const char *p)
{
	size_t n;

	while ((n = kl_scan_word(p)) && !kl_scan_is(p, n, PROGRAM) &&
	       !kl_scan_is(p, n, PROGRAM ":"))
		p = kl_scan_skip(p + n);
	if (!n)
		return NULL;
	p = kl_scan_skip(p + n);
	return *p == '-' && kl_scan_end(p[1]) ? kl_scan_skip(p + 1) : p;
}

static int scan_line(void *ctx, const char **pp)
{
	struct reader *r = ctx;
	struct kl_jepsen *j = &r->j;
	struct kl_edn_val f = { .kind = KL_EDN_WORD };
	const char *p = *pp, *tok;
	uint64_t process;
	size_t n;
	int type;

	j->pairs.entry = j->scan.start;
	p = tok = find_process(p);
	if (!p)
		return pass_over(r, KL_SKIP_FOREIGN, *pp);
	/* A line that begins with a word is another message of Jepsen. */
	if (!kl_scan_digit(*p) && *p != ':' && *kl_scan_skip(p + kl_scan_word(p)) != ':')
		return pass_over(r, KL_SKIP_FOREIGN, *pp);
	if (*p == ':')
		return pass_over(r, KL_SKIP_NAMED, *pp);
	if (kl_scan_short(&j->scan, &p, &process, "a process, a number, or :nemesis"))
		return -EINVAL;
	p = kl_scan_skip(p);
	n = kl_scan_word(p);
	type = kl_jepsen_type(p, n);
	if (type < 0)
		return kl_scan_bad(&j->scan, p, ":invoke, :ok, :fail or :info");
	p = kl_scan_skip(p + n);
	f.tok = f.s = p;
	f.len = kl_scan_word(p);
	if (*p != ':')
		return kl_scan_bad(&j->scan, p, "an operation as in :read");
	return event(r, tok, process, type, &f, p + f.len);
}

/*
 * Read all lines, twice, because the last line may show whether keys are independent.  The log is
 * in memory.
 */
static int read_lines(struct reader *r)
{
	int ret;

	r->looking = true;
	ret = kl_scan_text(&r->j.scan, scan_line, r) ?: kl_edn_keys_decide(&r->keys, &r->j.scan);
	r->looking = r->j.scan.stop = false;
	return ret ?: kl_scan_text(&r->j.scan, scan_line, r);
}

static int read_jepsen(struct kl_input *in, struct kl_history **out)
{
	struct reader r = { .keys.wanted = in->independent };
	const char *text = NULL, *end = NULL;
	int ret;

	ret = kl_jepsen_begin(&r.j, in->name, true) ?: kl_input_text(in, &text, &end);
	r.edn.scan.name = in->name;
	r.edn.scan.text = r.j.scan.text = text;
	r.edn.scan.end = r.j.scan.end = end;
	if (!ret)
		ret = read_lines(&r);
	if (!ret)
		r.j.pairs.h->keyed = r.keys.independent;
	kl_edn_free(&r.edn);
	return kl_jepsen_end(&r.j, ret, out);
}

/* Take the next word of a line.  Return: what follows the word. */
static const char *take(const char *p, struct kl_piece *word)
{
	p = kl_scan_skip(p);
	*word = (struct kl_piece){ p, kl_scan_word(p) };
	return p + word->len;
}

static bool read_entry(const struct kl_history *h, const char *text, const char *end,
		       struct kl_entry *out)
{
	const char *line_end = rawmemchr(text, '\n'), *p = find_process(text);
	struct kl_edn e = { .scan = { .quiet = true, .text = text, .end = end },
			    .end = line_end + 1 };
	struct kl_edn_val v;

	*out = (struct kl_entry){ .len = line_end - text };
	if (!p)
		return line_end < end;
	p = take(take(take(p, &out->process), &out->type), &out->f);
	p = kl_scan_skip(p);
	out->value = (struct kl_piece){ p, line_end - p };
	e.p = p;
	if (p < line_end && !kl_edn_value(&e, &v))
		kl_edn_entry_words(h, &e, &v, out);
	kl_edn_free(&e);
	return line_end < end;
}

const struct kl_form kl_form_jepsen = {
	.name = "jepsen",
	.rank = 70,
	.help = "Jepsen's log lines: registers, queues, mutexes",
	.example = "INFO  jepsen.util - 2 :invoke :write 4",
	.is = is_jepsen,
	.keys = true,
	.places = KL_PLACES_OFFSETS,
	.read = read_jepsen,
	.write = kl_jepsen_write_log,
	.entry = read_entry,
	.specs = { "register", "queue", "lock" },
};
KL_FORM(kl_form_jepsen);
