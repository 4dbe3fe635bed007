// SPDX-License-Identifier: GPL-2.0
/* The text around a diagram, see diagram_text.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/diagram_text.h"
#include "report/words.h"

void dg_print_caption(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		      size_t left_out, const char *stores)
{
	static const char *const clocks[] = {
		[KL_CLOCK_MONO] = "times in ns",
		[KL_CLOCK_SEQ] = "times are counts of one atomic counter",
		[KL_CLOCK_TICK] = "times are ticks of a shared counter",
		[KL_CLOCK_EPOCH] =
			"times are rounds; inside one only each CPU's own order is known",
	};
	static const char *const views[] = {
		[KL_TIMES_FILE] = "times are those of the file",
		[KL_TIMES_EVENTS] = "times number the calls and returns in the file",
		[KL_TIMES_DOUBLED] = "times are twice those of the file, and 1 more for a call",
	};

	int i;

	fprintf(f, "  %s", h->view.times ? views[h->view.times] : clocks[h->clock]);
	if (h->clock != KL_CLOCK_SEQ && h->clock != KL_CLOCK_EPOCH)
		fprintf(f, ", clock error %" PRIu64 "%s", h->error,
			h->error ? " (nearer events have no order)" : "");
	fputs(d->scaled ? "; to scale\n" : "; not to scale\n", f);
	for (i = 0; i < d->nitems && !d->item[i].around; i++)
		;
	if (i < d->nitems)
		fputs("  dotted: other operations that overlap the one that is wrong\n", f);
	if (stores)
		fprintf(f, "  %s: stores may still wait in the store buffer\n", stores);
	if (left_out)
		fprintf(f, "  the first %d operations; %zu more are not shown\n", KL_DIAGRAM_OPS,
			left_out);
	putc('\n', f);
}

static void print_time(FILE *f, uint64_t t, int width)
{
	if (t == KL_TIME_MAX)
		fprintf(f, "%*s", width, "-");
	else
		fprintf(f, "%*" PRIu64, width, t);
}

static int digits(uint64_t v)
{
	return snprintf(NULL, 0, "%" PRIu64, v);
}

/* The latest known time, which sets the width of the columns. */
static uint64_t last_time(const struct kl_history *h, const struct dg_layout *d)
{
	uint64_t last = 0;
	int i;

	for (i = 0; i < d->nitems; i++) {
		const struct kl_op *op = &h->ops[d->item[i].op];

		if (d->item[i].gap)
			continue;
		if (op->call > last)
			last = op->call;
		if (op->ret != KL_TIME_MAX && op->ret > last)
			last = op->ret;
		if (kl_op_drain(h, op) != KL_TIME_MAX && kl_op_drain(h, op) > last)
			last = kl_op_drain(h, op);
	}
	return last;
}

static char *op_text(const struct kl_history *h, const struct kl_op *op)
{
	int len = kl_op_print(NULL, 0, h, op);
	char *s = malloc(len + 1);

	if (s)
		kl_op_print(s, len + 1, h, op);
	return s;
}

static int print_list(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		      const struct kl_diagram_opts *o)
{
	int lane_width = 6, time_width = 6, number = digits(d->nitems), i;
	bool cpus = false;
	char *s;

	for (i = 0; i < d->nlanes; i++)
		if ((int)strlen(d->lane[i].name) > lane_width)
			lane_width = strlen(d->lane[i].name);
	for (i = 0; i < d->nitems; i++)
		cpus |= !d->item[i].gap && h->ops[d->item[i].op].cpu != KL_NO_CPU;
	if (digits(last_time(h, d)) > time_width)
		time_width = digits(last_time(h, d));
	fprintf(f, "\n  %*s  %-*s  %s%*s  %*s  ", number, "", lane_width, "thread",
		cpus ? "cpu  " : "", time_width, "call", time_width, "return");
	if (o->stores)
		fprintf(f, "%*s  ", time_width, "drain");
	fputs("operation\n", f);
	for (i = 0; i < d->nitems; i++) {
		const struct dg_item *it = &d->item[i];
		const struct kl_op *op = &h->ops[it->op];

		if (it->gap)
			continue;
		fprintf(f, "  %*d  %-*s  ", number, i + 1, lane_width, d->lane[it->lane].name);
		if (cpus && op->cpu != KL_NO_CPU)
			fprintf(f, "%3u  ", op->cpu);
		else if (cpus)
			fputs("  -  ", f);
		print_time(f, (op->flags & KL_OP_NOCALL) && !op->call ? KL_TIME_MAX : op->call,
			   time_width);
		fputs("  ", f);
		print_time(f, op->ret, time_width);
		fputs("  ", f);
		if (o->stores) {
			print_time(f, kl_op_drain(h, op), time_width);
			fputs("  ", f);
		}
		s = op_text(h, op);
		if (!s)
			return -ENOMEM;
		fprintf(f, "%s%s\n", s, it->bad ? "   <--" : "");
		free(s);
	}
	return 0;
}

/* The number of an operation in the diagram, or 0 if the diagram does not show it. */
static int number_of(const struct dg_layout *d, uint32_t op)
{
	int i;

	for (i = 0; i < d->nitems; i++)
		if (!d->item[i].gap && d->item[i].op == op)
			return i + 1;
	return 0;
}

/*
 * Print an order, by the numbers of the operations if the diagram has numbers.  Return: 0 or
 * -ENOMEM.
 */
static int print_order(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		       const struct kl_diagram_order *ord, int width)
{
	const int indent = 4;
	int at = indent, len;
	size_t i;
	char *word;

	if (ord->before) {
		fprintf(f, "%*sfrom", indent, "");
		kl_put_words(f, ord->before, indent + 4, indent, width);
	}
	fprintf(f, "%*s", indent, "");
	for (i = 0; i < ord->n; i++) {
		int number = d->numbered ? number_of(d, ord->ops[i]) : 0;

		len = number ? asprintf(&word, "%d;", number) : -1;
		if (!number) {
			char *s = op_text(h, &h->ops[ord->ops[i]]);

			len = s ? asprintf(&word, "%s;", s) : -1;
			free(s);
		}
		if (len < 0)
			return -ENOMEM;
		at = kl_put_word(f, word, i + 1 < ord->n ? len : len - 1, at, indent, width);
		free(word);
	}
	fputs(ord->n ? "\n" : "(none at all)\n", f);
	if (ord->state) {
		fprintf(f, "%*sthen", indent, "");
		kl_put_words(f, ord->state, indent + 4, indent, width);
	}
	return 0;
}

int dg_print_text(FILE *f, const struct kl_history *h, const struct dg_layout *d,
		  const struct kl_diagram_opts *o, int width)
{
	size_t i;
	int ret = 0;

	if (d->numbered || o->list)
		ret = print_list(f, h, d, o);
	if (o->norders)
		fprintf(f, "\n  The %s possible order%s:\n",
			o->orders->before ? "end of the longest" : "longest",
			o->norders > 1 ? "s" : "");
	for (i = 0; i < o->norders && !ret; i++)
		ret = print_order(f, h, d, &o->orders[i], width);
	if (o->why && !ret) {
		fputs("\n  ", f);
		kl_put_words(f, o->why, 2, 2, width);
	}
	return ret;
}
