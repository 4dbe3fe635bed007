/* SPDX-License-Identifier: GPL-2.0 */
/* What the search and the printing of its run share. */
#ifndef KL_TSO_EXPLORE_EXPLORE_INTERNAL_H
#define KL_TSO_EXPLORE_EXPLORE_INTERNAL_H

#include "spec/impl/impl.h"
#include "tso/explore/spec_configs.h"
#include "tso/explore/explore.h"
#include "tso/machine/invariants.h"
#include "tso/machine/growth.h"
#include "tso/explore/histories.h"
#include "tso/machine/step_cache.h"
#include "tso/machine/visited.h"

#define KL_EX_FAULTY	2
#define KL_EX_MACHINE	3		/* this is left to the machine */
#define KL_EX_SHOWN	(2 * KL_VM_EVENTS)	/* events of a step that is shown */

#define KL_EX_WAITING	32		/* states on their way to the store */

struct kl_ex_waiting {
	uint64_t hash;
	uint32_t set, len, at;		/* at: its bytes in waiting_bytes */
};

/* States that are not followed yet, the oldest first; each behind its length. */
struct kl_ex_queue {
	uint8_t *bytes;
	size_t first, end, size;
};

/* The states of a run: where each is, and its bytes up to end. */
struct kl_ex_path {
	uint32_t *at;
	size_t *end;
	uint8_t *bytes;
	size_t n, cat, cend, cbytes;
};

/* A state in pieces that is being followed. */
struct kl_ex_now {
	uint32_t mem, thread[KL_VM_THREADS];
	const uint8_t *own[KL_VM_THREADS];	/* which data, which objects a thread's names are */
	unsigned int ndata, nobj;		/* of memory */
	unsigned int last, end_obj;		/* the last data, behind the last object */
};

/* A read of memory while another thread's store to it was in that thread's buffer. */
struct kl_ex_stale {
	bool seen;
	unsigned int owner;		/* of the buffer */
	int method;			/* that stored, -1: not the owner's last one */
	uint32_t addr, line;		/* of the read */
	uint64_t val;			/* in the buffer */
};

struct kl_explorer {
	struct kl_spec *spec;
	struct kl_explore_options o;
	struct kl_vm_prog prog;
	struct kl_vm_method methods[KL_ITEMS_MAX];
	struct kl_vm_struct structs[KL_STRUCTS_MAX];
	uint64_t *pool, *live;
	struct kl_abstract *abs;	/* one of the two */
	struct kl_histories *hist;
	struct kl_store store;
	struct kl_vm vm, before;
	uint32_t loaded;		/* the state that is in before */
	/* States in pieces, and what is known of their steps; else as kl_vm_pack() has them. */
	bool in_pieces, recording;
	struct kl_steps known;
	struct kl_ex_now now;
	uint32_t set;			/* of vm */
	uint32_t explained;		/* the set before the last event */
	unsigned int faulty;		/* the thread at fault */
	struct kl_vm_facts facts;
	bool compared;			/* data was compared with data */
	bool ends_reached;		/* a state that was reached has a run to an end */
	unsigned int begun;		/* how often the search has begun anew */
	uint8_t packed[KL_VM_PACKED + KL_STORE_BEHIND];
	struct kl_vm_names names;	/* of packed */
	struct kl_ex_waiting waiting[KL_EX_WAITING];
	unsigned int nwaiting, nwaiting_bytes;
	uint8_t waiting_bytes[KL_VM_PACKED];
	uint64_t hash;
	/* With o.compact: states that wait, and the one that was had last. */
	struct kl_ex_queue queue;
	struct kl_ex_path path;
	uint32_t held, held_len;
	uint8_t held_bytes[KL_VM_PACKED];
	uint64_t transitions, expanded, levels;
	bool all_reached;		/* what is looked for now are runs without end */
	struct kl_growth growth;
	char grown[700];
	double seconds, cpu_seconds;
	/* While a run is printed: the state with names that stay, and its set. */
	struct kl_vm shown;
	uint32_t shown_set;
	uint8_t shown_thread[KL_VM_THREADS];	/* its thread at each place of before */
	struct kl_vm_event shown_ev[KL_EX_SHOWN];
	unsigned int nshown;
	struct kl_ex_stale stale[KL_VM_THREADS];	/* of the call that each is in */
	int shown_method[KL_VM_THREADS];	/* the last one that each has called */
	/* What was found: the last state, and the step from it. */
	uint32_t last;			/* its place; KL_NO_STATE if there is none */
	int thread;			/* who makes the last step, -1: there is none */
	bool flush;			/* it is a flush */
	uint8_t choice[16];
	unsigned int nchoice;
	enum kl_explore_verdict verdict;
	char message[400];
	char *hint;			/* see kl_explore_hint(); may be NULL */
};

/* Is there what can be explored, and do the options fit it?  0, or -EINVAL after a message. */
int kl_ex_check(const struct kl_spec *s, const struct kl_explore_options *o);
/* The program of x->spec with its client, the options applied. */
int kl_ex_program(struct kl_explorer *x);
/* Code that runs alone, with nothing in the buffers: of `init' and of `final'. */
enum kl_vm_result kl_ex_run_alone(struct kl_explorer *x, struct kl_vm *vm, uint32_t code);
/* The first state of the machine to x->vm. */
int kl_ex_first_state(struct kl_explorer *x);
/* Refute by random walks what does not hold. */
int kl_ex_learn(struct kl_explorer *x);
/*
 * What follows from a step of @t, or a flush, in x->vm: its events, what goes along
 * with it.  As kl_ex_after().
 */
