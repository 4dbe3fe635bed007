/* SPDX-License-Identifier: GPL-2.0 */
/* The recorder from within: what attach, reader, losses and finish share. */
#ifndef KL_RECORD_RECORDER_H
#define KL_RECORD_RECORDER_H

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "bpf/klin_event.h"
#include "kmod/plain_abi.h"
#include "record/event_balance.h"
#include "record/record.h"
#include "record/attach/target.h"

/* A loaded and attached program, and how often the kernel did not run it. */
struct kl_prog {
	struct bpf_program *prog;
	struct bpf_link *link;
	char event[64];		/* of tracefs, for kprobes; empty else */
	bool by_module;		/* a probe of klin.ko's; module_fd is 0 when it is gone */
	int module_fd;
	uint64_t misses;	/* as last read */
	uint64_t deficit;	/* of kprobes: hits that were no runs, as last read */
	bool clean;		/* nothing more can have been missed when it was last looked at */
};

/*
 * Programs that share one struct klin_cpu array: of a clause, or of two on one function, or
 * all of klin.ko's.
 */
struct kl_group {
	struct bpf_object *obj;
	struct klin_cpu *cpus;	/* mapped; KLIN_SIDES a CPU */
	size_t cpus_size;
	struct {		/* ring.c */
		const char *at;	/* mapped, or NULL */
		size_t size;
		uint32_t entries, entry;	/* a CPU's, and bytes of one */
	} ring;
	struct kl_prog progs[4];	/* call, return, then others */
	unsigned int nprogs;
	bool place;		/* progs[2] is on a place between the call and the return */
	bool two;		/* of two clauses: what is missed may be an operation of each */
	uint64_t crowded;	/* calls and returns that found no place in a slot */
	uint64_t ended;		/* missed calls that have returned for certain */
	uint64_t clean;		/* all that was missed before this time has been told; 0: not known */
	/* Windows in which programs were seen to miss; 0: never. */
	uint64_t miss_from, miss_to;
};

/* A clause and the target that was taken for it. */
struct kl_clause {
	const struct kl_probe *p;
	const struct kl_method *method;
	struct kl_found found;	/* its way and why are what was done in the end */
	struct klin_conf conf;
	bool tracepoint;
	unsigned int group;	/* index of its programs */
	struct kl_clause *other;	/* on the same function, by the same programs; or NULL */
	int history_method;
	unsigned int nargs, nres;
	uint64_t module_id;	/* of its function's module when it was chosen; see changes.c */
};

/* Everything returned by @ret on a CPU has left its store buffer at @by. */
struct kl_drained {
	uint64_t ret, by;
	uint16_t cpu;
};

/* An operation of which so little is known that it becomes a gap. */
struct kl_unknown {
	uint64_t from, to;
	uint64_t hit;	/* of a place, when neither the call nor the return was seen; else 0 */
	uint32_t object, clause;
	uint16_t cpu;
	bool nocall;
};

/* The program that notes a clause's linearization points; its misses do no harm. */
struct kl_pointer {
	struct bpf_object *obj;
	struct kl_prog prog;
};

/* klin.ko's own recording, see plain.h. */
struct kl_plain {
	int fd;
	char *at;		/* mapped */
	struct klin_plain_size size;
	struct klin_plain_map map;
};

/* All CPUs have drained their store buffers between @from and @to. */
struct kl_cut {
	uint64_t from, to;
};

#define KL_CUTS 16

