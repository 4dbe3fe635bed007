/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The forms of histories.  Each form is a file of its own, which registers it by KL_FORM().  klin
 * recognizes a form by the head of a history.
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
	const char *first; /* the first line that is not empty */
	/* the first line that is neither empty nor a comment (#, ;), or @end */
	const char *data;
	const char *end;
};

/*
 * Move *p to the next word of the line.  The caller adds the word's length to *p before the next
 * call.  Return: the length of the word, or 0 at the end of the line.
 */
size_t kl_head_word(const struct kl_head *head, const char **p);
/* Return: true if @word is the next word of the line; then *p moves behind it. */
bool kl_head_is(const struct kl_head *head, const char **p, const char *word);

/* A part of a text. */
struct kl_piece {
	const char *s;
	size_t len;
};

#define KL_ENTRY_WORDS 16 /* values of an operation at most */

/**
 * struct kl_entry - what a form finds in an entry of a text that is read again
 * @len: length of the entry
 * @timed: the entry has a @time
 * @time: its time in nanoseconds, on a clock that is not the history's
 * @process: who made it
 * @type: its type, such as :invoke
 * @f: what was done
 * @value: the value as a whole
 * @word: the values of the operation, as the text spells them: the arguments in the entry of a
 *	call, the results in that of a return, or both in an entry of both
 * @nwords: number of these values
 *
 * A part that the entry lacks is empty.
 */
struct kl_entry {
	size_t len;
	bool timed;
	uint64_t time;
	struct kl_piece process, type, f, value, word[KL_ENTRY_WORDS];
	unsigned int nwords;
};

/**
 * struct kl_form - a form of histories
 * @name: its name for --to and --from
 * @help: whose form it is, and for which structures, in at most a line
 * @rank: a form with a lower rank is tried earlier; all ranks differ
 * @example: a line for messages; several forms may have the same
 * @header: the example is the first line of a file, by which klin recognizes the form
 * @binary: the form has no lines
 * @is: returns true if a file with this head may have the form
 * @read: reads a history.  Return: 0, -EINVAL after a message, or another negative errno
 * @write: writes a history; NULL if klin cannot (kl_klh_write() writes .klh).  Return: 0, -EINVAL
 *	after a message if the form cannot express the history, or another negative errno
 * @entry: reads an entry of the history again, from @text on, where a newline and a zero byte
 *	follow @end.  Return: false if it does not end before @end.  NULL: entries are lines, of
 *	which no more is known
 * @places: the unit of the places of its operations
 * @keys: values may be [KEY VALUE], see --independent
 * @tso: a history that does not name its memory model was recorded on x86; in other forms it is
 *	sequentially consistent
 */
struct kl_form {
	const char *name, *help, *example;
	unsigned int rank;
	bool header, binary;
	bool (*is)(const struct kl_head *head);
	int (*read)(struct kl_input *in, struct kl_history **out);
	int (*write)(const struct kl_history *h, FILE *f);
	bool (*entry)(const struct kl_history *h, const char *text, const char *end,
		      struct kl_entry *out);
	enum kl_place_kind places;
	bool keys, tso;
	/*
	 * the specs whose histories it can write; methods of other specs may have the same names,
	 * but another meaning
	 */
	const char *specs[8];
};

/*
 * Register the form @symbol, named kl_form_NAME in small letters; the Makefile searches for this
 * line, too, and makes a fuzz target of the name.  The section must not have the name of
 * kl_forms(), which the assembler would confuse with it.
 */
#define KL_FORM(symbol)									\
	static const struct kl_form *const kl_registered_##symbol			\
	__attribute__((used, section("kl_form_list"))) = &symbol

/* Return: true if klin can write histories in this form. */
static inline bool kl_form_written(const struct kl_form *f)
{
	return f->write || f->binary;
}

/*
 * Return: the form that the first bytes @data of a file show; the text form if they hold only
 * comments; NULL if they are of no form.
 */
const struct kl_form *kl_form_tell(const char *data, size_t len);
/* Read a history in @form; NULL: in the form that its first bytes show. */
int kl_form_read(const struct kl_form *form, struct kl_input *in, struct kl_history **out);

#define KL_EXAMPLES 512 /* size of a buffer for the list of all examples */

/*
 * List an example of each form: "`A' (x), `B' (y), or a first line `C' (z)".  Forms with the same
 * example are named together.  klin-replay, which reads klin's own forms only, lacks this function.
 */
const char *kl_form_examples(char text[KL_EXAMPLES]) __attribute__((weak));

/* Set the memory model of a history that does not name one, after all header lines were read. */
void kl_form_set_memory(const struct kl_form *form, struct kl_history *h);

/* The beginning of a file, for messages. */
struct kl_start {
	char text[512];
	size_t len;
	bool more;	/* the file has more than blanks */
};

void kl_start_add(struct kl_start *s, const char *data, size_t len);

#define KL_TITLE 64 /* size of a buffer for advice on the first line */

/*
 * Return: "; did you mean the first line `# set'?", in @buf, if the first line is nearly one of
 * LinP's form; other advice if an operation begins nearly as in another form; or "".  klin-replay
 * lacks this function, too.
 */
const char *kl_form_near_title(const struct kl_start *start, char buf[KL_TITLE])
	__attribute__((weak));

/*
 * Report that a file is empty, has no operation in @form, or (@form NULL) has no known form.  Show
 * the first lines of the file.  Return: -EINVAL.
 */
int kl_form_unread(const char *name, const struct kl_form *form, const struct kl_start *start);

extern const struct kl_form kl_form_text, kl_form_klh, kl_form_linp, kl_form_fptlin,
	kl_form_events, kl_form_limo, kl_form_edn, kl_form_jepsen;

#endif
