/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the BPF programs and userspace share: events, the slots in which
 * operations wait for their return, the counts and logs of what was lost, and
 * the little programs that say what to fetch.
 *
 * One event an operation, written at its return, with the times of both its
 * call and its return: a lost event is a whole lost operation, and the program
 * that failed to write it knows the operation's interval.  The call's side
 * waits in a slot of its task, which userspace reads when it detaches: what is
 * open then is pending.
 *
 * No locked instruction is on the usual path, since that would empty the store
 * buffer whose effects are to be seen: a slot stays with its task while there are
 * slots enough, and each struct klin_cpu and ring has one writer (the kernel never
 * runs a tracing program twice on one CPU, and userspace writes the ring's tail
 * alone).
 */
#ifndef KLIN_EVENT_H
#define KLIN_EVENT_H

#include <linux/types.h>

#define KLIN_MAX_VALS	8	/* arguments and results together */
#define KLIN_MAX_PARAMS	6	/* of a probed function: those in registers */
#define KLIN_DEPTH	8	/* open operations of one task, a power of two */
#define KLIN_TRIES	4	/* kept slots looked at for a task */
#define KLIN_LOSSES	64	/* intervals in a log of losses */
#define KLIN_REGS	8	/* of a fetch program */
#define KLIN_INSNS	96	/* instructions of a fetch program */
#define KLIN_FEW_INSNS	24	/* of most, which then load faster */
#define KLIN_TP_METHODS	64	/* span of klin.ko's method ids in one recording */
#define KLIN_TP_VALS	3	/* arguments, and results, of its tracepoints */

/* How times are told; enum kl_clock in the history. */
enum klin_clock {
	KLIN_CLOCK_MONO,	/* bpf_ktime_get_ns() */
	KLIN_CLOCK_SEQ,		/* a count that each time raises, by a locked instruction */
	KLIN_CLOCK_COARSE,	/* a count that somebody else raises, and a CPU's own below it */
};

#define KLIN_TICK_BITS	16	/* of a coarse time: the CPU's own count */

#define KLIN_TIME_LEVELS 4	/* a task, what interrupts it, and what interrupts that */

/* A count in a cache line of its own; of a CPU's own, see clock.h. */
struct klin_time {
	__u64 now;
	__u64 depth, level[KLIN_TIME_LEVELS];
	__u64 pad[2];
};

enum klin_event_type {
	KLIN_EV_OP,
	KLIN_EV_DRAIN,		/* cpu_ret's store buffer was empty at ret */
	KLIN_EV_TICK,		/* the same, noted by tick.bpf.c, which counts nothing */
};

enum klin_event_flags {
	KLIN_F_NOCALL	= 1,	/* the call was not seen */
	KLIN_F_NORET	= 2,	/* the return was not seen; it happened before ret */
};

/* Bits of klin_event.fault above those of the values. */
#define KLIN_MARKS		8	/* and following: the value is an enum kl_tag, no word */
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
 * A frame that is over stays while one above it belongs to the same call, for another
 * clause on the same function.
 */
enum klin_open {
	KLIN_FILLING,	/* the program is at it */
	KLIN_OPEN,
	KLIN_OVER,
	KLIN_WAITING,	/* a call of a function in which an operation may come yet: place.bpf.c */
	KLIN_BUSY,	/* open, and the program is at it */
};

/* An open operation.  It is the event in the making. */
struct klin_frame {
	__u64 sp;		/* where the call's stack frame is, 0 if that says nothing */
	__u32 open;		/* enum klin_open */
	__u32 func;		/* as in struct klin_conf; of tracepoints: which stack */
	__u64 args[KLIN_MAX_PARAMS];	/* for kretprobes, which do not have them */
	struct klin_event ev;
};

/*
 * Open operations of a task: frames[base..top), indices modulo KLIN_DEPTH.
 *
 * There are two kinds.  A kept slot stays with its task until the task ends, so that only
 * the task's first operation needs a locked instruction.  A lent slot is for tasks that
 * find no kept one: it is claimed for an operation, and given back when the last operation
 * in it has returned.  A lent slot changes hands by its word alone, see slots.h.
 */
struct klin_slot {
	union {
		struct {
			__u32 owner;	/* tid; 0: free; KLIN_SLOT_DEAD: see below */
			__u32 holds;	/* of a lent slot: programs at work in it; above: a count */
		};
		__u64 word;		/* both at once */
	};
	__u32 base, top;
	__u32 crowded;		/* of a kept slot: a task that looks here first was lent one */
	__u32 pad;
	struct klin_frame frames[KLIN_DEPTH];
};

