// SPDX-License-Identifier: GPL-2.0
/* Names that people mistype, see names.h. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/nearest.h"
#include "klin/names.h"

#define LIST	512	/* size of a list of methods, in bytes */

void kl_no_method(const struct kl_spec *spec, const char *option, const char *name, size_t len)
{
	const char *names[UINT8_MAX + 1], *near;
	char written[KL_NEAREST_MAX], list[LIST] = "";
	const unsigned int n = kl_spec_nmethods(spec);
	size_t at = 0;
	unsigned int m;

	for (m = 0; m < n; m++) {
		names[m] = kl_spec_method(spec, m)->name;
		if (at < LIST)
			at += snprintf(list + at, LIST - at, "%s%s",
				       !m ? "" : m + 1 < n ? ", " : " or ", names[m]);
	}
	snprintf(written, sizeof(written), "%.*s", (int)len, name);
	near = kl_nearest(written, names, n);
	kl_err("--%s: no method '%s' in %s: expected %s%s%s%s", option, written,
	       kl_spec_path(spec), list, near ? "; did you mean " : "", near ? near : "",
	       near ? "?" : "");
}

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