/* A task that may be inside a probed function since before the recording. */
struct kl_blocked {
	pid_t tid;
	bool on_cpu;		/* when it was looked at, and no sample has told where it is */
	bool unsure;		/* its stack does not tell */
	struct kl_sampler *sampler;	/* since it was on a CPU; or NULL */
};

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
	struct bpf_link *task_links[2];	/* to its end, and to its end for everybody */
	struct bpf_link *cpu_link;	/* to CPUs that go or come */
	struct bpf_object *tick_obj;
	struct bpf_link **ticks;	/* by CPU */

	int ncpus;
	int events_fd, slots_fd, left_fd, homes_fd;
	struct klin_slot *slots;
	struct klin_left *left;	/* mapped */
	struct perf_buffer **buffers;	/* by CPU; NULL while it is not there */
	uint64_t *unread;		/* by CPU: what had no buffer, as last read */
	struct klin_home *homes;	/* mapped; by CPU */
	unsigned int nrings;		/* of each group; 0: all goes through the perf buffers */
	bool cpus_came;			/* or came back: their clocks were not compared */
	bool clocks_unknown;		/* those of some CPUs could not be compared */
	long online;			/* CPUs when they were compared */
	char clock_source[32];		/* of the kernel, when they were */
	bool clock_changed;		/* it is another one: times before say nothing of later ones */
	bool module_gone;		/* a probed one was unloaded, see changes.c */
	uint64_t module_seen;		/* then: the last time before that it was still there */
	bool patched;			/* a live patch came while recording */

	struct kl_plain plain;		/* if the options say so */

	struct kl_drained *drained;
	size_t ndrained, cdrained;
	struct kl_unknown *unknown;
	size_t nunknown, cunknown;

	int drain_fd;		/* klin.ko's, or -1 */
	char *drain_cpus;	/* the list that is written there */
	uint64_t *quiet;	/* a bit for each CPU on which klin causes no interrupt */
	struct {		/* clocks.c */
		struct klin_time *at;	/* mapped: the shared count, then each CPU's */
		size_t size;
		int fd;
		pthread_t ticker;
		bool ticking;
		atomic_bool stop;
		uint64_t began, raised, count, longest;	/* by CLOCK_MONOTONIC */
	} times;
	/* By CLOCK_MONOTONIC, for people and for pace; all below is by the recording's clock. */
	uint64_t began, ended, looked;

	uint64_t begin;		/* the first program may have run */
	uint64_t settled;	/* what was under way then has ended */
	struct kl_cut cuts[KL_CUTS];
	unsigned int ncuts;
	uint64_t start;		/* of the history */
	uint64_t end;
	uint64_t polled, polled_before;	/* misses were last read, and the time before */
	uint64_t received, ops, bytes;
	int err;		/* of the event callback */
	bool warned_preemptible;	/* of what fentry loses there */
	bool ignore_misses;	/* they cannot have been of the one object */
	bool displaced;		/* a call was, by more than a slot has room for; see loss_bounds.c */
	struct {		/* follow.c */
		struct kl_account account;
		uint64_t floor, lost, missed, ended;
		size_t ready;	/* operations that are handed on */
		size_t counted;	/* those that were there before: kl_count_ended() has seen them */
		struct kl_history view;
		bool begun;
	} follow;
	struct kl_callees *callees;	/* NULL: the kernel's code cannot be read */
	struct kl_blocked *blocked;	/* inside a probed function at the start */
	size_t nblocked, cblocked;
	uint64_t blocked_until;
};

/* recorder.c: to be called now and then: the preemption model can be changed at any time. */
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
/* Descriptors that it takes, and pages of buffer a CPU of so much memory, in pages. */
uint64_t kl_room_fds(unsigned int ncpus, unsigned int nclauses);
unsigned int kl_room_pages(unsigned int ncpus, uint64_t memory);

/* attach.c */
/* Open an object with the shared maps; @rodata may be NULL. */
int kl_open_object(const struct kl_recorder *r, const void *elf, size_t size, const void *rodata,
		   size_t rosize, struct bpf_object **out);
/* The programs stay loaded, so that their counts can be read. */
void kl_detach(struct kl_recorder *r);
void kl_close_groups(struct kl_recorder *r);

/* drain_timer.c: interrupts that tell when a store buffer was empty. */
void kl_ticks_attach(struct kl_recorder *r);
void kl_ticks_detach(struct kl_recorder *r);
/* The CPU has come back, without its timer. */
void kl_ticks_again(struct kl_recorder *r, int cpu);

