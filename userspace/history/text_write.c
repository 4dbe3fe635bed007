// SPDX-License-Identifier: GPL-2.0
/* Writes the text form that text_read.c describes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/dec.h"
#include "base/file.h"
#include "history/internal.h"
#include "history/spell.h"
#include "history/text.h"

#define MAX_LINE	2048 /* maximal length of an operation: 16 values, 9 numbers and a name */
#define BUF_SIZE	(256u << 10)

struct writer {
	const struct kl_history *h;
	FILE *f;
	char *buf;
	size_t len;
	/* for each method: number of results of the first operation that returned, or -1 */
	int16_t *nres;
};

static int flush(struct writer *w)
{
	size_t n = w->len;

	w->len = 0;
	return fwrite(w->buf, 1, n, w->f) == n ? 0 : kl_stream_err(w->f);
}

static char *put_str(char *p, const char *s)
{
	while (*s)
		*p++ = *s++;
	return p;
}

/* Write the name of an object or thread; large numbers, such as addresses, in hexadecimal. */
static char *put_id(char *p, uint64_t v)
{
	unsigned int shift = 60;

	if (v < 0x10000)
		return kl_put_dec(p, v);
	*p++ = '0';
	*p++ = 'x';
	while (!(v >> shift))
		shift -= 4;
	for (;; shift -= 4) {
		*p++ = "0123456789abcdef"[v >> shift & 15];
		if (!shift)
			return p;
	}
}

static char *put_vals(char *p, const struct kl_val *v, unsigned int n)
{
	for (; n; n--, v++) {
		*p++ = ' ';
		if (v->tag == KL_WORD && v->v <= UINT32_MAX)
			p = kl_put_dec(p, v->v);
		else
			p += kl_val_print(p, 32, *v);
	}
	return p;
}

static int put_op(struct writer *w, const struct kl_op *op)
{
	const struct kl_history *h = w->h;
	const struct kl_opsig *s = kl_op_sig(h, op);
	const char *name = h->methods[s->method];
	size_t len = strlen(name);
	bool results = s->nres;
	char *p;
	int ret;

	if (BUF_SIZE - w->len < MAX_LINE) {
		ret = flush(w);
		if (ret)
			return ret;
	}
	p = w->buf + w->len;
	*p++ = 't';
	p = kl_put_dec(p, h->threads[op->thread]);
	*p++ = ' ';
	*p++ = '@';
	p = put_id(p, h->objects[op->object]);
	*p++ = ' ';
	if ((op->flags & KL_OP_NOCALL) && op->call == KL_TIME_MIN) {
		*p++ = '-';
	} else {
		if (op->flags & KL_OP_NOCALL)
			p = put_str(p, ">=");
		p = kl_put_dec(p, op->call);
	}
	*p++ = ' ';
	if (op->flags & KL_OP_PENDING) {
		*p++ = '-';
		/* Without `->' the reader takes the number of results from another operation. */
		results = s->nres != (w->nres[s->method] < 0 ? 0 : w->nres[s->method]);
	} else {
		p = kl_put_dec(p, op->ret);
	}
	*p++ = ' ';
	memcpy(p, name, len);
	p = put_vals(p + len, kl_op_args(h, op), s->nargs);
	if (results) {
		p = put_str(p, " ->");
		p = put_vals(p, kl_op_res(h, op), s->nres);
	}
	if (op->cpu != KL_NO_CPU)
		p = kl_put_dec(put_str(p, " cpu="), op->cpu);
	if (kl_op_drain(h, op) != KL_TIME_MAX)
		p = kl_put_dec(put_str(p, " drain="), kl_op_drain(h, op));
	if (kl_op_point(h, op) != KL_TIME_MAX)
		p = kl_put_dec(put_str(p, " point="), kl_op_point(h, op));
	if (kl_op_stack(h, op))
		p = kl_put_dec(put_str(p, " stack="), kl_op_stack(h, op));
	*p++ = '\n';
	w->len = p - w->buf;
	return 0;
}

/* Write each line of @text, beginning with `# KEYWORD'. */
static void put_text(FILE *f, const char *keyword, const char *text)
{
	const char *end;

	for (; text && *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		fprintf(f, "# %s%s%.*s\n", keyword, end > text ? " " : "", (int)(end - text), text);
	}
}

static void put_gap(FILE *f, const struct kl_history *h, const struct kl_gap *g)
{
	fputs("# gap", f);
	if (g->cpu != KL_NO_CPU)
		fprintf(f, " cpu %u", g->cpu);
	fprintf(f, " from %" PRIu64, g->from);
	if (g->to == KL_TIME_MAX)
		fputs(" to -", f);
	else
		fprintf(f, " to %" PRIu64, g->to);
	if (g->lost)
		fprintf(f, " lost %" PRIu64, g->lost);
	if (g->object != KL_ALL_OBJECTS)
		fprintf(f, " object 0x%" PRIx64, h->objects[g->object]);
	if (g->reason != KL_GAP_LOST)
		fprintf(f, " reason %s", kl_gap_reasons[g->reason]);
	fputc('\n', f);
}

static void put_coverage(FILE *f, const struct kl_coverage *c)
{
	fprintf(f, "# coverage %s %s", c->method, kl_cover_names[c->kind]);
	if (c->text)
		fprintf(f, " \"%s\"", c->text);
	fputc('\n', f);
}

void kl_text_put_header(FILE *f, const struct kl_history *h)
{
	size_t i;

	fprintf(f, "# klin history 1\n# clock %s error %" PRIu64 "\n# first %s\n# memory %s\n",
		kl_clock_names[h->clock], h->error, h->fresh ? "init" : "any",
		h->memory.sc ? "sc" : "tso");
	if (h->ncpus)
		fprintf(f, "# cpus %" PRIu32 "\n", h->ncpus);
	if (h->release)
		fprintf(f, "# release %s\n", h->release);
	if (h->spec_path)
		fprintf(f, "# spec %s\n", h->spec_path);
	for (i = 0; i < h->ncoverage; i++)
		put_coverage(f, &h->coverage[i]);
	if (h->keyed)
		fputs("# objects keys\n", f);
	kl_history_put_spellings(f, h);
	put_text(f, "|", h->spec_text);
	put_text(f, "attached", h->attached);
}

/**
 * kl_text_write() - write the text form
 * @h: the history
 * @f: where to
 *
 * Return: 0, -ENOMEM, or the negative errno of writing to @f, such as -ENOSPC.
 */
int kl_text_write(const struct kl_history *h, FILE *f)
{
	struct writer w = { .h = h, .f = f };
	int ret = -ENOMEM;
	size_t i;

	w.buf = malloc(BUF_SIZE);
	w.nres = malloc((h->nmethods + 1) * sizeof(*w.nres));
	if (!w.buf || !w.nres)
		goto out;
	for (i = 0; i < h->nmethods; i++)
		w.nres[i] = -1;
	for (i = 0; i < h->nops; i++) {
		const struct kl_opsig *s = kl_op_sig(h, &h->ops[i]);

		if (!(h->ops[i].flags & KL_OP_PENDING) && w.nres[s->method] < 0)
			w.nres[s->method] = s->nres;
	}
	kl_text_put_header(f, h);
	for (i = 0; i < h->ngaps; i++)
		put_gap(f, h, &h->gaps[i]);
	ret = 0;
	for (i = 0; i < h->nops && !ret; i++)
		ret = put_op(&w, &h->ops[i]);
	if (!ret)
		ret = flush(&w);
	if (!ret)
		ret = kl_stream_err(f);
out:
	free(w.buf);
	free(w.nres);
	return ret;
}
