// SPDX-License-Identifier: GPL-2.0
/* The story of a violation in few lines, see brief.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "history/source.h"
#include "report/brief.h"
#include "report/counterexample.h"
#include "report/diagram.h"
#include "report/given.h"
#include "report/story.h"
#include "report/trust.h"
#include "report/words.h"
#include "story/story.h"

/* Room for a story: its parts are printed to @m first, and counted. */
struct brief {
	FILE *f;
	struct kl_memstream m;
	unsigned int left;	/* lines that are left */
	bool cut;		/* a part had no room */
};

static unsigned int count_lines(const char *s)
{
	unsigned int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

/*
 * Print the part in @b->m if @must, or if its lines and @keep lines below it have room.  Return: 0
 * or -ENOMEM.
 */
static int end_part(struct brief *b, bool must, unsigned int keep)
{
	unsigned int lines;
	char *text;
	int ret = kl_memstream_close(&b->m, &text, NULL);

	if (ret)
		return ret;
	lines = count_lines(text);
	if (must || lines + keep <= b->left) {
		fputs(text, b->f);
		b->left -= lines < b->left ? lines : b->left;
	} else {
		b->cut = true;
	}
	free(text);
	return 0;
}

static int put_fact(struct brief *b, const char *sentence, unsigned int keep)
{
	int ret = kl_memstream_open(&b->m);

	if (ret)
		return ret;
	kl_put_sentence(b->m.f, "  ", sentence);
	return end_part(b, false, keep);
}

#define AROUND	4	/* other operations in the picture at most */

static bool is_cast(const struct kl_story *s, uint32_t op)
{
	size_t i;

	for (i = 0; i < s->ncast && s->cast[i].op != op; i++)
		;
	return i < s->ncast;
}

/*
 * Find the other operations of the partition that overlap the failing one.  Return: their number; 0
 * if they are more than AROUND.
 */
static size_t find_around(const struct kl_history *h, const struct kl_part_result *p,
			  const struct kl_story *s, uint32_t *around)
{
	const struct kl_op *wrong = &h->ops[s->cast[0].op];
	size_t n = 0, i;

	for (i = 0; i < p->nops; i++) {
		const uint32_t op = kl_result_op(p, i);

		if (op == KL_NO_OP || is_cast(s, op) || kl_source_is_first(h, op) ||
		    h->ops[op].ret < wrong->call || h->ops[op].call > wrong->ret)
			continue;
		if (n == AROUND)
			return 0;
		around[n++] = op;
	}
	return n;
}

/* Draw the cast, as lanes, into @text; and operations @around it.  Return: 0 or -ENOMEM. */
static int draw(struct brief *b, const struct kl_history *h, const struct kl_story *s,
		const struct kl_verdict_style *style, const uint32_t *around, size_t naround,
		char **text)
{
	const struct kl_diagram_bad bad = { .op = s->cast[0].op };
	const struct kl_diagram_opts o = {
		.around = around, .naround = naround,
		.bad = &bad, .nbad = 1, .colour = style ? style->colour : KL_DIAGRAM_AUTO,
		.terminal = b->f,
	};
	uint32_t ops[KL_STORY_CAST];
	size_t i;
	int ret;

	for (i = 0; i < s->ncast; i++)
		ops[i] = s->cast[i].op;
	ret = kl_memstream_open(&b->m);
	if (ret)
		return ret;
	fputc('\n', b->m.f);
	ret = kl_diagram(b->m.f, h, ops, s->ncast, &o);
	return kl_memstream_close(&b->m, text, NULL) ?: ret;
}

static int put_end(struct brief *b, const struct kl_history *h, const struct kl_part_result *p,
		   const struct kl_verdict_style *style)
{
	const size_t n = p->cex->h->nops;
	int ret = kl_memstream_open(&b->m);
	char text[256];

	if (ret)
		return ret;
	snprintf(text, sizeof(text), "Proof: %zu operation%s, by %s%s.  More: --full%s, klin report",
		 n, n == 1 ? "" : "s", p->answer.engine,
		 p->cex->oracle == KL_VIOLATION ? " and the brute-force oracle" :
		 "; too many for the oracle", b->cut ? " (all of the story)" : "");
	fputc('\n', b->m.f);
	kl_put_sentence(b->m.f, "  ", text);
	/* A command stays in one line, so that it can be copied. */
	if (style && style->replay)
		fprintf(b->m.f, "  Again: %s\n", style->replay);
	return end_part(b, true, 0);
}

#define END_LINES	4	/* of put_end() at most */
#define FACT_LINES	1	/* of one fact, which a picture leaves room for */

int kl_print_brief(FILE *f, const struct kl_report *r, const struct kl_part_result *p,
		   const struct kl_verdict_style *style)
{
	struct brief b = { .f = f, .left = KL_BRIEF_LINES };
	unsigned int below = END_LINES, lines = 0;
	uint32_t around[AROUND];
	char *picture = NULL;
	size_t n;
	struct kl_story *s;
	size_t i;
	int ret = kl_story_tell(r->spec, r->h, p, &s);

	if (ret)
		return ret;
	/* Without a story, the operations of the proof are all that there is to show. */
	if (!s)
		return kl_print_counterexample(f, r->spec, p->cex, kl_given_part(r->h, p),
					       style ? style->colour : KL_DIAGRAM_AUTO);
	/* A line of 78 columns is broken between words. */
	if (s->allowed.sentence)
		below += strlen(s->allowed.sentence) / 60 + 1;
	ret = kl_memstream_open(&b.m);
	if (!ret) {
		kl_print_cast(b.m.f, r->h, s);
		ret = end_part(&b, true, 0);
	}
	/* Less can be drawn in fewer lines. */
	n = !style || !style->no_diagram ? find_around(r->h, p, s, around) + 1 : 0;
	for (; n && !ret && (!lines || lines + below + FACT_LINES > b.left); n = n > 1) {
		free(picture);
		picture = NULL;
		ret = draw(&b, r->h, s, style, around, n - 1, &picture);
		lines = picture ? count_lines(picture) : 0;
		if (n == 1)
			break;
	}
	if (lines + below + FACT_LINES > b.left) {
		b.cut |= lines;
		lines = 0;
	}
	for (i = 0; i < s->nfacts && !ret; i++)
		ret = put_fact(&b, s->facts[i], below + lines);
	for (i = 0; i < s->norders && !ret; i++)
		ret = put_fact(&b, s->orders[i].sentence, below + lines);
	if (s->allowed.sentence && !ret)
		ret = put_fact(&b, s->allowed.sentence, END_LINES + lines);
	if (lines && !ret)
		fputs(picture, f);
	if (!ret)
		ret = put_end(&b, r->h, p, style);
	free(picture);
	kl_story_free(s);
	return ret;
}