/* kprobe.c: probes through tracefs, since the kernel counts the misses of these only. */
void kl_kprobe_sweep(const struct kl_kernel *k);
enum kl_kprobe_kind { KL_KPROBE_CALL, KL_KPROBE_RETURN, KL_KPROBE_PLACE, KL_KPROBE_POINT };
int kl_kprobe_attach(const struct kl_kernel *k, struct kl_prog *p, const char *module,
		     const char *symbol, uint64_t offset, enum kl_kprobe_kind kind);
/*
 * The same by klin.ko; kl_kprobe_remove() detaches it.  At the return of a function, which is
 * @at_return, or then at its call; or where an instruction is.
 */
int kl_kprobe_attach_module(struct kl_prog *p, const char *module, const char *symbol,
			    const struct kl_prog *at_return);
int kl_kprobe_attach_module_place(struct kl_prog *p, const char *module, const char *symbol,
				  uint64_t offset);
/* How often one of klin.ko's did not run its program. */
uint64_t kl_kprobe_module_misses(const struct kl_prog *p);
/* To be called when the link is gone; the counts are gone then, too. */
void kl_kprobe_remove(const struct kl_kernel *k, struct kl_prog *p);
/* Hits and misses that the kernel counted; false if they cannot be read. */
bool kl_kprobe_profile(const struct kl_kernel *k, const char *event, uint64_t *hits,
		       uint64_t *misses);

/* reader.c */
int kl_reader_open(struct kl_recorder *r);
/* What returned on the CPU by @ret has left its store buffer by @by. */
int kl_add_drained(struct kl_recorder *r, uint16_t cpu, uint64_t ret, uint64_t by);
int kl_reader_add(struct kl_recorder *r, const struct klin_event *ev);
int kl_reader_consume(struct kl_recorder *r);
/* Look for CPUs that have come since their buffers were made. */
void kl_reader_look(struct kl_recorder *r);
void kl_reader_close(struct kl_recorder *r);

/* ring.c */
int kl_ring_open(struct kl_recorder *r);
void kl_ring_close(struct kl_recorder *r);
/* Pages of a CPU's perf buffer: the rings are the other half. */
unsigned int kl_ring_perf_pages(const struct kl_recorder *r);
/* To be called before the CPU's perf buffer is opened, and, with what it gave, when it is. */
uint32_t kl_ring_came(const struct kl_recorder *r, int cpu);
void kl_ring_start(struct kl_recorder *r, int cpu, uint32_t came);
uint32_t kl_ring_entries(const struct kl_recorder *r, unsigned int nvals);
int kl_ring_size(const struct kl_recorder *r, struct kl_group *g, unsigned int nvals);
int kl_ring_map(const struct kl_recorder *r, struct kl_group *g);
void kl_ring_unmap(struct kl_group *g);
int kl_ring_consume(struct kl_recorder *r);

/* losses.c */
void kl_losses_poll(struct kl_recorder *r, bool last);
/* All misses before this time are in the counts as they were last looked at. */
uint64_t kl_losses_told(const struct kl_recorder *r);
/* Events that the programs tried to write so far, and those of them that did not fit. */
void kl_losses_counts(const struct kl_recorder *r, uint64_t *written, uint64_t *lost);
uint64_t kl_losses_unaccounted(const struct kl_recorder *r);
int kl_losses_finish(struct kl_recorder *r, struct kl_record_stats *stats);

/* filter.c: operations that are left out. */
int kl_filter_open(struct kl_recorder *r);
void kl_filter_close(struct kl_recorder *r);
void kl_filter_conf(const struct kl_recorder *r, struct klin_filter *f);
/* Can what this clause records be left out?  A message if not. */
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
/* It may have taken effect or not, and nothing is known of its results. */
int kl_finish(struct kl_recorder *r, struct kl_record_stats *stats);
/* What is open is pending, and what came after the end is cut off. */
int kl_finish_open(struct kl_recorder *r);
/* Give each operation the first time by which its CPU is known to have drained after it. */
int kl_set_drains(struct kl_recorder *r);

#endif