/* The owner of a slot whose task ended with frames open. */
#define KLIN_SLOT_DEAD	(~0U)

/* Behind the kept slots, as many as the user asked for, come the lent ones. */
#define KLIN_LENT_SLOTS(slots)	(((slots) + 3) / 4)
#define KLIN_ALL_SLOTS(slots)	((slots) + KLIN_LENT_SLOTS(slots))
#define KLIN_LENT_TRIES	16	/* lent slots looked at for a task */

/*
 * Number @i of the kept slots, and of the lent ones, that the task @key may have; @mask is
 * the number of kept ones less 1.  Each has a hash of its own, so that tasks that crowd one
 * place do not crowd the other.
 */
#define KLIN_KEPT_AT(key, mask, i)	((((key) * 0x9e3779b1U >> 7) + (i)) & (mask))
#define KLIN_LENT_AT(key, mask, i) \
	((mask) + 1 + ((((key) * 0x85ebca6bU >> 11) + (i)) & (mask) >> 2))

/*
 * Operations whose events did not fit had their calls and returns in
 * [from, to].  The last interval of a full log goes on growing.
 */
struct klin_loss {
	__u64 from, to, count;
};

/* Which program writes a struct klin_cpu; index KLIN_SIDES * CPU + side. */
enum klin_side {
	KLIN_AT_CALL, KLIN_AT_RETURN, KLIN_AT_DRAIN, KLIN_SIDES,
	KLIN_AT_PLACE = KLIN_AT_DRAIN,	/* of other objects */
};

/*
 * Counts of one program on one CPU, and where it is in its ring, if it has one: events
 * [tail..head), of which the next one comes to entry @at.  The reader's line is its own.
 */
struct klin_cpu {
	__u64 scratch;		/* turns a pointer into a number */
	__u64 events;		/* tried to write */
	__u64 runs;		/* of the program */
	__u64 head;
	__u32 at;
	__u32 losing;		/* the last event did not fit */
	__u64 missed;		/* calls that found no place in a slot */
	__u64 lost;		/* of the events, did not fit */
	__u64 lost_nocall;	/* of the lost: returns whose calls were not seen */
	__u64 tail;		/* the reader's */
	__u64 pad[7];
	__u64 unread;		/* of the lost: for want of a buffer of this CPU */
	__u32 nlosses;
	__u32 gap;
	struct klin_loss losses[KLIN_LOSSES];
	__u64 displaced;	/* frames that were sent to make room: their returns find none */
	__u64 lent;		/* slots that were lent: each claim drained the store buffer */
	__u64 more[4];
};

/*
 * The ring of a CPU may be written while nothing has @came since the reader opened the
 * CPU's perf buffer.  A CPU that comes, or comes back, has no perf buffer yet, and so its
 * first event is seen as lost.  (What else raises @came, as a driver that wants to be told
 * of CPUs, has the events go into the perf buffer.)
 */
struct klin_home {
	__u32 came;		/* raised whenever the CPU goes or comes */
	__u32 open;		/* the reader's: as @came was */
	__u32 ring;		/* index of its ring, or KLIN_NO_RING */
	__u32 pad;
};

#define KLIN_NO_RING	(~0U)

/*
 * A fetch program: code is op | dst << 8 | src << 16 | size << 24 | offset << 32.
 * It is read-only data, known to the verifier, which removes all of the
 * interpreter that one probe clause does not use.  No jumps: && || ?: compute
 * both sides, and a side that is not taken takes its faults with it.
 */
