// SPDX-License-Identifier: GPL-2.0
/* The list of forms, which the linker collects from their files. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "history/formats/form.h"

#define MAX_FORMS	32

extern const struct kl_form *const __start_kl_form_list[];
extern const struct kl_form *const __stop_kl_form_list[];

static const struct kl_form *forms[MAX_FORMS + 1];
static pthread_once_t sorted = PTHREAD_ONCE_INIT;

static int by_rank(const void *a, const void *b)
{
	const struct kl_form *const *x = a, *const *y = b;

	return (*x)->rank < (*y)->rank ? -1 : (*x)->rank > (*y)->rank;
}

static void sort(void)
{
	const size_t n = __stop_kl_form_list - __start_kl_form_list;

	/* This is a programming error, which every test shows. */
	if (n > MAX_FORMS)
		abort();
	memcpy(forms, __start_kl_form_list, n * sizeof(*forms));
	qsort(forms, n, sizeof(*forms), by_rank);
}

const struct kl_form *const *kl_forms(void)
{
	pthread_once(&sorted, sort);
	return forms;
}

const struct kl_form *kl_form_find(const char *name)
{
	const struct kl_form *const *f;

	for (f = kl_forms(); *f && strcmp(name, (*f)->name); f++)
		;
	return *f;
}

const char *kl_form_near(const char *name)
{
	const struct kl_form *const *f;
	const char *names[MAX_FORMS];
	size_t n = 0;

	for (f = kl_forms(); *f; f++)
		names[n++] = (*f)->name;
	return kl_nearest(name, names, n);
}

const char *kl_form_names(char names[KL_FORM_NAMES], bool written)
{
	const struct kl_form *const *f, *const *next;
	size_t len = 0;

	for (f = kl_forms(); *f; f = next) {
		for (next = f + 1; written && *next && !kl_form_written(*next); next++)
			;
		if (written && !kl_form_written(*f))
			continue;
		len += snprintf(names + len, len < KL_FORM_NAMES ? KL_FORM_NAMES - len : 0, "%s%s",
				!len ? "" : *next ? ", " : " or ", (*f)->name);
	}
	return names;
}

void kl_forms_list(void)
{
	const struct kl_form *const *f;

	for (f = kl_forms(); *f; f++)
		printf("%-7s%c  %s\n", (*f)->name, kl_form_written(*f) ? '*' : ' ', (*f)->help);
}
