// SPDX-License-Identifier: GPL-2.0
/* Samples the stack of a task while it runs, see sampler.h. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/sampler.h"

#define PERIOD_NS	1000000
#define DATA_PAGES	4	/* a power of two */
#define SAMPLE_MAX	4096	/* bytes; kernel.perf_event_max_stack is 127 by default */

struct kl_sampler {
	int fd;
	struct perf_event_mmap_page *page;
	size_t size; /* bytes that are mapped */
	uint64_t record[SAMPLE_MAX / sizeof(uint64_t)];
};

int kl_sampler_open(pid_t tid, struct kl_sampler **out)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_user = 1,
	};
	struct kl_sampler *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->size = (1 + DATA_PAGES) * sysconf(_SC_PAGESIZE);
	s->fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0) {
		err = -errno;
		goto err_free;
	}
	s->page = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->page == MAP_FAILED) {
		err = -errno;
		goto err_close;
	}
	*out = s;
	return 0;
err_close:
	close(s->fd);
err_free:
	free(s);
	return err;
}

void kl_sampler_close(struct kl_sampler *s)
{
	if (!s)
		return;
	munmap(s->page, s->size);
	close(s->fd);
	free(s);
}

/* Copy bytes of the ring, which may wrap around its end. */
static void copy(const struct kl_sampler *s, uint64_t at, void *to, size_t n)
{
	const char *data = (const char *)s->page + s->page->data_offset;
	const uint64_t size = s->page->data_size, from = at % size;
	const size_t first = n < size - from ? n : size - from;

	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, n - first);
}

/* Get the addresses of the sample that was read, without the marks for user or kernel mode. */
static void take_chain(struct kl_sampler *s, size_t words, struct kl_sample *out)
{
	uint64_t *chain = s->record + 2, n = words > 2 ? s->record[1] : 0, i;

	out->ips = chain;
	out->n = 0;
	for (i = 0; i < n && 2 + i < words; i++)
		if (chain[i] < PERF_CONTEXT_MAX)
			chain[out->n++] = chain[i];
}

bool kl_sampler_next(struct kl_sampler *s, struct kl_sample *out)
{
	struct perf_event_header h;
	uint64_t head = __atomic_load_n(&s->page->data_head, __ATOMIC_ACQUIRE), tail;
	unsigned int mode;
	bool found = false;

	for (tail = s->page->data_tail; !found && tail < head; tail += h.size) {
		copy(s, tail, &h, sizeof(h));
		mode = h.misc & PERF_RECORD_MISC_CPUMODE_MASK;
		/* A sample inside a virtual machine does not show where the kernel is. */
		if (h.type != PERF_RECORD_SAMPLE || h.size > sizeof(s->record) ||
		    (mode != PERF_RECORD_MISC_USER && mode != PERF_RECORD_MISC_KERNEL))
			continue;
		copy(s, tail, s->record, h.size);
		take_chain(s, h.size / sizeof(uint64_t), out);
		out->user = mode == PERF_RECORD_MISC_USER;
		found = true;
	}
	__atomic_store_n(&s->page->data_tail, tail, __ATOMIC_RELEASE);
	return found;
}
