/* SPDX-License-Identifier: GPL-2.0 */
/* A model, as the verifier reads it, and the verifier's state. */
#ifndef KL_VERIFY_MODEL_H
#define KL_VERIFY_MODEL_H

#include "spec/interp/code.h"
#include "spec/impl/impl.h"
#include "verify/state.h"
#include "verify/store.h"

#define KL_VF_METHODS	16
#define KL_VF_ALTS	4	/* maximal number of open choices of the reference's operation */
#define KL_VF_RREGS	64
#define KL_VF_STEPS	2000	/* maximal number of instructions of a step */
#define KL_VF_FORKS	96	/* maximal number of forks of one instruction */

/* Values of kl_vf_model.field[] that are no number of a field. */
enum { FIELD_NEXT = 100, FIELD_LOCK };

struct kl_vf_method {
	const char *name;
	const uint32_t *code, *ref;	/* code of the implementation, and of the specification */
	uint64_t *live;			/* live registers before each word of code */
	/* registers that live longer than for one instruction */
	uint64_t kept;
	const uint32_t *lines;
	bool *point;			/* accesses that are followed by a linearization point */
	uint32_t ncode, nref;
	unsigned int nparams, nresults;
	uint32_t bools;			/* bit set of parameters that are bools */
	int key;			/* index of the parameter that is the key, or -1 */
	bool lin, other;		/* the method has `@lin', `@lin other' marks */
};

struct kl_vf_model {
	struct kl_spec *spec;
	struct kl_impl *im;
	struct kl_vf_method m[KL_VF_METHODS];
	const char *names[KL_VF_METHODS][KL_IMPL_REGS];	/* names of each method's variables */
	unsigned int nm, nregs;
	unsigned int nslots;		/* number of the implementation's globals */
	unsigned int ng;		/* number of all globals, with the reference's */
	uint8_t cont[KL_VF_GLOBALS], scalar;	/* indices in g[] of containers and scalars */
	bool is_queue[KL_VF_GLOBALS];
	uint8_t field[KL_FIELDS_MAX];	/* the number of a field, FIELD_NEXT or FIELD_LOCK */
	bool key_field[KL_FIELDS_MAX];
	bool has_lock;			/* there are locks, in nodes or in globals */
	/* the specification is one set, which is verified for one key */
	bool keyed;
	int root;			/* keyed: the global that holds the list's head */
	struct kl_val consts[KL_VF_CONSTS];
	unsigned int nconsts;
	/* Found out while searching, see commute.c: */
	/* locks held in all accesses so far to each global, and to each field */
	uint64_t prot[KL_VF_GLOBALS + KL_FIELDS_MAX];
	/* fields written in nodes that other threads know; globals written */
	bool mutable[KL_FIELDS_MAX], written[KL_VF_GLOBALS];
	uint32_t *code;			/* all code, and its lines */
	uint64_t *live;
	bool *point;
};

/* Make a model.  Return: 0, -EINVAL after a message, -ENOMEM. */
int kl_vf_model(struct kl_vf_model *m, struct kl_spec *spec);
void kl_vf_model_free(struct kl_vf_model *m);
/* Return: the abstract value of a constant, or VF_TOP if there are too many constants. */
uint8_t kl_vf_const(struct kl_vf_model *m, struct kl_val v);
/* Get the constant that @v stands for.  Return: false if @v stands for no constant. */
bool kl_vf_const_of(const struct kl_vf_model *m, uint8_t v, struct kl_val *out);

/* An open choice of the reference's operation, for the case that an alternative fails. */
struct kl_vf_alt {
	uint16_t pc, next;	/* instruction of the choice; number of the next alternative */
	uint16_t wrote;		/* kl_vf_run.rwrote at the choice */
	uint8_t reg[KL_VF_RREGS];
};

/* A thread's step, while it runs. */
struct kl_vf_run {
	struct kl_vf_state s;
	uint8_t t;
	bool commit;		/* the access that does not commute was made */
	bool wrote;		/* the step changed memory that other threads see */
	bool resume;		/* the current instruction has begun */
	uint8_t block, jumps;	/* in an atomic block; number of jumps backwards */
	uint16_t steps;
	int16_t method;		/* method of the step, or -1; @line: where the step began */
	uint16_t line;
	/* The reference's operation, while it runs: */
	bool ref;
	uint8_t rmethod, nalts;
	uint16_t rpc, rwrote;
	uint8_t rreg[KL_VF_RREGS];
	struct kl_vf_alt alt[KL_VF_ALTS];
};

