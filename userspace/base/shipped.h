/* SPDX-License-Identifier: GPL-2.0 */
/* The shipped specifications, specs/, which libklin carries: they are found by name anywhere. */
#ifndef KL_BASE_SHIPPED_H
#define KL_BASE_SHIPPED_H

struct kl_shipped {
	const char *name;	/* without .lin */
	const char *text;
};

/* In the order of their names; the last one has no name. */
extern const struct kl_shipped kl_shipped[];

/* The text of the shipped specification of that name, or NULL. */
const char *kl_shipped_text(const char *name);

#endif