int kl_ex_along(struct kl_explorer *x, unsigned int t, bool flush);
/* The events of x->vm; those that cannot be explained stay.  As kl_ex_after(). */
int kl_ex_take_events(struct kl_explorer *x);
/*
 * kl_ex_after() - what follows from a step of @t, or a flush, in x->vm: its events in the
 * specification, what goes along with it.  1; 0 if the history cannot be
 * explained any more; KL_EX_FAULTY if x->faulty has an error; a negative errno.
 */
int kl_ex_after(struct kl_explorer *x, unsigned int t, bool flush);
/* The step of @t from the state @from, which is in x->vm, as far as it can be made. */
enum kl_vm_result kl_ex_step(struct kl_explorer *x, unsigned int t, const struct kl_vm *from);
/* All steps from the state at a place.  1: something was found; 0; a negative errno. */
int kl_ex_expand(struct kl_explorer *x, uint32_t at);
/* What was found, and the step of @t from the state at @at that shows it; -1: none. */
void kl_ex_found(struct kl_explorer *x, enum kl_explore_verdict v, uint32_t at, int t, bool flush);
/* Is the search to end now?  Then the verdict is KL_EX_STOPPED, and the message says why. */
bool kl_ex_stops(struct kl_explorer *x);
/* explore_grown.c: which variables there are; their values in a state. */
int kl_ex_growth_init(struct kl_explorer *x);
void kl_ex_growth_note(struct kl_explorer *x, const struct kl_vm *vm);
/* After a whole search: has each state a run that comes to an end?  0 or a negative errno. */
int kl_ex_ends(struct kl_explorer *x);
/*
 * Does some run from @from come to an end?  States are kept as they are, whatever x->o.compact
 * says.  1, 0, or a negative errno; -ENOSPC at the bound on memory.
 */
int kl_ex_comes_to_end(struct kl_explorer *x, const struct kl_vm *from);
/* The first state to x->vm and x->set. */
int kl_ex_first(struct kl_explorer *x);
/* Load the state at a place; 0 or a negative errno, -ESTALE: it cannot be had. */
int kl_ex_load(struct kl_explorer *x, uint32_t at);
/*
 * The bytes of the state at a place; 0 or a negative errno, -ESTALE: they cannot be had.  With
 * o.compact they are good until the next one is asked for.
 */
int kl_ex_state(struct kl_explorer *x, uint32_t at, const uint8_t **state);
/* What is kept of a hash with o.compact. */
static inline uint64_t kl_ex_kept_hash(const struct kl_explorer *x, uint64_t hash)
{
	return x->o.hash_bits ? hash & ((1ULL << x->o.hash_bits) - 1) : hash;
}

/* explore_compact.c: a state that is new waits; the one at @at is the next; it is known. */
int kl_ex_enqueue(struct kl_explorer *x, const uint8_t *state, uint32_t len);
void kl_ex_dequeue(struct kl_explorer *x, uint32_t at);
void kl_ex_hold(struct kl_explorer *x, uint32_t at, const uint8_t *state, size_t len);
/*
 * Find the step from @from to @to again: the thread or its flush; its choices are in x->vm.
 * 0 or a negative errno; -ESTALE: there is none.
 */
int kl_ex_find_step(struct kl_explorer *x, uint32_t from, uint32_t to, unsigned int *t,
		    bool *flush);
/*
 * The state to x->packed, x->names and x->hash, its set renamed: its bytes, or a
 * negative errno.
 */
int64_t kl_ex_pack(struct kl_explorer *x);
/* The state in x->packed was reached; it goes to the store soon.  As kl_ex_expand(). */
int kl_ex_wait(struct kl_explorer *x, uint32_t from, size_t len);
/* explore_collapse.c: the same for states in pieces; which pieces it has, to x->now. */
int64_t kl_ex_pack_pieces(struct kl_explorer *x);
int kl_ex_load_pieces(struct kl_explorer *x, uint32_t at);
int kl_ex_look(struct kl_explorer *x, uint32_t at);
/*
 * The steps of @t from the state at @at in x->now, if they are known or can be learnt; as
 * kl_ex_expand(), or KL_EX_MACHINE.  @set: its set; @steps: more by how many there are.
 */
int kl_ex_known_steps(struct kl_explorer *x, uint32_t at, unsigned int t, uint32_t set,
		      unsigned int *steps);
/* Say why the last event in x->vm cannot be explained. */
void kl_ex_explain(struct kl_explorer *x);
/* explore_hint.c: look for a hint why that is so, to x->hint; 0 or a negative errno. */
int kl_ex_find_hint(struct kl_explorer *x);
/* explore_hint.c: the step of @t from x->shown to x->vm, whose accesses are in its log. */
void kl_ex_note_stale(struct kl_explorer *x, unsigned int t);
/* The name of a word of memory; a value. */
void kl_ex_print_place(const struct kl_explorer *x, const struct kl_vm *vm, uint32_t addr, FILE *f);
void kl_ex_print_value(const struct kl_explorer *x, uint64_t v, FILE *f);
/* What thread @t has stored that is not in memory yet. */
void kl_ex_print_buffer(const struct kl_explorer *x, const struct kl_vm *vm, unsigned int t,
			FILE *f);
/* Say who waits, and where, behind @what; who waits for ever (livelock.c). */
void kl_ex_tell_waiting(struct kl_explorer *x, const struct kl_vm *vm, const char *what);
void kl_ex_tell_endless(struct kl_explorer *x, const struct kl_vm *vm);
/* What the specification would let thread @t's call return, as text: how many results. */
int kl_ex_allowed(const struct kl_explorer *x, uint32_t set, unsigned int t, char *buf,
		  size_t size);

#endif
