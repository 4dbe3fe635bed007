/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The x86-TSO machine that the explorer and the litmus tests run: concrete memory, a FIFO store
 * buffer with forwarding for each CPU, locked instructions and fences that wait for an empty buffer
 * (Burckhardt et al., Figure 2).
 *
 * Programs are byte code (spec/interp/code.h).  A thread has a frame of registers for its own code,
 * the client, and one for the method that it executes.  A call and a return put markers into the
 * buffer; the entries between them are the call's layer.  When the markers leave the buffer, the
 * history gets the events flush(call) and flush(ret).
 */
#ifndef KL_TSO_MACHINE_VM_H
#define KL_TSO_MACHINE_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/interp/code.h"

#define KL_VM_THREADS	8
#define KL_VM_REGS	64		/* registers of a frame; liveness has a bit for each */
#define KL_VM_BUFFER	63		/* entries and markers in a store buffer */
#define KL_VM_MEM	1024		/* words of memory, objects included */
#define KL_VM_OBJECTS	96
/*
 * Greatest number of events of a step: flushes of a full buffer of markers and of two more markers
 * that the step inserts, and one call and one return.
 */
#define KL_VM_EVENTS	(KL_VM_BUFFER + 4)
#define KL_VM_CODE_MAX	65535		/* words of a program; targets of jumps have 16 bits */

/* A pointer is KL_VM_PTR plus an index into memory; null is 0. */
#define KL_VM_PTR	(1ULL << 62)
/* A special value (empty, full, absent) is KL_VM_SPECIAL plus its tag. */
#define KL_VM_SPECIAL	(1ULL << 63)

/* The type of an object is one byte: */
#define KL_VM_STRUCT	0x0f		/* number of the object's struct */
#define KL_VM_LEFT(i)	(0x10 << (i))	/* the variable with bit i has left the object */
#define KL_VM_LEFTS	3		/* number of variables with such a bit */
#define KL_VM_HIDDEN	0x80		/* only the thread that made the object can reach it */

/* Data is only copied and compared: KL_VM_DATA plus a number, which stands for any value. */
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
	const uint64_t *live;		/* live registers before each word, a bit for each */
	const uint32_t *line;		/* line in the source for each word; may be NULL */
	size_t ncode;
	unsigned int nslots;		/* words of the fixed memory, which comes before objects */
	unsigned int nthreads;
	uint32_t start[KL_VM_THREADS];
	unsigned int nregs[2];		/* registers of a client's and of a method's frame */
	const struct kl_vm_method *methods;
	const struct kl_vm_struct *structs;
	unsigned int stride;		/* words of an object */
	/* for litmus tests: there are no markers, and arithmetic may have any word as its result */
	bool raw;
	/* data may repeat: the data of a new call may equal data in the state */
	bool again;
	bool *compared;			/* set when data is compared with data; may be NULL */
	bool sc;			/* there are no buffers: sequential consistency */
	/* Reductions, which can be turned off: */
	bool merge;			/* a step has one visible access, see kl_vm_step() */
	bool dead;			/* states have no dead registers */
	bool canon;			/* objects and data are numbered by first occurrence */
	bool hidden;			/* accesses to hidden objects need no buffer and no step */
	bool symmetry;			/* threads of a group are sorted */
	uint8_t group[KL_VM_THREADS];	/* threads with the same code, a bit for each */
	struct kl_vm_facts *facts;	/* see invariants.h; may be NULL */
};

enum kl_vm_kind { KL_VM_WRITE, KL_VM_CALL, KL_VM_RET };

struct kl_vm_entry {
	uint64_t val;
	uint32_t addr;
	uint8_t kind;
	bool more;		/* the next entry belongs to the same atomic block */
};

struct kl_vm_thread {
	uint32_t pc[2];		/* of the client, and of the method if method >= 0 */
	int16_t method;		/* the method that the thread executes, or -1 */
	uint8_t args;		/* the client's register of the first argument */
	bool done;
	unsigned int nbuf;
	struct kl_vm_entry buf[KL_VM_BUFFER];
	uint64_t reg[2][KL_VM_REGS];
};

