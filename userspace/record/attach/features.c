// SPDX-License-Identifier: GPL-2.0
/* Features that the running kernel offers to a recording, see features.h. */
#include <errno.h>
#include <stdbool.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/attach/features.h"
#include "record/attach/preemption.h"

#define MOST_FILES 2

/* A feature is there for this process if one of its files can be read. */
struct feature {
	const char *name;
	const char *files[MOST_FILES];	/* the second may be NULL */
	const char *missing;	/* the reason if there is no such file */
};

static const struct feature features[] = {
	{ "BTF", { "/sys/kernel/btf/vmlinux", NULL }, "no /sys/kernel/btf/vmlinux" },
	{ "ftrace", { "/sys/kernel/tracing/available_filter_functions",
		      "/sys/kernel/debug/tracing/available_filter_functions" },
	  "no tracefs, or no CONFIG_DYNAMIC_FTRACE" },
	{ "kprobes", { "/sys/kernel/tracing/kprobe_events",
		       "/sys/kernel/debug/tracing/kprobe_events" },
	  "no tracefs, or no CONFIG_KPROBE_EVENTS" },
	{ "klin.ko", { "/sys/module/klin", NULL }, "not loaded" },
};

/* Return: why the feature is missing, or NULL if it is there. */
static const char *why_not(const struct feature *t)
{
	const char *why = t->missing;
	unsigned int i;

	for (i = 0; i < MOST_FILES && t->files[i]; i++) {
		if (!access(t->files[i], R_OK))
			return NULL;
		if (errno == EACCES || errno == EPERM)
			why = "needs root";
	}
	return why;
}

/* Write the features that are there, or those that are not, with the reasons. */
static void put_some(FILE *f, const char *heading, bool there)
{
	const char *separator = heading, *why;
	unsigned int i;

	for (i = 0; i < sizeof(features) / sizeof(*features); i++) {
		why = why_not(&features[i]);
		if (!why != there)
			continue;
		fprintf(f, "%s%s", separator, features[i].name);
		if (why)
			fprintf(f, " (%s)", why);
		separator = ", ";
	}
}

void kl_put_features(FILE *f)
{
	struct utsname uts;

	if (uname(&uts))
		return;
	fprintf(f, "on Linux %s, preemption %s", uts.release, kl_preemption_name(kl_preemption()));
	put_some(f, ", with ", true);
	put_some(f, "\nwithout ", false);
	fputc('\n', f);
}
