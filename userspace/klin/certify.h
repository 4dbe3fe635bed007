/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The option --certificate of commands that check a history while it grows.  The proof of the
 * first violation goes to two files, each whole or not at all:
 *
 *	FILE.klh	the violation's last operations
 *	FILE		the certificate, which names FILE.klh
 */
#ifndef KLIN_CERTIFY_H
#define KLIN_CERTIFY_H

#include <argp.h>

#include "check/online/online.h"

/* Refuse, through argp_error(), a FILE that cannot be used, or replaces @input (or NULL). */
void certify_arg(struct argp_state *state, const char *path, const char *input);

/* Return: the command that checks the certificate @path, to be freed; NULL when out of memory. */
char *certify_replay(const char *path);

/**
 * certify_write() - write the proof of a violation
 * @path: the certificate
 * @spec: the specification
 * @v: the violation, with its history
 * @classical: check on sequential consistency
 *
 * Return: 0; -ENODATA if the operations that are kept do not show the violation, and then no file
 * is written; other errno after a message.
 */
int certify_write(const char *path, const struct kl_spec *spec,
		  const struct kl_online_violation *v, bool classical);

#endif
