// SPDX-License-Identifier: GPL-2.0
/* Finds out the kernel's preemption model, see preemption.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "record/attach/preemption.h"

static const char *const names[] = {
	[KL_PREEMPT_NONE] = "none", [KL_PREEMPT_VOLUNTARY] = "voluntary",
	[KL_PREEMPT_LAZY] = "lazy", [KL_PREEMPT_FULL] = "full", [KL_PREEMPT_RT] = "rt",
	[KL_PREEMPT_UNKNOWN] = "unknown",
};

const char *kl_preemption_name(enum kl_preemption p)
{
	return names[p];
}

/* Return: the model whose name is at the start of @text, up to one of the characters @ends. */
static enum kl_preemption model_named(const char *text, const char *ends)
{
	const size_t len = strcspn(text, ends);
	enum kl_preemption p;

	for (p = KL_PREEMPT_NONE; p < KL_PREEMPT_UNKNOWN; p++)
		if (strlen(names[p]) == len && !memcmp(text, names[p], len))
			return p;
	return KL_PREEMPT_UNKNOWN;
}

/* Return: the model of the last option preempt= that the kernel understands. */
static enum kl_preemption model_by_cmdline(const char *cmdline)
{
	enum kl_preemption found = KL_PREEMPT_UNKNOWN, one;
	const char *at;

	for (at = cmdline; (at = strstr(at, "preempt=")); at++) {
		if (at > cmdline && at[-1] != ' ')
			continue;
		/* The kernel ignores the option with an unknown model. */
		one = model_named(at + strlen("preempt="), " \n");
		if (one != KL_PREEMPT_UNKNOWN)
			found = one;
	}
	return found;
}

static enum kl_preemption model_by_config(const char *config)
{
	static const struct {
		const char *line;
		enum kl_preemption p;
	} lines[] = {
		{ "\nCONFIG_PREEMPT_NONE=y\n", KL_PREEMPT_NONE },
		{ "\nCONFIG_PREEMPT_VOLUNTARY=y\n", KL_PREEMPT_VOLUNTARY },
		{ "\nCONFIG_PREEMPT_LAZY=y\n", KL_PREEMPT_LAZY },
		{ "\nCONFIG_PREEMPT=y\n", KL_PREEMPT_FULL },
	};
	unsigned int i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (strstr(config, lines[i].line))
			return lines[i].p;
	return KL_PREEMPT_UNKNOWN;
}

enum kl_preemption kl_preemption_of(const struct kl_preemption_files *f)
{
	enum kl_preemption p = KL_PREEMPT_UNKNOWN;
	const char *at;

	if (f->version && strstr(f->version, "PREEMPT_RT"))
		return KL_PREEMPT_RT;
	at = f->sched ? strchr(f->sched, '(') : NULL;
	if (at)
		return model_named(at + 1, ")");
	if (!f->version)
		return p;
	/* The kernel reads the option only with CONFIG_PREEMPT_DYNAMIC. */
	if (strstr(f->version, "PREEMPT_DYNAMIC") && f->cmdline)
		p = model_by_cmdline(f->cmdline);
	if (p == KL_PREEMPT_UNKNOWN && f->config)
		p = model_by_config(f->config);
	if (p != KL_PREEMPT_UNKNOWN || strstr(f->version, "PREEMPT_DYNAMIC"))
		return p;
	return strstr(f->version, "PREEMPT") ? KL_PREEMPT_FULL : KL_PREEMPT_VOLUNTARY;
}

/* Return: a file's text, which the caller frees, or NULL. */
static char *read_text(const char *path)
{
	char *text;
	size_t len;

	return kl_read_file(path, &text, &len) ? NULL : text;
}

enum kl_preemption kl_preemption(void)
{
	char *sched = read_text("/sys/kernel/debug/sched/preempt"), *cmdline = NULL, *config = NULL;
	struct kl_preemption_files f = { .sched = sched };
	enum kl_preemption p;
	struct utsname uts;
	char path[128];

	if (!uname(&uts))
		f.version = uts.version;
	if (!sched && f.version) {
		snprintf(path, sizeof(path), "/boot/config-%s", uts.release);
		f.config = config = read_text(path);
		f.cmdline = cmdline = read_text("/proc/cmdline");
	}
	p = kl_preemption_of(&f);
	free(sched);
	free(cmdline);
	free(config);
	return p;
}
