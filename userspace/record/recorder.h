/* SPDX-License-Identifier: GPL-2.0 */
/* The internal structures and functions of the recorder. */
#ifndef KL_RECORD_RECORDER_H
#define KL_RECORD_RECORDER_H

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/table.h"
#include "bpf/klin_event.h"
#include "kmod/plain_abi.h"
#include "record/event_balance.h"
#include "record/record.h"
#include "record/attach/target.h"

/* A loaded and attached program, and the number of times that the kernel did not run it. */
struct kl_prog {
	struct bpf_program *prog;
	struct bpf_link *link;
	char event[64]; /* name of a kprobe's event in tracefs, or empty */
	bool by_module; /* klin.ko's probe; module_fd is 0 after its end */
	int module_fd;
	uint64_t misses; /* the kernel's count of misses, as last read */
	uint64_t deficit; /* for kprobes: number of hits less number of runs, as last read */
	bool clean; /* @misses had all misses when the counts were last read */
	bool unread; /* the count could not be read; @misses has one miss for all later ones */
};

/*
 * Programs that share an array of struct klin_cpu: those of one clause, of two clauses on one
 * function, or all of klin.ko.
 */
struct kl_group {
	struct bpf_object *obj;
	struct klin_cpu *cpus; /* mapped; KLIN_SIDES for each CPU */
	size_t cpus_size;
	struct {		/* ring.c */
		const char *at;	/* mapped, or NULL */
		size_t size;
		uint32_t entries, entry; /* number of a CPU's entries; bytes of an entry */
	} ring;
	struct kl_prog progs[4]; /* programs of the call, of the return, and others */
	unsigned int nprogs;
	bool place; /* progs[2] is at a place between the call and the return */
	bool two; /* two clauses share the programs, so a miss may belong to either clause */
	bool twins; /* the programs of bpf/free.bpf.c: klin_free, its twin, and klin_alloc */
	uint64_t unseen; /* frees that klin_free and its twin missed */
	uint64_t crowded; /* number of calls and returns that found no room in a slot */
	uint64_t ended; /* number of missed calls that have certainly returned */
	uint64_t clean; /* all misses before this time are counted in progs[]; 0: unknown */
	/* the period in which programs missed; 0: never */
	uint64_t miss_from, miss_to;
};

/* A clause and its chosen target. */
struct kl_clause {
	const struct kl_probe *p;
	const struct kl_method *method;
	struct kl_found found; /* the target; its way and why describe the final attachment */
	struct klin_conf conf;
	bool tracepoint;
	unsigned int group; /* index of its group of programs */
	struct kl_clause *other; /* the clause that shares function and programs, or NULL */
	int history_method;
	unsigned int nargs, nres;
	/* identity of its function's module when it was chosen, see changes.c */
	uint64_t module_id;
};

/* The stores of all operations that returned on a CPU by @ret have left its store buffer by @by. */
struct kl_drained {
	uint64_t ret, by;
	uint16_t cpu;
};

/* An operation that becomes a gap, since its object or whether it took place is not known. */
struct kl_unknown {
	uint64_t from, to;
	uint64_t hit; /* time at a place, if neither the call nor the return was seen; else 0 */
	uint32_t object, clause;
	uint16_t cpu;
	bool nocall;
};

/* The program that records a clause's linearization points.  A miss makes no gap. */
struct kl_pointer {
	struct bpf_object *obj;
	struct kl_prog prog;
};

/* The state of recording by klin.ko, see plain.h. */
struct kl_plain {
	int fd;
	char *at;		/* mapped */
	struct klin_plain_size size;
	struct klin_plain_map map;
};

/* A later life of an object's memory, see lives.c. */
struct kl_life {
	uint64_t time;		/* when the memory was freed, by the clock of @cpu */
	uint64_t object;	/* the object of this life; 0: it has none yet */
	uint64_t first;		/* the first call in this life */
	uint16_t cpu;
	bool unwatched; /* its object may have come later */
	bool reported; /* the life before is in lives.over, or was */
};

/* An address of objects, and its lives after the first one, in order. */
struct kl_home {
	uint64_t addr;
	struct kl_life *life;
	size_t n, cap;
	bool listed; /* in lives.unreported */
};

