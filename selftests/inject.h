/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of inject.c and inject_disk.c. */
#ifndef KLIN_INJECT_H
#define KLIN_INJECT_H

#include <stdbool.h>
#include <unistd.h>

/* Sixth argument of a system call that the filter of inject_disk.c lets pass. */
#define INJECT_PASS	0x6b6c696e

#define inject_call(nr, a, b, c, d) \
	syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0L, (long)INJECT_PASS)

/* Return: the number in an environment variable, 0 if it is not set. */
unsigned long inject_number(const char *name);
/* Record that a call was made to fail. */
void inject_mark(void);
/* Add one to the count of KLIN_INJECT_COUNT. */
void inject_count(void);
/* Return: true if calls that write are counted, and not allocations. */
bool inject_disk_counts(void);
/* Trap system calls that write, if the environment asks for it.  Called before main(). */
void inject_disk_begin(void);

#endif
