// SPDX-License-Identifier: GPL-2.0
/*
 * klin.ko's own recording, by plain stores (kmod/plain.c), without BPF programs.  klin maps memory
 * of the module that has the layout of the maps of BPF programs on its tracepoints.  So slots,
 * counts and times are read as with BPF.  Only events are read otherwise, from rings of klin.ko.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "record/attach/module.h"
#include "record/plain.h"

#define PATH KL_MODULE_DIR "plain"

int kl_plain_check(const struct kl_recorder *r, const struct kl_clause *c)
{
	const struct kl_probe_target *t = c->found.target;

	if (t->kind == KL_TARGET_KLIN)
		return 0;
	kl_spec_err_at(r->opts.spec, t->pos,
		       "--attach=plain cannot record the function %s(): expected a target "
		       "klin:SUBJECT.METHOD",
		       t->name);
	return -EINVAL;
}

static int check_opts(const struct kl_recorder *r)
{
	if (r->opts.clock == KL_CLOCK_SEQ)
		kl_err("--attach=plain excludes --clock=seq, which drains the store buffer: "
		       "expected mono, tick or epoch");
	else if (r->opts.sample > 1 || r->opts.pid || r->opts.by_cpu)
		kl_err("--attach=plain excludes --sample, --pid and --cpu: use --object to record "
		       "fewer operations");
	else
		return 0;
	return -EINVAL;
}

static int refused(const char *what, int err)
{
	if (err == -ENOENT)
		kl_err("--attach=plain: " PATH " does not exist: load klin.ko");
	else if (err == -EBUSY)
		kl_err("--attach=plain: another recording uses " PATH ": stop it first");
	else
		kl_err("--attach=plain: cannot %s " PATH ": %s", what, strerror(-err));
	return err == -ENOMEM ? -EPERM : err;
}

static uint32_t entries(const struct kl_recorder *r)
{
	uint64_t bytes = (uint64_t)r->opts.pages * sysconf(_SC_PAGESIZE);
	uint32_t n = 1;

	while ((n << 1) * sizeof(struct klin_plain_entry) <= bytes && n < 1U << 22)
		n <<= 1;
	return n;
}

int kl_plain_open(struct kl_recorder *r)
{
	struct kl_plain *p = &r->plain;
	int err = check_opts(r);

	if (err)
		return err;
	p->size = (struct klin_plain_size){
		.ncpus = r->ncpus, .slots = r->opts.slots, .entries = entries(r),
	};
	p->map = klin_plain_layout(&p->size);
	p->fd = open(PATH, O_RDWR | O_CLOEXEC);
	if (p->fd < 0)
		return refused("open", -errno);
	if (ioctl(p->fd, KLIN_PLAIN_SIZE, &p->size))
		return refused("allocate the memory of", -errno);
	p->at = mmap(NULL, p->map.size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->at == MAP_FAILED) {
		p->at = NULL;
		return refused("map", -errno);
	}
	r->slots = (void *)(p->at + p->map.slots);
	return 0;
}

void kl_plain_close(struct kl_recorder *r)
{
	struct kl_plain *p = &r->plain;

	if (p->at)
		munmap(p->at, p->map.size);
	if (p->fd >= 0)
		close(p->fd);
	p->at = NULL;
	p->fd = -1;
}

struct klin_time *kl_plain_times(const struct kl_recorder *r)
{
	return (void *)(r->plain.at + r->plain.map.times);
}

int kl_plain_attach(struct kl_recorder *r, struct kl_group *g, const struct klin_tp_conf *conf)
{
	g->cpus = (void *)(r->plain.at + r->plain.map.cpus);
	return ioctl(r->plain.fd, KLIN_PLAIN_START, conf) ? -errno : 0;
}

void kl_plain_detach(struct kl_recorder *r)
{
	ioctl(r->plain.fd, KLIN_PLAIN_STOP);
}

static int consume(struct kl_recorder *r, int cpu)
{
	const struct kl_plain *p = &r->plain;
	struct klin_plain_ring *ring = (struct klin_plain_ring *)(p->at + p->map.rings) + cpu;
	const struct klin_plain_entry *e = (const void *)(p->at + p->map.events);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = ring->tail;
	struct klin_event ev;
	int err = 0;

	for (; !err && tail != head; tail++) {
		ev = e[(uint64_t)cpu * p->size.entries + (tail & (p->size.entries - 1))].ev;
		r->received++;
		r->bytes += sizeof(*e);
		err = kl_reader_add(r, &ev);
		__atomic_store_n(&ring->tail, tail + 1, __ATOMIC_RELEASE);
	}
	return err;
}

int kl_plain_consume(struct kl_recorder *r)
{
	int cpu, err = 0;

	for (cpu = 0; !err && cpu < r->ncpus; cpu++)
		err = consume(r, cpu);
	if (err == -ENOMEM)
		kl_err("out of memory after %llu operations", (unsigned long long)r->ops);
	return err;
}
