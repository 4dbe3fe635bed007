// SPDX-License-Identifier: GPL-2.0
/* Lists of CPUs as the kernel writes them, see cpulist.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/cpulist.h"

#define CPU_MAX 1000000UL /* more CPUs than any kernel supports */

static bool read_number(const char **at, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*number = strtoul(*at, &end, 10);
	*at = end;
	return *number < CPU_MAX;
}

bool kl_cpulist_none(const char *text)
{
	return !strncmp(text + strspn(text, " "), "(null)", 6);
}

int kl_cpulist_parse(const char *text, uint64_t *cpus, unsigned int max)
{
	unsigned long from, to;

	if (!*text || *text == '\n')
		return 0;
	for (;;) {
		if (!read_number(&text, &from))
			return -EINVAL;
		to = from;
		if (*text == '-' && (text++, !read_number(&text, &to)))
			return -EINVAL;
		if (from > to)
			return -EINVAL;
		if (to >= max)
			return -ERANGE;
		for (; from <= to; from++)
			cpus[from / 64] |= 1ULL << from % 64;
		if (*text == '\n')
			text++;
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

void kl_cpulist_print(const uint64_t *cpus, unsigned int max, FILE *f)
{
	const char *before = "";
	unsigned int cpu, last;

	for (cpu = 0; cpu < max; cpu = last + 1) {
		last = cpu;
		if (!kl_cpulist_has(cpus, cpu))
			continue;
		while (last + 1 < max && kl_cpulist_has(cpus, last + 1))
			last++;
		fprintf(f, last > cpu ? "%s%u-%u" : "%s%u", before, cpu, last);
		before = ",";
	}
}
