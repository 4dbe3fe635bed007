/* SPDX-License-Identifier: GPL-2.0 */
/* Histories in the forms of other programs, which klin converts for klin-replay. */
#ifndef KL_KLIN_REPLAY_FOREIGN_H
#define KL_KLIN_REPLAY_FOREIGN_H

#include "history/formats/form.h"

/*
 * Return: the form that --from=@name names.  A form that klin-replay does not read itself is passed
 * on to klin; `help' lists klin's forms and ends the program.
 */
const struct kl_form *foreign_form(const char *name);

/* The text of a spec whose history block says how to read the history; NULL: none. */
void foreign_rules(const char *spec);

/* Has klin converted the history? */
bool foreign_converted(void);

#endif
