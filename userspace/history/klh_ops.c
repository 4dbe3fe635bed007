// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the operations of a block of .klh, see klh_ops.h: first a part of each column, then the
 * operations that these numbers describe.  In most parts the flags are 0, all values are words,
 * and threads, objects, methods and CPUs have one byte each.  Such a part is brief, and these
 * columns are used in place.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "history/internal.h"
#include "history/klh_format.h"
#include "history/klh_ops.h"

#define PART	128 /* number of operations that are read together */

/* The numbers of a part, by column. */
struct klh_ops {
	uint64_t flags[PART], call[PART], ret[PART], point[PART], drain[PART], thread[PART];
	uint64_t object[PART], method[PART], cpu[PART], shape[PART], stack[PART];
	uint64_t tag[2 * KL_MAX_ARGS * PART], word[2 * KL_MAX_ARGS * PART];
	/* the part's numbers of entries in the columns that not all operations use */
	size_t nret, npoint, ndrain, nstack, ntag, nword;
	size_t nvals; /* number of values of all operations */
	bool plain; /* no operation has flags */
	bool valued; /* each operation has a value */
	struct {
		const uint8_t *thread, *object, *method, *cpu, *shape;
	} bytes; /* columns of a brief part, in place */
	uint64_t prev; /* call of the previous operation of the block */
	uint64_t last_call, last_ret; /* times of the previous operation of the file */
	bool unordered;
	struct klh_last last;
};

/* Entry @i of a column whose entries are bytes, used in place, if the part is brief. */
#define AT(o, column, i, brief)	((brief) ? (o)->bytes.column[i] : (o)->column[i])

struct klh_ops *klh_ops_new(void)
{
	struct klh_ops *o = malloc(sizeof(*o));

	if (!o)
		return NULL;
	o->last_call = o->last_ret = 0;
	o->unordered = false;
	return o;
}

void klh_ops_free(struct klh_ops *o)
{
	free(o);
}

bool klh_ops_unordered(const struct klh_ops *o)
{
	return o->unordered;
}

void klh_ops_begin(struct klh_ops *o)
{
	memset(&o->last, 0, sizeof(o->last));
	o->prev = 0;
}

/*
 * Count the part's entries in the columns that not all operations use.
 * Return: false if an operation is invalid.
 */
static bool count_numbers(struct klh_ops *o, const struct kl_history *h, size_t n)
{
	uint64_t flags = 0, thread = 0, object = 0, method = 0, cpu = 0, args = 0, results = 0;
	size_t i;

	o->ntag = o->npoint = o->ndrain = o->nstack = 0;
	o->nret = n;
	for (i = 0; i < n; i++) {
		flags |= o->flags[i];
		thread = o->thread[i] > thread ? o->thread[i] : thread;
		object = o->object[i] > object ? o->object[i] : object;
		method = o->method[i] > method ? o->method[i] : method;
		cpu |= o->cpu[i];
		args = o->shape[i] >> 4 > args ? o->shape[i] >> 4 : args;
		results = (o->shape[i] & 15) > results ? o->shape[i] & 15 : results;
		o->ntag += (o->shape[i] >> 4) + (o->shape[i] & 15);
	}
	o->plain = !flags;
	o->nvals = o->ntag;
	for (i = 0; flags && i < n; i++) {
		const bool pending = o->flags[i] & KL_OP_PENDING;

		o->nret -= pending;
		o->ntag -= pending ? o->shape[i] & 15 : 0;
		o->npoint += !!(o->flags[i] & KLH_HAS_POINT);
		o->ndrain += !!(o->flags[i] & KLH_HAS_DRAIN);
		o->nstack += !!(o->flags[i] & KLH_HAS_STACK);
	}
	return !(flags & ~(uint64_t)KLH_FLAGS_KNOWN) && thread < h->nthreads &&
	       object < h->nobjects && method < h->nmethods && cpu <= KL_NO_CPU &&
	       args <= KL_MAX_ARGS && results <= KL_MAX_ARGS;
}

