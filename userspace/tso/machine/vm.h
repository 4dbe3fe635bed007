/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The x86-TSO machine that the explorer and the litmus tests run: concrete
 * memory, a FIFO store buffer with forwarding for each CPU, locked instructions
 * and fences that wait for an empty buffer (Burckhardt et al., Figure 2).
 *
 * Programs are byte code (spec/interp/code.h).  A thread has the registers of its own
 * code, the client, and those of the method it is in, if any.  A call and a
 * return put markers into the buffer, so that the times when a method's stores
 * begin to leave and have left are known: flush(call) and flush(ret).
 */
#ifndef KL_TSO_MACHINE_VM_H
#define KL_TSO_MACHINE_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/interp/code.h"

#define KL_VM_THREADS	8
#define KL_VM_REGS	64		/* of a frame: liveness is a word of bits */
#define KL_VM_BUFFER	63		/* entries and markers in a store buffer */
#define KL_VM_MEM	1024		/* words of memory, objects among them */
#define KL_VM_OBJECTS	96
/*
 * Events of a step: markers leave, those of a full buffer and the two that the step itself
 * puts in; and it calls and returns once.
 */
#define KL_VM_EVENTS	(KL_VM_BUFFER + 4)
#define KL_VM_CODE_MAX	65535		/* words of a program: jumps have 16 bits */

/* A pointer is KL_VM_PTR plus an index into memory; null is 0. */
#define KL_VM_PTR	(1ULL << 62)
/* empty, full, absent: this plus their tag. */
#define KL_VM_SPECIAL	(1ULL << 63)

/*
 * Of each object one byte: its struct; that only the thread that made it can
 * reach it so far; which of three variables have pointed to it and do no more.
 */
#define KL_VM_STRUCT	0x0f
#define KL_VM_LEFT(i)	(0x10 << (i))
#define KL_VM_LEFTS	3
#define KL_VM_HIDDEN	0x80

/* Data, which is copied and compared only: this plus a number that stands for any value. */
#define KL_VM_DATA	(1ULL << 61)
#define KL_VM_DATA_MAX	64

static inline bool kl_vm_is_data(uint64_t v)
{
	return v >> 61 == 1;
}

static inline bool kl_vm_is_ptr(uint64_t v)
{
	return (v & ~(uint64_t)(2 * KL_VM_MEM - 1)) == KL_VM_PTR;
}

struct kl_vm_method {
	const char *name;
	uint32_t start;
	unsigned int nparams, nresults;
};

struct kl_vm_struct {
	const char *name;
	unsigned int nfields;
};

struct kl_vm_facts;

struct kl_vm_prog {
	const uint32_t *code;
	const uint64_t *pool;
	const uint64_t *live;		/* registers that still matter before each word */
	const uint32_t *line;		/* of the text, for each word; may be NULL */
	size_t ncode;
	unsigned int nslots;		/* words of memory that are always there */
	unsigned int nthreads;
	uint32_t start[KL_VM_THREADS];
	unsigned int nregs[2];		/* of a client's frame, of a method's */
	const struct kl_vm_method *methods;
	const struct kl_vm_struct *structs;
	unsigned int stride;		/* words an object takes */
	/* litmus: no markers, any word may come out of arithmetic */
	bool raw;
	/* data may come again: a new call's may be one that is there */
	bool again;
	bool *compared;			/* set when data is compared with data; may be NULL */
	/* What may be turned off, see kl_vm_step(). */
	bool sc;
	bool merge;			/* steps of one visible access, markers at their extremes */
	bool dead;			/* dead registers are cleared */
	bool canon;			/* objects are named by where they are found first */
	/* what no other thread can reach needs no buffer, no step */
	bool hidden;
	bool symmetry;			/* threads of one group are put in an order */
	uint8_t group[KL_VM_THREADS];	/* threads of the same code, a bit for each */
	struct kl_vm_facts *facts;	/* what no run has refuted so far, invariants.h; may be NULL */
};

enum kl_vm_kind { KL_VM_WRITE, KL_VM_CALL, KL_VM_RET };

struct kl_vm_entry {
	uint64_t val;
	uint32_t addr;
	uint8_t kind;
	bool more;		/* the next entry belongs to the same atomic block */
};

