/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of a litmus test's outcome as text and as JSON.
 *
 *	What happened: SB can end with 0:EAX=0; 1:EAX=0, because of store buffers: P0
 *	  loaded y while its store x = 1 was still in its buffer, and ...
 *
 *	step  P0                                   P1
 *	   1  P0 x = 1 to the buffer [MOV [x],$1]
 */
#ifndef KL_REPORT_LITMUS_STORY_H
#define KL_REPORT_LITMUS_STORY_H

#include <jansson.h>
#include <stdio.h>

#include "tso/litmus/litmus_story.h"

/* Print the story.  Return: 0 or -ENOMEM. */
int kl_lit_story_print(FILE *f, const struct kl_lit_story *s);
/* Return: the story as JSON; parts are missing after kl_json_no_memory(). */
json_t *kl_lit_story_json(const struct kl_lit_story *s);

#endif
