/* SPDX-License-Identifier: GPL-2.0 */
/* What a counterexample is made of: kept operations, and a cut that forgets the rest. */
#ifndef KL_CHECK_EXPLAIN_OMIT_H
#define KL_CHECK_EXPLAIN_OMIT_H

#include "history/history.h"
#include "spec/classify/container.h"
#include "spec/spec.h"

/**
 * kl_leaves_no_trace() - may an operation be left out of a violation?
 * @spec: the specification
 * @run: an interpreter of it
 * @h: the history
 * @op: index of the operation
 * @kept: the other operations that are kept, among them perhaps @op itself
 * @n: how many
 * @end: of what is kept, those that return later are pending
 * @tso: what is kept ran on store buffers
 *
 * So is one that writes nothing, by its results.  So is one that gives every variable
 * a value, the same whatever was before, if no operation that is kept and does read
 * could directly follow it, by its results.  For take an order of the whole, and in it
 * some that are left out, one after another: what is kept and comes next reads nothing
 * and writes everything, or nothing comes, and the order is one without them, too.
 * (Of a specification that is partitioned by key for certain what belongs to its key is
 * enough, as it is the conjunction of one for each key.)
 * With store buffers an entry of a part of the state may reach memory after @op and
 * leave the rest of it to be seen: then @op may read nothing, and all that is kept has
 * to write everything, or write through.
 *
 * In a container, without store buffers: so are all operations of a word of which
 * none is kept, and one that found nothing to remove, or in a set nothing to add.  Where
 * there is room for so many only, so is what found it full, and a word's if nothing that
 * found it full is kept.
 *
 * Return: 1, 0, or -ENOMEM.
 */
int kl_leaves_no_trace(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		       uint32_t op, const uint32_t *kept, size_t n, uint64_t end, bool tso);

/**
 * kl_word_leaves_no_trace() - may all operations of a word be left out of a container?
 * @spec: the specification, of a container
 * @h: the history
 * @word: the word
 * @op: index of an operation that is left out, too, although it may be in @kept; or KL_NO_OP
 * @kept: the operations that are kept
 * @n: how many
 * @end: of what is kept, those that return later are pending
 *
 * They may if nothing else of the word is kept (Lee & Mathur, Proposition 4.3: an order
 * without all operations of a word is an order), and nothing that added, removed or, where
 * there are keys, asked for some word that is not known: that may have been this one.
 * Where there is room for so many only there is with less inside, too; but then nothing
 * may be kept that found it full, and that has no word.
 *
 * Return: whether.
 */
bool kl_word_leaves_no_trace(const struct kl_spec *spec, const struct kl_history *h,
			     uint64_t word, uint32_t op, const uint32_t *kept, size_t n,
			     uint64_t end);

/**
 * kl_op_impossible() - has an operation results that no state gives?
 * @spec: the specification
 * @run: an interpreter of it
 * @h: the history
 * @op: index of the operation
 * @end: what returned later is pending, and has none
 *
 * That is a violation by itself, and all others may be left out.
 *
 * Return: 1, 0, or -ENOMEM.
 */
int kl_op_impossible(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		     uint32_t op, uint64_t end);

/* The word that an operation of a container adds, removes or sees; false if none is known. */
bool kl_op_word(const struct kl_spec *spec, const struct kl_history *h, const struct kl_op *op,
		enum kl_role *role, struct kl_val *word);

/**
 * kl_count_kept() - may what is left out of the only word of a violation be left out?
 * @spec: the specification
 * @h: the history
 * @ops: indices of the partition's operations
 * @nops: how many
 * @kept: those kept, all of one word
 * @n: how many
 * @end: the history ends here: what returned later is pending
 *
 * In a queue, stack, priority queue or multiset, without store buffers, that was empty at
 * first.
 * There is a time t by which all that is left out of the word, but for peeks, had returned;
 * of what had returned by t as many additions are kept as there were more than removals,
 * and nothing else; nothing was called within the clock's error after t.  Then an order
 * of the whole is one of the rest, in another turn, see omit_copies.c.
 *
 * Return: 1, 0, or -ENOMEM.
 */
int kl_count_kept(const struct kl_spec *spec, const struct kl_history *h, const uint32_t *ops,
		  size_t nops, const uint32_t *kept, size_t n, uint64_t end);
/*
 * Leave out what may be by such a time before the last but @back returns: fills @out, which
 * has room for @n.  1; 0: there is none; -ENOMEM.
 */
int kl_count_cut(const struct kl_spec *spec, const struct kl_history *h, const uint32_t *ops,
		 size_t nops, const uint32_t *kept, size_t n, uint64_t end, size_t back,
		 uint32_t *out, size_t *nout);

/**
 * struct kl_cut - what is forgotten of a partition
 * @forgot: is anything forgotten?
 * @time: then all operations that ended by here
 * @end: the history ends here: what returned later is pending
 * @drained: for each thread of the history, when what it wrote and is forgotten
 *	has left its store buffer: 0 if there is nothing, KL_TIME_MAX if not known
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
 * @n: how many; without store buffers it may be 0
 * @forgot: are operations forgotten?
 * @time: then those that returned by here
 * @end: return time of the failing operation
 *
 * Return: 0 or -ENOMEM.
 */
int kl_cut_init(struct kl_cut *c, const struct kl_spec *spec, const struct kl_history *h,
		const uint32_t *ops, size_t n, bool forgot, uint64_t time, uint64_t end);
void kl_cut_free(struct kl_cut *c);

/**
 * kl_cut_history() - the history of a counterexample
 * @c: the cut
 * @kept: indices of the operations kept, ascending
 * @n: how many
 * @tso: it is for an engine that knows store buffers
 * @out: a history whose operation i is number order[i] of the whole
 * @order: room for @n
 *
 * Gaps of the whole that are not over by the cut stay; the cut itself is a gap
 * from the beginning of time.
 *
 * Return: 0, -ENOMEM.
 */
int kl_cut_history(const struct kl_cut *c, const uint32_t *kept, size_t n, bool tso,
		   struct kl_history **out, uint32_t *order);

#endif
