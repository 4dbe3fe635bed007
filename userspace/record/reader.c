// SPDX-License-Identifier: GPL-2.0
/* Reads events from the perf buffers and rings into the history. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/plain.h"
#include "record/recorder.h"

int kl_add_drained(struct kl_recorder *r, uint16_t cpu, uint64_t ret, uint64_t by)
{
	int err = kl_grow(r->drained, r->cdrained, r->ndrained + 1);

	if (!err)
		r->drained[r->ndrained++] = (struct kl_drained){ ret, by, cpu };
	return err;
}

/* Return: true if value @i of the event was not, or could not be, read. */
static bool unseen(const struct kl_clause *c, const struct klin_event *ev, unsigned int i)
{
	bool at_call = c->tracepoint ? i < c->nargs : c->conf.call_vals >> i & 1;

	return ev->fault >> i & 1 || (!at_call && ev->flags & KLIN_F_NORET);
}

static void values(const struct kl_clause *c, const struct klin_event *ev, struct kl_val *v)
{
	unsigned int i;

	for (i = 0; i < c->nargs + c->nres; i++) {
		const struct kl_param *p = i < c->nargs ? &c->method->params[i] :
					   &c->method->results[i - c->nargs];

		if (unseen(c, ev, i))
			v[i] = kl_special(KL_ANY);
		else if (ev->fault >> (KLIN_MARKS + i) & 1)
			v[i] = kl_special(ev->val[i]);
		else
			v[i] = kl_word(p->type == KL_T_BOOL ? !!ev->val[i] : ev->val[i]);
	}
}

/* Note a gap for an event that may be no operation, or whose object is not known. */
static int add_unknown(struct kl_recorder *r, const struct klin_event *ev, int64_t object)
{
	int err = kl_grow(r->unknown, r->cunknown, r->nunknown + 1);

	if (!err)
		r->unknown[r->nunknown++] = (struct kl_unknown){
			.from = ev->call, .to = ev->ret, .object = object, .clause = ev->probe,
			.cpu = ev->cpu_ret, .nocall = ev->flags & KLIN_F_NOCALL,
			.hit = ev->flags & KLIN_F_NOCALL && ev->flags & KLIN_F_NORET ? ev->point :
			0,
		};
	return err;
}

/* Return: when the operation of an event fetched its object, bits of enum kl_life_when. */
static uint8_t fetched_when(const struct kl_clause *c, const struct klin_event *ev)
{
	const uint8_t life = ev->flags & KLIN_F_UNWATCHED ? KL_LIFE_UNWATCHED : 0;

	if (ev->point && kl_found_place(&c->found) && c->conf.call_object)
		return life | KL_LIFE_AT_POINT | KL_LIFE_OTHER_CPU;
	if (ev->flags & KLIN_F_NOCALL || !(c->tracepoint || c->conf.call_object))
		return life | KL_LIFE_AT_RETURN;
	return ev->cpu_call != ev->cpu_ret ? life | KL_LIFE_OTHER_CPU : life;
}

/**
 * kl_reader_add() - add an event to the history
 * @r: the recorder
 * @ev: the event; values beyond those of its clause are ignored
 */
