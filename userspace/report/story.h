/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of a violation as text and as JSON.
 *
 *	What is wrong: t1's deq() -> empty found nothing, while 2 was inside from 50 to 110.
 *
 *	  t1  deq() -> empty  found nothing  100-110  h.txt:9
 *	  t1  enq(2)          added 2        40-50    h.txt:6
 *
 *	  t1's enq(2) returned at 50, before t1's deq() -> empty was called at 100.
 */
#ifndef KL_REPORT_STORY_H
#define KL_REPORT_STORY_H

#include <jansson.h>

#include "check/check.h"
#include "story/story.h"

/* Print headline and cast. */
void kl_print_cast(FILE *f, const struct kl_history *h, const struct kl_story *s);

/**
 * kl_print_story() - print what is wrong with a partition
 * @f: the stream to print to
 * @spec: the specification
 * @h: the whole history
 * @p: its violated partition
 * @replay: the command that checks the proof again, or NULL
 *
 * Without a story, print the reason of the engine, if it gave one.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_print_story(FILE *f, const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_part_result *p, const char *replay);

/* Add the story to the partition's object @j, if there is one. */
void kl_add_story(json_t *j, const struct kl_spec *spec, const struct kl_history *h,
		  const struct kl_part_result *p, const char *replay);

#endif
