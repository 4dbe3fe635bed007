/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The replayer checks a certificate against its specification and history, without any engine but
 * the oracles.  See check/certificate.h for the form of a certificate.
 */
#ifndef KL_TRUSTED_REPLAY_H
#define KL_TRUSTED_REPLAY_H

#include <stdbool.h>

#include "check/check.h"
#include "history/history.h"
#include "spec/spec.h"

struct kl_replay {
	size_t accepted;	/* number of partitions whose order is right */
	size_t refuted;		/* number of violations that the oracle confirms */
	/* number of partitions without a claim, without a proof, or beyond a bound */
	size_t open;
	/* the verdict on the whole history is UNKNOWN: it is empty, or that of a partition is */
	bool unknown;
};

/* A certificate that was read, see check/certificate.h; it owns its strings. */
struct kl_cert {
	const char *path;		/* path of the certificate, as given to kl_cert_open() */
	char *text, **lines;
	size_t nlines;			/* number of lines, without the specification's text */
	unsigned int nheader;		/* number of lines before the first part */
	const char *spec_name, *spec_sha256;
	const char *history, *history_sha256;
	char *spec_text;
	uint64_t nops, nparts;
	bool classical, fresh, by_key;
};

/**
 * kl_cert_open() - read a certificate and its header
 * @path: the certificate; the string must stay
 * @out: the certificate, for kl_cert_close()
 *
 * The specification in the certificate is compared with the hash that the certificate names.
 *
 * Return: 0, or after a message -EINVAL, -ENOMEM, or the errno of reading the file.
 */
int kl_cert_open(const char *path, struct kl_cert **out);
void kl_cert_close(struct kl_cert *c);

/* Print @what about @line of a certificate, and the line with a caret at @col (0: at its start). */
void kl_cert_err(const char *path, char *const *lines, unsigned int line, unsigned int col,
		 const char *what);

/**
 * kl_cert_check_spec() - check that a specification is the certificate's
 * @c: the certificate
 * @spec: the specification
 * @whose: its origin, for the message
 *
 * Return: 0; -EINVAL after a message.
 */
int kl_cert_check_spec(const struct kl_cert *c, const struct kl_spec *spec, const char *whose);

/**
 * kl_cert_replay() - check a certificate
 * @c: the certificate; its lines are modified, so it can be replayed only once
 * @spec: the specification
 * @h: the history, with its hash if it is from a file
 * @lim: bounds of time, and of looks for everything that is not linear in the certificate; claims
 *	beyond them are open
 * @out: gets the numbers of checked claims
 *
 * Orders are replayed in linear time.  Violations are given to the brute-force oracle.  No engine
 * is used.
 *
 * Return: 0 if every claim is right; -EBADMSG after a message about the first wrong claim; -EINVAL
 * after a message if the certificate cannot be read or belongs to another history or specification;
 * -ENOMEM.
 */
int kl_cert_replay(struct kl_cert *c, const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_limits *lim, struct kl_replay *out);

#endif
