// SPDX-License-Identifier: GPL-2.0
/* Interned states and remembered steps, see spec_stepper.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/general/spec_stepper.h"

#define MEMO_MAX	(1u << 14)	/* entries of the direct-mapped cache of steps */
/* number of states, and of their words, that fit a CPU's cache */
#define ROOM		(1u << 15)
/* maximal number of looks between two readings of the clock */
#define CLOCK_LOOKS	(1u << 22)
#define INTERN_LOOKS	20	/* looks for interning a state, */
#define VALUE_LOOKS	2	/* for packing and unpacking each of its values, */
#define APPLY_LOOKS	20	/* and for an operation that takes effect in it */
#define NEXT_LOOKS	16	/* successors that are compared in one look */

bool kl_budget_over(void *budget)
{
	struct kl_budget *b = budget;

	b->bound = kl_time_over(b->lim, b->reason, sizeof(b->reason));
	return b->bound;
}

int kl_budget_out(struct kl_budget *b)
{
	if (kl_budget_over(b))
		return -EDQUOT;
	b->bound = KL_BOUND_WORK;
	snprintf(b->reason, sizeof(b->reason), "work limit reached");
	return -EDQUOT;
}

int kl_budget_check(struct kl_budget *b, uint64_t bytes)
{
	if (b->lim->bytes && bytes > b->lim->bytes) {
		b->bound = KL_BOUND_MEMORY;
		snprintf(b->reason, sizeof(b->reason), "memory limit of %llu MiB reached",
			 (unsigned long long)(b->lim->bytes >> 20));
		return -EDQUOT;
	}
	if ((b->lim->work && b->work >= b->lim->work + b->lim->each * b->progress) ||
	    (b->lim->cap && b->work >= b->lim->cap)) {
		return kl_budget_out(b);
	}
	/* A step of the interpreter may take long, so looks count beside checks. */
	if (b->ticks++ & 255 && b->work - b->clocked < CLOCK_LOOKS)
		return 0;
	b->clocked = b->work;
	if (b->lim->progress)
		b->lim->progress->now = b->progress;
	return kl_budget_over(b) ? -EDQUOT : 0;
}

/*
 * States are kept packed.  Each value is a byte with its tag and the number of its significant
 * bytes, and then these bytes.  END and zeros up to a whole word follow.
 */
#define END	0xff
#define PACKED	9	/* maximal number of bytes of a packed value */

static int64_t intern_state(struct kl_stepper *s, const struct kl_val *state, size_t len)
{
	uint8_t *p;
	size_t i, n;
	int ret = kl_grow(s->packed, s->cpacked, (PACKED * len + 8) / 8 + 1);

	if (ret)
		return ret;
	s->looks += INTERN_LOOKS + VALUE_LOOKS * len;
	p = (uint8_t *)s->packed;
	for (i = 0; i < len; i++) {
		const uint64_t v = state[i].v;

		/* Most values are small. */
		n = v < 256 ? v > 0 : 8 - __builtin_clzll(v) / 8;
		*p++ = state[i].tag << 4 | n;
		memcpy(p, &v, sizeof(v));
		p += n;
	}
	*p++ = END;
	n = p - (uint8_t *)s->packed;
	memset(p, 0, -n & 7);
	return kl_intern(&s->states, s->packed, (n + 7) / 8);
}

/* Unpack the value at *p, which is not END, and move *p behind it. */
static inline struct kl_val unpack_val(const uint8_t **p)
{
	static const uint64_t mask[] = {
		0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff,
		0xffffffffffffff, 0xffffffffffffffff,
	};
	const uint8_t head = **p;
	uint64_t v;

	/* At least 8 bytes can be read after the head, see kl_intern_get(). */
	memcpy(&v, *p + 1, sizeof(v));
	*p += 1 + (head & 15);
	return (struct kl_val){ .v = v & mask[head & 15], .tag = head >> 4 };
}

/* Unpack a state into *v.  Return: the number of its values, or -ENOMEM. */
static ssize_t unpack_to(const struct kl_stepper *s, uint32_t state, struct kl_val **v, size_t *cap)
{
	struct kl_val *to;
	const uint8_t *p;
	size_t words;
	int ret;

	p = (const uint8_t *)kl_intern_get(&s->states, state, &words);
	/* Each value takes at least a byte. */
	ret = kl_grow(*v, *cap, 8 * words);
	if (ret)
		return ret;
	for (to = *v; *p != END; to++)
		*to = unpack_val(&p);
	return to - *v;
}

/* Unpack the state into s->before, unless it is there already, as it often is. */
static int unpack_state(struct kl_stepper *s, uint32_t state)
{
	ssize_t n;

	if (s->nbefore && s->unpacked == state)
		return 0;
	s->nbefore = 0;
	n = unpack_to(s, state, &s->before, &s->cbefore);
	if (n < 0)
		return n;
	s->nbefore = n;
	s->unpacked = state;
	s->looks += VALUE_LOOKS * n;
	return 0;
}

