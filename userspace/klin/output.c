// SPDX-License-Identifier: GPL-2.0
/* The options --output and --color, see output.h. */
#include <string.h>

#include "klin/input.h"
#include "klin/output.h"

enum kl_output kl_arg_output(struct argp_state *state, const char *arg)
{
	static const char *const names[] = { "text", "json", "ktap", "junit", NULL };
	const char *dot = strrchr(arg, '.');

	if (dot && kl_output_find(arg) < 0)
		argp_error(state,
			   "--output=%s: expected a form, text, json, ktap or junit, not the name "
			   "of a file; to write one, append >%s",
			   arg, arg);
	return kl_output_find(names[kl_arg_choice(state, "output", arg, names)]);
}

enum kl_diagram_auto kl_arg_colour(struct argp_state *state, const char *arg)
{
	static const char *const names[] = { "auto", "always", "never", NULL };
	static const enum kl_diagram_auto values[] = { KL_DIAGRAM_AUTO, KL_DIAGRAM_ON,
						       KL_DIAGRAM_OFF };

	return values[kl_arg_choice(state, "color", arg, names)];
}