int kl_reader_add(struct kl_recorder *r, const struct klin_event *ev)
{
	struct kl_val v[KLIN_MAX_VALS];
	struct kl_op op = {
		.call = ev->call, .ret = ev->ret, .cpu = ev->cpu_ret,
	};
	const struct kl_op *at;
	struct kl_opsig sig;
	struct kl_clause *c;
	const size_t nobjects = r->h->nobjects, nthreads = r->h->nthreads;
	int64_t object, thread;
	int err;

	if (ev->type == KLIN_EV_DRAIN || ev->type == KLIN_EV_TICK)
		return kl_add_drained(r, ev->cpu_ret, ev->ret, ev->ret);
	if (ev->type == KLIN_EV_FREE)
		return kl_lives_freed(r, ev);
	if (ev->type != KLIN_EV_OP || ev->probe >= r->nclauses) {
		kl_err("unknown event of type %u, probe %u: klin and its BPF programs or klin.ko "
		       "have different versions; build and load them again", ev->type, ev->probe);
		return -EPROTO;
	}
	c = &r->clauses[ev->probe];

	object = KL_ALL_OBJECTS;
	if (!(ev->fault & KLIN_FAULT_OBJECT) &&
	    !(ev->flags & KLIN_F_NORET && c->found.target->object && !c->tracepoint &&
	      !c->conf.call_object))
		object = kl_history_object(r->h, ev->object);
	if (object < 0)
		return object;
	if (r->h->nobjects > nobjects) {
		err = kl_name_object(r, ev->object);
		if (err)
			return err;
	}
	if (object == KL_ALL_OBJECTS || ev->fault & KLIN_FAULT_WHEN)
		return add_unknown(r, ev, object);

	/* A locked instruction, which drains the store buffer, took the time. */
	if (r->opts.clock == KL_CLOCK_SEQ)
		op.flags |= KL_OP_DRAINED;
	thread = kl_history_thread(r->h, ev->tid);
	if (thread < 0)
		return thread;
	if (r->h->nthreads > nthreads) {
		err = kl_name_thread(r, ev->tid);
		if (err)
			return err;
	}
	op.thread = thread;
	op.object = object;
	op.pad = fetched_when(c, ev);
	if (ev->flags & KLIN_F_NOCALL)
		op.flags |= KL_OP_NOCALL;
	if (ev->flags & KLIN_F_NORET) {
		op.flags |= KL_OP_PENDING;
		op.flags &= ~KL_OP_DRAINED;
		op.ret = KL_TIME_MAX;
		op.cpu = ev->cpu_call;
	} else if (ev->cpu_call != ev->cpu_ret && !(ev->flags & KLIN_F_NOCALL)) {
		/* The task has moved, so its former CPU has switched tasks, which drains. */
		err = kl_add_drained(r, ev->cpu_call, ev->call, ev->ret);
		if (err)
			return err;
		/* The clock of the return's CPU may be behind the clock of the call's CPU. */
		op.call -= op.call < r->h->error ? op.call : r->h->error;
	}
	r->ops++;
	sig = (struct kl_opsig){ .method = c->history_method,
				   .nargs = c->nargs,
				   .nres = c->nres };
	values(c, ev, v);
	err = kl_history_add(r->h, &op, &sig, v, v + c->nargs) ?: kl_stacks_add(r, ev);
	if (err || !ev->point)
		return err;
	at = &r->h->ops[r->h->nops - 1];
	return kl_history_set_points(r->h, r->h->nops - 1, ev->point, kl_op_drain(r->h, at));
}

static enum bpf_perf_event_ret on_event(void *ctx, int cpu, struct perf_event_header *header)
{
	struct kl_recorder *r = ctx;
	const struct {
		struct perf_event_header header;
		uint32_t size;
		char data[];
	} *sample = (const void *)header;
	struct klin_event ev;

	/* PERF_RECORD_LOST comes too late or never, so the programs count lost events. */
	if (header->type != PERF_RECORD_SAMPLE)
		return LIBBPF_PERF_EVENT_CONT;
	memset(&ev, 0, sizeof(ev));
	memcpy(&ev, sample->data, sample->size < sizeof(ev) ? sample->size : sizeof(ev));
	r->bytes += header->size;
	r->received += ev.type != KLIN_EV_TICK;
	r->err = kl_reader_add(r, &ev);
	return r->err ? LIBBPF_PERF_EVENT_ERROR : LIBBPF_PERF_EVENT_CONT;
}

/*
 * Open the perf buffer of a CPU.  A wake-up would interrupt the recorded code and drain its store
 * buffer.  So the kernel wakes the reader only when the buffer is full; the reader polls.
 */
static int open_cpu(struct kl_recorder *r, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.watermark = 1,
		.wakeup_watermark = kl_ring_perf_pages(r) * sysconf(_SC_PAGESIZE),
	};
	LIBBPF_OPTS(perf_buffer_raw_opts, opts, .cpu_cnt = 1, .cpus = &cpu, .map_keys = &cpu);
	const uint32_t came = kl_ring_came(r, cpu);

	r->buffers[cpu] = perf_buffer__new_raw(r->events_fd, kl_ring_perf_pages(r), &attr,
					       on_event, r, &opts);
	if (!r->buffers[cpu])
		return -errno;
	kl_ring_start(r, cpu, came);
	return 0;
}