bool kl_stepper_lost(struct kl_stepper *s, uint32_t state)
{
	return state != KL_STATE_GAP && !unpack_state(s, state) &&
	       kl_state_lost(s->before, s->nbefore);
}

bool kl_stepper_covers(struct kl_stepper *s, uint32_t a, uint32_t b)
{
	ssize_t n;

	if (a == b)
		return true;
	if (a == KL_STATE_GAP || b == KL_STATE_GAP || unpack_state(s, a))
		return false;
	n = unpack_to(s, b, &s->other, &s->cother);
	if (n > 0)
		s->looks += VALUE_LOOKS * n;
	return n >= 0 && kl_state_covers(s->p->spec, s->before, s->nbefore, s->other, n);
}

bool kl_stepper_word(const struct kl_stepper *s, uint32_t state, uint64_t *word)
{
	size_t words;
	const uint8_t *p = (const uint8_t *)kl_intern_get(&s->states, state, &words);

	if (state == KL_STATE_GAP || *p >> 4 != KL_WORD)
		return false;
	*word = unpack_val(&p).v;
	return true;
}

static int get_entries(struct kl_stepper *s, uint32_t n)
{
	struct kl_memo_room *room = s->p->room;

	s->memo.mask = n - 1;
	if (!room || room->used) {
		s->memo.entries = calloc(n, sizeof(*s->memo.entries));
		return s->memo.entries ? 0 : -ENOMEM;
	}
	if (kl_grow(room->entries, room->n, n))
		return -ENOMEM;
	room->used = true;
	s->memo.entries = room->entries;
	kl_stepper_forget(s);
	return 0;
}

static void put_entries(struct kl_stepper *s)
{
	struct kl_memo_room *room = s->p ? s->p->room : NULL;

	if (room && s->memo.entries == room->entries)
		room->used = false;
	else
		free(s->memo.entries);
}

int kl_stepper_init(struct kl_stepper *s, const struct kl_part *p, struct kl_budget *b,
		    char *reason)
{
	static const uint64_t gap_mark = UINT64_MAX;	/* differs from every packed state */
	const struct kl_val *v;
	uint32_t size;
	int64_t id;
	size_t len;

	memset(s, 0, sizeof(*s));
	s->p = p;
	s->budget = b;
	s->reason = reason;
	s->fixed = kl_spec_fixed_size(p->spec);
	s->room = ROOM;
	s->run = p->run ? p->run : kl_run_new(p->spec);
	for (size = 16; size < MEMO_MAX && size < 4 * p->nitems; )
		size *= 2;
	if (!s->run || get_entries(s, size))
		goto err;
	if (p->h->nopsigs <= p->nitems / 2) {
		s->nature = calloc(p->h->nopsigs + 1, sizeof(*s->nature));
		if (!s->nature)
			goto err;
	}
	if (kl_intern(&s->states, &gap_mark, 1) != KL_STATE_GAP)
		goto err;
	v = kl_run_init(s->run, false, &len);
	id = v ? intern_state(s, v, len) : -ENOMEM;
	if (id < 0)
		goto err;
	s->any = id;
	v = kl_run_init(s->run, p->fresh, &len);
	id = v ? intern_state(s, v, len) : -ENOMEM;
	if (id < 0)
		goto err;
	s->first = id;
	return 0;
err:
	kl_stepper_free(s);
	return -ENOMEM;
}

void kl_stepper_free(struct kl_stepper *s)
{
	if (s->p && !s->p->run)
		kl_run_free(s->run);
	kl_intern_free(&s->states);
	put_entries(s);
	free(s->nature);
	free(s->next);
	free(s->before);
	free(s->other);
	free(s->packed);
	memset(s, 0, sizeof(*s));
}

void kl_stepper_forget(struct kl_stepper *s)
{
	memset(s->memo.entries, 0, ((size_t)s->memo.mask + 1) * sizeof(*s->memo.entries));
	s->nbefore = 0;
}

int kl_stepper_keep(struct kl_stepper *s, uint32_t *states, size_t n)
{
	uint32_t own[] = { KL_STATE_GAP, s->any };
	int ret;

	s->peak = kl_stepper_bytes(s);
	ret = kl_intern_keep(&s->states, own, 2, states, n);
	if (ret)
		return ret;
	s->any = own[1];
	/* Make many new states before the next time, so that copying the kept ones costs little. */
	s->room = ROOM + 8 * (s->states.nwords + s->states.n);
	kl_stepper_forget(s);
	return 0;
}

