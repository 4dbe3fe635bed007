/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What BPF programs and userspace share: events, slots for open operations, counts and logs of
 * lost events, and fetch programs.
 *
 * Each operation is one event, written at the return, with the times of call and return.  So a
 * lost event is a whole lost operation, and the program that could not write it knows the
 * operation's interval.  An open operation waits in a slot of its task.  Userspace reads the
 * slots when it detaches; operations that are open then are pending.
 *
 * The usual path has no locked instruction, which would drain the store buffer that klin
 * watches.  A slot stays with its task while there are enough slots.  Each struct klin_cpu and
 * each ring has one writer: the kernel never runs a tracing program twice on one CPU.  Userspace
 * writes only a ring's tail.
 */
#ifndef KLIN_EVENT_H
#define KLIN_EVENT_H

#include <linux/types.h>

#define KLIN_MAX_VALS	8	/* arguments and results together */
#define KLIN_MAX_PARAMS	6	/* parameters of a probed function, those in registers */
#define KLIN_DEPTH	8	/* open operations of one task, a power of two */
#define KLIN_TRIES	4	/* kept slots that a task tries */
#define KLIN_LOSSES	64	/* intervals in a log of losses */
#define KLIN_REGS	8	/* registers of a fetch program */
#define KLIN_INSNS	96	/* instructions of a fetch program */
/* instructions of most fetch programs; shorter programs load faster */
#define KLIN_FEW_INSNS	24
#define KLIN_TP_METHODS	64	/* span of klin.ko's method ids in one recording */
#define KLIN_TP_VALS	3	/* arguments of a method of klin.ko, and also results */

/* Clocks of a recording; see enum kl_clock of a history. */
enum klin_clock {
	KLIN_CLOCK_MONO,	/* bpf_ktime_get_ns() */
	KLIN_CLOCK_SEQ,		/* a count that each reading raises by a locked instruction */
	/* high bits: a shared count that programs only load; low bits: a count of the CPU */
	KLIN_CLOCK_COARSE,
};

#define KLIN_TICK_BITS	16	/* low bits of a coarse time: the CPU's count */

#define KLIN_TIME_LEVELS 4	/* nesting of clock readings: a task, interrupts in interrupts */

/* A count in a cache line of its own; clock.h describes the counts of a CPU. */
struct klin_time {
	__u64 now;
	__u64 depth, level[KLIN_TIME_LEVELS];
	__u64 pad[2];
};

enum klin_event_type {
	KLIN_EV_OP,
	KLIN_EV_DRAIN,		/* cpu_ret's store buffer was empty at ret */
	KLIN_EV_TICK,		/* the same, noted by tick.bpf.c, whose events are not counted */
	/* the memory of the first `probe' objects in val[] was freed at ret, on cpu_ret */
	KLIN_EV_FREE,
};

enum klin_event_flags {
	KLIN_F_NOCALL = 1, /* the call was not seen */
	KLIN_F_NORET = 2, /* the return was not seen; it happened before ret */
	/*
	 * It is not seen when the object's memory is freed.  Of a free: it is not seen when the
	 * next object comes into the memory, which may be used before that.
	 */
	KLIN_F_UNWATCHED = 4,
};

/* Above the flags: 1 + the id of the call's stack in the map `call_stacks', or 0 without one. */
#define KLIN_STACK_SHIFT	8
#define KLIN_FRAMES	24	/* most frames of a stack that are kept */
#define KLIN_STACKS	16384	/* stacks of a recording with --stacks */

/* Bits of klin_event.fault above those of the values. */
/* bit KLIN_MARKS + i: val[i] is an enum kl_tag, not a word */
#define KLIN_MARKS		8
#define KLIN_FAULT_OBJECT	(1U << 30)	/* the object could not be read */
#define KLIN_FAULT_WHEN		(1U << 31)	/* it is not known whether this is an operation */

struct klin_event {
	__u32 type;
	__u32 probe;		/* index of the probe clause */
	__u64 call, ret;	/* by the recording's clock */
	__u64 point;		/* linearization point, 0 if none was given */
	__u64 object;
	__u32 tid;		/* or the CPU's idle task: KLIN_TID_IDLE + CPU */
	__u32 flags;
	__u16 cpu_call, cpu_ret;
	__u32 fault;		/* bit i: val[i] could not be read; KLIN_MARKS + i: it is a tag */
	__u64 val[KLIN_MAX_VALS];	/* arguments, then results; only those used are sent */
};

#define KLIN_EVENT_SIZE(nvals) (__builtin_offsetof(struct klin_event, val) + 8 * (nvals))
#define KLIN_TID_IDLE	(1U << 31)

