// SPDX-License-Identifier: GPL-2.0
/* Files that a command writes, see out_file.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "klin/out_file.h"

bool kl_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Is there one directory, and one name in it, that both paths name?  No file need exist. */
static bool same_place(const char *a, const char *b)
{
	const char *last[2] = { kl_last_part(a), kl_last_part(b) };
	char dir[2][PATH_MAX];
	struct stat st[2];

	snprintf(dir[0], PATH_MAX, "./%.*s", (int)(last[0] - a), a);
	snprintf(dir[1], PATH_MAX, "./%.*s", (int)(last[1] - b), b);
	return !strcmp(last[0], last[1]) && !stat(*a == '/' ? dir[0] + 2 : dir[0], &st[0]) &&
	       !stat(*b == '/' ? dir[1] + 2 : dir[1], &st[1]) && st[0].st_dev == st[1].st_dev &&
	       st[0].st_ino == st[1].st_ino;
}

bool kl_one_output(const char *a, const char *b)
{
	return !strcmp(a, b) || kl_same_file(a, b) || same_place(a, b);
}

/* Return: "--@option=", in @name, or "" if @option is NULL: the file is then an argument. */
static const char *option_text(const char *option, char name[64])
{
	*name = '\0';
	if (option)
		snprintf(name, 64, "--%s=", option);
	return name;
}

void kl_arg_out(struct argp_state *state, const char *option, const char *out)
{
	char name[64];
	const char *slash = out ? strrchr(out, '/') : NULL;
	char dir[PATH_MAX];
	struct stat st;

	if (out && !stat(out, &st) && S_ISDIR(st.st_mode))
		argp_error(state, "%s%s is a directory: expected a file", option_text(option, name),
			   out);
	if (!slash || slash - out >= PATH_MAX)
		return;
	snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - out), out);
	if (stat(dir, &st))
		argp_error(state, "%s%s: %s: %s", option_text(option, name), out, dir,
			   strerror(errno));
}

void kl_arg_keep(struct argp_state *state, const char *option, const char *out, const char *in)
{
	char name[64];

	kl_arg_out(state, option, out);
	if (out && in && kl_same_file(out, in))
		argp_error(state, "%s%s would replace the input; choose another name",
			   option_text(option, name), out);
}
