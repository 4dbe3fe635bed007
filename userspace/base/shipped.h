/* SPDX-License-Identifier: GPL-2.0 */
/* The specifications of specs/, which libklin contains, so that their names work anywhere. */
#ifndef KL_BASE_SHIPPED_H
#define KL_BASE_SHIPPED_H

struct kl_shipped {
	const char *name;	/* without .lin */
	const char *text;
};

/* Sorted by name; the last entry has no name. */
extern const struct kl_shipped kl_shipped[];

/* Return: the text of the shipped specification of that name, or NULL. */
const char *kl_shipped_text(const char *name);

#endif