/**
 * kl_reader_open() - make a perf buffer for each CPU that is online
 * @r: the recorder, with events_fd
 *
 * Events on CPUs that come online later count as lost until kl_reader_look() sees these CPUs.
 */
int kl_reader_open(struct kl_recorder *r)
{
	int err = 0, cpu, n = 0;

	r->buffers = calloc(r->ncpus, sizeof(*r->buffers));
	r->unread = calloc(r->ncpus, sizeof(*r->unread));
	if (!r->buffers || !r->unread)
		return -ENOMEM;
	for (cpu = 0; !err && cpu < r->ncpus; cpu++) {
		err = open_cpu(r, cpu);
		n += !err;
		if (err == -ENODEV)
			err = 0;
	}
	if (!err && !n)
		err = -ENODEV;
	/* A CPU may have come online since the clocks were compared. */
	r->cpus_came |= r->online && sysconf(_SC_NPROCESSORS_ONLN) != r->online;
	if (err == -ENOMEM)
		kl_err("not enough memory for perf buffers of %u pages for each CPU: use a smaller "
		       "--buffer", r->opts.pages);
	else if (err)
		kl_err("cannot open the perf buffers: %s", strerror(-err));
	return err;
}

void kl_reader_close(struct kl_recorder *r)
{
	int cpu;

	for (cpu = 0; r->buffers && cpu < r->ncpus; cpu++)
		perf_buffer__free(r->buffers[cpu]);
	free(r->buffers);
	free(r->unread);
	r->buffers = NULL;
	r->unread = NULL;
}

static uint64_t sum_unread(const struct kl_recorder *r, int cpu)
{
	uint64_t sum = 0;
	unsigned int g, side;

	for (g = 0; g < r->ngroups; g++)
		for (side = 0; side < KLIN_SIDES; side++)
			sum += *(volatile __u64 *)
				&r->groups[g].cpus[KLIN_SIDES * cpu + side].unread;
	return sum;
}

/*
 * Replace the buffer of a CPU that was offline, since the old buffer does not come back with the
 * CPU.  Read the old buffer to its end, after waiting for programs that may still write to it.
 */
static int replace(struct kl_recorder *r, int cpu)
{
	r->cpus_came = true;
	if (r->buffers[cpu]) {
		bpf_map_delete_elem(r->events_fd, &cpu);
		kl_grace_period();
		perf_buffer__consume(r->buffers[cpu]);
		perf_buffer__free(r->buffers[cpu]);
		r->buffers[cpu] = NULL;
	}
	return open_cpu(r, cpu);
}

void kl_reader_look(struct kl_recorder *r)
{
	int cpu, err;

	for (cpu = 0; r->buffers && !r->cpus_refused && cpu < r->ncpus; cpu++) {
		if (sum_unread(r, cpu) == r->unread[cpu])
			continue;
		err = replace(r, cpu);
		if (err == -EPERM || err == -EACCES) {
			r->cpus_refused = true;
			kl_warn("CPU %d came online, but its events cannot be read without "
				"privileges: they are lost", cpu);
		}
		kl_debug("CPU %d came online during the recording: %s", cpu, err ? strerror(-err) :
			 "its events are read, too");
		if (err)
			continue;
		r->unread[cpu] = sum_unread(r, cpu);
		kl_ticks_again(r, cpu);
	}
}

int kl_reader_consume(struct kl_recorder *r)
{
	int err = 0, cpu;

	if (r->opts.plain)
		return kl_plain_consume(r);
	for (cpu = 0; err >= 0 && cpu < r->ncpus; cpu++)
		if (r->buffers[cpu])
			err = perf_buffer__consume(r->buffers[cpu]);
	if (!r->err && err >= 0)
		r->err = err = kl_ring_consume(r);
	if (r->err) {
		if (r->err == -ENOMEM)
			kl_err("out of memory after %llu operations", (unsigned long long)r->ops);
		return r->err;
	}
	return err < 0 ? err : 0;
}