/* Read the columns of the next @n operations.  Return: false if an operation is invalid. */
static bool read_part(struct klh_ops *o, const struct kl_history *h, struct klh_cursor *col,
		      size_t n)
{
	uint64_t most = 0;
	size_t i;

	if (!klh_next_some(&col[KLH_FLAGS], o->flags, n) ||
	    !klh_next_some(&col[KLH_CALL], o->call, n) ||
	    !klh_next_some(&col[KLH_THREAD], o->thread, n) ||
	    !klh_next_some(&col[KLH_OBJECT], o->object, n) ||
	    !klh_next_some(&col[KLH_METHOD], o->method, n) ||
	    !klh_next_some(&col[KLH_CPU], o->cpu, n) ||
	    !klh_next_some(&col[KLH_SHAPE], o->shape, n) || !count_numbers(o, h, n) ||
	    !klh_next_some(&col[KLH_RET], o->ret, o->nret) ||
	    !klh_next_some(&col[KLH_POINT], o->point, o->npoint) ||
	    !klh_next_some(&col[KLH_DRAIN], o->drain, o->ndrain) ||
	    !klh_next_some(&col[KLH_STACK], o->stack, o->nstack) ||
	    !klh_next_some(&col[KLH_TAGS], o->tag, o->ntag))
		return false;
	for (i = 0; i < o->nstack; i++)
		if (o->stack[i] > UINT32_MAX)
			return false;
	o->nword = 0;
	for (i = 0; i < o->ntag; i++) {
		most = o->tag[i] > most ? o->tag[i] : most;
		o->nword += o->tag[i] == KL_WORD;
	}
	return most <= KL_ABSENT && klh_next_some(&col[KLH_VALUES], o->word, o->nword);
}

/* Return: true if each of the @n bytes at @p is below @limit. */
KL_VECTORIZED
static bool all_below(const uint8_t *p, size_t n, size_t limit)
{
	uint8_t most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = p[i] > most ? p[i] : most;
	return most < limit;
}

/*
 * Return: the number of values of @n operations, or 0 if an operation has too many.
 * *@valued becomes true if each operation has a value.
 */
KL_VECTORIZED
static size_t count_values(const uint8_t *shape, size_t n, bool *valued)
{
	uint8_t args = 0, results = 0, least = 1;
	size_t all = 0, i;

	for (i = 0; i < n; i++) {
		const uint8_t a = shape[i] >> 4, r = shape[i] & 15;

		args = a > args ? a : args;
		results = r > results ? r : results;
		least = shape[i] < least ? shape[i] : least;
		all += a + r;
	}
	*valued = least;
	return args <= KL_MAX_ARGS && results <= KL_MAX_ARGS ? all : 0;
}

/*
 * Read the columns of a brief part.  Return: false, without reading, if it is damaged or not
 * brief.
 */
static bool read_brief(struct klh_ops *o, const struct kl_history *h, struct klh_cursor *col,
		       size_t n)
{
	struct klh_cursor call = col[KLH_CALL], ret = col[KLH_RET], value = col[KLH_VALUES];
	size_t nvals, i;

	if (!klh_zeros(&col[KLH_FLAGS], n))
		return false;
	for (i = KLH_THREAD; i <= KLH_SHAPE; i++)
		if (!klh_bytes(&col[i], n))
			return false;
	nvals = count_values(col[KLH_SHAPE].p, n, &o->valued);
	if (!nvals || !klh_zeros(&col[KLH_TAGS], nvals) ||
	    !all_below(col[KLH_THREAD].p, n, h->nthreads) ||
	    !all_below(col[KLH_OBJECT].p, n, h->nobjects) ||
	    !all_below(col[KLH_METHOD].p, n, h->nmethods) ||
	    !klh_next_some(&call, o->call, n) || !klh_next_some(&ret, o->ret, n) ||
	    !klh_next_some(&value, o->word, nvals))
		return false;
	o->nvals = nvals;
	o->bytes.thread = col[KLH_THREAD].p;
	o->bytes.object = col[KLH_OBJECT].p;
	o->bytes.method = col[KLH_METHOD].p;
	o->bytes.cpu = col[KLH_CPU].p;
	o->bytes.shape = col[KLH_SHAPE].p;
	o->npoint = o->ndrain = o->nstack = 0;
	for (i = KLH_THREAD; i <= KLH_SHAPE; i++)
		col[i].p += n;
	col[KLH_FLAGS].p += n;
	col[KLH_TAGS].p += nvals;
	col[KLH_CALL] = call;
	col[KLH_RET] = ret;
	col[KLH_VALUES] = value;
	return true;
}

