/* SPDX-License-Identifier: GPL-2.0 */
/* The first members of every JSON object that klin prints: what it is, and where it was made. */
#ifndef KL_REPORT_ENVELOPE_H
#define KL_REPORT_ENVELOPE_H

#include <jansson.h>

/**
 * kl_json_envelope() - make an object with the members that all results share
 * @kind: what the object is, such as "check"
 * @release: the kernel release that the recording names; NULL: the result names this machine's
 *
 * Return: the object; the caller adds the other members.
 */
json_t *kl_json_envelope(const char *kind, const char *release);

#endif