/* When an operation's object was fetched; kl_op.pad has these bits while klin records. */
enum kl_life_when {
	KL_LIFE_AT_RETURN = 1,	/* else at the call */
	KL_LIFE_AT_POINT = 2,
	KL_LIFE_OTHER_CPU = 4,	/* perhaps by the clock of another CPU than the operation's */
	KL_LIFE_UNWATCHED = 8,	/* KLIN_F_UNWATCHED */
};

/* All CPUs have drained their store buffers between @from and @to. */
struct kl_cut {
	uint64_t from, to;
};

#define KL_CUTS 18

/* A task that may be inside a probed function since before the recording. */
struct kl_blocked {
	pid_t tid;
	bool on_cpu; /* the task was on a CPU at the last look, and no sample shows where it is */
	bool unsure; /* the task's stack does not show if the task is inside */
	struct kl_sampler *sampler; /* opened when the task was first seen on a CPU; or NULL */
};

/* A slab cache, and the structure of its objects, see member.h. */
struct kl_slab_cache {
	char name[32];
	uint32_t size;
	int structure;
};

#define KL_SLABS_MAX 64 /* caches that are remembered; each further one is looked up anew */

#define KL_FREE_LINKS 8 /* links of the programs in bpf/free.bpf.c */

struct kl_recorder {
	struct kl_record_opts opts;
	struct kl_kernel *kernel;
	struct kl_history *h;
	struct kl_clause *clauses;
	unsigned int nclauses;
	struct kl_group *groups;
	unsigned int ngroups;
	struct kl_pointer *points;
	unsigned int npoints;
	struct bpf_object *task_obj;
	struct bpf_link *task_links[2]; /* links to the exit of a task and to its release */
	struct bpf_link *free_links[KL_FREE_LINKS]; /* of bpf/free.bpf.c */
	struct bpf_link *cpu_link; /* link to CPUs that go offline or come online */
	struct bpf_object *tick_obj;
	struct bpf_object *slab_obj; /* slab.c; NULL: slab caches are not known */
	struct kl_slab_cache slabs[KL_SLABS_MAX]; /* caches that were seen */
	unsigned int nslabs;
	struct bpf_link **ticks;	/* by CPU */

	int ncpus;
	int events_fd, slots_fd, left_fd, homes_fd;
	struct kl_stacks *stacks; /* stacks.c; NULL: without opts.stacks */
	struct klin_slot *slots;
	struct klin_left *left;	/* mapped */
	struct perf_buffer **buffers; /* by CPU; NULL while the CPU is offline */
	uint64_t *unread; /* by CPU: number of events without a buffer, as last read */
	struct klin_home *homes;	/* mapped; by CPU */
	unsigned int nrings; /* number of each group's rings; 0: all events use the perf buffers */
	bool cpus_came; /* CPUs came online, so their clocks were not compared */
	bool cpus_refused; /* the kernel refused to let klin read the events of such a CPU */
	bool clocks_unknown; /* the clocks of some CPUs could not be compared */
	long online; /* number of CPUs at the comparison */
	char clock_source[32]; /* the kernel's clock source at the comparison */
	/* the clock source changed: earlier and later times cannot be compared */
	bool clock_changed;
	bool module_gone; /* a probed module was unloaded, see changes.c */
	uint64_t module_seen; /* with @module_gone: the last time at which the module was seen */
	bool patched; /* a live patch was applied during the recording */

	struct kl_plain plain; /* with opts.plain */

	struct kl_drained *drained;
	size_t ndrained, cdrained;
	struct kl_unknown *unknown;
	size_t nunknown, cunknown;

	struct {		/* lives.c */
		int living_fd, blocks_fd;
		struct kl_home *home;	/* addresses of objects whose memory was freed */
		size_t n, cap;
		struct kl_table table;	/* their numbers, by address */
		uint32_t *unreported; /* numbers of addresses with lives that are not reported */
		size_t nunreported, cunreported;
		bool forgot;		/* some addresses were forgotten */
		uint64_t count, next;	/* frees seen; lives that got an object */
		/* objects whose lives ended before the floor, since the last round */
		uint64_t *over;
		size_t nover, cover;
	} lives;

