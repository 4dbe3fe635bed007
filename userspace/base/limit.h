/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user's limits of time and memory for the whole process, including the reading of its
 * input.  Without a time limit no function here reads a clock.
 */
#ifndef KL_BASE_LIMIT_H
#define KL_BASE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Limit the time of the process to @ns nanoseconds from now. */
void kl_limit_time(uint64_t ns);

/* Return: the nanoseconds left until the time limit, at least 1; 0 without a time limit. */
uint64_t kl_limit_time_left(void);

/**
 * kl_limit_memory() - limit the memory of the process
 * @bytes: limit of the resident memory; raised to a minimum that klin needs to report
 *	the limit
 *
 * The kernel enforces the limit (RLIMIT_DATA): allocations beyond it fail as if the system had
 * no memory.  kl_limit_met() then names the limit for a message.
 */
void kl_limit_memory(uint64_t bytes);

/* Return: @bytes minus the resident memory, at least 1 MiB; @bytes if memory is not limited. */
uint64_t kl_limit_memory_left(uint64_t bytes);

/* Remove the memory limit after the verdict, so that the report has the memory it needs. */
void kl_limit_lift(void);

/* Return: true if there is a limit of time or memory. */
bool kl_limit_given(void);

/**
 * kl_limit_look() - check the time limit, in a loop over a large input
 * @what: the unit of progress, such as "line", for kl_limit_place(); NULL keeps the last unit
 *	and number
 * @number: number of the current unit
 *
 * Return: 0, or -ETIME if the time limit has passed.
 */
int kl_limit_look(const char *what, uint64_t number);

/* Wait until @fd is readable or the time limit ends.  Return: 0 or -ETIME. */
int kl_limit_wait(int fd);

/**
 * kl_limit_met() - name the limit that an error may come from
 * @err: a negative errno
 *
 * Return: the user's limit, such as "the time limit of 5 s": of time for -ETIME, of memory for
 * -ENOMEM.  NULL for another error, or if the user gave no such limit.
 */
const char *kl_limit_met(int err);

/* Return: the progress at the last check of the time, such as ", line 12", or "". */
const char *kl_limit_place(void);

#endif
