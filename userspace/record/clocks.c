// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of a recording (KL_CLOCK_...), and what each is worth.
 *
 * mono:  the kernel's monotonic clock.  Its error between CPUs is measured (clock_skew.c).
 * seq:   a count that each time raises by a locked instruction.  Whoever read less
 *	  was first, so there is no error; but each time drains the store buffer, which
 *	  hides what TSO allows, and all CPUs fight for one line.
 * tick:  a count that a thread of klin raises about once a microsecond, on a CPU of
 *	  its own; the others only load it.
 * epoch: a count that the reader raises each time it looks at the buffers, and drains
 *	  all CPUs after it, if klin.ko is there.
 *
 * A tick's or epoch's time is the count, and below it the CPU's own count of its times
 * since, so that its own order is told.  Loads of one word agree on the order of its
 * values: where one load gave less than another it was first, and all that stood
 * before it in the program was.  So counts that differ tell the truth, however old
 * they are, and the error is what is below the count: CPUs differ in that only.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "record/plain.h"
#include "record/recorder.h"

#define TICK_NS		1000
#define BELOW		((1ULL << KLIN_TICK_BITS) - 1)

enum klin_clock kl_times_kind(const struct kl_recorder *r)
{
	switch (r->opts.clock) {
	case KL_CLOCK_MONO:
		return KLIN_CLOCK_MONO;
	case KL_CLOCK_SEQ:
		return KLIN_CLOCK_SEQ;
	default:
		return KLIN_CLOCK_COARSE;
	}
}

static uint64_t shared(const struct kl_recorder *r)
{
	return *(volatile __u64 *)&r->times.at->now;
}

/* One writer; who sees it also sees that everything before has happened. */
static void raise(struct kl_recorder *r)
{
	uint64_t now = kl_now_ns(), spent = now - r->times.raised;

	if (!r->times.raised)
		r->times.began = now;
	else if (spent > r->times.longest)
		r->times.longest = spent;
	r->times.raised = now;
	r->times.count++;
	__atomic_store_n(&r->times.at->now, r->times.at->now + 1, __ATOMIC_RELEASE);
}

static void *tick(void *arg)
{
	struct kl_recorder *r = arg;

	while (!atomic_load_explicit(&r->times.stop, memory_order_relaxed))
		if (kl_now_ns() - r->times.raised >= TICK_NS)
			raise(r);
	return NULL;
}

/* Where all programs find the counts; NULL with errno. */
static struct klin_time *memory(struct kl_recorder *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	void *at;

	if (r->opts.plain)
		return kl_plain_times(r);
	r->times.fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "klin_times", 4, sizeof(struct klin_time),
				     1 + r->ncpus, &opts);
	if (r->times.fd < 0)
		return NULL;
	r->times.size = (1 + r->ncpus) * sizeof(struct klin_time);
	at = mmap(NULL, r->times.size, PROT_READ | PROT_WRITE, MAP_SHARED, r->times.fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

/**
 * kl_times_open() - make the clock that the recording asks for
 * @r: the recorder, its maps made
 *
 * Return: 0; -EINVAL after a message when it cannot be had here; else a negative errno.
 */
int kl_times_open(struct kl_recorder *r)
{
	r->times.at = memory(r);
	if (!r->times.at)
		return -errno;
	r->times.at->now = 1;
	if (r->opts.clock != KL_CLOCK_TICK)
		return 0;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		kl_err("--clock=tick needs a CPU of its own, and this machine has one alone; "
		       "--clock=epoch does without");
		return -EINVAL;
	}
	r->times.ticking = !pthread_create(&r->times.ticker, NULL, tick, r);
	return r->times.ticking ? 0 : -EAGAIN;
}

static void stop_ticking(struct kl_recorder *r)
{
	if (!r->times.ticking)
		return;
	atomic_store(&r->times.stop, true);
	pthread_join(r->times.ticker, NULL);
	r->times.ticking = false;
}

void kl_times_close(struct kl_recorder *r)
{
	stop_ticking(r);
	if (r->times.at && r->times.fd >= 0)
		munmap(r->times.at, r->times.size);
	if (r->times.fd >= 0)
		close(r->times.fd);
}

