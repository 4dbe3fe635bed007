/* SPDX-License-Identifier: GPL-2.0 */
/* The specifications of specs/, which libklin contains, so that their names work anywhere. */
#ifndef KL_BASE_SHIPPED_H
#define KL_BASE_SHIPPED_H

#include <stdbool.h>
#include <string.h>

struct kl_shipped {
	const char *name;	/* path below specs/, without .lin */
	const char *text;
};

/* Sorted by name; the last entry has no name. */
extern const struct kl_shipped kl_shipped[];

/*
 * Return: true for a model, whose specification is for the clients of the model.  Other histories
 * may exceed its limits, such as the size of an array.
 */
static inline bool kl_shipped_is_model(const struct kl_shipped *p)
{
	return strchr(p->name, '/');
}

/**
 * kl_shipped_near() - find the shipped specification that a person most likely meant
 * @path: the name that was written, or a path of a file of this name
 *
 * Return: the name of the specification with the same last part; else the nearest name, as
 * kl_nearest() finds it; else that with the nearest last part; or NULL.
 */
const char *kl_shipped_near(const char *path);

/* Return: the text of the shipped specification of that name, or NULL. */
const char *kl_shipped_text(const char *name);

#endif
