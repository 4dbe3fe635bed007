/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KL_TSO_REPLAY_H
#define KL_TSO_REPLAY_H

#include <stdbool.h>

#include "check/check.h"
#include "history/history.h"
#include "spec/spec.h"

struct kl_replay {
	size_t accepted;	/* partitions whose order is right */
	size_t refuted;		/* violations that the oracle confirms */
	/* partitions of which nothing is claimed, or not shown, or too much */
	size_t open;
	bool unknown;		/* the verdict of the whole: the history is empty, or has gaps */
	bool classical;		/* claims are about sequential consistency */
};

/**
 * kl_cert_history() - the history that a certificate is about
 * @path: the certificate
 * @name: the path as written there, to be freed
 *
 * Return: 0; -EINVAL or -ENOMEM after a message.
 */
int kl_cert_history(const char *path, char **name);

/**
 * kl_cert_replay() - check a certificate
 * @path: the certificate, see check/cert.h
 * @spec: the specification
 * @h: the history
 * @lim: bounds of time, and of looks (work) at what takes longer than to read it; what
 *	would go beyond them is open
 * @out: what was checked
 *
 * Orders are replayed in time linear in their length; violations are given to
 * the brute-force oracle.  Nothing of the engines is used.
 *
 * Return: 0 if everything claimed is right; -EBADMSG after a message about the
 * first claim that is not; -EINVAL after a message when the certificate cannot
 * be read or belongs to another history; -ENOMEM.
 */
int kl_cert_replay(const char *path, const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_limits *lim, struct kl_replay *out);

#endif
