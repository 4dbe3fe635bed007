// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the library, which klin_error() returns instead of printing them.  Each thread has
 * its own.  Threads that a check starts for itself have nobody to tell.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/version.h"
#include "libklin/internal.h"

#define MORE "..."

static __thread char text[4096];
static __thread size_t used;

/* Append a line; what has no room is cut off. */
static void keep(enum kl_level level, const char *line)
{
	static const char name[] = "klin: ";
	const size_t room = sizeof(text) - used;
	int n;

	(void)level;
	if (!strncmp(line, name, strlen(name)))
		line += strlen(name);
	n = snprintf(text + used, room, "%s%s", used ? "\n" : "", line);
	if ((size_t)n >= room) {
		strcpy(text + sizeof(text) - sizeof(MORE), MORE);
		n = room - 1;
	}
	used += n;
}

/* This runs before main(), and before threads use the library. */
__attribute__((constructor)) static void keep_messages(void)
{
	kl_log_sink = keep;
}

void lib_begin(void)
{
	used = 0;
	*text = '\0';
}

int lib_end(int err, const char *what)
{
	char line[256];

	if (err && !used) {
		snprintf(line, sizeof(line), "%s: %s", what, strerror(-err));
		keep(KL_LOG_ERR, line);
	}
	return err;
}

const char *klin_error(void)
{
	return text;
}

const char *klin_version(void)
{
	return KLIN_VERSION;
}
