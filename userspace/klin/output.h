/* SPDX-License-Identifier: GPL-2.0 */
/* The options --output, --full and --color of the commands that print a result. */
#ifndef KLIN_OUTPUT_H
#define KLIN_OUTPUT_H

#include <argp.h>

#include "report/diagram.h"
#include "report/output.h"

#define KLIN_OUTPUT                                                                            \
	"Print the result as text (the default), as json, or as the results of tests: as ktap " \
	"(KTAP version 1, as kselftests do) or as junit (JUnit's XML).  UNKNOWN is a skipped "  \
	"test"

#define KLIN_FULL                                                                              \
	"Print the whole story of a violation, and the counterexample, which is its proof.  " \
	"Without this option the story has at most 25 lines"

#define KLIN_COLOR	"auto (default: on a terminal, unless NO_COLOR is set), always or never"

/* Return: the form that --output=@arg names; a wrong one ends klin through argp_error(). */
enum kl_output kl_arg_output(struct argp_state *state, const char *arg);
/* The value of --color: auto, always or never. */
enum kl_diagram_auto kl_arg_colour(struct argp_state *state, const char *arg);

#endif
