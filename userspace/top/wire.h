/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The answers of klind to `klin top', as JSON.  klind writes them, and `klin top' reads them and
 * believes nothing in them.
 *
 *	GET /top	{ "kind": "top", "structures": [ { "name": "range", "verdict": ... } ] }
 *	GET /top/NAME	{ "kind": "top_story", "name": "range", "story": "VIOLATION ..." }
 */
#ifndef KL_TOP_WIRE_H
#define KL_TOP_WIRE_H

#include <jansson.h>
#include <stddef.h>

#include "top/row.h"

#define TOP_PATH	"/top"		/* path of the request for all structures */
#define TOP_ANSWER	(2u << 20)	/* maximal size of an answer, in bytes */

/* Make the answer about @n structures; it lists TOP_ROWS of them, and counts the others. */
json_t *top_rows_json(const struct top_row *rows, size_t n);
/* Make the answer about one structure's last story; @story is NULL if there is none. */
json_t *top_story_json(const char *name, const char *story);

/**
 * top_rows_read() - read the answer about all structures
 * @text: the JSON text
 * @len: its length
 * @rows: gets the structures, whose texts are clean; the caller frees them
 * @n: gets their number
 * @more: gets the number of structures that the answer does not list
 *
 * Return: 0; -EPROTO if the text is no such answer; -ENOMEM.
 */
int top_rows_read(const char *text, size_t len, struct top_row **rows, size_t *n, uint64_t *more);

/**
 * top_story_read() - read the answer about one story
 * @text: the JSON text
 * @len: its length
 * @story: gets the story, whose text is clean; empty if there is none
 *
 * Return: 0; -EPROTO if the text is no such answer.
 */
int top_story_read(const char *text, size_t len, char story[TOP_STORY]);

#endif
