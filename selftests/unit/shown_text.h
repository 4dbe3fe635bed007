/* SPDX-License-Identifier: GPL-2.0 */
/* The text of a shown run, and of the plain machine's state and events. */
#ifndef SELFTESTS_SHOWN_TEXT_H
#define SELFTESTS_SHOWN_TEXT_H

#include <stdio.h>

#include "plain_tso.h"

/* One event of a thread in a step. */
struct piece {
	unsigned int thread, line;
	bool flush;			/* an entry of the thread's buffer reaches memory */
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

/* Split the text of a step into its parts. */
void shown_parse(struct shown_step *s);
void shown_free(struct shown_step *s);

/* Write a place, a value or the state of the plain machine as the explorer does. */
void plain_put_place(const struct plain *m, uint32_t addr, FILE *f);
void plain_put_value(const struct plain *m, uint64_t v, FILE *f);
void plain_put_state(const struct plain *m, FILE *f);
/* Return: true if the text describes the last event, or the last access of @t. */
bool plain_event_is(const struct plain *m, const char *text);
bool plain_access_is(struct plain *m, unsigned int t, const struct piece *p);

#endif
