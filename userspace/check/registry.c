// SPDX-License-Identifier: GPL-2.0
/* The list of engines, which the linker collects from their files. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check/engine.h"

#define MAX_ENGINES	32

extern const struct kl_engine *const __start_kl_engine_list[];
extern const struct kl_engine *const __stop_kl_engine_list[];

static const struct kl_engine *all[MAX_ENGINES + 1], *asked[MAX_ENGINES + 1];
static pthread_once_t sorted = PTHREAD_ONCE_INIT;

/* Engines go by rank; those without a rank come last, by name.  The linker's order is arbitrary. */
static int compare(const void *a, const void *b)
{
	const struct kl_engine *const *x = a, *const *y = b;

	/* The rank 0 becomes the largest number. */
	if ((*x)->rank != (*y)->rank)
		return (*x)->rank - 1 < (*y)->rank - 1 ? -1 : 1;
	return strcmp((*x)->name, (*y)->name);
}

static void sort(void)
{
	const size_t n = __stop_kl_engine_list - __start_kl_engine_list;
	size_t i;

	/* This is a developer's mistake, which every test shows. */
	if (n > MAX_ENGINES)
		abort();
	memcpy(all, __start_kl_engine_list, n * sizeof(*all));
	qsort(all, n, sizeof(*all), compare);
	for (i = 0; i < n && all[i]->rank; i++)
		asked[i] = all[i];
}

const struct kl_engine *const *kl_engines_all(void)
{
	pthread_once(&sorted, sort);
	return all;
}

const struct kl_engine *const *kl_engines(void)
{
	kl_engines_all();
	return asked;
}

const struct kl_engine *kl_engine_find(const char *name)
{
	const struct kl_engine *const *e;

	for (e = kl_engines_all(); *e && strcmp((*e)->name, name); e++)
		;
	return *e;
}

const struct kl_engine *kl_engine_general(void)
{
	const struct kl_engine *const *e;

	for (e = kl_engines_all(); *e && !(*e)->general; e++)
		;
	return *e;
}

const struct kl_engine *kl_engine_oracle(bool tso)
{
	const struct kl_engine *const *e;

	for (e = kl_engines_all(); *e && (!(*e)->oracle || (*e)->tso != tso); e++)
		;
	return *e;
}
