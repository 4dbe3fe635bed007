/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The screen of `klin top': draws the model with ncurses and reads the keys.  There is one screen
 * at a time.  The terminal is restored when the screen is closed, and also when the program exits
 * or a signal ends it.
 */
#ifndef KL_TOP_SCREEN_H
#define KL_TOP_SCREEN_H

#include <stdbool.h>

#include "report/diagram.h"
#include "top/model.h"

/* A key may ask the caller for one of these; the screen itself acts on all other keys. */
enum top_action { TOP_NONE, TOP_QUIT, TOP_STORY_WANTED };

/**
 * top_screen_open() - take over the terminal
 * @in: descriptor of the terminal to read keys from
 * @out: descriptor of the terminal to draw on
 * @title: what is shown, such as the path of a socket; must stay valid
 * @colour: as --color says
 *
 * Return: 0; -EINVAL after a message if there is no terminal that can show a screen; -ENOMEM.
 */
int top_screen_open(int in, int out, const char *title, enum kl_diagram_auto colour);
/* Restore the terminal.  If a signal asked the program to end, send it again. */
void top_screen_close(void);

/* Act on the keys that were typed, and draw again.  Return: what the last one asks. */
enum top_action top_screen_keys(struct top_model *m);
/* Draw the model. */
void top_screen_draw(const struct top_model *m);
/* Show @text above the table; empty: nothing.  @alarm: what is shown below is not current. */
void top_screen_say(const char *text, bool alarm);
/* Show a story in place of the table, until a key closes it. */
void top_screen_story(const char *name, const char *story);
/* Return: true while the user has stopped the display. */
bool top_screen_paused(void);
/* Return: the signal that asks the program to end, or 0. */
int top_screen_signal(void);

#endif
