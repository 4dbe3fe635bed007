/* SPDX-License-Identifier: GPL-2.0 */
/* Makes operations from records, by the history block of a spec; file.c and follow.c use it. */
#ifndef KL_RECORDS_MAP_H
#define KL_RECORDS_MAP_H

#include "history/formats/pair_events.h"
#include "records/value.h"
#include "spec/spec.h"

/* A call that has not returned. */
struct kl_map_open {
	const struct kl_map_rule *rule;
	const char *tok; /* where its record begins; NULL: the text is no longer there */
	unsigned int line;
};

/* When an operation was, and its place in the input. */
struct kl_map_span {
	uint64_t call, ret;
	uint32_t place;
};

struct kl_map_reader {
	struct kl_records r;
	struct kl_mapper m;
	struct kl_pairs pairs;
	const struct kl_spec *spec;
	struct kl_map_open *open; /* by thread: its open operation */
	size_t copen;
	struct kl_map_span *last; /* by thread: its operation that returned last */
	size_t clast;
	size_t ignored, failed;
	unsigned int looks; /* number of returns without a known method that were looked at */
	/* the place of the present record where places are lines; otherwise without a name */
	struct kl_scan lines;
};

/* Begin with an empty history.  Return: 0 or -ENOMEM; kl_map_free() is needed in any case. */
int kl_map_begin(struct kl_map_reader *rd, const struct kl_spec *spec);
/* Free all, with the history. */
void kl_map_free(struct kl_map_reader *rd);

/* Refuse a text that has zero bytes, of which @before bytes were read already. */
int kl_map_check_text(const char *name, const char *text, const char *end, uint64_t before);
/*
 * Read the records of the present text.  Return: 0, -EINVAL after a message, or another negative
 * errno, as the functions below.
 */
int kl_map_records(struct kl_map_reader *rd);
/* Set what the block says of the history as a whole. */
void kl_map_describe(struct kl_map_reader *rd);

/*
 * Refuse operations of one process that are at the same time: a process waits for a return before
 * its next call, so they show a wrong `process' or wrong times.  An operation whose return is not
 * known may go on.  A later call compares more operations with those before.
 */
int kl_map_check_at_once(struct kl_map_reader *rd);
/* At the end of the file open operations are lost: refuse those whose number is unknown. */
int kl_map_check_open(struct kl_map_reader *rd);
/* Refuse an argument or a result that no record has: a wrong name would make all values nil. */
int kl_map_check_paths(const struct kl_map_reader *rd, const char *file);
/* Report that the file has no operation.  Return: -EINVAL. */
int kl_map_none(const struct kl_map_reader *rd, const char *file);

#endif