struct klin_insn {
	union {
		__u64 code;
		struct {	/* the same, each read for itself by who needs it */
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
	KLIN_UNKNOWN,	/* dst = something unknown */
	KLIN_CURRENT,	/* dst = the running task's task_struct */
	KLIN_REG,	/* dst = register offset, by its number in DWARF; at places only */
	KLIN_MOV,	/* dst = src */
	KLIN_LOAD,	/* dst = *(src + offset), of that size */
	KLIN_EXT,	/* dst = dst cut to that size */
	KLIN_ADD, KLIN_SUB, KLIN_MUL, KLIN_DIV, KLIN_MOD,	/* dst = dst op src, unsigned */
	KLIN_SDIV, KLIN_SMOD,					/* signed */
	KLIN_AND, KLIN_OR, KLIN_XOR, KLIN_SHL, KLIN_SHR, KLIN_SAR,
	KLIN_EQ, KLIN_LTU, KLIN_LTS,				/* dst = dst op src, 0 or 1 */
	KLIN_LNOT,	/* dst = !dst */
	KLIN_LAND, KLIN_LOR,	/* dst, src are 0 or 1 */
	KLIN_SELECT,	/* dst = dst ? register src : register offset */
	KLIN_NUMBER,	/* dst = number offset of the text at dst */
	KLIN_VAL,	/* value number offset = src */
	KLIN_MARK,	/* if src, value number offset is a tag */
	KLIN_OBJECT,	/* the object is src */
	KLIN_WHEN,	/* not an operation unless src */
	KLIN_VAL_ARG,	/* value number offset = argument number src, cut to that size if any */
	KLIN_VAL_RET,	/* value number offset = return value, likewise */
	KLIN_OBJECT_ARG,	/* the object is argument number src */
};

/* In size. */
#define KLIN_SIGNED	0x80
#define KLIN_USER	0x40	/* of KLIN_LOAD: from user memory */
#define KLIN_SURE	0x20	/* nothing until then can be unknown */

#define KLIN_CODE(op, dst, src, size, off) \
	((__u64)(op) | (__u64)(dst) << 8 | (__u64)(src) << 16 | (__u64)(size) << 24 | \
	 (__u64)(__u32)(off) << 32)

#define KLIN_LEFT	65536	/* values of the hash of objects, a power of two */
#define KLIN_CPU_WORDS	8	/* of 64 CPUs each, that a filter can name */

/* Which operations are left out; the same for all clauses. */
struct klin_filter {
	__u32 only;		/* tgid to record alone, or 0 */
	__u32 sample;		/* one of so many objects; 0 and 1: all */
	__u32 by_cpu;		/* what is called on cpus alone */
	__u32 note;		/* note what objects those left out by task or CPU are on */
	__u64 cpus[KLIN_CPU_WORDS];
};

/* What was noted: 1 or 0. */
struct klin_left {
	__u8 object[KLIN_LEFT];	/* by klin_object_hash() */
	__u8 all;		/* one could not be told */
	__u8 pad[7];
};

static inline __u32 klin_object_hash(__u64 object)
{
	return object * 0x9e3779b97f4a7c15ULL >> 32;
}

/* Read-only data of the programs of a clause; of two that share them: one after the other. */
struct klin_conf {
	__u32 probe;		/* index of the clause */
	__u32 slot_mask;	/* number of slots - 1 */
	__u32 self;		/* tgid to skip, or 0 */
	__u32 func;		/* the same for all clauses on one function, and for them alone */
	__u32 nparams;		/* parameters of the function that are used */
	__u32 call_args;	/* bit i: parameter i is used at the call */
	__u32 ret_args;		/* at the return */
	__u32 nvals;		/* arguments and results together */
	__u32 call_vals;	/* bit i: val[i] is fetched at the call */
	__u32 call_object;	/* the object is fetched at the call */
	__u32 call_filter;	/* some calls are not operations, and known so at the call */
	__u32 keep_args;	/* the return's side takes its arguments from the frame */
	__u32 call_loads;	/* memory is read for what is fetched at the call, */
	__u32 ret_loads;	/* or at the return: between its times, as others may write to it */
	__u32 one_object;	/* only operations on this object are wanted */
	__u32 clock;		/* enum klin_clock */
	__u32 ring;		/* entries of each CPU's ring, or 0: there are none; not of places */
	__u32 alone;		/* of a place: it reads nothing of the function's call */
	__u32 all;		/* nothing is left out: no one_object, and filter is empty */
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
	__u32 first_id;		/* of the methods; ids are wanted from here on */
	__u32 clock;		/* enum klin_clock */
	__u32 nvals;		/* arguments and results together, at most */
	__u32 ring;		/* as in struct klin_conf */
	__u32 stack_size;	/* of a task */
	__u32 unused;
	struct {
		__u8 used, probe, nargs, nres;
	} method[KLIN_TP_METHODS];	/* by id - first_id */
};

/* Read-only data of the other programs. */
struct klin_small_conf {
	__u32 slot_mask;
	__u32 clock;		/* enum klin_clock */
};

#endif
