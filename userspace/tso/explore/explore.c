// SPDX-License-Identifier: GPL-2.0
/* The explorer: the search. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "tso/explore/explore_internal.h"

#define LOOK	16	/* number of states between two checks of the time and of memory */

bool kl_explore_can(const struct kl_spec *spec)
{
	return spec->impl;
}

enum kl_explore_memory kl_explore_memory(const struct kl_spec *spec)
{
	if (!spec->impl || !spec->impl->memory.given)
		return KL_EX_SAYS_NOTHING;
	return spec->impl->memory.sc ? KL_EX_SAYS_SC : KL_EX_SAYS_TSO;
}

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* ---- the search ------------------------------------------------------------------------ */

void kl_ex_found(struct kl_explorer *x, enum kl_explore_verdict v, uint32_t at, int t, bool flush)
{
	x->verdict = v;
	x->last = at;
	x->thread = t;
	x->flush = flush;
	memcpy(x->choice, x->vm.choice, sizeof(x->choice));
	x->nchoice = x->vm.at_choice;
}

/* Add a state with the hash @hash to the visited states.  Return: as kl_visited_add(). */
static int keep_state(struct kl_explorer *x, uint64_t hash, const uint8_t *state, size_t len,
		      uint32_t set, uint32_t from)
{
	const uint8_t *key = (const uint8_t *)&hash;
	int ret;

	if (x->o.compact)
		hash = kl_ex_kept_hash(x, hash);
	else
		return kl_visited_add(&x->visited, hash, state, len, set, from);
	ret = kl_visited_add(&x->visited, kl_visited_hash(&x->visited, key, sizeof(hash)), key,
			     sizeof(hash), set, from);
	return ret == 1 ? kl_ex_enqueue(x, state, len) ?: 1 : ret;
}

/*
 * A state of @len bytes could not be added to the visited states, because of @err.  Return: 1 with
 * a verdict if there was no room for the state, otherwise @err.
 */
static int no_room(struct kl_explorer *x, int err, size_t len)
{
	if (err != -ENOSPC && err != -E2BIG)
		return err;
	x->verdict = err == -ENOSPC ? KL_EX_MEMORY : KL_EX_LIMIT;
	if (err == -E2BIG)
		snprintf(x->message, sizeof(x->message), "a state has %zu bytes, at most %u are "
							 "supported", len, KL_VISITED_STATE_MAX);
	return 1;
}

/*
 * Add a state that was reached from @from to the visited states.
 * Return: 0, 1 if the search ends with a verdict, or a negative errno.
 */
static int add_state(struct kl_explorer *x, uint32_t from, const struct kl_ex_waiting *w)
{
	struct kl_record *head;
	int ret;

	ret = keep_state(x, w->hash, x->waiting_bytes + w->at, w->len, w->set, from);
	if (ret < 0)
		return no_room(x, ret, w->len);
	/* Note the latest of the states, which is most often nearest to an end. */
	head = kl_visited_head(&x->visited, from);
	if (x->visited.found != from &&
	    (head->next == KL_NO_STATE || head->next < x->visited.found))
		head->next = x->visited.found;
	x->unique_reached |= kl_visited_head(&x->visited, x->visited.found)->ends;
	return 0;
}

/*
 * Add all waiting states to the visited states together, so that the cache misses of their look-ups
 * overlap.
 */
static int add_waiting(struct kl_explorer *x, uint32_t from)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < x->nwaiting; i++)
		kl_visited_prefetch(&x->visited, x->waiting[i].hash);
	for (i = 0; i < x->nwaiting && !ret; i++)
		ret = add_state(x, from, &x->waiting[i]);
	x->nwaiting = x->nwaiting_bytes = 0;
	return ret;
}

int kl_ex_wait(struct kl_explorer *x, uint32_t from, size_t len)
{
	int ret;

	if (x->nwaiting == KL_EX_WAITING || x->nwaiting_bytes + len > sizeof(x->waiting_bytes)) {
		ret = add_waiting(x, from);
		if (ret)
			return ret;
	}
	memcpy(x->waiting_bytes + x->nwaiting_bytes, x->packed, len);
	x->waiting[x->nwaiting++] = (struct kl_ex_waiting){
		.hash = x->hash, .set = x->set, .len = len, .at = x->nwaiting_bytes,
	};
	x->nwaiting_bytes += len;
	return 0;
}

