/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Certificates: what `klin check --certificate' writes and `klin replay' checks.
 *
 *	klin-certificate 2
 *	history PATH
 *	operations N digest HEX
 *	classical 0|1
 *	partitions 2 by object|key
 *	part LINEARIZABLE 7 frontier
 *	order 0 2 ( 1 ) 3+3
 *	part VIOLATION 12 tso
 *	cut 17 end 300
 *	kept 5 6 9
 *
 * An order names operations by their index in the history, by call time: N takes
 * effect; N+K: it does, and then the K that follow it; N! takes effect and leaves its
 * writes in the store buffer; ~N: they reach memory; ( and ): a gap begins and ends.  An
 * UNKNOWN part has no order unless only a gap made it unknown.  A violation names the
 * operations of its counterexample, the time by which all others that matter had ended
 * (cut), whose effect is taken as unknown, - if there are none, and the time when the
 * last one failed (end).  Partitions come in the order of their first operations.
 *
 * In version 1 there is no N+K, and the digest is of the whole history.
 */
#ifndef KL_CHECK_CERT_H
#define KL_CHECK_CERT_H

#include "check/check.h"

/**
 * kl_cert_write() - write the certificate of a report
 * @r: the report
 * @classical: it was decided on sequential consistency
 * @history: path of the history, for the reader
 * @path: where to; complete or not at all
 *
 * Return: 0 or a negative errno.
 */
int kl_cert_write(const struct kl_report *r, bool classical, const char *history,
		  const char *path);

/**
 * kl_history_digest() - a number that tells histories apart
 * @h: the history
 * @whole: of all operations, as in version 1; else, if there are many, of some of them: it
 *	is there to say that a file is not the one that was meant, and what a certificate
 *	claims is held against all operations in any case
 *
 * Return: the number.
 */
uint64_t kl_history_digest(const struct kl_history *h, bool whole);

#endif
