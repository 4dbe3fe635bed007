// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs on which klin causes no interrupts: CPUs that --cpu leaves out, and CPUs that the
 * administrator keeps free of interrupts (isolcpus=, nohz_full=).  On these CPUs klin starts no
 * timer and causes no drain, so it knows fewer times at which their store buffers were empty.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "record/cpulist.h"
#include "record/recorder.h"

static size_t words(const struct kl_recorder *r)
{
	return (r->ncpus + 63) / 64;
}

/* Add the CPUs that a file lists.  A kernel without the feature has no such file. */
static void add_isolated(struct kl_recorder *r, const char *path)
{
	char *text;
	size_t len;

	if (kl_read_file(path, &text, &len))
		return;
	if (!kl_cpulist_none(text) && kl_cpulist_parse(text, r->quiet, r->ncpus))
		kl_warn("%s: expected a list of CPUs, found '%.*s': klin may interrupt isolated "
			"CPUs", path, (int)strcspn(text, "\n"), text);
	free(text);
}

/**
 * kl_quiet_open() - find the CPUs on which klin must not cause interrupts
 * @r: the recorder, with its number of CPUs and its options
 *
 * Return: 0 or -ENOMEM.
 */
int kl_quiet_open(struct kl_recorder *r)
{
	int cpu;

	r->quiet = calloc(words(r), sizeof(*r->quiet));
	if (!r->quiet)
		return -ENOMEM;
	add_isolated(r, "/sys/devices/system/cpu/isolated");
	add_isolated(r, "/sys/devices/system/cpu/nohz_full");
	for (cpu = 0; r->opts.by_cpu && cpu < r->ncpus; cpu++)
		if (cpu >= 64 * KL_CPU_WORDS || !kl_cpulist_has(r->opts.cpus, cpu))
			r->quiet[cpu / 64] |= 1ULL << cpu % 64;
	return 0;
}

void kl_quiet_close(struct kl_recorder *r)
{
	free(r->quiet);
	r->quiet = NULL;
}

bool kl_quiet_is(const struct kl_recorder *r, int cpu)
{
	return kl_cpulist_has(r->quiet, cpu);
}

void kl_quiet_show(const struct kl_recorder *r, FILE *f)
{
	size_t i;

	for (i = 0; i < words(r) && !r->quiet[i]; i++)
		;
	if (i == words(r))
		return;
	fprintf(f, "klin causes no interrupts on CPUs ");
	kl_cpulist_print(r->quiet, r->ncpus, f);
	fprintf(f, " (isolated, or excluded by --cpu)\n");
}

/**
 * kl_quiet_others() - list the CPUs on which klin may cause interrupts
 * @r: the recorder
 *
 * Return: the list, which the caller frees, or NULL without memory.
 */
char *kl_quiet_others(const struct kl_recorder *r)
{
	uint64_t *others = calloc(words(r), sizeof(*others));
	char *text = NULL;
	size_t size;
	FILE *f = others ? open_memstream(&text, &size) : NULL;
	int cpu;

	for (cpu = 0; f && cpu < r->ncpus; cpu++)
		if (!kl_quiet_is(r, cpu))
			others[cpu / 64] |= 1ULL << cpu % 64;
	if (f) {
		kl_cpulist_print(others, r->ncpus, f);
		if (fclose(f)) {
			free(text);
			text = NULL;
		}
	}
	free(others);
	return text;
}
