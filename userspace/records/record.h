/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of a file in EDN, JSON or CSV, one after the other, as values of EDN.  A record of JSON
 * or CSV is written anew in EDN first, with a note of where each value was in the file, so that
 * all that looks into records, and all messages about them, are the same for the three.
 *
 *	{"f": "write", "value": 3.0}	{"f" "write" "value" 3}
 *
 *	f,value
 *	write,3				{"f" "write" "value" 3}
 */
#ifndef KL_RECORDS_RECORD_H
#define KL_RECORDS_RECORD_H

#include "history/formats/edn.h"
#include "history/input.h"
#include "spec/mapping/mapping.h"

/* A place in the EDN text of a record, and where this is in the file. */
struct kl_record_mark {
	size_t at;
	const char *source;
};

struct kl_records {
	enum kl_record_form { KL_RECORDS_EDN, KL_RECORDS_JSON, KL_RECORDS_CSV } form;
	struct kl_scan scan; /* the file, for messages */
	const char *p, *end; /* the rest of the file; it ends with a newline */
	char close; /* the records are in a list up to this bracket; or 0 */
	const char *open; /* the bracket that opens the list; NULL: it is no longer there */
	unsigned int open_line;
	bool item; /* an item of a list of JSON was read, so a comma or @close follows */
	bool over; /* the list has ended */
	bool more; /* the file goes on behind @end */
	struct kl_edn edn; /* reads the file, or @text */
	/* the present record of JSON or CSV in EDN */
	char *text;
	size_t ntext, ctext;
	struct kl_record_mark *marks;
	size_t nmarks, cmarks;
	/* names of the columns of CSV, as strings of EDN, one after the other in @columns */
	char *columns;
	size_t ncolumns, nheader, cheader;
	struct kl_edn_val record; /* the present record */
	const char *tok; /* where it begins in the file */
};

/*
 * Recognize the form of the file @text, which ends with a newline and a zero byte, and read what
 * comes before its records.  Return: 0, -EINVAL after a message, or another negative errno.
 */
int kl_records_begin(struct kl_records *r, const char *name, const char *text, const char *end,
		     const struct kl_mapping *map);
/*
 * Go on with more text of the file, behind that of before, which had @before lines.  Records are
 * not divided.
 */
void kl_records_go_on(struct kl_records *r, const char *text, const char *end, unsigned int before);
/* Read the next record.  Return: 1, 0 at the end, -EINVAL after a message, or another errno. */
int kl_records_next(struct kl_records *r);
void kl_records_free(struct kl_records *r);

/* Return: where the value that begins or ends at @tok is in the file. */
const char *kl_record_source(const struct kl_records *r, const char *tok);

/*
 * Report @what about the value at @tok, or about the record if @tok is NULL.  Return: -EINVAL.
 */
int kl_record_bad(struct kl_records *r, const char *tok, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As kl_record_bad(), but a warning. */
void kl_record_warn(struct kl_records *r, const char *tok, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * kl_record_step() - go from a value to a part of it
 * @r: the records
 * @v: a value of the present record
 * @step: the step
 * @out: the part, or nil
 *
 * Return: 0, 1 if the value has no such part or is nil, -EINVAL after a message if the value can
 * have no such part, or another negative errno.
 */
int kl_record_step(struct kl_records *r, const struct kl_edn_val *v, const struct kl_map_step *step,
		   struct kl_edn_val *out);

/**
 * kl_record_each() - call a function for each element of a list or set
 * @r: the records
 * @v: a list, a vector, a set or nil
 * @fn: the function; a return value other than 0 ends the loop
 * @ctx: first argument of @fn
 *
 * Return: 0, the value of @fn, -EINVAL after a message if @v is something else, or another errno.
 */
int kl_record_each(struct kl_records *r, const struct kl_edn_val *v,
		   int (*fn)(void *ctx, const struct kl_edn_val *element), void *ctx);

#define KL_RECORD_HINT 240 /* bytes of a hint */

/**
 * kl_record_hint() - tell which members a map has
 * @r: the records
 * @v: a value of the present record
 * @step: a step that @v lacks
 * @hint: gets "; did you mean 'NAME'?", "; its members are 'NAME', ..." or, if @v is no map or has
 *	no member with a name, ""
 */
void kl_record_hint(struct kl_records *r, const struct kl_edn_val *v,
		    const struct kl_map_step *step, char hint[KL_RECORD_HINT]);

/* Return: true if the value is a string, keyword or symbol with this name. */
bool kl_record_is(const struct kl_edn_val *v, const char *text, size_t len);

/* text.c: what JSON and CSV share.  Append to the EDN text of the present record. */
int kl_record_put(struct kl_records *r, const char *s, size_t len);
/* Append a string in the notation of EDN, whose bytes are @s. */
int kl_record_put_char(struct kl_records *r, unsigned char c);
/* Note that the end of the EDN text is at @source in the file. */
int kl_record_mark(struct kl_records *r, const char *source);
/* Start a new record at @source.  Append the end that kl_edn needs, and read the record. */
void kl_record_clear(struct kl_records *r, const char *source);
int kl_record_read(struct kl_records *r);

/* Report that the list has no end, if the file has.  Return: 0 or -EINVAL. */
int kl_records_unclosed(struct kl_records *r);

/* json.c, csv.c: write the next record of r->p as EDN.  Return: as kl_records_next(). */
int kl_json_next(struct kl_records *r);
int kl_csv_header(struct kl_records *r);
int kl_csv_next(struct kl_records *r);

#endif
