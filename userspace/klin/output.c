// SPDX-License-Identifier: GPL-2.0
/* The options --output and --color, see output.h. */
#include <string.h>

#include "klin/output.h"

enum kl_output kl_arg_output(struct argp_state *state, const char *arg)
{
	const int form = kl_output_find(arg);

	if (form < 0)
		argp_error(state, "--output=%s: expected text, json, ktap or junit", arg);
	return form;
}

enum kl_diagram_auto kl_arg_colour(struct argp_state *state, const char *arg)
{
	static const char *const words[] = {
		[KL_DIAGRAM_AUTO] = "auto", [KL_DIAGRAM_OFF] = "never", [KL_DIAGRAM_ON] = "always",
	};
	int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(arg, words[i]))
			return i;
	argp_error(state, "--color=%s: expected auto, always or never", arg);
	return KL_DIAGRAM_AUTO;
}
