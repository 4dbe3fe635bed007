/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KL_TRUSTED_REPLAY_H
#define KL_TRUSTED_REPLAY_H

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
};

/* A certificate that was read, see check/certificate.h; strings are its own. */
struct kl_cert {
	const char *path;		/* of itself, as given to kl_cert_open() */
	char *text, **lines;
	size_t nlines;			/* without those of the specification's text */
	unsigned int nheader;		/* lines before the first part */
	const char *spec_name, *spec_sha256;
	const char *history, *history_sha256;
	char *spec_text;
	unsigned long long nops, nparts;
	bool classical, fresh, by_key;
};

/**
 * kl_cert_open() - read what a certificate is about
 * @path: the certificate; it has to stay
 * @out: the certificate, for kl_cert_close()
 *
 * The carried specification has the hash that the certificate names.
 *
 * Return: 0; another negative errno after a message: -EINVAL, -ENOMEM, or why the file
 * cannot be read.
 */
int kl_cert_open(const char *path, struct kl_cert **out);
void kl_cert_close(struct kl_cert *c);

/**
 * kl_cert_check_spec() - is it the specification of the certificate?
 * @c: the certificate
 * @spec: the specification
 * @whose: where that is from, for the message
 *
 * Return: 0; -EINVAL after a message.
 */
int kl_cert_check_spec(const struct kl_cert *c, const struct kl_spec *spec, const char *whose);

/**
 * kl_cert_replay() - check a certificate
 * @c: the certificate; its lines are taken apart, so only once
 * @spec: the specification
 * @h: the history, with its hash if it is from a file
 * @lim: bounds of time, and of looks (work) at what takes longer than to read it; what
 *	would go beyond them is open
 * @out: what was checked
 *
 * Orders are replayed in time linear in their length; violations are given to
 * the brute-force oracle.  Nothing of the engines is used.
 *
 * Return: 0 if everything claimed is right; -EBADMSG after a message about the
 * first claim that is not; -EINVAL after a message when the certificate cannot
 * be read or belongs to another history or specification; -ENOMEM.
 */
int kl_cert_replay(struct kl_cert *c, const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_limits *lim, struct kl_replay *out);

#endif
