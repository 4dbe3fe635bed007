/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Certificates: what `klin check --certificate' writes and `klin replay' checks.
 *
 *	klin-certificate 3
 *	spec NAME sha256 HEX
 *	history PATH sha256 HEX
 *	operations N
 *	memory tso|sc
 *	first init|any
 *	partitions 2 by object|key
 *	part LINEARIZABLE 7 frontier
 *	order 0 2 ( 1 ) 3+3
 *	part VIOLATION 12 tso
 *	cut 17 end 300
 *	kept 5 6 9
 *	text 2
 *		spec NAME { ... }
 *
 *	end
 *
 * The hashes are of the specification's text and of the history's file.  The text follows the
 * last part, a tab before each line, so that the certificate alone says what was checked.
 * The last line shows that nothing is cut off.
 *
 * An order names operations by their index in the history, by call time: N takes
 * effect; N+K: it does, and then the K that follow it; N! takes effect and leaves its
 * writes in the store buffer; ~N: they reach memory; ( and ): a gap begins and ends.  An
 * UNKNOWN part has no order unless only a gap made it unknown.  A violation names the
 * operations of its counterexample, the time by which all others that matter had ended
 * (cut), whose effect is taken as unknown, - if there are none, and the time when the
 * last one failed (end).  Partitions come in the order of their first operations.
 *
 * Versions 1 and 2 name the specification by nothing and are refused.
 */
#ifndef KL_CHECK_CERTIFICATE_H
#define KL_CHECK_CERTIFICATE_H

#include "check/check.h"

/**
 * kl_cert_write() - write the certificate of a report
 * @r: the report
 * @classical: it was decided on sequential consistency
 * @history: path of the history, whose hash is @r->h->sha256; "-" stands for a hash that is
 *	not known, of a history in memory
 * @path: where to; complete or not at all
 *
 * Return: 0 or a negative errno.
 */
int kl_cert_write(const struct kl_report *r, bool classical, const char *history,
		  const char *path);

#endif
