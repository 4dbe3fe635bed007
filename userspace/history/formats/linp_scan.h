/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readers of the parts of a line in LinP's and FPTLin's forms, see linp.h.  They are inlined
 * because reading a file takes most of its time in them.
 */
#ifndef KL_HISTORY_FORMATS_LINP_SCAN_H
#define KL_HISTORY_FORMATS_LINP_SCAN_H

#include <errno.h>

#include "history/batch.h"
#include "history/formats/linp.h"
#include "history/source.h"
#include "history/spell.h"

#define KL_LINP_MAX_TIME	((UINT64_MAX >> 1) - 1)
#define KL_LINP_EMPTY		((uint64_t)-1)

/*
 * Read a method and move *pp behind it.  Return: its index in the type, or -EINVAL after a
 * message.
 */
__attribute__((always_inline))
static inline int kl_linp_method(struct kl_linp *l, const char **pp)
{
	const char *p = kl_scan_skip(*pp), *end;
	const uint64_t w = kl_scan_eight(p);
	unsigned int i;

	if (!l->type)
		return kl_scan_stop(&l->scan, p, "a first line `# TYPE', as in `# stack'");
	for (i = 0; i < l->nmethods; i++) {
		const struct kl_linp_name *name = &l->name[i];

		if ((w & name->mask) != name->chars)
			continue;
		end = kl_scan_past(p + name->len, name->rest);
		if (end) {
			*pp = end;
			return i;
		}
	}
	return kl_scan_bad(&l->scan, p, l->type->expected);
}

/* Read the value of method @m at *pp.  Return: 0, -EINVAL after a message, or another errno. */
__attribute__((always_inline))
static inline int kl_linp_value(struct kl_linp *l, int m, const char **pp, uint64_t *v)
{
	const enum kl_linp_shape shape = l->type->methods[m].shape;
	const char *p = kl_scan_skip(*pp), *tok = p;

	if (kl_scan_int64(&l->scan, &p, v, "a value, a number"))
		return -EINVAL;
	*pp = p;
	if (!kl_is_plain(tok, p - tok) && *v != KL_LINP_EMPTY) {
		const uint64_t word = l->type->reversed ? ~*v : *v;

		if (kl_history_spell_number(l->h, word, tok, p - tok))
			return -ENOMEM;
	}
	if (*v <= INT64_MAX)
		return 0;
	if (*v == KL_LINP_EMPTY && shape != KL_LINP_SWAP && shape != KL_LINP_TAKE)
		return kl_scan_bad(&l->scan, tok, "a value other than -1, which is `empty'");
	if (l->type->reversed && *v != KL_LINP_EMPTY)
		return kl_scan_bad(&l->scan, tok, "a priority from 0 to 2^63 - 1");
	return 0;
}

/* Read a result at *pp, 1 or 0. */
static inline int kl_linp_result(struct kl_linp *l, const char **pp, uint64_t *v)
{
	const char *p = kl_scan_skip(*pp), *tok = p;

	if (kl_scan_int64(&l->scan, &p, v, "1 or 0, what the method returned"))
		return -EINVAL;
	*pp = p;
	return *v > 1 ? kl_scan_bad(&l->scan, tok, "1 or 0, what the method returned") : 0;
}

__attribute__((always_inline))
static inline int kl_linp_time(struct kl_linp *l, const char **pp, uint64_t *time,
			       const char *what)
{
	const char *tok = *pp = kl_scan_skip(*pp);

	if (kl_scan_u64(&l->scan, pp, time, what))
		return -EINVAL;
	return *time > KL_LINP_MAX_TIME ?
	       kl_scan_bad(&l->scan, tok, "a time below 2^63 - 1") : 0;
}

/* Read the start and the end of an operation at *pp, and convert them to the history's times. */
__attribute__((always_inline))
static inline int kl_linp_times(struct kl_linp *l, const char **pp, struct kl_op *op)
{
	const bool ties = l->type->ties;
	const char *tok;

	if (kl_linp_time(l, pp, &op->call, "the time of the start"))
		return -EINVAL;
	tok = kl_scan_skip(*pp);
	if (kl_linp_time(l, pp, &op->ret, "the time of the end"))
		return -EINVAL;
	if (op->ret < op->call + !ties)
		return kl_scan_bad(&l->scan, tok, ties ? "an end not before the start" :
				   "an end after the start");
	if (!ties) {
		op->call = 2 * op->call + 1;
		op->ret *= 2;
	}
	return 0;
}

/* Add an operation of method @m with the value @v, and with the second value or result @w. */
__attribute__((always_inline))
static inline int kl_linp_add(struct kl_linp *l, int m, struct kl_op *op, uint64_t v, uint64_t w)
{
	const enum kl_linp_shape shape = l->type->methods[m].shape;
	const bool empty = shape == KL_LINP_TAKE && v == KL_LINP_EMPTY;
	struct kl_val vals[KL_BATCH_VALS] = {
		kl_word(l->type->reversed ? ~v : v), kl_word(w), kl_word(1),
	};

	if (empty)
		vals[0] = kl_special(KL_EMPTY);
	if (shape == KL_LINP_TRUE || shape == KL_LINP_FALSE)
		vals[1] = kl_word(shape == KL_LINP_TRUE);
	op->flags |= KL_OP_DRAINED;
	op->cpu = KL_NO_CPU;
	return kl_source_place(l->h, l->scan.line) ?:
	       kl_batch_add(l->h, op, l->sig[m], vals, !empty);
}

#endif
