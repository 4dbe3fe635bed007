// SPDX-License-Identifier: GPL-2.0
/* The forms of a result, see output.h. */
#include <errno.h>
#include <string.h>

#include "report/json_value.h"
#include "report/output.h"

static const char *const names[] = {
	[KL_OUTPUT_TEXT] = "text", [KL_OUTPUT_JSON] = "json", [KL_OUTPUT_KTAP] = "ktap",
	[KL_OUTPUT_JUNIT] = "junit",
};

int kl_output_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return i;
	return -EINVAL;
}

int kl_output_put(FILE *f, json_t *j, enum kl_output form)
{
	json_t *tests = NULL;

	if (form == KL_OUTPUT_JSON)
		return kl_json_put(f, j, JSON_INDENT(2));
	/* Members of a result that is not whole may be missing. */
	j = kl_json_whole(j);
	if (j)
		tests = kl_json_whole(kl_output_tests(j));
	if (tests && form == KL_OUTPUT_KTAP)
		kl_output_ktap(f, tests);
	else if (tests)
		kl_output_junit(f, j, tests);
	json_decref(j);
	if (!tests)
		return -ENOMEM;
	json_decref(tests);
	return 0;
}