static int collect(void *ctx, const struct kl_outcome *o)
{
	struct kl_stepper *s = ctx;
	int64_t id;
	size_t i;
	int ret;

	s->noted |= o->notes < o->len;
	if (s->in_gap)
		id = KL_STATE_GAP;
	else
		id = o->state == s->before ? s->unpacked : intern_state(s, o->state, o->len);
	if (id < 0)
		return id;
	for (i = 0; i < s->nnext; i++)
		if (s->next[i] == id)
			return 0;
	s->looks += s->nnext / NEXT_LOOKS;
	if (s->most && s->looks > s->most)
		return -EDQUOT;
	ret = kl_grow(s->next, s->cnext, s->nnext + 1);
	if (ret)
		return ret;
	s->next[s->nnext++] = id;
	return 0;
}

int kl_stepper_gave_up(const struct kl_part *p, const struct kl_run *run, const struct kl_item *it,
		       int ret, char *reason)
{
	if (ret != -E2BIG && ret != -EOVERFLOW)
		return ret;
	snprintf(reason, 160, "method %s: %s", kl_spec_method(p->spec, it->method)->name,
		 ret == -E2BIG ? kl_run_error(run) : "too many states");
	return -EDQUOT;
}

void kl_stepper_bound(struct kl_stepper *s)
{
	if (!s->budget)
		return;
	kl_stepper_count(s, s->budget);
	s->most = kl_budget_left(s->budget);
	kl_run_set_bound(s->run, s->most, kl_budget_over, s->budget);
}

static int run_step(struct kl_stepper *s, uint32_t state, const struct kl_item *it)
{
	int ret;

	ret = unpack_state(s, state == KL_STATE_GAP ? s->any : state);
	if (ret)
		return ret;
	s->in_gap = state == KL_STATE_GAP;
	s->nnext = 0;
	kl_stepper_bound(s);
	ret = kl_run_apply(s->run, s->before, s->nbefore, it->method,
			   kl_item_args(s->p, it), kl_item_res(s->p, it), collect, s);
	s->looks += APPLY_LOOKS + kl_run_work(s->run);
	if (ret == -EDQUOT) {
		kl_stepper_count(s, s->budget);
		return kl_budget_out(s->budget);
	}
	return ret ? kl_stepper_gave_up(s->p, s->run, it, ret, s->reason) : 0;
}

int kl_stepper_step_anew(struct kl_stepper *s, uint32_t state, uint32_t item, const uint32_t **next)
{
	static const uint32_t gap = KL_STATE_GAP;
	const struct kl_item *it = &s->p->items[item];
	const uint64_t key = kl_memo_key(state, it->sig);
	struct kl_memo_entry *m = kl_memo_at(&s->memo, key);
	int ret;

	if (it->kind == KL_ITEM_ENTER) {
		*next = &gap;
		return 1;
	}
	if (it->kind == KL_ITEM_LEAVE) {
		*next = &s->any;
		return state == KL_STATE_GAP;
	}
	ret = run_step(s, state, it);
	if (ret)
		return ret;
	if (s->nnext <= KL_MEMO_NEXT) {
		m->key = key;
		m->n = s->nnext;
		if (s->nnext)
			memcpy(m->next, s->next, s->nnext * sizeof(*s->next));
		*next = m->next;
	} else {
		*next = s->next;
	}
	return s->nnext;
}

struct look {
	size_t len, outcomes;
	bool changed, known;
};

static int on_look(void *ctx, const struct kl_outcome *o)
{
	struct look *l = ctx;
	size_t i;

	l->outcomes++;
	l->changed |= o->changed;
	l->known = o->len == l->len && o->nwrote == o->len;
	for (i = 0; l->known && i < o->len; i++)
		l->known = o->state[i].tag != KL_ANY;
	return 0;
}

int kl_stepper_look(struct kl_stepper *s, uint32_t item)
{
	const struct kl_item *it = &s->p->items[item];
	const bool blind = it->kind == KL_ITEM_OP && s->fixed &&
			   kl_spec_method(s->p->spec, it->method)->blind;
	struct look l = { 0 };
	int ret;

	if (it->kind != KL_ITEM_OP)
		return 0;
	if (it->pure)
		return KL_READ_ONLY;
	/* Where signatures do not repeat, finding natures would cost more than it saves. */
	if (!s->nature && !blind)
		return 0;
	ret = unpack_state(s, s->any);
	if (ret)
		return ret;
	l.len = s->nbefore;
	kl_stepper_bound(s);
	ret = kl_run_apply(s->run, s->before, s->nbefore, it->method,
			   kl_item_args(s->p, it), kl_item_res(s->p, it), on_look, &l);
	s->looks += APPLY_LOOKS + kl_run_work(s->run);
	if (ret == -ENOMEM)
		return ret;
	if (ret == -EDQUOT) {
		kl_stepper_count(s, s->budget);
		return kl_budget_out(s->budget);
	}
	/* If the interpreter gives up on the unknown state, nothing is known. */
	if (!ret)
		ret = (l.changed ? 0 : KL_READ_ONLY) |
		      (blind && l.outcomes == 1 && l.known ? KL_BLIND_WRITE : 0);
	else
		ret = 0;
	if (s->nature)
		s->nature[it->sig] = ret | KL_NATURE_KNOWN;
	return ret;
}
