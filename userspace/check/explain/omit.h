/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of a counterexample: kept operations, omitted operations, and a cut. */
#ifndef KL_CHECK_EXPLAIN_OMIT_H
#define KL_CHECK_EXPLAIN_OMIT_H

#include "history/history.h"
#include "spec/classify/container.h"
#include "spec/spec.h"

/**
 * kl_may_omit() - may an operation be omitted from a violation?
 * @spec: the specification
 * @run: an interpreter of it
 * @h: the history
 * @op: index of the operation
 * @kept: the operations that are kept, perhaps with @op itself
 * @n: their number
 * @end: kept operations that return later are pending
 * @tso: the kept operations ran on store buffers
 *
 * An operation may be omitted if every order with it stays an order without it:
 *
 * - Its results show that it wrote nothing.
 * - It gives every variable a value that does not depend on the state before, and by the results no
 *   kept operation that reads can directly follow it.  Then the next kept operation in an order
 *   reads nothing and writes everything, or there is none.  If the specification is certainly
 *   partitioned by key, only the variables of its key count.
 * - In a container, without store buffers: no operation of its word is kept; or it found nothing to
 *   remove, or in a set nothing to add.
 * - In a bounded container: it found the container full; or no operation of its word is kept, and
 *   none that found the container full.
 *
 * With store buffers, an entry for a part of the state may reach memory after @op, so that the rest
 * of @op's writes is seen.  Then the second rule asks more: @op reads nothing, and all kept
 * operations write everything, or write through.
 *
 * Return: 1 if it may be omitted, 0 if that is not known, or -ENOMEM.
 */
int kl_may_omit(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		uint32_t op, const uint32_t *kept, size_t n, uint64_t end, bool tso);

/**
 * kl_word_leaves_no_trace() - may all operations of a word be omitted from a container?
 * @spec: the specification, of a container
 * @h: the history
 * @word: the word
 * @op: index of an operation that is omitted, too, although it may be in @kept; or KL_NO_OP
 * @kept: the operations that are kept
 * @n: their number
 * @end: kept operations that return later are pending
 *
 * They may if no other operation of the word is kept (Lee & Mathur, Proposition 4.3: an order
 * without all operations of a word is an order).  Also, no kept operation may have added, removed
 * or, where there are keys, asked for an unknown word, which may be this word.  A bounded container
 * also has room with fewer values inside; but then no operation may be kept that found it full.
 *
 * Return: true if they may.
 */
bool kl_word_leaves_no_trace(const struct kl_spec *spec, const struct kl_history *h,
			     uint64_t word, uint32_t op, const uint32_t *kept, size_t n,
			     uint64_t end);

/**
 * kl_op_impossible() - does an operation have results that no state gives?
 * @spec: the specification
 * @run: an interpreter of it
 * @h: the history
 * @op: index of the operation
 * @end: operations that returned later are pending, and have no results
 *
 * Such an operation is a violation by itself, and all others may be omitted.
 *
 * Return: 1 if its results are impossible, 0 if not, or -ENOMEM.
 */
int kl_op_impossible(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		     uint32_t op, uint64_t end);

/*
 * Get the @role of a container's operation, and the @word that it adds, removes or sees.  Return:
 * false if they are unknown.
 */
bool kl_op_word(const struct kl_spec *spec, const struct kl_history *h, const struct kl_op *op,
		enum kl_role *role, struct kl_val *word);

/**
 * kl_count_kept() - may operations on a violation's only word be replaced by a count?
 * @spec: the specification
 * @h: the history
 * @ops: indices of the partition's operations
 * @nops: their number
 * @kept: the kept operations, all of one word
 * @n: their number
 * @end: the history ends here; operations that returned later are pending
 *
 * For a queue, stack, priority queue or multiset that was empty at first, without store buffers.
 * There must be a time t such that:
 *
 * - All omitted operations of the word, except peeks, had returned by t.
 * - Of the operations that had returned by t, only additions are kept.  Their number is that of all
 *   additions minus that of all removals that had returned by t.
 * - No operation was called within the clock's error after t.
 *
 * Then an order of all operations gives an order of the kept ones, see omit_copies.c.
 *
 * Return: 1 if there is such a time, 0 if not, or -ENOMEM.
 */
int kl_count_kept(const struct kl_spec *spec, const struct kl_history *h, const uint32_t *ops,
		  size_t nops, const uint32_t *kept, size_t n, uint64_t end);
/*
 * Find the latest time t as in kl_count_kept() that is before the last @back returns, and choose
 * the operations to keep.  @out, with room for @n, gets them.
 *
 * Return: 1, 0 if there is no such time, -ENOMEM.
 */
int kl_count_cut(const struct kl_spec *spec, const struct kl_history *h, const uint32_t *ops,
		 size_t nops, const uint32_t *kept, size_t n, uint64_t end, size_t back,
		 uint32_t *out, size_t *nout);

/**
 * struct kl_cut - the operations of a partition that are forgotten
 * @forgot: are operations forgotten?
 * @time: if so, all operations that returned by this time are
 * @end: the history ends here; operations that returned later are pending
 * @drained: for each thread, the time by which the stores of its forgotten operations have left the
 *	store buffer; 0 if there are none, KL_TIME_MAX if it is not known
 */
struct kl_cut {
	const struct kl_spec *spec;
	const struct kl_history *h;
	bool forgot;
	uint64_t time, end;
	uint64_t *drained;
};

/**
 * kl_cut_init() - prepare a cut
 * @c: the cut
 * @spec: the specification
 * @h: the whole history
 * @ops: indices of the partition's operations
 * @n: their number; without store buffers it may be 0
 * @forgot: are operations forgotten?
 * @time: if so, all operations that returned by this time are
 * @end: return time of the failing operation
 *
 * Return: 0 or -ENOMEM.
 */
int kl_cut_init(struct kl_cut *c, const struct kl_spec *spec, const struct kl_history *h,
		const uint32_t *ops, size_t n, bool forgot, uint64_t time, uint64_t end);
void kl_cut_free(struct kl_cut *c);

/**
 * kl_cut_history() - make the history of a counterexample
 * @c: the cut
 * @kept: indices of the kept operations, ascending
 * @n: their number
 * @tso: the history is for an engine with store buffers
 * @out: gets a history whose operation i is operation order[i] of the whole history
 * @order: has room for @n
 *
 * Gaps that end after the cut stay.  The cut itself is a gap from the beginning of time.
 *
 * Return: 0, -ENOMEM.
 */
int kl_cut_history(const struct kl_cut *c, const uint32_t *kept, size_t n, bool tso,
		   struct kl_history **out, uint32_t *order);

#endif
