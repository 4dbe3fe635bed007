/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interfaces of the explorer's files. */
#ifndef KL_TSO_EXPLORE_EXPLORE_INTERNAL_H
#define KL_TSO_EXPLORE_EXPLORE_INTERNAL_H

#include "spec/impl/impl.h"
#include "tso/explore/spec_configs.h"
#include "tso/explore/explore.h"
#include "tso/machine/invariants.h"
#include "tso/machine/growth.h"
#include "tso/explore/histories.h"
#include "tso/explore/step_cache.h"
#include "tso/machine/visited.h"

#define KL_EX_FAULTY	2		/* a thread has an error, see kl_ex_after() */
#define KL_EX_MACHINE	3		/* the step is left to the machine */
/* maximal number of events of a step that is shown */
#define KL_EX_SHOWN	(2 * KL_VM_EVENTS)

#define KL_EX_WAITING	32		/* maximal number of states that wait in waiting[] */

/* A state that was reached, and is to be added to the visited states. */
struct kl_ex_waiting {
	uint64_t hash;
	uint32_t set, len, at;		/* @at: index of the state's bytes in waiting_bytes */
};

/* A queue of states that are not followed yet; each state follows its length. */
struct kl_ex_queue {
	uint8_t *bytes;
	size_t first, end, size;
};

/* The states of a run: for each its place, and the end of its bytes in @bytes. */
struct kl_ex_path {
	uint32_t *at;
	size_t *end;
	uint8_t *bytes;
	size_t n, cat, cend, cbytes;
};

/* The state in pieces that is being followed. */
struct kl_ex_now {
	uint32_t mem, thread[KL_VM_THREADS];
	const uint8_t *own[KL_VM_THREADS];	/* the numbers for each thread's own names */
	unsigned int ndata, nobj;		/* how many data values and objects memory names */
	/* greatest number of a data value; greatest number of an object plus 1 */
	unsigned int last, end_obj;
};

/* A stale read: another thread's store to the variable was still in its buffer. */
struct kl_ex_stale {
	bool seen;
	unsigned int owner;		/* the thread with the buffer */
	/* the method that stored; -1 if it was not the owner's last one */
	int method;
	uint32_t addr, line;		/* address and line of the read */
	uint64_t val;			/* the value in the buffer */
};

/* The loads that a value comes from, by their numbers in the run. */
struct kl_ex_loads {
	uint32_t load[KL_EX_USES];
	uint8_t n;
	bool more;		/* there are more loads, which are not known */
	bool copy;		/* the value is that of the only load */
};

/* For each register of a thread's frames the loads of its value, see explore_origin.c. */
struct kl_ex_origins {
	struct kl_vm_trace trace;
	uint32_t base;		/* number of accesses before the step */
	/* the last instruction: its thread, its place, the value that it may fail on */
	unsigned int thread;
	uint32_t at;
	struct kl_ex_loads used;
	uint64_t value;
	struct kl_ex_loads reg[KL_VM_THREADS][2][KL_VM_REGS], saved[KL_VM_THREADS][2][KL_VM_REGS];
};

struct kl_explorer {
	struct kl_spec *spec;
	struct kl_explore_options o;
	struct kl_vm_prog prog;
	struct kl_vm_method methods[KL_ITEMS_MAX];
	struct kl_vm_struct structs[KL_STRUCTS_MAX];
	uint64_t *pool, *live;
	struct kl_abstract *abs;	/* the specification's sets; NULL with o.histories */
	struct kl_histories *hist;
	struct kl_visited visited;
	struct kl_vm vm, before;
	uint32_t loaded;		/* the place of the state in @before */
	/* states are in pieces, with known steps; events are recorded for known steps */
	bool in_pieces, recording;
	struct kl_steps known;
	struct kl_ex_now now;
	uint32_t set;			/* the specification's set, or the history, of @vm */
	uint32_t explained;		/* the set before the last event */
	unsigned int faulty;		/* the thread with the fault */
	struct kl_vm_facts facts;
	bool compared;			/* data was compared with data */
	bool unique_reached;		/* a state that was reached has a run that ends */
	unsigned int begun;		/* number of times that the search began anew */
	uint8_t packed[KL_VM_PACKED + KL_VISITED_PAD];
	struct kl_vm_names names;	/* names of @packed */
	struct kl_ex_waiting waiting[KL_EX_WAITING];
	unsigned int nwaiting, nwaiting_bytes;
	uint8_t waiting_bytes[KL_VM_PACKED];
	uint64_t hash;
	/* With o.compact: states not followed yet, the run that was made last, and one state. */
	struct kl_ex_queue queue;
	struct kl_ex_path path;
	uint32_t held, held_len;
	uint8_t held_bytes[KL_VM_PACKED];
	uint64_t transitions, expanded, levels;
	/* all states are reached; the search looks for runs without end */
	bool all_reached;
	struct kl_growth growth;
	char grown[700];
	double seconds, cpu_seconds;
	/* While a run is printed: the state, with names that do not change, and its set. */
	struct kl_vm shown;
	uint32_t shown_set;
	/* the thread of @shown for each thread of @before */
	uint8_t shown_thread[KL_VM_THREADS];
	struct kl_vm_event shown_ev[KL_EX_SHOWN];
	unsigned int nshown;
	struct kl_explore_end ends[KL_VM_THREADS];	/* see kl_explore_ends() */
	unsigned int nends;
	struct kl_ex_stale stale[KL_VM_THREADS];	/* a stale read in each thread's call */
	int shown_method[KL_VM_THREADS];	/* the method that each thread called last */
	/* The verdict's run: its last state, and the step from it. */
	uint32_t last;			/* place of the last state, or KL_NO_STATE */
	int thread;			/* the thread that makes the last step, or -1 */
	bool flush;			/* the last step is a flush */
	uint8_t choice[16];
	unsigned int nchoice;
	enum kl_explore_verdict verdict;
	char message[400];
	char *hint;			/* see kl_explore_hint(); may be NULL */
};

