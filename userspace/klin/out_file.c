// SPDX-License-Identifier: GPL-2.0
/* Files that a command writes, see out_file.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "klin/out_file.h"

bool kl_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

void kl_arg_out(struct argp_state *state, const char *option, const char *out)
{
	const char *slash = out ? strrchr(out, '/') : NULL;
	char dir[PATH_MAX];
	struct stat st;

	if (out && !stat(out, &st) && S_ISDIR(st.st_mode))
		argp_error(state, "--%s=%s is a directory: expected a file", option, out);
	if (!slash || slash - out >= PATH_MAX)
		return;
	snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - out), out);
	if (stat(dir, &st))
		argp_error(state, "--%s=%s: %s: %s", option, out, dir, strerror(errno));
}

void kl_arg_keep(struct argp_state *state, const char *option, const char *out, const char *in)
{
	kl_arg_out(state, option, out);
	if (out && in && kl_same_file(out, in))
		argp_error(state, "--%s=%s would replace the input; choose another name", option,
			   out);
}