enum kl_vm_event_kind {
	KL_VM_EVENT_CALL,
	KL_VM_EVENT_RET,
	KL_VM_EVENT_FLUSH_CALL,
	KL_VM_EVENT_FLUSH_RET
};

/* An event of a history. */
struct kl_vm_event {
	uint8_t kind, thread;
	uint16_t method;
	uint8_t n;
	uint64_t val[KL_MAX_ARGS];
};

/* An access to memory, for printing a run; @own: the thread read its own buffered store. */
struct kl_vm_access {
	uint32_t addr, line;
	uint64_t val;
	uint8_t thread;
	bool write, buffered, own;
};

struct kl_vm;

/*
 * A member of who looks at each instruction, before it is executed: that of thread @t at word @at
 * of the code, with the registers of frame @f.
 */
struct kl_vm_trace {
	void (*fn)(struct kl_vm_trace *tr, const struct kl_vm *vm, unsigned int t, unsigned int f,
		   uint32_t at);
};

struct kl_vm {
	const struct kl_vm_prog *prog;
	unsigned int nobj, nmem;
	uint64_t mem[KL_VM_MEM];
	uint8_t type[KL_VM_OBJECTS];	/* KL_VM_STRUCT, KL_VM_HIDDEN and KL_VM_LEFT() */
	struct kl_vm_thread thread[KL_VM_THREADS];
	uint64_t taken;		/* data in the specification's states, a bit for each number */
	/* About the last step: */
	struct kl_vm_event ev[KL_VM_EVENTS];
	unsigned int nev;
	bool wrote;			/* memory that other threads can reach has changed */
	uint32_t touched;		/* threads that have changed, a bit for each */
	struct kl_vm_access *log;	/* accesses are appended here; may be NULL */
	unsigned int nlog, clog;
	struct kl_vm_trace *trace;	/* looks at instructions; may be NULL */
	uint8_t choice[16], choices[16];	/* taken alternatives; numbers of alternatives */
	unsigned int nchoice, at_choice, ndecided;	/* see kl_vm_step() */
	char error[160];
	uint32_t error_pc;	/* the instruction with the error */
	/* the error is a bound of the machine, not a fault of the program */
	bool limit;
};

/* Return: the object that contains an address; negative for the fixed memory. */
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

/* Return: the address of field @field of the object at the pointer @v, or UINT32_MAX. */
static inline uint32_t kl_vm_address(const struct kl_vm *vm, uint64_t v, unsigned int field)
{
	uint32_t at = v - KL_VM_PTR;

	return kl_vm_is_ptr(v) && at + field < vm->nmem ? at + field : UINT32_MAX;
}

/* Return: the address of an element of the array base | length << 16, or UINT32_MAX. */
static inline uint32_t kl_vm_element(uint32_t array, uint64_t index)
{
	return index < array >> 16 ? (array & 0xffff) + index : UINT32_MAX;
}

/*
 * Return: the registers of frame @f that belong to the state, a bit for each.  While a method runs,
 * the client's registers for its results do not belong to the state.
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
	/* not enabled: a barrier with buffered stores, or a false assume in a block */
	KL_VM_WAITS,
	KL_VM_DROPPED,	/* an assume outside of a block is false, so the run does not exist */
	KL_VM_FAULT,	/* vm->error has the text; vm->limit is set for a bound of the machine */
};

/* Make the first state; @init has the nslots words of the fixed memory. */
void kl_vm_init(struct kl_vm *vm, const struct kl_vm_prog *prog, const uint64_t *init);

/* Copy the state of @from, without the members about its last step. */
void kl_vm_copy(struct kl_vm *to, const struct kl_vm *from);
/* Undo the steps that @vm made since it was a copy of @from. */
void kl_vm_undo(struct kl_vm *vm, const struct kl_vm *from);

