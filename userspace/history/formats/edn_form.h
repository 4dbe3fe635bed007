/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the reader of EDN share: each reads a form at e->p into e->canon. */
#ifndef KL_HISTORY_FORMATS_EDN_FORM_H
#define KL_HISTORY_FORMATS_EDN_FORM_H

#include "history/formats/edn.h"

/* Any form.  0; -EINVAL after a message; another negative errno.  So are those below. */
int kl_edn_form(struct kl_edn *e);

/* Metadata at e->p, from which nothing follows. */
int kl_edn_metadata(struct kl_edn *e);

/* A string; @out, if not NULL, is what it says, which stays. */
int kl_edn_text(struct kl_edn *e, struct kl_edn_val *out);
int kl_edn_char(struct kl_edn *e);
int kl_edn_number(struct kl_edn *e);
/* A symbol or a keyword. */
int kl_edn_symbol(struct kl_edn *e);
/* ##Inf */
int kl_edn_symbolic(struct kl_edn *e, const char *tok);

/* What a tag at @tok makes of the value whose canonical text begins at @at and is the last. */
int kl_edn_inst(struct kl_edn *e, const char *tok, size_t at);
int kl_edn_uuid(struct kl_edn *e, const char *tok, size_t at);

/* Append to the canonical text. */
int kl_edn_put(struct kl_edn *e, const char *s, size_t len);

/* Behind the characters at @p that symbols have. */
static inline const char *kl_edn_atom_end(const char *p)
{
	while (kl_edn_is(*p, KL_EDN_ATOM) || *p == '#')
		p++;
	return p;
}

#endif