/*
 * Set the verdict: in a step of @t, thread @who has a fault, or exceeds a bound of the machine.
 * The search cannot go on, because the states after the step are unknown.
 */
static void found_fault(struct kl_explorer *x, uint32_t from, int t, bool flush, unsigned int who)
{
	kl_ex_found(x, x->vm.limit ? KL_EX_LIMIT : KL_EX_FAULT, from, t, flush);
	snprintf(x->message, sizeof(x->message), "thread %u: %s", who, x->vm.error);
}

static int reached(struct kl_explorer *x, uint32_t from, int t, bool flush)
{
	int64_t len;
	int ret;

	x->transitions++;
	ret = kl_ex_after(x, t, flush);
	if (ret < 0)
		return ret;
	if (!ret) {
		kl_ex_found(x, KL_EX_NOT_LINEARIZABLE, from, t, flush);
		kl_ex_explain(x);
		return 1;
	}
	if (ret == KL_EX_FAULTY) {
		found_fault(x, from, t, flush, x->faulty);
		return 1;
	}
	len = kl_ex_pack(x);
	return len < 0 ? len : kl_ex_wait(x, from, len);
}

/* The step of @t ends with an error.  Its events before the error may be a violation. */
static int faulted(struct kl_explorer *x, uint32_t from, unsigned int t)
{
	int ret = kl_ex_take_events(x);

	if (ret < 0)
		return ret;
	if (!ret) {
		kl_ex_found(x, KL_EX_NOT_LINEARIZABLE, from, t, false);
		kl_ex_explain(x);
		return 1;
	}
	found_fault(x, from, t, false, t);
	return 1;
}

/*
 * Make all steps of thread @t from the state @from with the set @set, and count them in *@steps.
 * Return: 1 if a verdict was found, 0 if not, or a negative errno.
 */
static int expand_thread(struct kl_explorer *x, uint32_t from, unsigned int t, uint32_t set,
			 unsigned int *steps)
{
	bool dropped = false, goes = false;
	enum kl_vm_result r;
	int ret = 0;

	x->vm.nchoice = 0;
	do {
		kl_vm_undo(&x->vm, &x->before);
		x->set = set;
		r = kl_ex_step(x, t, &x->before);
		dropped |= r == KL_VM_DROPPED;
		goes |= r == KL_VM_OK;
		*steps += r != KL_VM_WAITS;
		if (r == KL_VM_OK)
			ret = reached(x, from, t, false);
		if (r == KL_VM_FAULT)
			ret = faulted(x, from, t);
	} while (!ret && kl_vm_next_choice(&x->vm));
	if (ret)
		return ret;
	/* A run with a false `assume' does not exist, so it needs no end. */
	if (dropped && !goes)
		kl_visited_head(&x->visited, from)->ends = true;
	kl_vm_undo(&x->vm, &x->before);
	x->set = set;
	if (!kl_vm_flush(&x->vm, t))
		return 0;
	(*steps)++;
	return reached(x, from, t, true);
}

static int at_end(struct kl_explorer *x, uint32_t at)
{
	unsigned int t;
	int ret;

	if (x->hist) {
		ret = kl_histories_end(x->hist, kl_visited_head(&x->visited, at)->tag);
		if (ret)
			return ret;
	}
	for (t = 0; t < x->prog.nthreads; t++) {
		if (x->before.thread[t].done)
			continue;
		kl_ex_found(x, KL_EX_DEADLOCK, at, -1, false);
		kl_ex_tell_waiting(x, &x->before, "all threads that have not ended are waiting:");
		return 1;
	}
	if (!x->spec->impl->final_code)
		return 0;
	kl_vm_copy(&x->vm, &x->before);
	if (kl_ex_run_alone(x, &x->vm, x->spec->impl->final_code) != KL_VM_FAULT)
		return 0;
	kl_ex_found(x, x->vm.limit ? KL_EX_LIMIT : KL_EX_FINAL, at, -1, false);
	snprintf(x->message, sizeof(x->message), "at the end: %s", x->vm.error);
	return 1;
}

static int to_machine(struct kl_explorer *x, uint32_t at)
{
	int ret;

	if (x->loaded == at)
		return 0;
	ret = kl_ex_load(x, at);
	if (!ret)
		kl_vm_copy(&x->vm, &x->before);
	return ret;
}

