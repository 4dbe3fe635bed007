// SPDX-License-Identifier: GPL-2.0
/* Writing certificates, see cert.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/dec.h"
#include "base/file.h"
#include "base/hash.h"
#include "check/cert.h"

#define LANES	4	/* operations mixed at a time, each into every fourth before it */
#define MANY	(1u << 14)	/* operations, of which some are enough, */
#define TOGETHER	64	/* so many that follow one another */

static uint64_t mix_shape(const struct kl_history *h, const struct kl_op *op)
{
	const struct kl_shape *s = kl_op_shape(h, op);

	return kl_hash_words((const uint64_t *)(h->vals + s->vals),
			     2 * (size_t)(s->nargs + s->nres), s->method);
}

uint64_t kl_history_digest(const struct kl_history *h, bool whole)
{
	const size_t skip = whole || h->nops < MANY ? TOGETHER : h->nops / MANY * TOGETHER;
	uint64_t lane[LANES] = { 0 }, d = kl_mix(h->nops, h->error);
	size_t from, i;

	for (from = 0; from < h->nops; from += skip) {
		for (i = from; i < from + TOGETHER && i < h->nops; i++) {
			const struct kl_op *op = &h->ops[i];
			uint64_t *l = &lane[i % LANES];

			*l = kl_mix(*l ^ op->call, op->ret);
			*l = kl_mix(*l ^ kl_op_drain(h, op), h->threads[op->thread]);
			*l = kl_mix(*l ^ h->objects[op->object], mix_shape(h, op) ^
				    (uint64_t)op->cpu << 8 ^ (op->flags & KL_OP_UNSEEN));
		}
	}
	for (i = 0; i < LANES; i++)
		d = kl_mix(d, lane[i]);
	for (i = 0; i < h->ngaps; i++)
		d = kl_mix(d ^ h->gaps[i].from, h->gaps[i].to ^ (uint64_t)h->gaps[i].object << 16 ^
			   h->gaps[i].cpu);
	return d;
}

#define BUF	(1u << 16)
#define RUNS	512
#define TOKEN	(2 * KL_DEC + 2)	/* characters of a token at most */

static inline bool is_plain(const struct kl_part_result *p, struct kl_step s)
{
	return !s.flags && s.item < p->nops;
}

/* An operation, and how many follow that follow it in the history, too. */
struct run {
	uint32_t op, more;
};

/*
 * From step *@i on, which is moved behind them; how many, at most RUNS.  Ends where a step
 * is more than an operation.  Whether one follows is chance, so there is no branch for it.
 */
static size_t list_runs(const struct kl_part_result *p, size_t *i, struct run *r)
{
	const struct kl_step *step = p->answer.steps;
	const size_t nsteps = p->answer.nsteps;
	uint32_t next = KL_NO_OP, more = 0;
	size_t n = 0, at = *i;

	for (; at < nsteps && is_plain(p, step[at]); at++) {
		const uint32_t op = kl_result_op(p, step[at].item), follows = op == next;

		if (n == RUNS && !follows)
			break;
		n += !follows;
		more = (more + 1) & -follows;
		r[n - 1] = (struct run){ .op = op - more, .more = more };
		next = op + 1;
	}
	*i = at;
	return n;
}

/* So many more follow. */
static inline char *put_run(char *c, uint32_t n)
{
	*c++ = '+';
	*c = '0' + n;
	return n > 9 ? kl_put_dec(c, n) : c + 1;
}

static char *put_step(char *c, const struct kl_part_result *p, struct kl_step s)
{
	const uint32_t op = kl_result_op(p, s.item);

	if (op == KL_NO_OP) {
		*c++ = (s.item & 1) == (p->nops & 1) ? '(' : ')';
		return c;
	}
	if (s.flags & KL_STEP_FLUSH)
		*c++ = '~';
	c = kl_put_dec(c, op);
	if (s.flags & KL_STEP_BUFFERED)
		*c++ = '!';
	return c;
}

static void write_order(FILE *f, const struct kl_part_result *p)
{
	const struct kl_answer *a = &p->answer;
	char buf[BUF + (RUNS + 1) * TOKEN], *c = buf, *end;
	struct run run[RUNS];
	size_t i, k, n;

	fputs("order", f);
	for (i = 0; i < a->nsteps; ) {
		n = list_runs(p, &i, run);
		for (k = 0; k < n; k++) {
			*c = ' ';
			c = kl_put_dec(c + 1, run[k].op);
			end = put_run(c, run[k].more);
			c += (end - c) & -(ptrdiff_t)(run[k].more != 0);
		}
		if (i < a->nsteps && n < RUNS) {
			*c++ = ' ';
			c = put_step(c, p, a->steps[i++]);
		}
		if (c - buf < (ptrdiff_t)BUF)
			continue;
		fwrite(buf, 1, c - buf, f);
		c = buf;
	}
	*c++ = '\n';
	fwrite(buf, 1, c - buf, f);
}

static void write_part(FILE *f, const struct kl_part_result *p)
{
	const struct kl_answer *a = &p->answer;
	size_t i;

	fprintf(f, "part %s %u %s\n", kl_verdict_name(a->verdict), p->nops,
		a->engine ? a->engine : "none");
	if (a->verdict == KL_VIOLATION) {
		if (!p->cex)
			return;
		if (p->cex->forgot)
			fprintf(f, "cut %" PRIu64, p->cex->cut);
		else
			fputs("cut -", f);
		fprintf(f, " end %" PRIu64 "\nkept", p->cex->end);
		for (i = 0; i < p->cex->h->nops; i++)
			fprintf(f, " %u", p->cex->ops[i]);
		fputc('\n', f);
		return;
	}
	if (a->verdict == KL_LINEARIZABLE || p->explained)
		write_order(f, p);
}

int kl_cert_write(const struct kl_report *r, bool classical, const char *history,
		  const char *path)
{
	struct kl_outfile o;
	size_t i;
	int ret = kl_outfile_open(&o, path);

	if (ret)
		return ret;
	fprintf(o.f, "klin-certificate 2\nhistory %s\n", history);
	fprintf(o.f, "operations %zu digest %016" PRIx64 "\n", r->h->nops,
		kl_history_digest(r->h, false));
	fprintf(o.f, "classical %d\npartitions %zu by %s\n", classical, r->nparts,
		r->nparts && r->parts[0].has_key ? "key" : "object");
	for (i = 0; i < r->nparts; i++)
		write_part(o.f, &r->parts[i]);
	return kl_outfile_commit(&o);
}
