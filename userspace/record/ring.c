// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that programs at returns write by plain stores (bpf/ring.h): one for each CPU and group of
 * clauses.  Clauses on places have no rings, since a recording may have very many places.  The
 * rings of all groups share half of the memory for events.  The perf buffers have the other half;
 * events that do not fit their ring go there.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "record/recorder.h"

#define ENTRIES_MAX	(1U << 30)	/* maximal number of entries of all CPUs */

static size_t whole_pages(size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/**
 * kl_ring_open() - make the map that says which rings may be written; at first none may
 * @r: the recorder, its CPUs counted
 *
 * Return: 0 or a negative errno, without a message.
 */
int kl_ring_open(struct kl_recorder *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	void *at;
	int cpu;

	r->homes_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "klin_homes", 4, sizeof(*r->homes),
				     r->ncpus, &opts);
	if (r->homes_fd < 0)
		return r->homes_fd;
	at = mmap(NULL, r->ncpus * sizeof(*r->homes), PROT_READ | PROT_WRITE, MAP_SHARED,
		  r->homes_fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	r->homes = at;
	for (cpu = 0; cpu < r->ncpus; cpu++)
		r->homes[cpu] = (struct klin_home){ .came = 1, .ring = KLIN_NO_RING };
	return 0;
}

void kl_ring_close(struct kl_recorder *r)
{
	if (r->homes)
		munmap(r->homes, r->ncpus * sizeof(*r->homes));
	if (r->homes_fd >= 0)
		close(r->homes_fd);
}

/*
 * Return: the number of groups with rings.  One or two clauses on a function are a group, and all
 * clauses on tracepoints are a group.
 */
static unsigned int ngroups(const struct kl_recorder *r)
{
	unsigned int i, n = 0;
	bool tracepoints = false;

	for (i = 0; i < r->nclauses; i++) {
		const struct kl_clause *c = &r->clauses[i];

		n += !c->tracepoint && !kl_found_place(&c->found) && (!c->other || c < c->other);
		tracepoints |= c->tracepoint;
	}
	return n + tracepoints;
}

static bool has_rings(const struct kl_recorder *r)
{
	return r->cpu_link && ngroups(r);
}

unsigned int kl_ring_perf_pages(const struct kl_recorder *r)
{
	return has_rings(r) && r->opts.pages > 1 ? r->opts.pages / 2 : r->opts.pages;
}

uint32_t kl_ring_came(const struct kl_recorder *r, int cpu)
{
	return __atomic_load_n(&r->homes[cpu].came, __ATOMIC_ACQUIRE);
}

/**
 * kl_ring_start() - allow programs to write the rings of a CPU
 * @r: the recorder
 * @cpu: the CPU, whose perf buffer is open
 * @came: result of kl_ring_came() before the perf buffer was opened; if the CPU has changed its
 *	state since, programs still may not write the rings
 *
 * CPUs that come online after the rings were made have none.
 */
void kl_ring_start(struct kl_recorder *r, int cpu, uint32_t came)
{
	struct klin_home *home = &r->homes[cpu];

	if (!has_rings(r))
		return;
	if (home->ring == KLIN_NO_RING && !r->groups)
		home->ring = r->nrings++;
	if (home->ring != KLIN_NO_RING)
		__atomic_store_n(&home->open, came, __ATOMIC_RELEASE);
}

/* Return: the number of entries of a CPU's ring for events of @nvals values; 0: no rings. */
uint32_t kl_ring_entries(const struct kl_recorder *r, unsigned int nvals)
{
	const uint64_t bytes = (uint64_t)r->opts.pages * sysconf(_SC_PAGESIZE) / 2;
	uint64_t n;

	if (!r->nrings)
		return 0;
	n = bytes / ngroups(r) / KLIN_EVENT_SIZE(nvals);
	return n < ENTRIES_MAX / r->nrings ? n : ENTRIES_MAX / r->nrings;
}

/**
 * kl_ring_size() - give the rings of a group their size
 * @r: the recorder
 * @g: the group, its object open and not yet loaded
 * @nvals: maximal number of values of its events
 *
 * Return: 0 or a negative errno.
 */
int kl_ring_size(const struct kl_recorder *r, struct kl_group *g, unsigned int nvals)
{
	struct bpf_map *map = bpf_object__find_map_by_name(g->obj, "ring");
	int err;

	g->ring.entries = kl_ring_entries(r, nvals);
	g->ring.entry = KLIN_EVENT_SIZE(nvals);
	if (!g->ring.entries)
		return 0;
	err = bpf_map__set_value_size(map, g->ring.entry);
	return err ?: bpf_map__set_max_entries(map, r->nrings * g->ring.entries);
}

/* Map the rings of a loaded group.  Return: 0 or a negative errno. */
int kl_ring_map(const struct kl_recorder *r, struct kl_group *g)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(g->obj, "ring");
	void *at;

	if (!g->ring.entries)
		return 0;
	g->ring.size = whole_pages((size_t)r->nrings * g->ring.entries * g->ring.entry);
	at = mmap(NULL, g->ring.size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
	if (at == MAP_FAILED)
		return -errno;
	g->ring.at = at;
	return 0;
}

void kl_ring_unmap(struct kl_group *g)
{
	if (g->ring.at)
		munmap((void *)g->ring.at, g->ring.size);
}

static int consume(struct kl_recorder *r, struct kl_group *g, int cpu)
{
	struct klin_cpu *c = &g->cpus[KLIN_SIDES * cpu + KLIN_AT_RETURN];
	const uint64_t head = __atomic_load_n(&c->head, __ATOMIC_ACQUIRE);
	const char *first = g->ring.at +
		(size_t)r->homes[cpu].ring * g->ring.entries * g->ring.entry;
	struct klin_event ev;
	uint64_t tail = c->tail;
	int err = 0;

	memset(&ev, 0, sizeof(ev));
	for (; !err && tail != head; tail++) {
		memcpy(&ev, first + tail % g->ring.entries * g->ring.entry, g->ring.entry);
		r->received++;
		r->bytes += g->ring.entry;
		err = kl_reader_add(r, &ev);
		__atomic_store_n(&c->tail, tail + 1, __ATOMIC_RELEASE);
	}
	return err;
}

/**
 * kl_ring_consume() - read new events of all rings
 * @r: the recorder
 *
 * Return: 0 or a negative errno.
 */
int kl_ring_consume(struct kl_recorder *r)
{
	unsigned int i;
	int cpu, err = 0;

	for (i = 0; i < r->ngroups; i++)
		for (cpu = 0; !err && cpu < r->ncpus && r->groups[i].ring.at; cpu++)
			if (r->homes[cpu].ring != KLIN_NO_RING)
				err = consume(r, &r->groups[i], cpu);
	return err;
}