struct kl_vm_thread {
	uint32_t pc[2];		/* of the client; of the method, if method >= 0 */
	int16_t method;
	uint8_t args;		/* the client's register of the first argument */
	bool done;
	unsigned int nbuf;
	struct kl_vm_entry buf[KL_VM_BUFFER];
	uint64_t reg[2][KL_VM_REGS];
};

enum kl_vm_event_kind { KL_EV_CALL, KL_EV_RET, KL_EV_FLUSH_CALL, KL_EV_FLUSH_RET };

/* What a history has of a step. */
struct kl_vm_event {
	uint8_t kind, thread;
	uint16_t method;
	uint8_t n;
	uint64_t val[KL_MAX_ARGS];
};

/* One access to memory, for people who read a run. */
struct kl_vm_access {
	uint32_t addr, line;
	uint64_t val;
	uint8_t thread;
	bool write, buffered, own;
};

struct kl_vm {
	const struct kl_vm_prog *prog;
	unsigned int nobj, nmem;
	uint64_t mem[KL_VM_MEM];
	uint8_t type[KL_VM_OBJECTS];	/* the struct, and KL_VM_HIDDEN, KL_VM_LEFT() */
	struct kl_vm_thread thread[KL_VM_THREADS];
	uint64_t taken;		/* data that the specification knows, a bit for each number */
	/* Of the last step: */
	struct kl_vm_event ev[KL_VM_EVENTS];
	unsigned int nev;
	bool wrote;			/* memory that others can reach has changed */
	uint32_t touched;		/* threads that are not what they were */
	struct kl_vm_access *log;	/* if not NULL, accesses are noted there */
	unsigned int nlog, clog;
	uint8_t choice[16], choices[16];
	unsigned int nchoice, at_choice, ndecided;
	char error[160];
	bool limit;		/* what the error tells of is a bound of the machine's own */
};

/* The object that an address lies in; negative for memory that is always there. */
static inline int kl_vm_object(const struct kl_vm *vm, uint32_t addr)
{
	return addr < vm->prog->nslots ? -1 :
	       (int)((addr - vm->prog->nslots) / vm->prog->stride);
}

static inline bool kl_vm_hidden(const struct kl_vm *vm, uint32_t addr)
{
	int obj = kl_vm_object(vm, addr);

	return obj >= 0 && vm->type[obj] & KL_VM_HIDDEN;
}

/* The index in memory that is @field behind what @v points to, or UINT32_MAX. */
static inline uint32_t kl_vm_address(const struct kl_vm *vm, uint64_t v, unsigned int field)
{
	uint32_t at = v - KL_VM_PTR;

	return kl_vm_is_ptr(v) && at + field < vm->nmem ? at + field : UINT32_MAX;
}

/* The element of an array, base | length << 16, or UINT32_MAX. */
static inline uint32_t kl_vm_element(uint32_t array, uint64_t index)
{
	return index < array >> 16 ? (array & 0xffff) + index : UINT32_MAX;
}

/*
 * The registers of a frame that belong to a state, a bit for each; those of a client
 * that wait for results do not.
 */
static inline uint64_t kl_vm_kept(const struct kl_vm_prog *p, const struct kl_vm_thread *th,
				  unsigned int f)
{
	uint64_t mask = p->nregs[f] ? (2ULL << (p->nregs[f] - 1)) - 1 : 0;

	if (!p->dead)
		return mask;
	mask &= p->live[th->pc[f]];
	if (!f && th->method >= 0)
		mask &= ~(((1ULL << p->methods[th->method].nresults) - 1) << th->args);
	return mask;
}

enum kl_vm_result {
	KL_VM_OK,
	KL_VM_WAITS,	/* not enabled: a barrier with a full buffer, or an atomic block's assume */
	KL_VM_DROPPED,	/* an assume outside of a block was false: there is no such run */
	KL_VM_FAULT,	/* vm->error has the text; vm->limit: nobody's fault but the machine's */
};

/* The first state; @init has the memory's nslots words. */
void kl_vm_init(struct kl_vm *vm, const struct kl_vm_prog *prog, const uint64_t *init);

/* The state of @from, without what is known of its last step. */
void kl_vm_copy(struct kl_vm *to, const struct kl_vm *from);
/* The same for a copy of @from that has made some steps. */
void kl_vm_undo(struct kl_vm *vm, const struct kl_vm *from);

