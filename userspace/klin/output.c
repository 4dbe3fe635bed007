// SPDX-License-Identifier: GPL-2.0
/* The option --output, see output.h. */
#include "klin/output.h"

enum kl_output kl_arg_output(struct argp_state *state, const char *arg)
{
	const int form = kl_output_find(arg);

	if (form < 0)
		argp_error(state, "--output=%s: expected text, json, ktap or junit", arg);
	return form;
}