/* The outcome of an instruction or a step.  VF_NONE: this run cannot go on. */
enum kl_vf_end { VF_STEPPED, VF_NONE, VF_ALARM };

struct kl_vf_views;

struct kl_verifier {
	struct kl_vf_model m;
	/* options of this search; options that were asked for */
	struct kl_verify_options o, asked;
	/* any number of threads was tried, because the asked number has many states */
	bool tried_any;
	unsigned int nt;		/* threads of a state: 1 if any number is verified */
	uint64_t role[KL_VF_THREADS];	/* methods of each thread */
	bool concrete;			/* the concrete mode, without summaries */
	bool others;			/* in views, locks that other threads hold are not free */
	bool coarse;			/* states that differ only in summaries are merged */
	bool dead;			/* pointers that are not read again are kept */
	bool init;			/* the code of `init' runs */
	bool deaf;			/* alarms are ignored */
	bool full;			/* there was no room for a step */
	/* locks are taken in no known order; a step waits for something other than a lock */
	bool unordered, waits;
	uint64_t then[64];		/* for each lock, the locks taken while it is held */
	bool restart;			/* an assumption about locks or fields was wrong */
	unsigned int max_ops;		/* concrete mode: operations of each thread */
	struct kl_vf_run *stack;	/* runs that are not finished */
	size_t nstack, cstack;
	/* @emit is called at the end of a step.  @keep stores the state after the step. */
	int (*emit)(struct kl_verifier *x, struct kl_vf_run *r);
	int (*keep)(struct kl_verifier *x, struct kl_vf_run *r);
	struct kl_vf_store store;
	uint32_t parent, actor;		/* parent and actor of emitted states */
	uint64_t steps, max_steps;	/* number of instructions, and its bound or 0 */
	uint64_t looks;			/* counts calls of kl_vf_time_over() */
	/* instructions before the current search; the least bound of a finer search */
	uint64_t before, finer;
	bool bounded;			/* a finer search reached its bound */
	unsigned int rounds;
	double seconds;
	enum kl_verify_verdict verdict;
	bool alarm;
	char message[240];
	uint32_t last;			/* the state before the alarm */
	struct kl_vf_state bad;		/* the state of the alarm */
	bool acts_now;			/* the current state has a step that others see */
	struct kl_vf_views *views;
};

static inline unsigned int kl_vf_line(const struct kl_verifier *x, int method, unsigned int pc)
{
	return method >= 0 ? x->m.m[method].lines[pc] : 0;
}

/* Return: the registers that distinguish states, a bit for each. */
static inline uint64_t kl_vf_live(const struct kl_verifier *x, const struct kl_vf_thread *th)
{
	return x->m.m[th->method].live[th->pc] | (x->dead ? x->m.m[th->method].kept : 0);
}

/* heap.c */
enum { FOCUS_DONE, FOCUS_NONE, FOCUS_FULL };
/*
 * Make the next pointer of @i definite in *@r; with @ref in the reference's heap.  For each other
 * possible successor a run is pushed.  Return: FOCUS_DONE; FOCUS_NONE if there is no possible
 * successor; FOCUS_FULL if there is no room.
 */
int kl_vf_focus(struct kl_verifier *x, struct kl_vf_run *r, unsigned int i, bool ref);
/* Get or set the definite next pointer of @i; with @ref in the reference's heap. */
unsigned int kl_vf_next(const struct kl_vf_state *s, unsigned int i, bool ref);
void kl_vf_set_next(struct kl_vf_state *s, unsigned int i, unsigned int to, bool ref);
/* Make an individual.  Return: 0 if there is no room. */
unsigned int kl_vf_new(struct kl_vf_state *s, uint64_t kind);
/* Note that other threads may know node @i, and all nodes that it reaches. */
void kl_vf_escape(struct kl_vf_state *s, unsigned int i);
/* Push a copy of the run.  Return: the copy. */
struct kl_vf_run *kl_vf_fork(struct kl_verifier *x, const struct kl_vf_run *r);

