/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exact text of a history's operations in the file that they were read from, for reports.
 *
 *	{:process 3, :type :ok, :f :read, :value 4, :time 7214455, :node "n2"}
 *
 * The text is not kept: a regular file is read again, if it is still as it was; and a short text
 * from a pipe is in memory anyway.  A history that klin has recorded or packed has no text.
 */
#ifndef KL_HISTORY_SOURCE_TEXT_H
#define KL_HISTORY_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/formats/form.h"
#include "history/source.h"

#define KL_SOURCE_TEXT 4096 /* bytes of an entry that are shown at most */

/* The entries of an operation; a line that has the whole operation is the entry of its call. */
enum kl_source_half { KL_SOURCE_CALL, KL_SOURCE_RETURN };

/**
 * struct kl_source_text - an entry of the source
 * @text: its first bytes, at most KL_SOURCE_TEXT; valid until the next entry is read
 * @len: number of these bytes
 * @cut: the entry has more bytes
 * @entry: what the form finds in it
 */
struct kl_source_text {
	const char *text;
	size_t len;
	bool cut;
	struct kl_entry entry;
};

/**
 * kl_source_text() - read an entry of an operation again
 * @h: the history
 * @op: index of the operation
 * @half: which entry; that of the return may also be an entry after which its outcome stays
 *	unknown, as Jepsen's :info
 * @out: the entry
 *
 * Return: 1, 0 if it is not known, or -ENOMEM.
 */
int kl_source_text(const struct kl_history *h, size_t op, enum kl_source_half half,
		   struct kl_source_text *out);

/* As kl_source_text(), for the entry at offset @at or, if that is KL_NO_PLACE, in line @line. */
int kl_source_text_at(const struct kl_history *h, uint32_t at, uint32_t line,
		      struct kl_source_text *out);

/*
 * Let reports print the values of operations as their own lines have them, if these can be read
 * again: a file may have 16 and 0x10.  @ops are the indices in @of of the operations of @h; NULL:
 * @h is @of.  @of must stay as long as @h is printed, by one thread.
 */
void kl_source_own_words(struct kl_history *h, const struct kl_history *of, const uint32_t *ops);

#endif