int kl_ex_expand(struct kl_explorer *x, uint32_t at)
{
	const uint32_t set = kl_visited_head(&x->visited, at)->tag;
	unsigned int t, steps = 0;
	int ret = x->in_pieces ? kl_ex_look(x, at) : 0;

	x->loaded = KL_NO_STATE;
	if (x->in_pieces && !ret)
		kl_steps_prefetch(x);
	for (t = 0; t < x->prog.nthreads && !ret; t++) {
		ret = KL_EX_MACHINE;
		if (x->in_pieces)
			ret = kl_ex_known_steps(x, at, t, set, &steps);
		if (ret != KL_EX_MACHINE)
			continue;
		ret = to_machine(x, at);
		if (!ret)
			ret = expand_thread(x, at, t, set, &steps);
	}
	if (!ret)
		ret = add_waiting(x, at);
	x->nwaiting = x->nwaiting_bytes = 0;
	if (!ret && !steps) {
		kl_visited_head(&x->visited, at)->ends = true;
		ret = to_machine(x, at);
		if (!ret)
			ret = at_end(x, at);
	}
	if (x->o.progress && !(x->expanded & 1023)) {
		x->o.progress->states = x->visited.n;
		x->o.progress->expanded = x->expanded;
	}
	return ret;
}

int kl_ex_first(struct kl_explorer *x)
{
	int64_t set;
	int ret;

	ret = kl_ex_first_state(x);
	if (ret)
		return ret;
	set = x->hist ? kl_histories_first(x->hist) : kl_abstract_first(x->abs);
	if (set < 0)
		return set;
	x->set = set;
	return 0;
}

static bool covers(void *ctx, uint32_t a, uint32_t b)
{
	const struct kl_explorer *x = ctx;

	return x->hist ? kl_histories_harder(x->hist, a, b) : kl_abstract_within(x->abs, a, b);
}

static size_t spec_bytes(const struct kl_explorer *x)
{
	return x->queue.size + (x->hist ? kl_histories_bytes(x->hist) : 0) +
	       (x->abs ? kl_abstract_bytes(x->abs) : 0) + kl_steps_bytes(&x->known) +
	       kl_pieces_bytes(&x->known.pieces);
}

/* Give the rest of the memory to the specification's sets.  Return: false if none is left. */
static bool share_memory(struct kl_explorer *x)
{
	const size_t all = kl_visited_bytes(&x->visited) + spec_bytes(x);

	if (all > x->o.memory)
		return false;
	if (x->abs)
		kl_abstract_limit(x->abs, x->o.memory - all + kl_abstract_bytes(x->abs));
	return true;
}

bool kl_ex_stops(struct kl_explorer *x)
{
	if (!x->o.lim || !kl_time_over(x->o.lim, x->message, sizeof(x->message)))
		return false;
	x->verdict = KL_EX_STOPPED;
	return true;
}

/* Note the values of variables in the state at @at, which is followed next. */
static int note_growth(struct kl_explorer *x, uint32_t at)
{
	int ret;

	if (!kl_growth_samples(&x->growth))
		return 0;
	ret = kl_ex_load(x, at);
	if (!ret)
		kl_ex_growth_note(x, &x->before);
	return ret;
}

static int search_once(struct kl_explorer *x)
{
	uint32_t at, level = 0;
	int64_t len;
	int ret;

	kl_visited_free(&x->visited);
	kl_steps_forget(&x->known);
	x->known.pieces.prog = &x->prog;
	x->in_pieces = x->abs && x->prog.canon && !x->prog.again && !x->o.no_known;
	ret = kl_visited_init(&x->visited, x->o.memory);
	if (!ret)
		ret = share_memory(x) ? kl_ex_first(x) : -ENOSPC;
	if (ret)
		return ret;
	if (!x->o.no_cover) {
		x->visited.covers = covers;
		x->visited.ctx = x;
	}
	x->transitions = x->expanded = x->levels = 0;
	x->all_reached = false;
	kl_growth_forget(&x->growth);
	x->held = KL_NO_STATE;
	x->queue.first = x->queue.end = x->path.n = 0;
	len = kl_ex_pack(x);
	if (len < 0)
		return len;
	ret = keep_state(x, x->hash, x->packed, len, x->set, KL_NO_STATE);
	for (at = 0, ret = ret < 0 ? no_room(x, ret, len) : 0;
	     !ret && kl_visited_has(&x->visited, at); at = kl_visited_next(&x->visited, at)) {
		if (x->o.compact)
			kl_ex_dequeue(x, at);
		if (at >= level) {
			level = x->visited.used / 4;
			x->levels++;
			kl_growth_level(&x->growth);
		}
		x->visited.open = x->o.shortest ? level : kl_visited_next(&x->visited, at);
		x->expanded++;
		if (kl_visited_head(&x->visited, at)->idle && !x->o.shortest)
			continue;
		ret = note_growth(x, at);
		if (!ret)
			ret = kl_ex_expand(x, at);
		/* Steps differ without the fact, so the run could not be shown: begin anew. */
		if (ret >= 0 && x->facts.refuted && x->verdict != KL_EX_MEMORY)
			return -EAGAIN;
		if (!ret && !(x->expanded & (LOOK - 1)) && kl_ex_stops(x))
			ret = 1;
		if (ret || x->expanded & (LOOK - 1))
			continue;
		/* Known steps save time, but must not take too much memory. */
		if (kl_steps_bytes(&x->known) > x->o.memory / 8)
			kl_steps_forget(&x->known);
		if (!share_memory(x)) {
			x->verdict = KL_EX_MEMORY;
			ret = 1;
		}
	}
	return ret < 0 ? ret : 0;
}