	int drain_fd; /* klin.ko's file that drains CPUs, or -1 */
	char *drain_cpus; /* the list of CPUs that is written to it */
	uint64_t *quiet; /* mask of the CPUs on which klin causes no interrupt */
	struct {		/* clocks.c */
		struct klin_time *at;	/* mapped: the shared count, then each CPU's */
		size_t size;
		int fd;
		pthread_t ticker;
		bool ticking;
		atomic_bool stop;
		uint64_t began, raised, count, longest;	/* by CLOCK_MONOTONIC */
	} times;
	/*
	 * times of CLOCK_MONOTONIC, for messages and intervals: the recording's begin and end, and
	 * the last reading of misses; times below are of the recording's clock
	 */
	uint64_t began, ended, looked;

	uint64_t begin; /* a time before the first program ran */
	uint64_t settled; /* a time after the end of all operations that were in flight at @begin */
	struct kl_cut cuts[KL_CUTS];
	unsigned int ncuts;
	uint64_t start; /* the begin of the history, after @begin unless its objects are fresh */
	uint64_t end;
	uint64_t polled, polled_before; /* times of the last two readings of misses */
	uint64_t received, ops, bytes;
	int err; /* error of the event callback */
	size_t names; /* number of threads and objects with a name for people */
	bool warned_preemptible; /* a warning about the losses of fentry was printed */
	bool ignore_misses; /* misses cannot belong to the one object */
	bool misses_unread; /* some program's count of misses could not be read */
	bool displaced; /* a full slot displaced a call, see loss_bounds.c */
	struct {		/* follow.c */
		struct kl_account account;
		uint64_t floor, lost, missed, ended;
		size_t ready; /* number of the first operations that the caller may take now */
		size_t counted; /* number of operations that were counted in earlier rounds */
		struct kl_history view;
		bool begun;
	} follow;
	struct kl_callees *callees; /* the kernel's code, or NULL if it cannot be read */
	struct kl_blocked *blocked; /* tasks inside a probed function since the start */
	size_t nblocked, cblocked;
	uint64_t blocked_until; /* time of the last look at such tasks, or 0 if there were none */
};

/* Names of a recording.  A long one may see any number of threads; later ones have no names. */
#define KL_NAMES_MAX	16384

/* names.c: name a new thread or object, if it has a name.  Return: 0 or -ENOMEM. */
int kl_name_thread(struct kl_recorder *r, uint64_t tid);
int kl_name_object(struct kl_recorder *r, uint64_t addr);

/* slab.c: slab caches of objects. */
/* Return: where the kernel's map of all memory is; 0 where that is not known. */
struct klin_slab_conf kl_slab_conf(struct kl_kernel *k);
void kl_slab_open(struct kl_recorder *r);
void kl_slab_close(struct kl_recorder *r);
/*
 * Write the name of the slab cache that has @addr, and where in its object @addr is: a member of
 * the structure with the cache's name ("mm_struct.mmap_lock"), or an offset ("kmalloc-64+0x10").
 * Return: false if there is none.
 */
bool kl_slab_name(struct kl_recorder *r, uint64_t addr, char *name, size_t size);

/* lives.c: objects whose memory is freed and used again. */
int kl_lives_open(struct kl_recorder *r);
void kl_lives_close(struct kl_recorder *r);
/* Add the objects of a KLIN_EV_FREE.  Return: 0 or -ENOMEM. */
int kl_lives_freed(struct kl_recorder *r, const struct klin_event *ev);
/*
 * Give the first @nops operations the objects of their lives, once all frees before their returns
 * are known.  Operations that are given later are called at @floor or later.  Objects that are not
 * watched get a gap from @from to @to.  Return: 0 or -ENOMEM.
 */
int kl_lives_assign(struct kl_recorder *r, size_t nops, uint64_t from, uint64_t to, uint64_t floor);
/*
 * Forget what no operation that is called after @floor needs, and note in lives.over which objects
 * no such operation has.  Return: 0 or -ENOMEM.
 */
int kl_lives_forget(struct kl_recorder *r, uint64_t floor);

/* stacks.c: kernel stacks of calls. */
int kl_stacks_open(struct kl_recorder *r);
void kl_stacks_close(struct kl_recorder *r);
/* Return: the map of stacks, or -1. */
int kl_stacks_fd(const struct kl_recorder *r);
/*
 * Give the last operation of the history the stack that the event @ev tells of, and the stack its
 * text.  Return: 0 or -ENOMEM.
 */
