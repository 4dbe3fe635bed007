/* SPDX-License-Identifier: GPL-2.0 */
/* Values of the expressions of a history block, and the words that they become. */
#ifndef KL_RECORDS_VALUE_H
#define KL_RECORDS_VALUE_H

#include "history/string_pool.h"
#include "records/record.h"

#define KL_BITS_MAX 62 /* members of all sets of a history; such words are below 2^62 */

/* Whether records that a path was looked for in had the part that it names. */
#define KL_SEEN_FOUND 1
#define KL_SEEN_MISSING 2

/* The surroundings in which an expression is evaluated. */
struct kl_mapper {
	struct kl_records *r;
	struct kl_history *h;
	struct kl_words words;
	const struct kl_spec *spec;
	const struct kl_mapping *map;
	const struct kl_edn_val *element; /* of a rule with `for'; or NULL */
	unsigned char *seen; /* by path: KL_SEEN_... */
	bool mixed; /* a warning was given of a number that is compared with a text of its digits */
	/* processes that are numbers, or texts of digits; values that are words, alike */
	bool process_numbers, process_texts;
	size_t numbers, digits;
	char **hints; /* by path: what kl_map_hint() returns, or NULL */
	size_t nils; /* number of values that are nil, and are words of their own */
	/* the members of sets: their numbers, and their spellings */
	struct kl_words members;
	char *member[KL_BITS_MAX];
	unsigned int nmembers;
};

struct kl_map_value {
	enum { KL_V_NULL, KL_V_BOOL, KL_V_TEXT, KL_V_EDN, KL_V_WORD } kind;
	bool truth; /* of a KL_V_BOOL */
	struct kl_edn_val edn; /* the value in the record; tok is NULL if it is in none */
	struct kl_val word;
	const struct kl_map_expr *expr;
};

/* Evaluate @e in the present record.  Return: 0, -EINVAL after a message, or another errno. */
int kl_map_eval(struct kl_mapper *m, const struct kl_map_expr *e, struct kl_map_value *v);
/* Evaluate a condition; NULL is false. */
int kl_map_truth(struct kl_mapper *m, const struct kl_map_expr *e, bool *truth);
/* Evaluate an argument or a result. */
int kl_map_word(struct kl_mapper *m, const struct kl_map_expr *e, const struct kl_param *p,
		const char *method, struct kl_val *word);
/* Evaluate a process or an object: a number stays that number. */
int kl_map_name(struct kl_mapper *m, const struct kl_map_expr *e, bool process, uint64_t *word);
/* Evaluate a time; a time that is nil is KL_TIME_MAX. */
int kl_map_time(struct kl_mapper *m, const struct kl_map_expr *e, uint64_t *time);
/*
 * Find a text in the condition @e that is nearly what the record has in its place.  Return: @buf,
 * with advice that begins with "; ", or empty.
 */
const char *kl_map_meant(struct kl_mapper *m, const struct kl_map_expr *e, char *buf, size_t size);
/* Return: ", in .NAME" for a path, as in messages; empty for other expressions. */
const char *kl_map_path(const struct kl_map_expr *e, char *buf, size_t size);
/* Return: what to say of a path that no record has had, see kl_record_hint(); or "". */
const char *kl_map_hint(const struct kl_mapper *m, const struct kl_map_expr *e);
void kl_mapper_free(struct kl_mapper *m);

#endif