/*
 * Return: true if a reduction left out runs on which the verdict depends.  The reduction is then
 * turned off, for a new search.
 */
static bool left_out(struct kl_explorer *x)
{
	if (x->verdict != KL_EX_OK && x->verdict != KL_EX_ENDLESS)
		return false;
	/* Data was compared, so calls with equal data must be tried, too. */
	if (x->compared && !x->prog.again)
		x->prog.again = true;
	/* Covered states were not followed, so no run from them to an end is known. */
	else if (x->verdict == KL_EX_ENDLESS && !x->o.no_cover)
		x->o.no_cover = true;
	else
		return false;
	return true;
}

static void found_nothing(struct kl_explorer *x)
{
	x->verdict = KL_EX_OK;
	x->last = KL_NO_STATE;
	x->thread = -1;
	x->message[0] = '\0';
}

/* Set the verdict and the message for something that is too large for the explorer. */
static void found_limit(struct kl_explorer *x)
{
	const char *what = x->hist ? "a history is too long" : kl_abstract_error(x->abs);

	x->verdict = KL_EX_LIMIT;
	x->last = KL_NO_STATE;
	snprintf(x->message, sizeof(x->message), "%s", *what ? what :
		 "a step of the specification is too large");
}

/*
 * Replace a verdict whose run cannot be shown by an unknown one.  If only hashes of states are
 * kept, two states may have been taken for one.
 */
static int found_lost(struct kl_explorer *x)
{
	static const char *const what[] = {
		[KL_EX_OK] = "a state", [KL_EX_NOT_LINEARIZABLE] = "a run that is not linearizable",
		[KL_EX_FAULT] = "a run to a fault",
		[KL_EX_FINAL] = "a run to a false final condition",
		[KL_EX_DEADLOCK] = "a run to a deadlock", [KL_EX_ENDLESS] = "a run without end",
		[KL_EX_LIMIT] = "a bound of the explorer's own",
	};

	snprintf(x->message, sizeof(x->message), "%s was found, but the run to it cannot be "
						 "reconstructed: "
						 "%s", what[x->verdict], x->o.compact ?
		 "two states have the same hash; omit --hash-compact" :
		 "this is a defect of klin");
	x->verdict = KL_EX_LOST;
	x->last = KL_NO_STATE;
	return 0;
}

static void ignore(void *ctx, const struct kl_explore_step *s)
{
}

static int search(struct kl_explorer *x)
{
	int ret = kl_ex_learn(x);

	while (!ret) {
		kl_facts_begin(&x->facts);
		ret = search_once(x);
		if (!ret && x->verdict == KL_EX_OK)
			ret = kl_ex_ends(x);
		if (!ret && left_out(x))
			ret = -EAGAIN;
		if (ret != -EAGAIN)
			break;
		found_nothing(x);
		x->begun++;
		ret = 0;
	}
	if (ret != -E2BIG)
		return ret;
	found_limit(x);
	return 0;
}