/*
 * States of a frame.  A closed frame stays while a frame above it belongs to the same call, for
 * another clause on the same function.
 */
enum klin_open {
	KLIN_FILLING,	/* a program is filling the frame */
	KLIN_OPEN,
	KLIN_OVER,
	KLIN_WAITING,	/* a call in which a place may still be hit, see place.bpf.c */
	KLIN_BUSY,	/* open, and a program is using the frame */
};

/* An open operation.  The frame holds the event that its return will send. */
struct klin_frame {
	__u64 sp;		/* address of the call's stack frame, or 0 if it is not known */
	__u32 open;		/* enum klin_open */
	/* klin_conf.func; at klin.ko's tracepoints 1 on the task's stack, 0 on an interrupt's */
	__u32 func;
	__u64 args[KLIN_MAX_PARAMS];	/* arguments, for kretprobes, which cannot read them */
	struct klin_event ev;
};

/*
 * Open operations of a task: frames[base..top), indices modulo KLIN_DEPTH.
 *
 * There are two kinds.  A kept slot stays with its task until the task ends, so that only
 * the task's first operation needs a locked instruction.  A lent slot is for tasks that
 * find no kept one: it is claimed for an operation, and given back when the last operation
 * in it has returned.  A lent slot changes its owner by @word alone, see slots.h.
 */
struct klin_slot {
	union {
		struct {
			__u32 owner;	/* tid; 0: free; KLIN_SLOT_DEAD: see below */
			/* low byte: programs that use a lent slot; above: holds taken so far */
			__u32 holds;
		};
		__u64 word;		/* owner and holds together */
	};
	__u32 base, top;
	/* set when a task that tries this kept slot first found no kept slot free */
	__u32 crowded;
	__u32 pad;
	struct klin_frame frames[KLIN_DEPTH];
};

/* The owner of a slot whose task ended with frames open. */
#define KLIN_SLOT_DEAD	(~0U)

/* The lent slots follow the kept slots; the user chooses the number of kept slots. */
#define KLIN_LENT_SLOTS(slots)	(((slots) + 3) / 4)
#define KLIN_ALL_SLOTS(slots)	((slots) + KLIN_LENT_SLOTS(slots))
#define KLIN_LENT_TRIES	16	/* lent slots that a task tries */

/*
 * Index of the kept or lent slot that the task @key tries as number @i.  @mask is the number of
 * kept slots - 1.  The two kinds have different hashes, so that tasks that collide in one do not
 * collide in the other.
 */
#define KLIN_KEPT_AT(key, mask, i)	((((key) * 0x9e3779b1U >> 7) + (i)) & (mask))
#define KLIN_LENT_AT(key, mask, i) \
	((mask) + 1 + ((((key) * 0x85ebca6bU >> 11) + (i)) & (mask) >> 2))

/*
 * A period of losses: operations whose events did not fit had calls and returns in [from, to].
 * In a full log the last period grows.
 */
struct klin_loss {
	__u64 from, to, count;
};

/* Which program writes a struct klin_cpu; index KLIN_SIDES * CPU + side. */
enum klin_side {
	KLIN_AT_CALL,
	KLIN_AT_RETURN,
	KLIN_AT_DRAIN,
	KLIN_SIDES,
	KLIN_AT_PLACE = KLIN_AT_DRAIN, /* in objects of places, which have no drains */
	/* in free.bpf.c */
	KLIN_AT_FREE = KLIN_AT_CALL,
	KLIN_AT_FREE_TWIN,
	KLIN_AT_ALLOC,
};

/*
 * Counts of one program on one CPU, and its position in its ring, if there is one.  The ring
 * holds events [tail..head), and the next event goes to entry @at.  The reader writes only @tail,
 * which has a cache line of its own.
 */
struct klin_cpu {
	__u64 scratch;		/* klin_number_of() turns a pointer into a number here */
	__u64 events;		/* events that the program tried to write */
	__u64 runs;		/* runs of the program */
	__u64 head;
	__u32 at;
	__u32 losing;		/* the last event did not fit */
	__u64 missed;		/* calls that found no place in a slot */
	__u64 lost;		/* events that did not fit */
	__u64 lost_nocall;	/* lost events whose calls were not seen */
	__u64 tail;		/* events read; only the reader writes it */
	__u64 pad[7];
	__u64 unread;		/* lost events for which this CPU had no buffer */
	__u32 nlosses;
	__u32 gap;
	struct klin_loss losses[KLIN_LOSSES];
	/* frames that were sent early to make room; their returns find no frame */
	__u64 displaced;
	__u64 lent;		/* claims of lent slots; each claim drained the store buffer */
	/* klin_free_twin: frees without a token; klin_free: those of them that it saw, too */
	__u64 covered;
	__u64 more[3];
};

