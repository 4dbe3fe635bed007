// SPDX-License-Identifier: GPL-2.0
/*
 * Finds how far a violated partition goes well, see prefix.h.  What has an order up to some time
 * also has one up to any earlier time, so the time is found by halving.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/explain/omit.h"
#include "story/prefix.h"

#define MOST_LOOKS	20000000	/* of one check, some tenths of a second */
#define MOST_BYTES	(1ull << 30)

struct prefix {
	const struct kl_report *r;
	const struct kl_part_result *p;
	uint64_t *rets;		/* times at which operations return, ascending */
	size_t n;
	uint32_t *kept;		/* room for the operations of a part */
};

static int by_time(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static int find_times(struct prefix *f)
{
	const struct kl_history *h = f->r->h;
	uint32_t i;

	f->rets = malloc((f->p->nops + 1) * sizeof(*f->rets));
	f->kept = malloc((f->p->nops + 1) * sizeof(*f->kept));
	if (!f->rets || !f->kept)
		return -ENOMEM;
	for (i = 0; i < f->p->nops; i++) {
		const struct kl_op *op = &h->ops[kl_result_op(f->p, i)];

		if (op->ret != KL_TIME_MAX)
			f->rets[f->n++] = op->ret;
	}
	qsort(f->rets, f->n, sizeof(*f->rets), by_time);
	return 0;
}

/*
 * Check the part up to the time @end.
 *
 * Return: the verdict, or -ENOMEM.
 */
static int check_until(struct prefix *f, uint64_t end, struct kl_prefix *out)
{
	const struct kl_options opt = {
		.classical = f->r->classical, .no_partition = f->r->no_partition,
		.threads = 1, .bytes = MOST_BYTES, .work = MOST_LOOKS,
	};
	const struct kl_history *h = f->r->h;
	struct kl_cut cut;
	size_t n = 0;
	uint32_t i;
	int ret;

	kl_prefix_free(out);
	for (i = 0; i < f->p->nops; i++) {
		const uint32_t op = kl_result_op(f->p, i);

		/* By the clock's error a later call may have been before the end. */
		if (h->ops[op].call <= end || h->ops[op].call - end <= h->error)
			f->kept[n++] = op;
	}
	out->ops = malloc((n + 1) * sizeof(*out->ops));
	ret = out->ops ? kl_cut_init(&cut, f->r->spec, h, f->kept, n, false, 0, end) : -ENOMEM;
	if (ret)
		return ret;
	ret = kl_cut_history(&cut, f->kept, n, !f->r->classical, &out->h, out->ops);
	kl_cut_free(&cut);
	ret = ret ?: kl_check(f->r->spec, out->h, &opt, &out->r);
	if (ret)
		return ret == -ENOMEM ? ret : KL_UNKNOWN;
	return out->r->nparts == 1 ? out->r->verdict : KL_UNKNOWN;
}

/* The first operation that returns at the time @ret. */
static uint32_t find_return(const struct prefix *f, uint64_t ret)
{
	uint32_t i = 0;

	while (f->r->h->ops[kl_result_op(f->p, i)].ret != ret)
		i++;
	return kl_result_op(f->p, i);
}

/* Return: 1 if @out has the longest part, 0 if it is not known, or -ENOMEM. */
static int find_part(struct prefix *f, struct kl_prefix *out)
{
	size_t low = 0, high = f->n, mid;
	int verdict;

	/* The part that ends before rets[low] goes well, and that with rets[high] does not. */
	while (low < high) {
		mid = low + (high - low) / 2;
		verdict = check_until(f, f->rets[mid], out);
		if (verdict == KL_LINEARIZABLE)
			low = mid + 1;
		else if (verdict == KL_VIOLATION)
			high = mid;
		else
			return verdict < 0 ? verdict : 0;
	}
	if (low == f->n || !f->rets[low])
		return 0;
	verdict = check_until(f, f->rets[low] - 1, out);
	out->stop = find_return(f, f->rets[low]);
	return verdict < 0 ? verdict : verdict == KL_LINEARIZABLE && out->r->parts[0].answer.nsteps;
}

int kl_prefix_find(const struct kl_report *r, const struct kl_part_result *p,
		   struct kl_prefix *out)
{
	struct prefix f = { .r = r, .p = p };
	int ret;

	*out = (struct kl_prefix){ .stop = KL_NO_OP };
	if (p->nops > KL_PREFIX_OPERATIONS || p->selected || p->answer.verdict != KL_VIOLATION)
		return 0;
	ret = find_times(&f);
	ret = ret ?: find_part(&f, out);
	free(f.rets);
	free(f.kept);
	if (ret <= 0)
		kl_prefix_free(out);
	return ret < 0 ? ret : 0;
}

void kl_prefix_free(struct kl_prefix *out)
{
	kl_report_free(out->r);
	kl_history_free(out->h);
	free(out->ops);
	*out = (struct kl_prefix){ .stop = KL_NO_OP };
}
