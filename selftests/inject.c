// SPDX-License-Identifier: GPL-2.0
/*
 * A library for LD_PRELOAD that makes system and library calls of a program fail.
 *
 * KLIN_INJECT_ALLOC=N		fails the N-th allocation (malloc() etc., anonymous mmap())
 * KLIN_INJECT_ALLOC_ON=N	fails the N-th allocation and all later ones
 * KLIN_INJECT_EXIT=N		calls exit(1) at the N-th allocation, as some libraries do
 * KLIN_INJECT_THREADS=N	fails the creation of the N-th thread and of all later ones
 * KLIN_INJECT_READ=FILE	fails reads of that file with KLIN_INJECT_ERRNO or EIO, after the
 *				first bytes if the file is larger
 * KLIN_INJECT_CLOCK=NS		adds NS to the clock at each reading
 * KLIN_INJECT_MARK=FILE	is created when a call was made to fail
 * KLIN_INJECT_COUNT=FILE	gets the number of allocations, and of calls that write if
 *				inject_disk.c counts them, as a word; programs that the program
 *				becomes by execve() add theirs
 *
 * inject_disk.c fails the calls that write to a disk.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static unsigned long fail_alloc, fail_from, fail_exit, fail_threads, allocs, threads;
static unsigned long clock_step, clock_reads;
static unsigned long *count;
static const char *mark, *fail_read;
static bool begun;

unsigned long inject_number(const char *name)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 10) : 0;
}

static void begin_count(void)
{
	const char *path = getenv("KLIN_INJECT_COUNT");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	if (!ftruncate(fd, sizeof(*count)))
		count = (void *)syscall(SYS_mmap, NULL, sizeof(*count), PROT_READ | PROT_WRITE,
					MAP_SHARED, fd, 0L);
	if (count == MAP_FAILED)
		count = NULL;
	close(fd);
}

void inject_count(void)
{
	if (count)
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

/* Runs before main(), after the allocations of the loader and other libraries. */
__attribute__((constructor)) static void begin(void)
{
	fail_alloc = inject_number("KLIN_INJECT_ALLOC");
	fail_from = inject_number("KLIN_INJECT_ALLOC_ON");
	fail_exit = inject_number("KLIN_INJECT_EXIT");
	fail_threads = inject_number("KLIN_INJECT_THREADS");
	clock_step = inject_number("KLIN_INJECT_CLOCK");
	fail_read = getenv("KLIN_INJECT_READ");
	mark = getenv("KLIN_INJECT_MARK");
	begin_count();
	begun = true;
	inject_disk_begin();
}

void inject_mark(void)
{
	int fd = mark ? inject_call(SYS_openat, AT_FDCWD, (long)mark,
				    O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (fd >= 0)
		inject_call(SYS_close, fd, 0, 0, 0);
}

static bool fails(void)
{
	unsigned long n;

	if (!begun)
		return false;
	n = __atomic_add_fetch(&allocs, 1, __ATOMIC_RELAXED);
	if (!inject_disk_counts())
		inject_count();
	if (n == fail_exit) {
		inject_mark();
		exit(1);
	}
	if (n != fail_alloc && (!fail_from || n < fail_from))
		return false;
	if (n == fail_alloc || n == fail_from)
		inject_mark();
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

void *memalign(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	void *q = fails() ? NULL : __libc_memalign(align, size);

	if (!q)
		return ENOMEM;
	*p = q;
	return 0;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (flags & MAP_ANONYMOUS && fails())
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

/*
 * Return: true if @fd is the file whose reads fail.  A real disk also fails after some good
 * bytes.
 */
static bool fails_to_read(int fd)
{
	struct stat st, want;

	return begun && fail_read && !fstat(fd, &st) && !stat(fail_read, &want) &&
	       st.st_dev == want.st_dev && st.st_ino == want.st_ino;
}

ssize_t read(int fd, void *buf, size_t n)
{
	if (fails_to_read(fd)) {
		if (n > 20 && !lseek(fd, 0, SEEK_CUR))
			return syscall(SYS_read, fd, buf, 20);
		inject_mark();
		errno = inject_number("KLIN_INJECT_ERRNO") ?: EIO;
		return -1;
	}
	return syscall(SYS_read, fd, buf, n);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	unsigned long now;

	if (!clock_step || id != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, id, t);
	now = __atomic_add_fetch(&clock_reads, 1, __ATOMIC_RELAXED) * clock_step;
	*t = (struct timespec){ now / 1000000000, now % 1000000000 };
	return 0;
}

int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (fail_threads && __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) >= fail_threads) {
		inject_mark();
		return EAGAIN;
	}
	if (!real)
		real = dlsym(RTLD_NEXT, "pthread_create");
	return real(t, attr, run, arg);
}
