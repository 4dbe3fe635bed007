/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of the reader of EDN: each function appends a form's canonical text to e->canon. */
#ifndef KL_HISTORY_FORMATS_EDN_FORM_H
#define KL_HISTORY_FORMATS_EDN_FORM_H

#include "history/formats/edn.h"

/*
 * Read any form, at e->p.
 * Return: 0, -EINVAL after a message, or another negative errno, as all functions below.
 */
int kl_edn_form(struct kl_edn *e);

/* Skip metadata, which has no effect on the value. */
int kl_edn_metadata(struct kl_edn *e);

/* Read a string.  @out, unless it is NULL, gets the contents, which are valid as long as @e. */
int kl_edn_text(struct kl_edn *e, struct kl_edn_val *out);
int kl_edn_char(struct kl_edn *e);
int kl_edn_number(struct kl_edn *e);
/* Read a symbol or a keyword. */
int kl_edn_symbol(struct kl_edn *e);
/* Read ##Inf, ##-Inf or ##NaN. */
int kl_edn_symbolic(struct kl_edn *e, const char *tok);
/* Refuse a closing bracket at e->p other than @close.  Return: 0 if there is none. */
int kl_edn_wrong_bracket(struct kl_edn *e, char close);

/* Apply the tag #inst or #uuid at @tok to the last value, whose canonical text begins at @at. */
int kl_edn_inst(struct kl_edn *e, const char *tok, size_t at);
int kl_edn_uuid(struct kl_edn *e, const char *tok, size_t at);

/* Append @len bytes to the canonical text. */
int kl_edn_put(struct kl_edn *e, const char *s, size_t len);

/* Return: the end of the characters at @p that a symbol may contain. */
static inline const char *kl_edn_atom_end(const char *p)
{
	while (kl_edn_is(*p, KL_EDN_ATOM) || *p == '#')
		p++;
	return p;
}

#endif
