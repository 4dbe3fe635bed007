/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the two halves of the library that makes the system refuse. */
#ifndef KLIN_INJECT_H
#define KLIN_INJECT_H

#include <unistd.h>

/* The sixth argument of a system call that the filter of inject_disk.c lets pass. */
#define INJECT_PASS	0x6b6c696e

#define inject_call(nr, a, b, c, d) \
	syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0L, (long)INJECT_PASS)

/* The number in an environment variable; 0 if there is none. */
unsigned long inject_number(const char *name);
/* Something was made to fail. */
void inject_mark(void);
/* Before main(): have system calls that write trapped, if the environment asks for it. */
void inject_disk_begin(void);

#endif
