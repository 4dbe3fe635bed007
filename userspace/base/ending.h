/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a program ends.  A status is an answer that others act on, and 1 is a violation: no
 * library may leave one.  Each program has kl_ending_guard() first and returns kl_ending()'s value
 * from main(); whatever else ends it becomes 4, after a message.
 */
#ifndef KL_BASE_ENDING_H
#define KL_BASE_ENDING_H

/* Exit codes, the same for every program and sub-command. */
enum {
	KLIN_EXIT_OK		= 0,	/* linearizable, or done */
	/* 1 is a violation: only kl_ending_violation() has it. */
	KLIN_EXIT_USAGE		= 2,	/* usage or input */
	KLIN_EXIT_UNKNOWN	= 3,
	KLIN_EXIT_SYSTEM	= 4,	/* the system refused: privileges, memory, disk */
};

/* Watch over exit() from now on. */
void kl_ending_guard(void);

/* The exit code of a violation, for who has one in hand. */
int kl_ending_violation(void);

/**
 * kl_ending() - what main() returns
 * @code: what a command came to
 *
 * Return: @code; or KLIN_EXIT_SYSTEM after a message, when what was printed did not reach
 * standard output, or when @code is a violation's and nobody has told of one.
 */
int kl_ending(int code);

/* The exit code of a negative errno about which there was a message; input is a person's. */
int kl_ending_error(int err);

/**
 * kl_ending_input() - whose fault is it that an input was not read?
 * @err: 0 or a negative errno about which there was a message
 *
 * Return: -EINVAL if it is the caller's, as of a file that is not there; else @err, which is the
 * system's, or 0.
 */
int kl_ending_input(int err);

#endif
