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
 * An order names operations by their index in the history, which is in order of calls:
 *
 *	N	operation N takes effect
 *	N+K	operation N takes effect, and then the K operations after it
 *	N!	operation N takes effect, and its writes stay in the store buffer
 *	~N	the writes of operation N reach memory
 *	( )	a gap begins and ends
 *
 * An UNKNOWN part has no order unless only a gap made it unknown.  A violation names the operations
 * of its counterexample (kept), the return time of the last one (end), and a time (cut): operations
 * that ended by the cut are forgotten, and the state is unknown there.  A cut of - means that none
 * is forgotten.  Partitions come in the order of their first operations.
 *
 * Versions 1 and 2 do not hash the specification, and are refused.
 */
#ifndef KL_CHECK_CERTIFICATE_H
#define KL_CHECK_CERTIFICATE_H

#include "check/check.h"

/**
 * kl_cert_write() - write the certificate of a report
 * @r: the report
 * @classical: the history was decided on sequential consistency
 * @history: path of the history, whose hash is @r->h->sha256; the hash "-" stands for a history
 *	in memory, whose hash is unknown
 * @path: the file to write, whole or not at all
 *
 * Return: 0 or a negative errno.
 */
int kl_cert_write(const struct kl_report *r, bool classical, const char *history,
		  const char *path);

#endif