/* The name of a task. */
struct klin_comm {
	char s[16];
};

/*
 * A CPU's ring may be written while @came equals @open; else events go into the CPU's perf buffer.
 * A CPU that comes, or comes back, has no perf buffer yet, so its first event counts as lost.
 */
struct klin_home {
	__u32 came;		/* raised whenever the CPU goes offline or comes online */
	__u32 open;		/* the value of @came when the reader opened the perf buffer */
	__u32 ring;		/* index of its ring, or KLIN_NO_RING */
	__u32 pad;
};

#define KLIN_NO_RING	(~0U)

/*
 * An instruction of a fetch program: op | dst << 8 | src << 16 | size << 24 | offset << 32.
 * Programs are read-only data, which the verifier knows, so it removes the parts of the
 * interpreter that a clause does not use.  There are no jumps: && || ?: compute both sides, and
 * faults of the side that is not taken are dropped.
 */
struct klin_insn {
	union {
		__u64 code;
		struct {	/* the same fields, for code that reads them one by one */
			__u8 op, dst, src, size;
			__s32 off;
		};
	};
	__u64 imm;
};

enum klin_fetch_op {
	KLIN_END,
	KLIN_IMM,	/* dst = imm */
	KLIN_ARG,	/* dst = argument number src */
	KLIN_RETVAL,	/* dst = return value */
	KLIN_UNKNOWN,	/* dst = an unknown value */
	KLIN_CURRENT,	/* dst = the running task's task_struct */
	KLIN_REG,	/* dst = CPU register number offset, as DWARF counts; at places only */
	KLIN_MOV,	/* dst = src */
	KLIN_LOAD,	/* dst = *(src + offset), size bytes */
	KLIN_EXT,	/* dst = dst truncated to size bytes */
	KLIN_ADD, KLIN_SUB, KLIN_MUL, KLIN_DIV, KLIN_MOD,	/* dst = dst op src, unsigned */
	KLIN_SDIV, KLIN_SMOD,					/* signed */
	KLIN_AND, KLIN_OR, KLIN_XOR, KLIN_SHL, KLIN_SHR, KLIN_SAR,
	KLIN_EQ, KLIN_LTU, KLIN_LTS,				/* dst = dst op src, 0 or 1 */
	KLIN_LNOT,	/* dst = !dst */
	KLIN_LAND, KLIN_LOR,	/* dst = dst op src, all 0 or 1 */
	KLIN_SELECT,	/* dst = dst ? register src : register offset */
	KLIN_NUMBER,	/* dst = the decimal number with index offset in the text at dst */
	KLIN_VAL,	/* val[offset] = src */
	KLIN_MARK,	/* if src is not 0, val[offset] is a tag */
	KLIN_OBJECT,	/* the object is src */
	KLIN_WHEN,	/* if src is 0, this is not an operation */
	KLIN_VAL_ARG,	/* val[offset] = argument number src, truncated to size unless that is 0 */
	KLIN_VAL_RET,	/* val[offset] = return value, likewise */
	KLIN_OBJECT_ARG,	/* the object is argument number src */
};

/* Flags in the field size. */
#define KLIN_SIGNED	0x80
#define KLIN_USER	0x40	/* KLIN_LOAD reads user memory */
#define KLIN_SURE	0x20	/* no value up to this instruction can be unknown */

#define KLIN_CODE(op, dst, src, size, off) \
	((__u64)(op) | (__u64)(dst) << 8 | (__u64)(src) << 16 | (__u64)(size) << 24 | \
	 (__u64)(__u32)(off) << 32)

#define KLIN_LEFT	65536	/* entries of klin_left.object, a power of two */
#define KLIN_CPU_WORDS	8	/* words of a filter's set of CPUs, 64 CPUs each */

/* Filters of operations; they are the same for all clauses. */
struct klin_filter {
	__u32 only;		/* tgid to record alone, or 0 */
	__u32 sample;		/* record one of this many objects; 0 and 1 record all */
	__u32 by_cpu;		/* record only calls on @cpus */
	/* note the objects of operations that are left out by task or CPU */
	__u32 note;
	__u64 cpus[KLIN_CPU_WORDS];
};

/* Objects of operations that were left out; an entry is 1 if its object may be one, else 0. */
struct klin_left {
	__u8 object[KLIN_LEFT];	/* by klin_object_hash() */
	__u8 all;		/* an omitted operation's object could not be read */
	__u8 pad[7];
};

