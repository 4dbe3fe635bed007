/* SPDX-License-Identifier: GPL-2.0 */
/* Which klin this is: its build, its compiler, and the libraries that it runs with. */
#ifndef KL_REPORT_BUILD_H
#define KL_REPORT_BUILD_H

#include <jansson.h>
#include <stdio.h>

/* Return: the object "klin" of all results: version, build and libraries. */
json_t *kl_build_json(void);

/**
 * kl_put_build() - write the version of a program, its build, and its libraries
 * @f: the stream to write to
 * @program: the name of the program
 */
void kl_put_build(FILE *f, const char *program);

#endif
