// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of a recording (KL_CLOCK_...), and their precision.
 *
 * mono:  the kernel's monotonic clock, whose error between CPUs is measured (base/clock_skew.h).
 * seq:   a counter that a locked instruction raises for each time.  There is no error, since the
 *	  smaller of two times was first.  But each time drains the store buffer, which hides
 *	  behaviour that TSO allows, and all CPUs compete for one cache line.
 * tick:  a counter that a thread of klin on a CPU of its own raises about once a microsecond; other
 *	  CPUs only load it.
 * epoch: a counter that the reader raises at each reading of the buffers; then it drains all CPUs,
 *	  if klin.ko is loaded.
 *
 * A time of tick or epoch has the counter in its upper bits.  Its lower bits number the times that
 * the CPU took since the counter changed, which keeps the CPU's own order.  All CPUs agree on the
 * order of the counter's values: a load that gave the smaller value was first, and so was
 * everything before the load in its program.  So times with different counters are always in the
 * right order.  Only the lower bits cannot be compared between CPUs, and the error covers them.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock_skew.h"
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

/*
 * Raise the counter, which has one writer.  A CPU that reads the new value also sees all stores
 * before the raise.
 */
static void raise_counter(struct kl_recorder *r)
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
			raise_counter(r);
	return NULL;
}

/* Return: the memory in which all programs read the counters, or NULL with errno. */
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
 * kl_times_open() - set up the clock of the recording
 * @r: the recorder, with its maps
 *
 * Return: 0, -EINVAL after a message if the machine does not allow the clock, or another negative
 * errno.
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
		kl_err("--clock=tick needs a CPU for klin alone, but only one CPU is online: use "
		       "--clock=epoch");
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
 * kl_times_first() - get a lower bound of all times that are taken after the call
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
 * kl_times_last() - get an upper bound of all times that were taken before the call
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
 * kl_times_end() - get the end of a recording, a time below all times that are taken later
 * @r: the recorder
 */
uint64_t kl_times_end(struct kl_recorder *r)
{
	if (r->opts.clock == KL_CLOCK_MONO)
		return kl_now_ns();
	stop_ticking(r);
	if (kl_times_kind(r) == KLIN_CLOCK_COARSE)
		raise_counter(r);
	return kl_times_first(r) - 1;
}

/**
 * kl_times_error() - get the maximal error between CPUs
 * @r: the recorder
 * @error: gets the bound, in the clock's unit
 *
 * Return: 0 or a negative errno.
 */
int kl_times_error(struct kl_recorder *r, uint64_t *error)
{
	unsigned int compared = 0;
	int err;

	if (r->opts.clock == KL_CLOCK_MONO) {
		r->online = sysconf(_SC_NPROCESSORS_ONLN);
		err = kl_clock_error(error, &compared);
		if (err || (r->online > 0 && compared >= (unsigned long)r->online))
			return err;
		kl_warn("klin may run on %u of %ld CPUs only, so it cannot compare the clocks of "
			"the others: the whole recording is a gap; let klin run on all CPUs, or "
			"give --clock-error=NS",
			compared, (long)r->online);
		r->clocks_unknown = true;
		return 0;
	}
	*error = kl_times_kind(r) == KLIN_CLOCK_SEQ ? 0 : BELOW;
	return 0;
}

/**
 * kl_times_epoch() - begin a new epoch
 * @r: the recorder, attached
 *
 * If klin.ko is loaded, the function also drains all CPUs but the quiet ones.  So stores of
 * operations that returned in an earlier epoch leave the store buffers in the new epoch.
 *
 * Return: 0 or a negative errno.
 */
int kl_times_epoch(struct kl_recorder *r)
{
	uint64_t ended = kl_times_last(r);

	if (r->opts.clock != KL_CLOCK_EPOCH)
		return 0;
	raise_counter(r);
	return kl_drain_all(r, ended);
}

/**
 * kl_times_look() - find out whether the kernel still uses the measured clock source
 * @r: the recorder, attached
 *
 * The kernel abandons a clock source if CPUs differ.  With --clock-error the user vouches for the
 * clock, and there is no check.
 */
void kl_times_look(struct kl_recorder *r)
{
	char source[sizeof(r->clock_source)];

	if (r->opts.clock != KL_CLOCK_MONO || r->opts.clock_known || r->clock_changed)
		return;
	kl_clock_source(source, sizeof(source));
	r->clock_changed = strcmp(source, r->clock_source);
	if (r->clock_changed)
		kl_warn("the kernel's clock source changed from '%s' to '%s': earlier times may be "
			"wrong, so the recording until now is a gap",
			r->clock_source, source);
}

/**
 * kl_recorder_show_clock() - print a line about the clock's precision
 * @r: the recorder, after the recording
 * @h: its history
 * @f: gets the line
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
		fprintf(f, "clock: a counter that each event raises, exact; it DRAINS the store "
			"buffer\n");
		break;
	default:
		fprintf(f, "clock: %s of %.1f us on average, %.1f us at most; inside one, only "
			"the order on each CPU is known\n",
			r->opts.clock == KL_CLOCK_TICK ? "ticks" : "epochs",
			r->times.count > 1 ? spent / 1e3 / (r->times.count - 1) : 0.0,
			r->times.longest / 1e3);
	}
}