int kl_stacks_add(struct kl_recorder *r, const struct klin_event *ev);

/* recorder.c: to be called now and then, since the preemption model can change at any time. */
void kl_look_at_preemption(struct kl_recorder *r);

/* clocks.c */
enum klin_clock kl_times_kind(const struct kl_recorder *r);
int kl_times_open(struct kl_recorder *r);
void kl_times_close(struct kl_recorder *r);
uint64_t kl_times_first(const struct kl_recorder *r);
uint64_t kl_times_last(const struct kl_recorder *r);
uint64_t kl_times_end(struct kl_recorder *r);
int kl_times_error(struct kl_recorder *r, uint64_t *error);
int kl_times_epoch(struct kl_recorder *r);
void kl_times_look(struct kl_recorder *r);

/* changes.c: the kernel's code changes while it is recorded. */
void kl_changes_open(struct kl_recorder *r);
int kl_changes_look(struct kl_recorder *r);

/* drain.c */
void kl_drain_open(struct kl_recorder *r);
void kl_drain_close(struct kl_recorder *r);
int kl_drain_all(struct kl_recorder *r, uint64_t ended);

/* quiet.c: CPUs on which klin causes no interrupt. */
int kl_quiet_open(struct kl_recorder *r);
void kl_quiet_close(struct kl_recorder *r);
bool kl_quiet_is(const struct kl_recorder *r, int cpu);
void kl_quiet_show(const struct kl_recorder *r, FILE *f);
char *kl_quiet_others(const struct kl_recorder *r);

/* room.c: limits and memory on machines of many CPUs. */
int kl_room_make(struct kl_recorder *r);
/* Return: the number of file descriptors that a recording may need. */
uint64_t kl_room_fds(unsigned int ncpus, unsigned int nclauses);
/* Return: the default size of a CPU's buffer on a machine with @memory; both in pages. */
unsigned int kl_room_pages(unsigned int ncpus, uint64_t memory);

/* attach.c */
/* Open a BPF object with the shared maps; @rodata may be NULL. */
int kl_open_object(const struct kl_recorder *r, const void *elf, size_t size, const void *rodata,
		   size_t rosize, struct bpf_object **out);
/* Detach; the programs stay loaded, so that their counts can be read. */
void kl_detach(struct kl_recorder *r);
void kl_close_groups(struct kl_recorder *r);

/* drain_timer.c: interrupts that show when a store buffer was empty. */
void kl_ticks_attach(struct kl_recorder *r);
void kl_ticks_detach(struct kl_recorder *r);
/* Start the timer of a CPU that came online again. */
void kl_ticks_again(struct kl_recorder *r, int cpu);

/* kprobe.c: kprobes through tracefs; of other kprobes the kernel does not count the misses. */
void kl_kprobe_sweep(const struct kl_kernel *k);
enum kl_kprobe_kind { KL_KPROBE_CALL, KL_KPROBE_RETURN, KL_KPROBE_PLACE, KL_KPROBE_POINT };
int kl_kprobe_attach(const struct kl_kernel *k, struct kl_prog *p, const char *module,
		     const char *symbol, uint64_t offset, enum kl_kprobe_kind kind);
/*
 * Attach a probe of klin.ko, which kl_kprobe_remove() detaches: at the call of a function, at its
 * return (@at_return), or at an instruction.
 */
int kl_kprobe_attach_module(struct kl_prog *p, const char *module, const char *symbol,
			    const struct kl_prog *at_return);
int kl_kprobe_attach_module_place(struct kl_prog *p, const char *module, const char *symbol,
				  uint64_t offset);
/* Return: the number of times that a probe of klin.ko did not run its program. */
uint64_t kl_kprobe_module_misses(const struct kl_prog *p);
/* Remove a probe and the kernel's counts of it, after its link was destroyed. */
void kl_kprobe_remove(const struct kl_kernel *k, struct kl_prog *p);
/* Get the hits and misses that the kernel counted.  Return: false if they cannot be read. */
bool kl_kprobe_profile(const struct kl_kernel *k, const char *event, uint64_t *hits,
		       uint64_t *misses);

