/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the methods of a queue, stack or deque do at its ends, told by their meaning as in
 * container.h, but also where there is room for so many values only, and where results say
 * in other words what was found: `full' or false, `empty' or (false, 0).
 */
#ifndef KL_SPEC_CLASSIFY_ENDS_H
#define KL_SPEC_CLASSIFY_ENDS_H

#include <stdbool.h>

#include "spec/spec.h"

enum kl_end_act { KL_END_PUSH, KL_END_POP, KL_END_LOOK };

/**
 * struct kl_end_method - a method that does one thing at one end
 * @value: the parameter that is pushed, or the result that was popped or seen
 * @bounded: a push: there is room for @capacity values, or as many as parameter @most says
 * @most: that parameter, or -1
 * @replaces: parameter that, if true, makes room in a full one; or -1
 * @nresults: how many there are
 * @done: results when it was done; of a pop or look @done[@value] means nothing
 * @other: results when it was not: full, or empty
 */
struct kl_end_method {
	enum kl_end_act act;
	bool back;
	unsigned int value;
	bool bounded;
	int most, replaces;
	uint64_t capacity;
	unsigned int nresults;
	struct kl_val done[KL_MAX_ARGS], other[KL_MAX_ARGS];
};

/**
 * kl_spec_end_method() - what a method does at an end
 * @s: a specification that is a queue, stack or deque, see kl_spec_container()
 * @method: index of the method
 * @e: what it does
 *
 * Return: false if it does something else.
 */
bool kl_spec_end_method(const struct kl_spec *s, unsigned int method, struct kl_end_method *e);

#endif
