/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classifies methods at the ends of a queue, stack or deque by their meaning, as container.h does.
 * This classification also covers bounded structures, and methods with other results for `full' or
 * `empty', such as false or (false, 0).
 */
#ifndef KL_SPEC_CLASSIFY_ENDS_H
#define KL_SPEC_CLASSIFY_ENDS_H

#include <stdbool.h>

#include "spec/spec.h"

enum kl_end_act { KL_END_PUSH, KL_END_POP, KL_END_LOOK };

/**
 * struct kl_end_method - a method at one end
 * @act: what the method does at the end: push a value, pop a value, or look at it
 * @back: true for the back of a queue or deque, and for a stack
 * @value: index of the pushed parameter, or of the popped or peeked result
 * @bounded: a push into a structure that holds at most @capacity values, or at most the number in
 *	parameter @most
 * @most: index of the parameter with the capacity, or -1
 * @capacity: the capacity if @most is -1
 * @replaces: index of a parameter that, if true, makes room in a full structure; or -1
 * @fails: a push that may return @other at any time, without an effect
 * @nresults: number of results
 * @done: results of success; @done[@value] of a pop or peek is not used
 * @other: results for a full or empty structure
 */
struct kl_end_method {
	enum kl_end_act act;
	bool back;
	unsigned int value;
	bool bounded, fails;
	int most, replaces;
	uint64_t capacity;
	unsigned int nresults;
	struct kl_val done[KL_MAX_ARGS], other[KL_MAX_ARGS];
};

/**
 * kl_spec_end_method() - classify a method at an end
 * @s: a spec that is a queue, stack or deque, see kl_spec_container()
 * @method: index of the method
 * @e: gets the description of the method
 *
 * Return: true, or false if the method is none at an end.
 */
bool kl_spec_end_method(const struct kl_spec *s, unsigned int method, struct kl_end_method *e);

/**
 * kl_spec_failing_push() - classify a push that may fail although there is room
 * @s: a spec that is a queue, stack or deque, see kl_spec_container()
 * @method: index of the method
 * @e: gets the description of the method
 *
 *	atomic { either { q.push(v); return true; } or { return false; } }
 *
 * Return: true, or false if the method is no such push.
 */
bool kl_spec_failing_push(const struct kl_spec *s, unsigned int method, struct kl_end_method *e);

#endif