/* reader.c */
int kl_reader_open(struct kl_recorder *r);
/* Note that stores of operations that returned on @cpu by @ret left its store buffer by @by. */
int kl_add_drained(struct kl_recorder *r, uint16_t cpu, uint64_t ret, uint64_t by);
int kl_reader_add(struct kl_recorder *r, const struct klin_event *ev);
int kl_reader_consume(struct kl_recorder *r);
/* Make buffers for CPUs that came online. */
void kl_reader_look(struct kl_recorder *r);
void kl_reader_close(struct kl_recorder *r);

/* ring.c */
int kl_ring_open(struct kl_recorder *r);
void kl_ring_close(struct kl_recorder *r);
/* Return: the pages of a CPU's perf buffer: half of the options' pages if there are rings. */
unsigned int kl_ring_perf_pages(const struct kl_recorder *r);
/*
 * Call kl_ring_came() before a CPU's perf buffer is opened, and pass its result to kl_ring_start()
 * after the buffer was opened.
 */
uint32_t kl_ring_came(const struct kl_recorder *r, int cpu);
void kl_ring_start(struct kl_recorder *r, int cpu, uint32_t came);
uint32_t kl_ring_entries(const struct kl_recorder *r, unsigned int nvals);
int kl_ring_size(const struct kl_recorder *r, struct kl_group *g, unsigned int nvals);
int kl_ring_map(const struct kl_recorder *r, struct kl_group *g);
void kl_ring_unmap(struct kl_group *g);
int kl_ring_consume(struct kl_recorder *r);

/* losses.c */
void kl_losses_poll(struct kl_recorder *r, bool last);
/* Return: a time before which all misses are in the counts that were read last. */
uint64_t kl_losses_told(const struct kl_recorder *r);
/* Get the number of events that the programs tried to write, and of those that did not fit. */
void kl_losses_counts(const struct kl_recorder *r, uint64_t *written, uint64_t *lost);
uint64_t kl_losses_unaccounted(const struct kl_recorder *r);
int kl_losses_finish(struct kl_recorder *r, struct kl_record_stats *stats);

/* filter.c: operations that options leave out. */
int kl_filter_open(struct kl_recorder *r);
void kl_filter_close(struct kl_recorder *r);
void kl_filter_conf(const struct kl_recorder *r, struct klin_filter *f);
/* Check that operations of this clause can be left out.  Return: 0, or -EINVAL after a message. */
int kl_filter_check(const struct kl_recorder *r, const struct kl_clause *c);
void kl_filter_show(const struct kl_recorder *r, FILE *f);
int kl_filter_finish(struct kl_recorder *r, struct kl_record_stats *stats);

/* loss_bounds.c */
uint64_t kl_missed_by(const struct kl_group *g, unsigned int prog);
uint64_t kl_op_from(const struct kl_recorder *r, const struct kl_op *op);
uint64_t kl_unknown_from(const struct kl_recorder *r, const struct kl_unknown *u);
uint64_t kl_unknown_to(const struct kl_recorder *r, const struct kl_unknown *u);
void kl_count_ended(struct kl_recorder *r);
void kl_slot_span(const volatile struct klin_slot *s, uint32_t *base, uint32_t *top);
bool kl_missed_span(const struct kl_recorder *r, const struct kl_group *g, uint64_t *from,
		    uint64_t *to);
bool kl_op_writes(const struct kl_recorder *r, const struct kl_op *op);
bool kl_quiet(const struct kl_recorder *r, const struct kl_cut *cut);

/* inflight.c */
int kl_settle_check(const struct kl_record_opts *opts);
bool kl_grace_period(void);
int kl_settle(struct kl_recorder *r);
void kl_settle_poll(struct kl_recorder *r);
void kl_settle_close(struct kl_recorder *r);

/* slow.c */
struct kl_slow *kl_slow_start(const struct kl_recorder *r);
void kl_slow_stop(struct kl_slow *w);

/* begin.c */
void kl_take_cuts(struct kl_recorder *r);
int kl_begin(struct kl_recorder *r);

/* finish.c */
/* Finish the history.  Return: 0 or a negative errno. */
int kl_finish(struct kl_recorder *r, struct kl_record_stats *stats);
/* Make open operations pending, and drop operations that were called after the end. */
int kl_finish_open(struct kl_recorder *r);
/*
 * Set each operation's drain, the first known time at which its CPU's store buffer was empty
 * after it.
 */
int kl_set_drains(struct kl_recorder *r);

#endif
