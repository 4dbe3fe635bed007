/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The forms that histories come in, one file each, which registers its form by KL_FORM().  A
 * form is told by the head of a file.
 */
#ifndef KL_HISTORY_FORMATS_FORM_H
#define KL_HISTORY_FORMATS_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "history/history.h"
#include "history/input.h"
#include "history/scan.h"

struct kl_head {
	const char *first;	/* the first line that is not empty, */
	const char *data;	/* and that is no comment (# or ;); @end if there is none */
	const char *end;
};

/*
 * The next word of a line: *p moves to it; returns its length, 0 at the end of
 * the line.  To go on, add the length to *p.
 */
size_t kl_head_word(const struct kl_head *head, const char **p);
/* The same, and is it this one?  Moves *p behind it if so. */
bool kl_head_is(const struct kl_head *head, const char **p, const char *word);

/**
 * struct kl_form - a form of histories
 * @name: as --to and --from call it
 * @help: whose it is, and of what; at most a line
 * @rank: forms of a lower rank are looked for earlier; each has its own
 * @example: a line of it, for messages; several forms may have the same
 * @header: the example is the first line of a file, which tells the form
 * @binary: it has no lines
 * @is: could a file that begins so be of this form?
 * @read: read one; a negative errno, of which -EINVAL comes with a message
 * @write: write one, NULL if klin cannot (.klh is written by kl_klh_write());
 *	-EINVAL after a message when the form cannot express the history
 * @places: what the places of its operations are
 * @keys: values may be [KEY VALUE], as --independent says
 * @tso: what does not say which memory it is of was recorded on x86; others are of
 *	sequential consistency
 */
struct kl_form {
	const char *name, *help, *example;
	unsigned int rank;
	bool header, binary;
	bool (*is)(const struct kl_head *head);
	int (*read)(struct kl_input *in, struct kl_history **out);
	int (*write)(const struct kl_history *h, FILE *f);
	enum kl_place_kind places;
	bool keys, tso;
	/* Whose histories it writes: by methods' names alone others' would be told as these. */
	const char *specs[8];
};

/*
 * Have the form @symbol in the list; the Makefile looks for this word, too.
 * The section is not called as kl_forms() is: the assembler would take one for the other.
 */
#define KL_FORM(symbol)									\
	static const struct kl_form *const kl_registered_##symbol			\
	__attribute__((used, section("kl_form_list"))) = &symbol

/* Can klin write it? */
static inline bool kl_form_written(const struct kl_form *f)
{
	return f->write || f->binary;
}

/* The form that a file of this head seems to be of; text if it has no data; NULL if it is of none. */
const struct kl_form *kl_form_tell(const char *data, size_t len);
/* Read @form, or what form it seems to be if NULL. */
int kl_form_read(const struct kl_form *form, struct kl_input *in, struct kl_history **out);

/**
 * kl_form_check() - refuse what can be a history of no form
 * @name: the file
 * @data: its first bytes
 * @len: how many
 *
 * Return: how many of them say that it is UTF-8, and are to be left out; -EINVAL after a
 * message.
 */
int kl_form_check(const char *name, const char *data, size_t len);

/* After the header, or the end: what the history's memory is if it does not say it. */
void kl_form_set_memory(const struct kl_form *form, struct kl_history *h);

/* The beginning of a file, for messages. */
struct kl_start {
	char text[512];
	size_t len;
	bool more;		/* than blanks */
};

void kl_start_add(struct kl_start *s, const char *data, size_t len);

/*
 * Say that a file has nothing in it, or of @form, or is of no form if that is
 * NULL, below which its first lines are shown.  Returns -EINVAL.
 */
int kl_form_unread(const char *name, const struct kl_form *form, const struct kl_start *start);

extern const struct kl_form kl_form_text, kl_form_klh, kl_form_linp, kl_form_fptlin,
	kl_form_events, kl_form_limo, kl_form_edn, kl_form_jepsen;

#endif
