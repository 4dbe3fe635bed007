/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of CPUs as the kernel writes them, such as 0-3,6. */
#ifndef KL_RECORD_CPULIST_H
#define KL_RECORD_CPULIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * kl_cpulist_parse() - read a list of CPUs
 * @text: the list; a newline may end it, and an empty list names no CPU
 * @cpus: gets bit i % 64 of word i / 64 set for each CPU i of the list
 * @max: number of bits at @cpus
 *
 * Return: 0, -EINVAL if @text is no list, -ERANGE if it names a CPU that has no bit.
 */
int kl_cpulist_parse(const char *text, uint64_t *cpus, unsigned int max);

/* Return: true if @text is what nohz_full has without a list: "(null)", with blanks around it. */
bool kl_cpulist_none(const char *text);

/**
 * kl_cpulist_print() - write a list of CPUs
 * @cpus: a bit for each CPU
 * @max: number of bits at @cpus
 * @f: gets the list, without a newline
 */
void kl_cpulist_print(const uint64_t *cpus, unsigned int max, FILE *f);

static inline bool kl_cpulist_has(const uint64_t *cpus, unsigned int cpu)
{
	return cpus[cpu / 64] >> cpu % 64 & 1;
}

#endif