/* sorted_list.c: sets in sorted lists. */
/* Return: the class of the key @v, or KEY_MAX + 1 if @v is no key. */
unsigned int kl_vf_class(const struct kl_verifier *x, uint8_t v);
/* Return: the individuals in @set that the list's invariant allows as successors of @i. */
uint32_t kl_vf_chain_coerce(const struct kl_verifier *x, const struct kl_vf_state *s,
			    unsigned int i, uint32_t set);
/* Apply kl_vf_chain_coerce() to all nodes. */
void kl_vf_chain_filter(const struct kl_verifier *x, struct kl_vf_state *s);
/* Return: true if each node on the list has a successor that the invariant allows. */
bool kl_vf_chain_possible(const struct kl_verifier *x, const struct kl_vf_state *s);
/*
 * Note which nodes are on the list after @i->next = @to.  The next pointer of @i is definite.
 * Return: NULL, or the reason why the list is no sorted list then.
 */
const char *kl_vf_chain_write(const struct kl_verifier *x, struct kl_vf_state *s, unsigned int i,
			      unsigned int to);
/* Note which nodes are on the list after `init'.  Return: as kl_vf_chain_write(). */
const char *kl_vf_chain_init(struct kl_verifier *x, struct kl_vf_state *s);
/* Compare keys.  Return: 0, 1, or 2 if the result is unknown. */
int kl_vf_key_less(const struct kl_verifier *x, uint8_t a, uint8_t b, bool or_equal);
int kl_vf_key_equal(const struct kl_verifier *x, uint8_t a, uint8_t b);
uint8_t kl_vf_key_of(const struct kl_verifier *x, uint64_t kind);
/* Return: the class of the key in a node of this kind. */
uint64_t kl_vf_node_key(const struct kl_verifier *x, uint64_t kind);

/* value.c: truth, comparison.  Return: 0, 1, or 2 if the result is unknown. */
int kl_vf_truth(const struct kl_verifier *x, uint8_t v);
int kl_vf_equal(const struct kl_verifier *x, uint8_t a, uint8_t b);
int kl_vf_less(const struct kl_verifier *x, uint8_t a, uint8_t b, bool or_equal);
/* Compute @op of @b and @c into *out.  Return: false if a condition is unknown. */
bool kl_vf_compute(struct kl_verifier *x, enum kl_opcode op, uint8_t b, uint8_t c, uint8_t *out);

/* reference.c: begin the specification's method for the thread's operation. */
void kl_vf_ref_start(struct kl_verifier *x, struct kl_vf_run *r);
/* Run one instruction of the reference; r->ref is false when it has returned. */
enum kl_vf_end kl_vf_ref_step(struct kl_verifier *x, struct kl_vf_run *r);
/* Return: true if the specification gives the results in some state since the call. */
bool kl_vf_hindsight(struct kl_verifier *x, const struct kl_vf_run *r, const uint8_t *results);

/*
 * op.c: call a method; reach a linearization point, which sets r->ref if the reference must run;
 * return from the method.
 */
void kl_vf_begin(struct kl_verifier *x, struct kl_vf_run *r, unsigned int method, uint8_t key,
		 uint8_t bits);
enum kl_vf_end kl_vf_linearize(struct kl_verifier *x, struct kl_vf_run *r, unsigned int kind);
enum kl_vf_end kl_vf_returns(struct kl_verifier *x, struct kl_vf_run *r, unsigned int n,
			     unsigned int first);
/* Return: true if the operation is on the observed key, or there are no keys. */
bool kl_vf_tracked(const struct kl_verifier *x, const struct kl_vf_thread *th);
/*
 * Reset the nodes that thread @t has seen on the list: to none, or with @now to the nodes on the
 * list.
 */
void kl_vf_forget_seen(struct kl_vf_state *s, unsigned int t, bool now);

/* commute.c.  Return: true if the step must end before the instruction. */
bool kl_vf_stops(struct kl_verifier *x, struct kl_vf_run *r, uint32_t insn);

/* locks.c: take or release a lock. */
enum kl_vf_end kl_vf_lock(struct kl_verifier *x, struct kl_vf_run *r, uint32_t insn);
#define KL_VF_SELF_LOCK	(1ULL << 63)	/* in a set of locks: the lock of the node itself */
/*
 * Return: the locks that the thread holds: a bit for each slot, and KL_VF_SELF_LOCK for the lock of
 * @node, unless @node is 0.
 */
