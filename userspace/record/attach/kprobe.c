// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobes through tracefs, and kprobes of klin.ko.
 *
 * The kernel counts the hits and misses of kprobes in tracefs only.  It does not count the hits
 * at which it skipped the BPF program because another program was running; so each program
 * counts its own runs.  If klin is killed, its definitions stay in tracefs without effect, and
 * the next klin removes them (kl_kprobe_sweep()).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "record/attach/module.h"
#include "record/recorder.h"

#define MAX_ACTIVE 4096 /* concurrent calls of one function whose returns kprobes see */
#define LINE_MAX_BYTES 1024	/* the names of a symbol and a module take 576 bytes at most */

__attribute__((format(printf, 2, 3)))
static int write_events(const struct kl_kernel *k, const char *fmt, ...)
{
	char path[64], line[LINE_MAX_BYTES];
	int fd, err = 0, n;
	va_list ap;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(line))
		return -ENAMETOOLONG;
	snprintf(path, sizeof(path), "%s/kprobe_events", k->tracefs);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, line, n) != n)
		err = -errno;
	close(fd);
	return err;
}

/* Return: the start of a process, in clock ticks since boot; 0 if there is no such process. */
static unsigned long long start_time(int pid)
{
	unsigned long long start = 0;
	char path[32], *data, *at;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (kl_read_file(path, &data, &len))
		return 0;
	/* The start is field 22.  The name, in parentheses, may have spaces and parentheses. */
	at = strrchr(data, ')');
	if (at)
		sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
		       "%*d %*d %*d %llu", &start);
	free(data);
	return start;
}

void kl_kprobe_sweep(const struct kl_kernel *k)
{
	char path[64], *data, *at, name[64];
	unsigned long long start;
	size_t len;
	int pid;

	if (!k->tracefs)
		return;
	snprintf(path, sizeof(path), "%s/kprobe_events", k->tracefs);
	if (kl_read_file(path, &data, &len))
		return;
	for (at = data; (at = strstr(at, "klin/klin_")); at++) {
		if (sscanf(at, "klin/%63[a-z0-9_]", name) != 1 ||
		    sscanf(name, "klin_%d_%llu_", &pid, &start) != 2)
			continue;
		/* A later process may have the same number, but has another start. */
		if (start_time(pid) != start)
			write_events(k, "-:klin/%s", name);
	}
	free(data);
}

static int event_id(const struct kl_kernel *k, const char *event)
{
	char path[160], *data;
	size_t len;
	int id;

	snprintf(path, sizeof(path), "%s/events/klin/%s/id", k->tracefs, event);
	if (kl_read_file(path, &data, &len))
		return -ENOENT;
	id = atoi(data);
	free(data);
	return id;
}

int kl_kprobe_attach(const struct kl_kernel *k, struct kl_prog *p, const char *module,
		     const char *symbol, uint64_t offset, enum kl_kprobe_kind kind)
{
	static unsigned int count;	/* number of kprobes of all recorders of this process */
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT };
	char type[16] = "p", plus[32] = "";
	int id, fd, err;

	if (!k->tracefs)
		return -ENOENT;
	if (kind == KL_KPROBE_RETURN)
		snprintf(type, sizeof(type), "r%d", MAX_ACTIVE);
	snprintf(p->event, sizeof(p->event), "klin_%d_%llu_%u_%c", getpid(), start_time(getpid()),
		 __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED), "crpl"[kind]);
	if (offset)
		snprintf(plus, sizeof(plus), "+0x%llx", (unsigned long long)offset);
	err = write_events(k, "%s:klin/%s %s%s%s%s", type, p->event, module, module[0] ? ":" : "",
			   symbol, plus);
	if (err) {
		p->event[0] = '\0';
		return err;
	}
	id = event_id(k, p->event);
	if (id < 0)
		return id;
	attr.config = id;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	p->link = bpf_program__attach_perf_event(p->prog, fd);
	if (!p->link) {
		err = -errno;
		close(fd);
		return err;
	}
	return 0;
}

/* Create a probe by a line to klin.ko's file of probes, see kmod/module_kprobes.c. */
__attribute__((format(printf, 2, 3)))
static int make_module_probe(struct kl_prog *p, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	int fd, len, err = 0;
	va_list ap;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len < 0 || len >= (int)sizeof(line))
		return -ENAMETOOLONG;
	fd = open(KL_MODULE_DIR "probes", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, line, len) != len)
		err = -errno;
	if (err)
		close(fd);
	else
		p->module_fd = fd;
	p->by_module = !err;
	return err;
}

int kl_kprobe_attach_module(struct kl_prog *p, const char *module, const char *symbol,
			    const struct kl_prog *at_return)
{
	const int fd = bpf_program__fd(p->prog);
	const char *colon = module[0] ? ":" : "";

	if (at_return == p)
		return make_module_probe(p, "return %d %s%s%s", fd, module, colon, symbol);
	return make_module_probe(p, "call %d %s%s%s %d", fd, module, colon, symbol,
				 bpf_program__fd(at_return->prog));
}

int kl_kprobe_attach_module_place(struct kl_prog *p, const char *module, const char *symbol,
				  uint64_t offset)
{
	return make_module_probe(p, "call %d %s%s%s+0x%llx", bpf_program__fd(p->prog), module,
				 module[0] ? ":" : "", symbol, (unsigned long long)offset);
}

uint64_t kl_kprobe_module_misses(const struct kl_prog *p)
{
	unsigned long long hits, misses = 0;
	char text[64] = "";

	if (pread(p->module_fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%llu %llu", &hits, &misses) != 2)
		return p->misses;
	return misses;
}

void kl_kprobe_remove(const struct kl_kernel *k, struct kl_prog *p)
{
	if (p->module_fd)
		close(p->module_fd);
	p->module_fd = 0;
	if (p->event[0] && write_events(k, "-:klin/%s", p->event))
		kl_warn("cannot remove the kprobe definition klin/%s; it does nothing any more",
			p->event);
	p->event[0] = '\0';
}

bool kl_kprobe_profile(const struct kl_kernel *k, const char *event, uint64_t *hits,
		       uint64_t *misses)
{
	unsigned long long h, m;
	char path[64], *data, *at;
	size_t len;
	bool found;

	snprintf(path, sizeof(path), "%s/kprobe_profile", k->tracefs);
	if (kl_read_file(path, &data, &len))
		return false;
	at = strstr(data, event);
	found = at && sscanf(at + strlen(event), "%llu %llu", &h, &m) == 2;
	if (found) {
		*hits = h;
		*misses = m;
	}
	free(data);
	return found;
}
