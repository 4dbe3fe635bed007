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

uint64_t kl_history_digest(const struct kl_history *h)
{
	uint64_t lane[LANES] = { 0 }, d = kl_mix(h->nops, h->error), *shape;
	size_t i;

	shape = calloc(h->nshapes + 1, sizeof(*shape));
	/* Without memory nothing is the same history: no harm. */
	for (i = 0; shape && i < h->nshapes; i++) {
		const struct kl_shape *s = &h->shapes[i];

		shape[i] = kl_hash_words((const uint64_t *)(h->vals + s->vals),
					 2 * (size_t)(s->nargs + s->nres), s->method);
	}
	for (i = 0; shape && i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];
		uint64_t *l = &lane[i % LANES];

		*l = kl_mix(*l ^ op->call, op->ret);
		*l = kl_mix(*l ^ kl_op_drain(h, op), h->threads[op->thread]);
		*l = kl_mix(*l ^ h->objects[op->object], shape[op->shape] ^
			    (uint64_t)op->cpu << 8 ^ (op->flags & KL_OP_UNSEEN));
	}
	for (i = 0; i < LANES; i++)
		d = kl_mix(d, lane[i]);
	for (i = 0; i < h->ngaps; i++)
		d = kl_mix(d ^ h->gaps[i].from, h->gaps[i].to ^ (uint64_t)h->gaps[i].object << 16 ^
			   h->gaps[i].cpu);
	free(shape);
	return d;
}

#define BUF	(1u << 16)
#define TOKEN	16	/* characters of a step at most */

static void write_order(FILE *f, const struct kl_part_result *p)
{
	const struct kl_answer *a = &p->answer;
	char buf[BUF + TOKEN], *c = buf;
	size_t i;

	fputs("order", f);
	for (i = 0; i < a->nsteps; i++) {
		const uint32_t op = kl_result_op(p, a->steps[i].item);

		*c++ = ' ';
		if (op == KL_NO_OP) {
			*c++ = (a->steps[i].item & 1) == (p->nops & 1) ? '(' : ')';
		} else {
			if (a->steps[i].flags & KL_STEP_FLUSH)
				*c++ = '~';
			c = kl_put_dec(c, op);
			if (a->steps[i].flags & KL_STEP_BUFFERED)
				*c++ = '!';
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
	fprintf(o.f, "klin-certificate 1\nhistory %s\n", history);
	fprintf(o.f, "operations %zu digest %016" PRIx64 "\n", r->h->nops, kl_history_digest(r->h));
	fprintf(o.f, "classical %d\npartitions %zu by %s\n", classical, r->nparts,
		r->nparts && r->parts[0].has_key ? "key" : "object");
	for (i = 0; i < r->nparts; i++)
		write_part(o.f, &r->parts[i]);
	return kl_outfile_commit(&o);
}
