// SPDX-License-Identifier: GPL-2.0
/* Omitting operations: see shrink.c and omit.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/explain/shrink_internal.h"

#define DROP_WORK	(1u << 20)	/* bound of operations in all trials of one chunk size */
#define LIST_LOOKS	20	/* looks for listing an operation */
#define MANY		3000	/* operations up to which each is compared with all others */

/* Return: true if the trials with this chunk size decide at most DROP_WORK operations together. */
static bool worth(const struct shrink *s, size_t chunk)
{
	return chunk && s->nkept / chunk <= DROP_WORK / s->nkept;
}

/* Mark the kept operations that may be omitted. */
static int find_droppable(struct shrink *s, struct kl_run *run, uint8_t *may)
{
	size_t i;
	int ret;

	for (i = 0; i < s->nkept; i++) {
		const struct kl_op *o = &s->p->h->ops[s->kept[i]];
		int m = kl_spec_find_method(s->p->spec, s->p->h->methods[kl_op_method(s->p->h, o)]);

		ret = kl_spec_method(s->p->spec, m)->pure;
		if (!ret && s->nkept <= MANY && !kl_shrink_late(s))
			ret = kl_shrink_no_trace(s, run, s->kept[i], s->kept, s->nkept);
		if (ret < 0)
			return ret;
		may[s->kept[i] - s->ops[0]] = ret;
	}
	return 0;
}

/*
 * Omit the marked operations in chunks, each round of half the size.  A large violation is not
 * tried operation by operation, since each trial decides all kept ones.
 */
static int drop_chunks(struct shrink *s, const struct kl_cut *cut, const uint8_t *may,
		       uint32_t *buf)
{
	size_t chunk, at, i, n, dropped;
	int ret = 0;

	for (chunk = s->nkept; worth(s, chunk) && ret >= 0; chunk /= 2) {
		for (at = 0; at < s->nkept && ret >= 0 && !kl_shrink_late(s); ) {
			for (i = n = dropped = 0; i < s->nkept; i++) {
				if (i >= at && i < at + chunk && may[s->kept[i] - s->ops[0]])
					dropped++;
				else
					buf[n++] = s->kept[i];
			}
			ret = dropped && n ? kl_shrink_trial(s, cut, buf, n) : 0;
			at += ret > 0 ? chunk - dropped : chunk;
		}
	}
	return ret < 0 ? ret : 0;
}

static int by_word(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * List the words of kept operations, each once, ascending.
 *
 * Return: their number; 0 if the spec is no container of words.
 */
static size_t list_words(const struct shrink *s, uint64_t *words)
{
	struct kl_container type;
	enum kl_role role;
	struct kl_val v;
	size_t i, n = 0, m = 0;

	kl_spec_container(s->p->spec, &type);
	if (s->engine->tso || type.kind == KL_CONTAINER_NONE ||
	    type.kind == KL_CONTAINER_REGISTER)
		return 0;
	for (i = 0; i < s->nkept; i++)
		if (kl_op_word(s->p->spec, s->p->h, &s->p->h->ops[s->kept[i]], &role, &v) &&
		    v.tag == KL_WORD)
			words[n++] = v.v;
	qsort(words, n, sizeof(*words), by_word);
	for (i = 0; i < n; i++)
		if (!m || words[m - 1] != words[i])
			words[m++] = words[i];
	return m;
}

/* List the kept operations except those of the words @from to @to.  Return: their number. */
static size_t without_words(const struct shrink *s, uint64_t from, uint64_t to, uint32_t *buf)
{
	enum kl_role role;
	struct kl_val v;
	size_t i, n = 0;

	for (i = 0; i < s->nkept; i++)
		if (!kl_op_word(s->p->spec, s->p->h, &s->p->h->ops[s->kept[i]], &role, &v) ||
		    v.tag != KL_WORD || v.v < from || v.v > to)
			buf[n++] = s->kept[i];
	return n;
}

/*
 * Try to omit whole words with all their operations: many words in one trial, then half as many,
 * and so on.  The operations that such a trial keeps include none of the chunk's words.  So either
 * each of these words may be omitted or none, and only the first word is checked.
 */
static int drop_words(struct shrink *s, const struct kl_cut *cut, uint32_t *buf)
{
	uint64_t *words = malloc((s->nkept + 1) * sizeof(*words));
	size_t nwords, chunk, at, n;
	int ret = words ? 0 : -ENOMEM;

	nwords = words ? list_words(s, words) : 0;
	for (chunk = nwords; worth(s, chunk) && ret >= 0; chunk /= 2) {
		for (at = 0; at < nwords && ret >= 0 && !kl_shrink_late(s); ) {
			const size_t some = chunk < nwords - at ? chunk : nwords - at;

			n = without_words(s, words[at], words[at + some - 1], buf);
			kl_shrink_look(s, LIST_LOOKS * s->nkept);
			ret = n && kl_word_leaves_no_trace(s->p->spec, s->p->h, words[at], KL_NO_OP,
							   buf, n, s->end) ?
			      kl_shrink_trial(s, cut, buf, n) : 0;
			if (ret <= 0) {
				at += some;
				continue;
			}
			nwords -= some;
			memmove(words + at, words + at + some, (nwords - at) * sizeof(*words));
		}
	}
	free(words);
	return ret < 0 ? ret : 0;
}

/* Keep only an operation that is wrong by itself, if there is one. */
static int drop_all(struct shrink *s, const struct kl_cut *cut, struct kl_run *run)
{
	uint64_t before;
	uint32_t op;
	size_t i;
	int ret = 0;

	for (i = s->nkept; i-- > 0 && !ret && !kl_shrink_late(s); ) {
		op = s->kept[i];
		before = kl_run_total(run);
		ret = kl_op_impossible(s->p->spec, run, s->p->h, op, s->end);
		kl_shrink_look(s, kl_run_total(run) - before);
		if (ret > 0)
			ret = kl_shrink_trial(s, cut, &op, 1);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Omit operations as long as that makes the history smaller: a write may often be omitted only
 * after its reads.
 */
int kl_shrink_drop(struct shrink *s, uint32_t *buf)
{
	struct kl_run *run = kl_run_new(s->p->spec);
	uint8_t *may = calloc(s->ops[s->nops - 1] - s->ops[0] + 1, 1);
	struct kl_cut cut = { 0 };
	size_t before;
	int ret = -ENOMEM;

	if (run && may)
		ret = kl_cut_init(&cut, s->p->spec, s->p->h, s->ops, s->nops, s->forgot,
				  s->time, s->end);
	if (!ret)
		ret = drop_all(s, &cut, run);
	do {
		before = s->nkept;
		if (!ret)
			ret = drop_words(s, &cut, buf);
		if (!ret)
			ret = find_droppable(s, run, may);
		if (!ret)
			ret = drop_chunks(s, &cut, may, buf);
	} while (!ret && s->nkept < before && !kl_shrink_late(s));
	kl_cut_free(&cut);
	kl_run_free(run);
	free(may);
	return ret;
}