/* Check the specification and the options.  Return: 0, or -EINVAL after a message. */
int kl_ex_check(const struct kl_spec *s, const struct kl_explore_options *o);
/* Make the program of x->spec with its client and the options. */
int kl_ex_program(struct kl_explorer *x);
/* Run the code of `init' or `final', which runs alone and with empty buffers. */
enum kl_vm_result kl_ex_run_alone(struct kl_explorer *x, struct kl_vm *vm, uint32_t code);
/* Make the machine's first state in x->vm. */
int kl_ex_first_state(struct kl_explorer *x);
/* Refute wrong facts by random walks. */
int kl_ex_learn(struct kl_explorer *x);
/*
 * Take the events in x->vm of a step of @t, or of a flush, in the specification, and make the steps
 * of other threads along with it.  Return: as kl_ex_after().
 */
int kl_ex_along(struct kl_explorer *x, unsigned int t, bool flush);
/*
 * Take the events of x->vm in the specification.  After an event that cannot be explained, x->vm
 * keeps all events up to this one.  Return: as kl_ex_after().
 */
int kl_ex_take_events(struct kl_explorer *x);
/*
 * Complete a step of @t, or a flush, in x->vm: take its events in the specification, make the steps
 * of other threads along with it, and drop empty layers.  Return: 1; 0 if the history cannot be
 * explained any more; KL_EX_FAULTY if thread x->faulty has an error; a negative errno.
 */
int kl_ex_after(struct kl_explorer *x, unsigned int t, bool flush);
/*
 * Make the step of @t from the state @from, which is in x->vm.  If the step has to wait after
 * choices, only the choices are made.  Return: as kl_vm_step().
 */
enum kl_vm_result kl_ex_step(struct kl_explorer *x, unsigned int t, const struct kl_vm *from);
/*
 * Make all steps from the state at a place.
 * Return: 1 if a verdict was found, 0 if not, or a negative errno.
 */
int kl_ex_expand(struct kl_explorer *x, uint32_t at);
/*
 * Note a verdict, and the step or flush of @t from the state at @at that shows the verdict; @t
 * is -1 if the state shows it.
 */
void kl_ex_found(struct kl_explorer *x, enum kl_explore_verdict v, uint32_t at, int t, bool flush);
/* Return: true, with the verdict KL_EX_STOPPED and a message, if the search must end now. */
bool kl_ex_stops(struct kl_explorer *x);
/* explore_grown.c: list the variables; note their values in a state. */
int kl_ex_growth_init(struct kl_explorer *x);
void kl_ex_growth_note(struct kl_explorer *x, const struct kl_vm *vm);
/*
 * After a complete search, check that each state has a run that ends.
 * Return: 0 or a negative errno.
 */
int kl_ex_ends(struct kl_explorer *x);
/*
 * Search for a run from @from that ends.  States are kept whole, also with x->o.compact.
 * Return: 1 if there is such a run, 0 if not, or a negative errno; -ENOSPC at the bound of memory.
 */
int kl_ex_comes_to_end(struct kl_explorer *x, const struct kl_vm *from);
/* Make the first state in x->vm and x->set. */
int kl_ex_first(struct kl_explorer *x);
/*
 * Load the state at a place into x->before and x->set.
 * Return: 0 or a negative errno; -ESTALE if the state cannot be made again.
 */