/* Store the signatures and values of @n operations behind the signatures and values of @h. */
static inline __attribute__((always_inline)) void make_sigs(struct klh_ops *o,
							      struct kl_history *h, size_t n,
							      bool brief)
{
	const uint64_t *tag = o->tag, *word = o->word;
	struct kl_opsig *sig = h->opsigs + h->nopsigs;
	struct kl_val *v = h->vals + h->nvals;
	unsigned int k;
	uint64_t *last;
	size_t i;

	for (i = 0; i < n; i++) {
		const unsigned int method = AT(o, method, i, brief), s = AT(o, shape, i, brief);
		const unsigned int nargs = s >> 4, all = nargs + (s & 15);
		const unsigned int known = !brief && o->flags[i] & KL_OP_PENDING ? nargs : all;

		sig[i] = (struct kl_opsig){
			.method = method,
			.nargs = nargs,
			.nres = all - nargs,
		};
		for (k = 0; k < known; k++, v++) {
			if (!brief && *tag++ != KL_WORD) {
				*v = kl_special(tag[-1]);
				continue;
			}
			last = klh_place(&o->last, method, k);
			*v = kl_word(*last += klh_unfold(*word++));
		}
		for (; k < all; k++)
			*v++ = kl_special(KL_ANY);
	}
}

/*
 * Store @n operations at @op.  With @plain no operation has flags, as in a @brief part.
 * Return: false if a return is beyond KL_TIME_MAX.
 */
static inline __attribute__((always_inline)) bool make_ops(struct klh_ops *o, struct kl_op *op,
							   size_t n, bool plain, bool brief)
{
	const uint64_t *length = o->ret;
	uint64_t call = o->prev, last = o->last_call, last_ret = o->last_ret;
	bool over = false, unordered = false;
	size_t i;

	for (i = 0; i < n; i++, op++) {
		const uint64_t flags = plain ? 0 : o->flags[i], cpu = AT(o, cpu, i, brief);

		call += klh_unfold(o->call[i]);
		op->call = call;
		op->ret = KL_TIME_MAX;
		if (!(flags & KL_OP_PENDING))
			over |= __builtin_add_overflow(call, *length++, &op->ret);
		op->thread = AT(o, thread, i, brief);
		op->object = AT(o, object, i, brief);
		op->cpu = cpu ? cpu - 1 : KL_NO_CPU;
		op->flags = flags & KL_OP_UNSEEN;
		op->pad = 0;
		unordered |= (call < last) | ((call == last) & (op->ret < last_ret));
		last = call;
		last_ret = op->ret;
	}
	o->prev = o->last_call = last;
	o->last_ret = last_ret;
	o->unordered |= unordered;
	return !over;
}

/* Set the linearization points, drains and stacks of the last @n operations of @h. */
static int tell_more(struct klh_ops *o, struct kl_history *h, size_t n)
{
	const uint64_t *point = o->point, *drain = o->drain, *stack = o->stack;
	const size_t first = h->nops - n;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		const uint64_t call = h->ops[first + i].call;
		uint64_t p = KL_TIME_MAX, d = KL_TIME_MAX;

		if (o->flags[i] & KLH_HAS_POINT)
			p = call + klh_unfold(*point++);
		if (o->flags[i] & KLH_HAS_DRAIN)
			d = call + klh_unfold(*drain++);
		if (o->flags[i] & (KLH_HAS_POINT | KLH_HAS_DRAIN))
			ret = kl_history_set_points(h, first + i, p, d);
		if (o->flags[i] & KLH_HAS_STACK && !ret)
			ret = kl_history_set_stack(h, first + i, *stack++);
	}
	return ret;
}

static int add_part(struct klh_ops *o, struct kl_history *h, size_t n, bool brief)
{
	int ret = kl_history_room(h, n, o->nvals);
	struct kl_op *op;
	bool good;

	if (ret)
		return ret;
	op = &h->ops[h->nops];
	if (brief) {
		make_sigs(o, h, n, true);
		good = make_ops(o, op, n, true, true);
	} else {
		make_sigs(o, h, n, false);
		good = o->plain ? make_ops(o, op, n, true, false) :
		       make_ops(o, op, n, false, false);
	}
	ret = good ? kl_history_append(h, n, o->nvals, brief && o->valued) : -EINVAL;
	return ret || o->npoint + o->ndrain + o->nstack == 0 ? ret : tell_more(o, h, n);
}

int klh_ops_read(struct klh_ops *o, struct kl_history *h, struct klh_cursor *col, size_t n,
		 const char **what)
{
	size_t i, part;
	bool brief;
	int ret;

	for (i = 0; i < n; i += part) {
		part = n - i < PART ? n - i : PART;
		brief = read_brief(o, h, col, part);
		*what = "an operation is invalid";
		if (!brief && !read_part(o, h, col, part))
			return -EINVAL;
		*what = "an operation's times are invalid";
		ret = add_part(o, h, part, brief);
		if (ret)
			return ret;
	}
	return 0;
}
