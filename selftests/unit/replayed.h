/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REPLAYED_H
#define REPLAYED_H

#include <stdbool.h>
#include <stdio.h>

#include "check/certificate.h"
#include "trusted/replay.h"

/* Read and replay a certificate.  Return: the result of kl_cert_open() or kl_cert_replay(). */
int replay_file(const char *path, const struct kl_spec *spec, const struct kl_history *h,
		const struct kl_limits *lim, struct kl_replay *replay);

/* Write a certificate whose lines from "partitions" to the last part are @parts. */
void write_certificate(FILE *f, const struct kl_spec *spec, const struct kl_history *h,
		       bool classical, const char *parts);

/* Write the certificate of a report and replay it.  Return: the result of kl_cert_replay(). */
int replay_report(const struct kl_report *r, bool classical, const struct kl_spec *spec,
		  const struct kl_history *h, struct kl_replay *replay);

#endif
