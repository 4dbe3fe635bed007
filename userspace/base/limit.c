// SPDX-License-Identifier: GPL-2.0
/* Limits of a whole process, see limit.h. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limit.h"
#include "base/now.h"

#define SECOND	1000000000ull
#define MIB	(1ull << 20)
#define LEAST	(20 * MIB)	/* least memory limit; klin itself needs about 10 MiB */
#define STACK	(2 * MIB)	/* stack of a thread; RLIMIT_DATA counts it all, used or not */

static uint64_t deadline;	/* on the clock of kl_now_ns(); 0: none */
/*
 * Arguments of this thread's last kl_limit_look() with a unit; NULL if there was none.  Threads of
 * a program that uses libklin may read histories at once.
 */
static __thread const char *looked_what;
static __thread uint64_t looked_number;
static char time_text[48], memory_text[48];	/* empty if there is no limit */
static rlim_t before;		/* RLIMIT_DATA before kl_limit_memory() */

void kl_limit_time(uint64_t ns)
{
	snprintf(time_text, sizeof(time_text), "the time limit of %llu s",
		 (unsigned long long)(ns / SECOND));
	deadline = kl_now_ns() + ns;
}

uint64_t kl_limit_time_left(void)
{
	const uint64_t t = deadline ? kl_now_ns() : 0;

	return !deadline ? 0 : t < deadline ? deadline - t : 1;
}

/*
 * Get the resident bytes of the process, and how many of these bytes belong to files.
 * Return: false if the kernel does not report them.
 */
static bool own_bytes(uint64_t *resident, uint64_t *files)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long r, s;
	const bool good = f && fscanf(f, "%*u %llu %llu", &r, &s) == 2;

	if (f)
		fclose(f);
	if (!good)
		return false;
	*resident = r * page;
	*files = s * page;
	return true;
}

void kl_limit_memory(uint64_t bytes)
{
	uint64_t resident, files;
	pthread_attr_t attr;
	struct rlimit lim;

	snprintf(memory_text, sizeof(memory_text), "the memory limit of %llu MiB",
		 (unsigned long long)(bytes / MIB));
	if (!own_bytes(&resident, &files) || getrlimit(RLIMIT_DATA, &lim))
		return;
	before = lim.rlim_cur;
	bytes = (bytes < LEAST ? LEAST : bytes) - (files < LEAST / 2 ? files : LEAST / 2);
	if (bytes >= before)
		return;
	lim.rlim_cur = bytes;
#ifndef __SANITIZE_ADDRESS__	/* the address sanitizer maps terabytes without using them */
	setrlimit(RLIMIT_DATA, &lim);
#endif
	if (pthread_attr_init(&attr))
		return;
	if (!pthread_attr_setstacksize(&attr, STACK))
		pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

uint64_t kl_limit_memory_left(uint64_t bytes)
{
	uint64_t resident, files;

	if (!*memory_text || !own_bytes(&resident, &files))
		return bytes;
	return bytes > resident + MIB ? bytes - resident : MIB;
}

void kl_limit_lift(void)
{
	struct rlimit lim;

	if (!*memory_text || getrlimit(RLIMIT_DATA, &lim))
		return;
	lim.rlim_cur = before;
	setrlimit(RLIMIT_DATA, &lim);
}

bool kl_limit_given(void)
{
	return *time_text || *memory_text;
}

int kl_limit_look(const char *what, uint64_t number)
{
	if (what) {
		looked_what = what;
		looked_number = number;
	}
	return deadline && kl_now_ns() > deadline ? -ETIME : 0;
}

int kl_limit_wait(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t ms;

	while (deadline) {
		ms = kl_limit_time_left() / 1000000 + 1;
		if (poll(&p, 1, ms < INT_MAX ? ms : INT_MAX))
			break;
		if (kl_now_ns() > deadline)
			return -ETIME;
	}
	return 0;
}

const char *kl_limit_met(int err)
{
	const char *text = err == -ETIME ? time_text : err == -ENOMEM ? memory_text : "";

	return *text ? text : NULL;
}

const char *kl_limit_place(void)
{
	static char text[48];

	if (looked_what)
		snprintf(text, sizeof(text), ", %s %llu", looked_what,
			 (unsigned long long)looked_number);
	return text;
}
