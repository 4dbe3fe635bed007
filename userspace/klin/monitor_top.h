/* SPDX-License-Identifier: GPL-2.0 */
/* The screen of `klin monitor --top'. */
#ifndef KLIN_MONITOR_TOP_H
#define KLIN_MONITOR_TOP_H

#include <stdbool.h>
#include <stdio.h>

#include "klin/session.h"
#include "record/record.h"

struct monitor_top;

/**
 * monitor_top_new() - prepare a screen
 * @spec: name of the specification; must stay valid
 * @colour: as --color says
 * @out: gets the stream to which the session must print violations
 *
 * Return: the screen, or NULL when out of memory.
 */
struct monitor_top *monitor_top_new(const char *spec, enum kl_diagram_auto colour, FILE **out);

/*
 * Take over the terminal.  Until monitor_top_close(), messages wait for it, and the last is shown.
 * Return: 0, or a negative errno after a message.
 */
int monitor_top_open(struct monitor_top *m);

/*
 * Handle keys, and take a sample each second.  Return: 1 if the user wants to end, 0, or -ENOMEM.
 */
int monitor_top_work(struct monitor_top *m, const struct session *s, const struct kl_recorder *r);

/* Give the terminal back, and print what waits: messages, and the session's violations. */
void monitor_top_close(struct monitor_top *m);
void monitor_top_free(struct monitor_top *m);

#endif
