/* SPDX-License-Identifier: GPL-2.0 */
/* Entries of EDN that are read again, for reports; see struct kl_entry in form.h. */
#ifndef KL_HISTORY_FORMATS_EDN_ENTRY_H
#define KL_HISTORY_FORMATS_EDN_ENTRY_H

#include "history/formats/edn.h"
#include "history/formats/form.h"

/* Skip metadata and tags before a map, such as #jepsen.history.Op.  Return: as kl_edn_value(). */
int kl_edn_prefixes(struct kl_edn *e);

/* The callback of the form edn, which reads a map. */
bool kl_edn_entry(const struct kl_history *h, const char *text, const char *end,
		  struct kl_entry *out);

/* Set the words of an entry of Jepsen, whose @f is known, from its value @v. */
void kl_edn_entry_words(const struct kl_history *h, struct kl_edn *e, const struct kl_edn_val *v,
			struct kl_entry *out);

#endif