static inline __u32 klin_object_hash(__u64 object)
{
	return object * 0x9e3779b97f4a7c15ULL >> 32;
}

/* Read-only data of a clause's programs; two clauses that share programs have one each. */
struct klin_conf {
	__u32 probe;		/* index of the clause */
	__u32 slot_mask;	/* number of slots - 1 */
	__u32 self;		/* tgid to skip, or 0 */
	/* number of the function; clauses on the same function have the same number */
	__u32 func;
	__u32 nparams;		/* parameters of the function that are used */
	__u32 call_args;	/* bit i: parameter i is used at the call */
	__u32 ret_args;		/* bit i: parameter i is used at the return */
	__u32 nvals;		/* arguments and results together */
	__u32 call_vals;	/* bit i: val[i] is fetched at the call */
	__u32 call_object;	/* the object is fetched at the call */
	__u32 call_filter;	/* a `when' that is decided at the call may reject calls */
	__u32 keep_args;	/* the return's side takes its arguments from the frame */
	__u32 call_loads;	/* values that are fetched at the call read memory */
	/* values that are fetched at the return read memory that others may write */
	__u32 ret_loads;
	__u32 one_object;	/* only operations on this object are wanted */
	__u32 clock;		/* enum klin_clock */
	/* entries of each CPU's ring, or 0 if there are none; places have no ring */
	__u32 ring;
	__u32 alone;		/* a place whose clause uses nothing of the function's call */
	/* no operation is left out: one_object is 0 and the filter is empty */
	__u32 all;
	__u32 stacks;		/* keep the stack of each call */
	__u32 unused;
	__u64 object;
	struct klin_filter filter;
	struct klin_insn call[KLIN_INSNS], ret[KLIN_INSNS];
};

/* Read-only data of the programs on klin.ko's tracepoints. */
struct klin_tp_conf {
	__u32 slot_mask;
	__u32 one_object;
	__u64 object;
	struct klin_filter filter;
	__u32 first_id;		/* first id of a method that is recorded */
	__u32 clock;		/* enum klin_clock */
	__u32 nvals;		/* maximal number of arguments and results together */
	__u32 ring;		/* as in struct klin_conf */
	__u32 stack_size;	/* size of a task's stack, in bytes */
	__u32 stacks;		/* as in struct klin_conf */
	struct {
		__u8 used, probe, nargs, nres;
	} method[KLIN_TP_METHODS];	/* by id - first_id */
};

/* Addresses of the kernel's variables of these names, for slab.bpf.c. */
struct klin_slab_conf {
	__u64 page_offset_base, vmemmap_base, vmalloc_base;
};

/*
 * The argument and the result of slab.bpf.c: the slab cache that has @addr, or an empty name; the
 * bytes between the start of the cache's object and @addr, and the object's size.  @shared: the
 * kernel uses the cache for several caches of the same size, of which it keeps one name.
 */
struct klin_slab_query {
	__u64 addr;
	__u32 offset, size;	/* both are 0 if they are not known */
	__u32 shared;
	char name[32];
};

/* Read-only data of the programs in free.bpf.c. */
struct klin_free_conf {
	__u32 slot_mask;
	__u32 clock;		/* enum klin_clock */
	__u32 stack_size;	/* of a task, in bytes */
	__u32 pad;
	struct klin_slab_conf slab;
};

/* Addresses from here on are the kernel's (x86-64), and from there on those of its image. */
#define KLIN_KERNEL_FROM	0xffff800000000000ULL
#define KLIN_IMAGE_FROM		0xffffffff80000000ULL

/*
 * The table of recorded objects, see lives.h: buckets of a cache line each, by the hash of a
 * granule of memory.  A free looks up all granules of the memory.
 */
#define KLIN_BUCKET		8
#define KLIN_BUCKETS		16384	/* a power of two */
#define KLIN_GRANULE_BITS	6

struct klin_bucket {
	__u64 object[KLIN_BUCKET];	/* 0: free */
};

/* Blocks of memory by a hash of their address; the kernel's slabs are no larger than a block. */
#define KLIN_BLOCKS		262144	/* a power of two */
#define KLIN_BLOCK_BITS		15

struct klin_blocks {
	__u8 used[KLIN_BLOCKS];
};

/* Read-only data of the programs in task.bpf.c and tick.bpf.c. */
struct klin_small_conf {
	__u32 slot_mask;
	__u32 clock;		/* enum klin_clock */
};

#endif
