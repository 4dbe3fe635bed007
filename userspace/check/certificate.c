// SPDX-License-Identifier: GPL-2.0
/* Writing certificates, see certificate.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/dec.h"
#include "base/outfile.h"
#include "base/sha256.h"
#include "check/certificate.h"

#define BUF	(1u << 16)
#define RUNS	512
#define TOKEN	(2 * KL_DEC + 2)	/* characters of a token at most */

static inline bool is_plain(const struct kl_part_result *p, struct kl_step s)
{
	return !s.flags && s.item < p->nops;
}

/* Steps that follow one another in the history, too: @op and the @more operations after it. */
struct run {
	uint32_t op, more;
};

/*
 * List runs from step *i on, up to RUNS of them, and up to a step that is not a plain operation; *i
 * becomes the next step.  Whether an operation continues a run cannot be predicted, so there is no
 * branch on it.  Return: the number of runs.
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

/* Write that @n operations follow. */
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

/* Newlines separate lines, so a text that ends with a newline has an empty last line. */
static void write_text(FILE *f, const char *text)
{
	const char *end;
	size_t n = 1;

	for (end = text; (end = strchr(end, '\n')); end++)
		n++;
	fprintf(f, "text %zu\n", n);
	for (; n; n--, text = end + 1) {
		end = strchrnul(text, '\n');
		fprintf(f, "\t%.*s\n", (int)(end - text), text);
	}
}

static void write_header(FILE *f, const struct kl_report *r, bool classical, const char *history)
{
	const char *text = kl_spec_text(r->spec);
	char sha256[KL_SHA256_HEX];

	kl_sha256(text, strlen(text), sha256);
	fprintf(f, "klin-certificate 3\nspec %s sha256 %s\n", kl_spec_name(r->spec), sha256);
	fprintf(f, "history %s sha256 %s\n", history, *r->h->sha256 ? r->h->sha256 : "-");
	fprintf(f, "operations %zu\nmemory %s\n", r->h->nops, classical ? "sc" : "tso");
	fprintf(f, "first %s\npartitions %zu by %s\n", r->h->fresh ? "init" : "any", r->nparts,
		r->nparts && r->parts[0].has_key ? "key" : "object");
}

int kl_cert_write(const struct kl_report *r, bool classical, const char *history,
		  const char *path)
{
	struct kl_outfile o;
	size_t i;
	int ret = kl_outfile_open(&o, path);

	if (ret)
		return ret;
	write_header(o.f, r, classical, history);
	for (i = 0; i < r->nparts; i++)
		write_part(o.f, &r->parts[i]);
	write_text(o.f, kl_spec_text(r->spec));
	fputs("end\n", o.f);
	return kl_outfile_commit(&o);
}
