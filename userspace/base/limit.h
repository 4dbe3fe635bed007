/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits that a user gives to a whole process, the reading of its input included: of time and
 * of memory.  Without them nothing here ever says that one was reached, and no clock is read.
 */
#ifndef KL_BASE_LIMIT_H
#define KL_BASE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* The process is to end @ns nanoseconds from now. */
void kl_limit_time(uint64_t ns);

/* Nanoseconds that are left, at least 1; 0 without a limit. */
uint64_t kl_limit_time_left(void);

/**
 * kl_limit_memory() - limit the memory of the process
 * @bytes: resident memory, at most; what klin needs to say that it is too little is allowed
 *
 * The kernel refuses what is more (RLIMIT_DATA): allocations fail as where the system has no
 * memory, and kl_limit_met() tells the two apart.
 */
void kl_limit_memory(uint64_t bytes);

/* Bytes of @bytes that are not resident yet, at least a MiB; @bytes without a limit. */
uint64_t kl_limit_memory_left(uint64_t bytes);

/* All is decided: allow the memory that a report needs. */
void kl_limit_lift(void);

/* Is there a limit of either kind? */
bool kl_limit_given(void);

/**
 * kl_limit_look() - look at the clock, in a loop over a large input
 * @what: what the loop is at, as in "line", or NULL
 * @number: which one of them
 *
 * Return: 0 or -ETIME.
 */
int kl_limit_look(const char *what, uint64_t number);

/* Wait until there is something to read, or the time limit ends: 0 or -ETIME. */
int kl_limit_wait(int fd);

/**
 * kl_limit_met() - is an error that of a limit?
 * @err: a negative errno
 *
 * Return: which limit, as in "the time limit of 5 s"; NULL if the error has another cause.
 */
const char *kl_limit_met(int err);

/* Where the input was when somebody last looked at the clock, as in ", line 12"; or "". */
const char *kl_limit_place(void);

#endif
