/* SPDX-License-Identifier: GPL-2.0 */
/* The text of a shown run, and of what the plain machine did. */
#ifndef SELFTESTS_SHOWN_TEXT_H
#define SELFTESTS_SHOWN_TEXT_H

#include <stdio.h>

#include "plain_tso.h"

/* What a thread did in a step. */
struct piece {
	unsigned int thread, line;
	bool flush;			/* an entry of its buffer reaches memory */
	char *text;
};

struct pieces {
	struct piece p[80];
	unsigned int n;
};

struct shown_step {
	unsigned int thread;
	bool flush;
	char *what, *state;
	struct pieces calls, accesses, rets;
};

/* Take the text of a step apart. */
void shown_parse(struct shown_step *s);
void shown_free(struct shown_step *s);

/* What the plain machine has, as the explorer would write it. */
void plain_put_place(const struct plain *m, uint32_t addr, FILE *f);
void plain_put_value(const struct plain *m, uint64_t v, FILE *f);
void plain_put_state(const struct plain *m, FILE *f);
/* Is that what the text says: its last event; the last access, of @t? */
bool plain_event_is(const struct plain *m, const char *text);
bool plain_access_is(struct plain *m, unsigned int t, const struct piece *p);

#endif
