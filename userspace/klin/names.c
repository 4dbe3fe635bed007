// SPDX-License-Identifier: GPL-2.0
/* Names of methods on the command line, see names.h. */
#include <stdio.h>
#include <string.h>

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