int kl_ex_load(struct kl_explorer *x, uint32_t at);
/*
 * Get the bytes of the state at a place.  With o.compact they are valid until the next call.
 * Return: 0 or a negative errno; -ESTALE if the state cannot be made again.
 */
int kl_ex_state(struct kl_explorer *x, uint32_t at, const uint8_t **state);
/* Return: the part of a hash that is kept with o.compact. */
static inline uint64_t kl_ex_kept_hash(const struct kl_explorer *x, uint64_t hash)
{
	return x->o.hash_bits ? hash & ((1ULL << x->o.hash_bits) - 1) : hash;
}

/*
 * explore_compact.c: append a new state to the queue; move the state at @at from the queue to
 * x->held_bytes; copy the state at @at to x->held_bytes.
 */
int kl_ex_enqueue(struct kl_explorer *x, const uint8_t *state, uint32_t len);
void kl_ex_dequeue(struct kl_explorer *x, uint32_t at);
void kl_ex_hold(struct kl_explorer *x, uint32_t at, const uint8_t *state, size_t len);
/*
 * Find the step from @from to @to again: its thread, whether it is a flush, and its choices in
 * x->vm.  Return: 0 or a negative errno; -ESTALE if there is no such step.
 */
int kl_ex_find_step(struct kl_explorer *x, uint32_t from, uint32_t to, unsigned int *t,
		    bool *flush);
/*
 * Pack the state in x->vm into x->packed, x->names and x->hash, and rename its set.
 * Return: the state's length in bytes, or a negative errno.
 */
int64_t kl_ex_pack(struct kl_explorer *x);
/*
 * Put the state in x->packed, which was reached from @from, into x->waiting, to be added to
 * x->visited later.  Return: as kl_ex_expand().
 */
int kl_ex_wait(struct kl_explorer *x, uint32_t from, size_t len);
/*
 * explore_collapse.c, for states in pieces: as kl_ex_pack(); as kl_ex_load(); find the pieces of
 * the state at @at, for x->now.
 */
int64_t kl_ex_pack_pieces(struct kl_explorer *x);
int kl_ex_load_pieces(struct kl_explorer *x, uint32_t at);
int kl_ex_look(struct kl_explorer *x, uint32_t at);
/*
 * Make the steps of @t from the state at @at in x->now, if they are known or can be learnt.  @set
 * is the state's set; *@steps counts the steps.  Return: as kl_ex_expand(), or KL_EX_MACHINE.
 */
int kl_ex_known_steps(struct kl_explorer *x, uint32_t at, unsigned int t, uint32_t set,
		      unsigned int *steps);
/* Set x->message to the reason why the last event in x->vm cannot be explained. */
void kl_ex_explain(struct kl_explorer *x);
/* explore_hint.c: look for a hint, and put it into x->hint.  Return: 0 or a negative errno. */
int kl_ex_find_hint(struct kl_explorer *x);
/* explore_hint.c: note stale reads in the step of @t, whose accesses are in the log of x->vm. */
void kl_ex_note_stale(struct kl_explorer *x, unsigned int t);
/* explore_origin.c: no value has loads; keep all, and go back to them. */
void kl_ex_origins_init(struct kl_ex_origins *o);
void kl_ex_origins_save(struct kl_ex_origins *o);
void kl_ex_origins_restore(struct kl_vm *vm);
/* Add to x->ends that the thread @thread, or the final code if it is -1, fails, waits or loops. */
void kl_ex_note_end(struct kl_explorer *x, const struct kl_ex_origins *o,
		    enum kl_explore_end_kind kind, int thread);
/* Add the load @a, which has the number @load, to the last one of x->ends. */
void kl_ex_note_load(struct kl_explorer *x, const struct kl_vm_access *a, uint32_t load);
/* Print the name of a word of memory; print a value. */
void kl_ex_print_place(const struct kl_explorer *x, const struct kl_vm *vm, uint32_t addr, FILE *f);
void kl_ex_print_value(const struct kl_explorer *x, uint64_t v, FILE *f);
/* Print the store buffer of thread @t. */
void kl_ex_print_buffer(const struct kl_explorer *x, const struct kl_vm *vm, unsigned int t,
			FILE *f);
/*
 * Set x->message to @what and the threads that have not ended, with their lines.
 * kl_ex_tell_endless() has a text of its own, for threads that never end.
 */
void kl_ex_tell_waiting(struct kl_explorer *x, const struct kl_vm *vm, const char *what);
void kl_ex_tell_endless(struct kl_explorer *x, const struct kl_vm *vm);
/* List the results that the specification allows for thread @t's call.  Return: their number. */
int kl_ex_allowed(const struct kl_explorer *x, uint32_t set, unsigned int t, char *buf,
		  size_t size);

#endif
