/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds where records end in a text that arrives in pieces, so that the readers of EDN, JSON and
 * CSV see whole records only.  It knows brackets, strings and comments, and finds no errors: the
 * readers report them.
 */
#ifndef KL_RECORDS_CUT_H
#define KL_RECORDS_CUT_H

#include <stdbool.h>
#include <stddef.h>

#include "records/record.h"

struct kl_cut {
	enum kl_record_form form;
	unsigned int depth; /* open brackets */
	unsigned int base; /* 1: the records are in a list */
	bool string, escape, comment;
	bool begin, quote; /* CSV: a field begins; a quote ended a string, or is doubled */
	/*
	 * EDN, outside of records: forms that still belong to the present one, as the value behind
	 * `^:m' or `#_'; and the atom that is being read
	 */
	unsigned int need;
	enum { KL_CUT_NONE, KL_CUT_ATOM, KL_CUT_TAG, KL_CUT_HASH } atom;
};

/*
 * Return: true if the first bytes show the form of the records and whether they are in a list.  A
 * text that begins with none of these brackets shows them by its first line.
 */
bool kl_cut_known(const char *text, size_t len);
/* Begin with the records that kl_records_begin() has recognized, at @r->p. */
void kl_cut_begin(struct kl_cut *c, const struct kl_records *r);
/*
 * Look at more text.  Return: the number of bytes up to the last end of a line or of the list that
 * divides no record; 0: there is none.
 */
size_t kl_cut_next(struct kl_cut *c, const char *text, size_t len);

#endif