/**
 * kl_vm_step() - make a step of a thread
 * @vm: the state; undefined afterwards unless the result is KL_VM_OK
 * @t: the thread
 *
 * Without prog->merge a step is one instruction.  With prog->merge a step has one visible access:
 * a read or an atomic block.  Instructions that only this thread can notice belong to the same
 * step.  So does a store that enters the buffer, since it commutes with all steps of other
 * threads.  A call is as late as possible, in the step of the method's first access, and a return
 * as early as possible.  Other times of calls and returns only make a history easier to explain.
 *
 * Choices are taken from vm->choice[0 .. nchoice-1]; further choices take the first alternative.
 * kl_vm_next_choice() prepares the next combination.
 *
 * A step may make choices and then have to wait, as in a call of a method that begins with a
 * barrier.  Then vm->ndecided is the number of choices, and kl_vm_decide() makes them in a step of
 * their own.
 *
 * Return: enum kl_vm_result.
 */
enum kl_vm_result kl_vm_step(struct kl_vm *vm, unsigned int t);
/* Prepare the next combination of choices.  Return: false if there is none. */
bool kl_vm_next_choice(struct kl_vm *vm);
/* Make the step of @t up to its @n-th choice. */
enum kl_vm_result kl_vm_decide(struct kl_vm *vm, unsigned int t, unsigned int n);
/* Make the steps of @t that other threads cannot notice, and whose time does not matter. */
enum kl_vm_result kl_vm_go_on(struct kl_vm *vm, unsigned int t);
/* Execute the next @n instructions of @t. */
enum kl_vm_result kl_vm_run(struct kl_vm *vm, unsigned int t, unsigned int n);

/**
 * kl_vm_doomed_insns() - count the instructions of a doomed retry (doomed_retry.c)
 * @vm: the state
 * @t: the thread
 *
 * The next reads of @t may have no effect, because a comparison will fail and discard their values.
 * The caller then executes @t to the end of these instructions at once: other threads cannot change
 * the state in which @t arrives there.
 *
 * Return: number of instructions to execute, or 0 if the retry is not doomed.
 */
unsigned int kl_vm_doomed_insns(const struct kl_vm *vm, unsigned int t);

/**
 * kl_vm_flush() - move the oldest entry of a buffer to memory
 * @vm: the state
 * @t: the thread that owns the buffer
 *
 * With prog->merge the markers next to the entry leave at the times that are hardest to explain: a
 * call's marker as late and a return's marker as early as possible.
 *
 * Return: false if there is nothing to flush.
 */
bool kl_vm_flush(struct kl_vm *vm, unsigned int t);
/* Return: true if the oldest layer of @t's buffer is complete and has no entries. */
bool kl_vm_empty_layer(const struct kl_vm *vm, unsigned int t);
/* Return: the data values that occur in the state, a bit for each number. */
uint64_t kl_vm_data(const struct kl_vm *vm);
/* Return: true if the thread's buffer has a store. */
bool kl_vm_has_writes(const struct kl_vm_thread *th);

/* Greatest number of bytes of a packed state (pack.c). */
#define KL_VM_PACKED	\
	(KL_VM_MEM * 9 + KL_VM_THREADS * (2 * KL_VM_REGS + 2 * KL_VM_BUFFER + 2) * 9)

/* The numbers that a packed state has for data and threads. */
struct kl_vm_names {
	uint8_t data[KL_VM_DATA_MAX];	/* new number of each data value; 0 if it does not occur */
	uint8_t thread[KL_VM_THREADS];	/* the thread that has each number in the packed state */
	bool moved;			/* a thread has another number than before */
};

/**
 * kl_vm_pack() - write a state as bytes, in canonical form
 * @vm: the state
 * @out: KL_VM_PACKED bytes
 * @names: set to the numbers of data and threads in the packed state
 *
 * Return: number of bytes written.
 */
size_t kl_vm_pack(const struct kl_vm *vm, uint8_t *out, struct kl_vm_names *names);
/* Read a state from bytes.  The caller has set vm->prog. */
void kl_vm_unpack(struct kl_vm *vm, const uint8_t *in);

/**
 * kl_vm_live() - find the live registers before each word (liveness.c)
 * @p: the program; p->live is not used
 * @nmethods: number of methods
 * @live: result, ncode words with a bit for each register
 * @at_end: registers of a client that are live when it has stopped
 * @scratch: room for ncode words
 */
void kl_vm_live(const struct kl_vm_prog *p, unsigned int nmethods, uint64_t *live,
		uint64_t at_end, uint32_t *scratch);

#endif
