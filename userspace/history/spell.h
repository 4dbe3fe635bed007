/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spellings of words in the input.  A value that is no number, such as "7", :x or [1 2] in an EDN
 * history, becomes a word that no other value has; messages show its spelling.  Recordings have
 * names of threads, of stacks, and of objects whose address has a symbol.
 *
 * Copies of a history share one table until one of them gets another spelling.
 */
#ifndef KL_HISTORY_SPELL_H
#define KL_HISTORY_SPELL_H

#include <string.h>

#include "base/hash.h"
#include "history/history.h"

/*
 * A spelling belongs to a word, which is a value or an object; to a thread by its number; or to a
 * kernel stack by its number; or it names the slab cache of an object.  The spelling of a stack is
 * its frames, as in "FUNCTION+0x10 [MODULE]", from the innermost on, with "; " between them.
 *
 * The spelling of a method is its name in a foreign form: Jepsen has enqueue where a spec has enq.
 * Its word is a hash of the spec's name, since a part of a history may number methods otherwise.
 * klin's own forms have the spec's name in each operation, so they do not keep this spelling.
 *
 * The spelling of a result belongs to a value of one method's results: a cas of Jepsen's is :ok or
 * :fail.  klin's own forms do not keep it either.
 */
enum kl_spelled {
	KL_SPELLED_WORD,
	KL_SPELLED_THREAD,
	KL_SPELLED_STACK,
	KL_SPELLED_SLAB,
	KL_SPELLED_METHOD,
	KL_SPELLED_RESULT,
};

/**
 * kl_history_spell_kind() - set the spelling of a word, thread or stack
 * @h: the history
 * @kind: which of them
 * @word: the word, or the number of the thread or stack; a spelling that it already has is kept
 * @text: the new spelling, without a newline or a zero byte
 * @len: length of @text
 *
 * Return: 0, -ENOMEM or -EOVERFLOW.
 */
int kl_history_spell_kind(struct kl_history *h, enum kl_spelled kind, uint64_t word,
			  const char *text, size_t len);

static inline int kl_history_spell(struct kl_history *h, uint64_t word, const char *text,
				   size_t len)
{
	return kl_history_spell_kind(h, KL_SPELLED_WORD, word, text, len);
}

/**
 * kl_history_spell_method() - set the name that reports show for a method
 * @h: the history
 * @name: the spec's name of the method
 * @text: the name in the file; may equal @name
 * @len: length of @text
 *
 * Return: as kl_history_spell_kind().
 */
int kl_history_spell_method(struct kl_history *h, const char *name, const char *text, size_t len);

/* Return: the word whose spelling is that of result @i of method @name if it is @v. */
static inline uint64_t kl_result_word(const char *name, unsigned int i, uint64_t v)
{
	return kl_mix(kl_mix(kl_hash_bytes(name, strlen(name)), i), v);
}

/* Set the text that reports show for result @i of a method if it is @v.  Return: as above. */
int kl_history_spell_result(struct kl_history *h, const char *name, unsigned int i, uint64_t v,
			    const char *text, size_t len);

/* Return: the text of result @i of method @name if it is @v, or NULL if it has none of its own. */
const char *kl_history_result_said(const struct kl_history *h, const char *name, unsigned int i,
				   struct kl_val v);

/* Print a result: kl_history_result_said(), or as kl_history_print_val(). */
int kl_history_print_result(char *buf, size_t size, const struct kl_history *h, const char *name,
			    unsigned int i, struct kl_val v);

/* Return: the name of method @i of @h as the file has it. */
const char *kl_history_method_said(const struct kl_history *h, size_t i);

/* Return: the spelling of a word, thread or stack, or NULL. */
const char *kl_history_spelled(const struct kl_history *h, enum kl_spelled kind, uint64_t word);

static inline const char *kl_history_spelling(const struct kl_history *h, uint64_t word)
{
	return kl_history_spelled(h, KL_SPELLED_WORD, word);
}

/*
 * Return: the symbol of an object, or NULL.  The address of an object may equal a value that the
 * file spells its own way, as a number or a string, which is no symbol.  Nothing is at address 0,
 * the object of files that name none.
 */
static inline const char *kl_history_symbol(const struct kl_history *h, uint64_t object)
{
	const char *s = h->keyed || !object ? NULL : kl_history_spelling(h, object);

	return s && *s != '-' && *s != '"' && (unsigned int)(*s - '0') >= 10 ? s : NULL;
}

/* Return: the name of the slab cache that has an object, or NULL. */
static inline const char *kl_history_slab(const struct kl_history *h, uint64_t object)
{
	return h->keyed ? NULL : kl_history_spelled(h, KL_SPELLED_SLAB, object);
}

/*
 * Set the spelling of a number to the @len bytes at @text, unless reports show the number so
 * anyway: 0x1f is not 31, and 5000000000 not 0x12a05f200.  Return: as kl_history_spell().
 */
int kl_history_spell_number(struct kl_history *h, uint64_t word, const char *text, size_t len);

/* Return: true if the @len bytes at @text, a number, are a decimal that reports show so. */
static inline bool kl_is_plain(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && (unsigned int)(text[i] - '0') < 10; i++)
		;
	return i == len && len < 10 && (*text != '0' || len == 1);
}

/* Return: the number of words that have a spelling. */
size_t kl_history_nspellings(const struct kl_history *h);

/* Share the spellings of @from with @to, which must not have any. */
void kl_history_share_spellings(struct kl_history *to, const struct kl_history *from);

/* Move the spellings of @from to @to. */
void kl_history_move_spellings(struct kl_history *to, struct kl_history *from);

/* Write a header line of the text form for each spelling. */
void kl_history_put_spellings(FILE *f, const struct kl_history *h);

void kl_history_free_spellings(struct kl_history *h);

/*
 * Write the name of a thread: t3, or as in the file.  Operations of a file without threads are in
 * lanes, such that none overlap.
 */
void kl_history_print_thread(char *buf, size_t size, const struct kl_history *h, uint32_t thread);

/*
 * Replace numbers in @text that are words of @h by what reports show, if it fits @size bytes.
 * Numbers below KL_WORDS_FIRST stay, since they may be counts and times.
 */
void kl_history_spell_out(const struct kl_history *h, char *text, size_t size);

#endif