int kl_ex_check(const struct kl_spec *s, const struct kl_explore_options *o)
{
	if (!s->impl) {
		kl_err("%s: the file has no implementation: 'klin explore' needs 'shared', "
		       "'method' and 'client' after the specification, as the shipped explore/treiber "
		       "has them; `klin spec --list' lists such models",
		       s->path);
		return -EINVAL;
	}
	if (o->threads && s->impl->client.given && s->impl->client.roles) {
		kl_err("%s: --threads requires 'client general(N)', but 'roles(...)' lists the "
		       "threads; omit --threads", s->path);
		return -EINVAL;
	}
	if ((o->threads || o->ops) && s->impl->nthreads) {
		kl_err("%s: --%s requires 'client general(N)', but the file has threads, such as "
		       "'%s'; omit --%s", s->path, o->threads ? "threads" : "ops",
		       s->impl->threads[0].name, o->threads ? "threads" : "ops");
		return -EINVAL;
	}
	return 0;
}

/* Return: true if the specification compares values that are data in the implementation. */
static bool spec_compares(const struct kl_spec *s)
{
	size_t i;
	unsigned int k;

	for (i = 0; i < s->impl->nmethods && i < kl_spec_nmethods(s); i++)
		for (k = 0; k < kl_spec_method(s, i)->nparams; k++)
			if (s->impl->methods[i].data >> k & 1 &&
			    kl_spec_method(s, i)->params[k].use & KL_USE_COMPARED)
				return true;
	return false;
}

int kl_explore(struct kl_spec *spec, const struct kl_explore_options *o,
	       enum kl_explore_verdict *verdict, struct kl_explorer **out)
{
	struct kl_explorer *x;
	const double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	int ret;

	*out = NULL;
	ret = kl_ex_check(spec, o);
	if (ret)
		return ret;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	*out = x;
	x->spec = spec;
	x->o = *o;
	x->last = KL_NO_STATE;
	x->thread = -1;
	ret = kl_ex_program(x);
	if (!ret)
		ret = kl_ex_growth_init(x);
	x->prog.compared = &x->compared;
	x->prog.again = spec_compares(spec);
	if (!ret)
		ret = o->histories ? kl_histories_new(&x->prog, &x->hist) :
		      kl_abstract_new(spec, x->prog.nthreads, x->prog.sc, &x->abs);
	if (!ret)
		ret = search(x);
	/* Make the run, because messages use its names.  This takes little more memory. */
	if (x->abs)
		kl_abstract_limit(x->abs, kl_abstract_bytes(x->abs) + o->memory / 4);
	if (!ret && x->last != KL_NO_STATE)
		ret = kl_explore_run(x, ignore, NULL);
	if (ret == -ESTALE)
		ret = found_lost(x);
	if (ret == -ENOSPC) {
		x->verdict = KL_EX_MEMORY;
		ret = 0;
	}
	x->seconds = seconds(CLOCK_MONOTONIC) - start;
	x->cpu_seconds = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	*verdict = x->verdict;
	return ret;
}

void kl_explorer_free(struct kl_explorer *x)
{
	if (!x)
		return;
	kl_abstract_free(x->abs);
	kl_histories_free(x->hist);
	kl_visited_free(&x->visited);
	kl_steps_free(&x->known);
	kl_growth_free(&x->growth);
	free(x->queue.bytes);
	free(x->path.at);
	free(x->path.end);
	free(x->path.bytes);
	free(x->pool);
	free(x->live);
	free(x->hint);
	free(x);
}

void kl_explore_stats(const struct kl_explorer *x, struct kl_explore_stats *st)
{
	uint32_t at;

	*st = (struct kl_explore_stats){
		.states = x->visited.n,
		.transitions = x->transitions,
		.bytes = kl_visited_bytes(&x->visited) + kl_pieces_bytes(&x->known.pieces),
		.sets = x->abs ? kl_abstract_nsets(x->abs) : 0,
		.configs = x->abs ? kl_abstract_nconfigs(x->abs) : 0,
		.open = x->visited.n - x->expanded,
		.threads = x->prog.nthreads,
		.levels = x->levels ? x->levels - 1 : 0,
		.all_reached = x->all_reached,
		.seconds = x->seconds,
		.cpu_seconds = x->cpu_seconds,
	};
	st->all_bytes = kl_visited_bytes(&x->visited) + spec_bytes(x);
	for (at = x->last; at != KL_NO_STATE; at = kl_visited_head(&x->visited, at)->parent)
		st->steps++;
	if (st->steps && x->thread < 0)
		st->steps--;
}

int64_t kl_explore_print_histories(struct kl_explorer *x, FILE *f)
{
	return x->hist ? kl_histories_print(x->hist, f) : -EINVAL;
}
