/* SPDX-License-Identifier: GPL-2.0 */
/* Shared declarations of the reader of EDN: each function reads a form at e->p into e->canon. */
#ifndef KL_HISTORY_FORMATS_EDN_FORM_H
#define KL_HISTORY_FORMATS_EDN_FORM_H

#include "history/formats/edn.h"

/* Read any form.  Return, here and below: 0, -EINVAL after a message, or another negative errno. */
int kl_edn_form(struct kl_edn *e);

/* Skip metadata, which has no effect on the value. */
int kl_edn_metadata(struct kl_edn *e);

/* Read a string.  If @out is not NULL, it gets the contents, which live as long as the scanner. */
int kl_edn_text(struct kl_edn *e, struct kl_edn_val *out);
int kl_edn_char(struct kl_edn *e);
int kl_edn_number(struct kl_edn *e);
/* Read a symbol or a keyword. */
int kl_edn_symbol(struct kl_edn *e);
/* Read ##Inf, ##-Inf or ##NaN. */
int kl_edn_symbolic(struct kl_edn *e, const char *tok);

/* Apply the tag at @tok to the last value, whose canonical text begins at @at. */
int kl_edn_inst(struct kl_edn *e, const char *tok, size_t at);
int kl_edn_uuid(struct kl_edn *e, const char *tok, size_t at);

/* Append to the canonical text. */
int kl_edn_put(struct kl_edn *e, const char *s, size_t len);

/* The end of the characters at @p that symbols may have. */
static inline const char *kl_edn_atom_end(const char *p)
{
	while (kl_edn_is(*p, KL_EDN_ATOM) || *p == '#')
		p++;
	return p;
}

#endif