uint64_t kl_vf_held(const struct kl_verifier *x, const struct kl_vf_run *r, unsigned int node);
/* Return: true if all locks are taken in one order, so that threads cannot wait in a ring. */
bool kl_vf_ordered_locks(const struct kl_verifier *x);

/* search.c.  Return: true, with the reason in x->message, if the search must end now. */
bool kl_vf_time_over(struct kl_verifier *x);
/* step.c: run all steps of a thread from a state, and emit the states after them. */
int kl_vf_step(struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t);
enum kl_vf_end kl_vf_alarm(struct kl_verifier *x, struct kl_vf_run *r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * insn.c: run one instruction.  If it has several outcomes, *@r goes on with one, and a run is
 * pushed for each other outcome.
 */
enum kl_vf_end kl_vf_insn(struct kl_verifier *x, struct kl_vf_run *r, const uint32_t *code);
/* init_state.c: run `init'. */
int kl_vf_first(struct kl_verifier *x, struct kl_vf_state *s);

/* Raise an alarm: there is no room for another individual; @v is not a node. */
enum kl_vf_end kl_vf_no_room(struct kl_verifier *x, struct kl_vf_run *r);
enum kl_vf_end kl_vf_not_a_node(struct kl_verifier *x, struct kl_vf_run *r, uint8_t v);

/* Call kl_vf_focus() in a step.  Return: VF_STEPPED if the step can go on. */
enum kl_vf_end kl_vf_focus_or_end(struct kl_verifier *x, struct kl_vf_run *r, unsigned int i,
				  bool ref);

/* canon.c: make the canonical form, in @out and as bytes in x->store.key and .edges. */
void kl_vf_canon(struct kl_verifier *x, struct kl_vf_state *s, struct kl_vf_state *out);
/*
 * rename.c: give new names to the nodes of @s, and summarise nodes without names.  Thread order[t]
 * becomes thread t.
 */
void kl_vf_form(const struct kl_verifier *x, const struct kl_vf_state *s, const uint8_t *order,
		struct kl_vf_state *out);
/* Return: a set of individuals by their new numbers in @map. */
uint32_t kl_vf_map_set(uint32_t set, const uint8_t *map);
/* pack.c: pack a state.  Return: the length of the part that distinguishes states. */
unsigned int kl_vf_pack(const struct kl_verifier *x, const struct kl_vf_state *s, uint8_t *key,
			unsigned int *len, uint32_t *edges, unsigned int *nedges);
/*
 * merge.c: store the canonical state @s, whose bytes are in x->store.
 * Return: the state's number, or a negative errno.
 */
int64_t kl_vf_add(struct kl_verifier *x, const struct kl_vf_state *s);
/* As kl_vf_canon(), with the threads in this order.  The caller has forgotten dead values. */
void kl_vf_ordered(struct kl_verifier *x, const struct kl_vf_state *s, const uint8_t *order,
		   struct kl_vf_state *out);
void kl_vf_unpack(const struct kl_verifier *x, uint32_t at, struct kl_vf_state *s);
/* Turn a concrete state into the abstract state that stands for it. */
void kl_vf_abstract_keys(const struct kl_verifier *x, struct kl_vf_state *s);

/*
 * views.c: any number of threads.  Join view @at with all other views, and make the joined steps.
 * Return: 0 or a negative errno.
 */
int kl_vf_interfere(struct kl_verifier *x, uint32_t at);
void kl_vf_views_clear(struct kl_verifier *x);
void kl_vf_views_free(struct kl_verifier *x);
/*
 * view_join.c: run the steps of view @w's thread as view @v sees them.
 * Return: 0 or a negative errno.
 */
int kl_vf_glue(struct kl_verifier *x, uint32_t v, uint32_t w);
/* Return: a hash of everything on which all views of one state agree. */
uint64_t kl_vf_look(const struct kl_verifier *x, const struct kl_vf_state *s);
/* Forget all threads of a state but @t. */
void kl_vf_only(const struct kl_verifier *x, struct kl_vf_state *s, unsigned int t);

#endif
