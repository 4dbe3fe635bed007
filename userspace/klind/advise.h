/* SPDX-License-Identifier: GPL-2.0 */
/* Advice about a configuration that is right in itself, but does not work as a service. */
#ifndef KLIND_ADVISE_H
#define KLIND_ADVISE_H

#include "klind/conf.h"

/*
 * Return: what to do about a specification @path that cannot be read, if klind runs as a service
 * and klind.service hides the home directories; else an empty text.
 */
const char *klind_hidden_hint(const char *path);
/* Return: what to do about a file of metrics that cannot be written because of @err, or "". */
const char *klind_metrics_hint(int err, bool confined);
/* Warn, for --check-config, of what klind.service cannot read, and of metrics without a place. */
void klind_advise(const struct klind_conf *c);

#endif