/**
 * kl_times_first() - a time that is not above any that is still to be taken
 * @r: the recorder
 */
uint64_t kl_times_first(const struct kl_recorder *r)
{
	switch (kl_times_kind(r)) {
	case KLIN_CLOCK_MONO:
		return kl_now_ns();
	case KLIN_CLOCK_SEQ:
		return shared(r);
	default:
		return shared(r) << KLIN_TICK_BITS;
	}
}

/**
 * kl_times_last() - a time that is not below any that was taken
 * @r: the recorder
 */
uint64_t kl_times_last(const struct kl_recorder *r)
{
	switch (kl_times_kind(r)) {
	case KLIN_CLOCK_MONO:
		return kl_now_ns();
	case KLIN_CLOCK_SEQ:
		return shared(r);
	default:
		return shared(r) << KLIN_TICK_BITS | BELOW;
	}
}

/**
 * kl_times_end() - the end of a recording: no time up to it is still to be taken
 * @r: the recorder
 */
uint64_t kl_times_end(struct kl_recorder *r)
{
	if (r->opts.clock == KL_CLOCK_MONO)
		return kl_now_ns();
	stop_ticking(r);
	if (kl_times_kind(r) == KLIN_CLOCK_COARSE)
		raise(r);
	return kl_times_first(r) - 1;
}

/**
 * kl_times_error() - how much times of different CPUs may differ, in the clock's unit
 * @r: the recorder
 * @error: the bound
 *
 * Return: 0 or a negative errno.
 */
int kl_times_error(struct kl_recorder *r, uint64_t *error)
{
	bool all = true;
	int err;

	if (r->opts.clock == KL_CLOCK_MONO) {
		r->online = sysconf(_SC_NPROCESSORS_ONLN);
		err = kl_clock_error(error, &all);
		r->clocks_unknown |= !all;
		return err;
	}
	*error = kl_times_kind(r) == KLIN_CLOCK_SEQ ? 0 : BELOW;
	return 0;
}

/**
 * kl_times_epoch() - let a new epoch begin
 * @r: the recorder, attached
 *
 * What returned in the last one has left the store buffers in this one.
 *
 * Return: 0 or a negative errno.
 */
int kl_times_epoch(struct kl_recorder *r)
{
	uint64_t ended = kl_times_last(r);

	if (r->opts.clock != KL_CLOCK_EPOCH)
		return 0;
	raise(r);
	return kl_drain_all(r, ended);
}

/**
 * kl_times_look() - has the kernel still the clock whose error was measured?
 * @r: the recorder, attached
 *
 * The kernel leaves a clock source when it finds that CPUs differ by it.  Who gives the
 * error knows the clock.
 */
void kl_times_look(struct kl_recorder *r)
{
	char source[sizeof(r->clock_source)];

	if (r->opts.clock != KL_CLOCK_MONO || r->opts.clock_known || r->clock_changed)
		return;
	kl_clock_source(source, sizeof(source));
	r->clock_changed = strcmp(source, r->clock_source);
	if (r->clock_changed)
		kl_warn("the kernel's clock source was '%s' and is '%s' now: its times were not to "
			"be trusted, so what was recorded until now is a gap",
			r->clock_source, source);
}

/**
 * kl_recorder_show_clock() - a line that says what the clock was worth
 * @r: the recorder, the recording ended
 * @h: its history
 * @f: where to
 */
void kl_recorder_show_clock(const struct kl_recorder *r, const struct kl_history *h, FILE *f)
{
	const uint64_t spent = r->times.raised - r->times.began;

	switch (r->opts.clock) {
	case KL_CLOCK_MONO:
		fprintf(f, "clock: monotonic, error %llu ns between CPUs\n",
			(unsigned long long)h->error);
		break;
	case KL_CLOCK_SEQ:
		fprintf(f, "clock: a count in sequence, exact; each time DRAINS the store "
			"buffer\n");
		break;
	default:
		fprintf(f, "clock: %s, %.1f us each, %.1f us the longest; inside one only each "
			"CPU's own order is known\n",
			r->opts.clock == KL_CLOCK_TICK ? "ticks" : "epochs",
			r->times.count > 1 ? spent / 1e3 / (r->times.count - 1) : 0.0,
			r->times.longest / 1e3);
	}
}
