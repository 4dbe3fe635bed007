/* SPDX-License-Identifier: GPL-2.0 */
/* The specification of a history: one that it carries or names, and what it lacks. */
#ifndef KL_SPEC_CARRIED_H
#define KL_SPEC_CARRIED_H

#include "history/history.h"
#include "spec/spec.h"

/*
 * A history does not show how many results a method has if the method never returned.  Take the
 * number from the specification.  Return: 0 or a negative errno.
 */
int kl_complete_pending(const struct kl_spec *spec, struct kl_history *h);

/**
 * kl_carried_path() - find the specification file that a history names
 * @h: the history, which names a specification
 * @history_path: file of the history; its directory is searched first
 * @path: gets the path of the file, or the name of a shipped specification; free() it
 *
 * Return: 0, or -ENOMEM after a message.
 */
int kl_carried_path(const struct kl_history *h, const char *history_path, char **path);

/*
 * Load the specification that a history carries as text or names.  Return: 0; -EINVAL or -ENOMEM
 * after a message.
 */
int kl_carried_spec(const struct kl_history *h, const char *history_path, struct kl_spec **spec);

/**
 * kl_extended_spec() - replace a named specification by the extension that the history carries
 * @h: the history
 * @history_path: file of the history
 * @spec: the specification that the user named
 *
 * A history of a key-value log may carry the named specification with one more method for its
 * appends, see kl_kv_spec().  Then the function frees *@spec and sets it to the carried one.
 *
 * Return: 0; -EINVAL or -ENOMEM after a message.
 */
int kl_extended_spec(const struct kl_history *h, const char *history_path, struct kl_spec **spec);

#endif