/**
 * kl_vm_step() - thread @t goes on
 * @vm: the state; undefined unless KL_VM_OK comes back
 * @t: the thread
 *
 * With prog->merge a step has one visible access: a read or an atomic block.
 * What only this thread can see goes along with it, and a store that enters
 * the buffer, since that commutes with all that others do.  A call comes as
 * late as possible, with the method's first access, a return as early as
 * possible: other places make a history easier to explain, never harder.
 * Without it a step is one instruction.
 *
 * Choices are taken from vm->choice; those beyond vm->nchoice are the first
 * alternative.  kl_vm_next_choice() prepares the next combination.
 *
 * If @t has decided for something that has to wait, as a call of a method that
 * begins with a barrier, vm->ndecided is how many choices that were: to have
 * decided is a step of its own then, kl_vm_decide().
 */
enum kl_vm_result kl_vm_step(struct kl_vm *vm, unsigned int t);
bool kl_vm_next_choice(struct kl_vm *vm);
/* The step of @t up to its @n-th choice. */
enum kl_vm_result kl_vm_decide(struct kl_vm *vm, unsigned int t, unsigned int n);
/* The steps of @t that others cannot notice, nor can it matter when they are made. */
enum kl_vm_result kl_vm_go_on(struct kl_vm *vm, unsigned int t);
/* The next @n instructions of @t. */
enum kl_vm_result kl_vm_run(struct kl_vm *vm, unsigned int t, unsigned int n);

/**
 * kl_vm_ahead() - a detour that @t is on already (doomed_retry.c)
 * @vm: the state
 * @t: the thread
 *
 * Where what comes next are reads whose values do not matter in the end, since a
 * comparison with what has changed for good will fail, @t is as well behind
 * them: nothing that others do meanwhile makes it arrive there in another state.
 *
 * Return: how many instructions that are; 0: it is on none.
 */
unsigned int kl_vm_ahead(const struct kl_vm *vm, unsigned int t);

/**
 * kl_vm_flush() - the oldest entry of @t's buffer reaches memory
 * @vm: the state
 * @t: whose buffer
 *
 * With prog->merge the markers around it go at the time that is the hardest
 * to explain: a call's as late, a return's as early as possible.
 *
 * Return: was there something to flush?
 */
bool kl_vm_flush(struct kl_vm *vm, unsigned int t);
/* Is the oldest layer of @t's buffer complete and without entries? */
bool kl_vm_empty_layer(const struct kl_vm *vm, unsigned int t);
/* The data values that are somewhere in the state, a bit for each number. */
uint64_t kl_vm_data(const struct kl_vm *vm);
bool kl_vm_has_writes(const struct kl_vm_thread *th);

/* pack.c: a state as bytes. */
#define KL_VM_PACKED	\
	(KL_VM_MEM * 9 + KL_VM_THREADS * (2 * KL_VM_REGS + 2 * KL_VM_BUFFER + 2) * 9)

/* How a packed state names what it has. */
struct kl_vm_names {
	uint8_t data[KL_VM_DATA_MAX];	/* the number of each data value, 0: it is not there */
	uint8_t thread[KL_VM_THREADS];	/* the thread at each place */
	bool moved;			/* some thread has another place */
};

/**
 * kl_vm_pack() - a state as a string of bytes, equal states as equal ones
 * @vm: the state
 * @out: KL_VM_PACKED bytes
 * @names: set to the names; data too is numbered by where it is found first
 *
 * Return: how many bytes were used.
 */
size_t kl_vm_pack(const struct kl_vm *vm, uint8_t *out, struct kl_vm_names *names);
void kl_vm_unpack(struct kl_vm *vm, const uint8_t *in);

/**
 * kl_vm_live() - which registers matter before each word (liveness.c)
 * @p: the program; its live is not looked at
 * @nmethods: how many methods it has
 * @live: ncode words, filled in
 * @at_end: registers of a client that matter when it has stopped
 * @scratch: room for ncode words
 */
void kl_vm_live(const struct kl_vm_prog *p, unsigned int nmethods, uint64_t *live,
		uint64_t at_end, uint32_t *scratch);

#endif
