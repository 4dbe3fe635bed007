/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's monotonic clock, and how much it differs between CPUs. */
#ifndef KL_BASE_CLOCK_SKEW_H
#define KL_BASE_CLOCK_SKEW_H

#include <stddef.h>
#include <stdint.h>

/* Check that klin is in no time namespace.  Return: 0, or -EPERM after a message. */
int kl_clock_check(void);

/**
 * kl_clock_error() - measure the maximal difference of the CPUs' monotonic clocks
 * @error: gets the bound, in ns
 * @compared: gets the number of CPUs that were compared; there is no bound for others
 *
 * The calling thread moves from CPU to CPU, and loses its scheduling policy.
 *
 * Return: 0 or a negative errno.
 */
int kl_clock_error(uint64_t *error, unsigned int *compared);

/* Return: the kernel's clock source.  With "tsc", times of different CPUs can be compared. */
const char *kl_clock_source(char *buf, size_t size);

#endif
