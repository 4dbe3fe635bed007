// SPDX-License-Identifier: GPL-2.0
/* Entries of the cast, see entries.h. */
#include "history/source_text.h"
#include "report/entries.h"

/* Print an entry, whose later lines are indented.  A terminal would obey control characters. */
static void print_entry(FILE *f, const struct kl_source_text *t, unsigned int line)
{
	size_t i;

	fprintf(f, "    %u: ", line);
	for (i = 0; i < t->len; i++) {
		const unsigned char c = t->text[i];

		if (c == '\n')
			fputs("\n      ", f);
		else
			fputc(c < ' ' || c == 0x7f ? ' ' : c, f);
	}
	fputs(t->cut ? " ...\n" : "\n", f);
}

/* Return: the first line of an entry, of which the source knows the last one. */
static unsigned int line_of(const struct kl_history *h, uint32_t op, enum kl_source_half half,
			    const struct kl_source_text *t)
{
	const struct kl_source_events *e = kl_source_events(h, op);
	unsigned int line = h->places[op];
	size_t i;

	if (e)
		line = half == KL_SOURCE_CALL ? e->call_line : e->ret_line ?: e->end_line;
	for (i = 0; i < t->len && !t->cut; i++)
		line -= t->text[i] == '\n';
	return line;
}

int kl_print_entries(FILE *f, const struct kl_history *h, const struct kl_story *s)
{
	struct kl_source_text t;
	unsigned int half;
	bool any = false;
	size_t i;
	int ret;

	/* A line of klin's own text form has what the cast says. */
	if (!h->source || h->source->places == KL_PLACES_WORDS)
		return 0;
	for (i = 0; i < s->ncast; i++)
		for (half = KL_SOURCE_CALL; half <= KL_SOURCE_RETURN; half++) {
			ret = kl_source_text(h, s->cast[i].op, half, &t);
			if (ret < 0)
				return ret;
			if (!ret)
				continue;
			if (!any)
				fprintf(f, "  In %s:\n", h->source->name);
			any = true;
			print_entry(f, &t, line_of(h, s->cast[i].op, half, &t));
		}
	if (any)
		fputc('\n', f);
	return 0;
}

void kl_use_own_words(const struct kl_report *r, struct kl_history *h)
{
	size_t i;

	kl_source_own_words(h, h, NULL);
	for (i = 0; i < r->nparts; i++)
		if (r->parts[i].cex)
			kl_source_own_words(r->parts[i].cex->h, h, r->parts[i].cex->ops);
}
