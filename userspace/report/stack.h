/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel stacks at the calls of a story's operations, which `--stacks' records. */
#ifndef KL_REPORT_STACK_H
#define KL_REPORT_STACK_H

#include <jansson.h>
#include <stdio.h>

#include "history/history.h"
#include "story/story.h"

/* Print each different stack of the cast, with the operations that were called there. */
void kl_print_stacks(FILE *f, const struct kl_history *h, const struct kl_story *s);

/* Return: the frames of a stack with this spelling, see spell.h. */
json_t *kl_stack_frames(const char *text);

/* Return: the frames at the call of operation @op, from the innermost on; NULL if unknown. */
json_t *kl_stack_json(const struct kl_history *h, const struct kl_op *op);

#endif
