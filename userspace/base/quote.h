/* SPDX-License-Identifier: GPL-2.0 */
/* Command lines for people to repeat. */
#ifndef KL_BASE_QUOTE_H
#define KL_BASE_QUOTE_H

#include <stdio.h>

/* Print a word of a command line, quoted for a shell if it needs that. */
void kl_put_quoted(FILE *f, const char *word);

#endif
