/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exit status of a program.  Scripts act on the status, and 1 means a violation, so no
 * library function may cause it.  main() calls kl_ending_guard() first and returns the value of
 * kl_ending().  If something else ends the program, the status becomes 4, after a message.
 */
#ifndef KL_BASE_ENDING_H
#define KL_BASE_ENDING_H

/* Exit codes of all programs and sub-commands. */
enum {
	KLIN_EXIT_OK		= 0,	/* linearizable, or done */
	/* 1 is a violation, which only kl_ending_violation() returns. */
	KLIN_EXIT_USAGE		= 2,	/* wrong usage or input */
	KLIN_EXIT_UNKNOWN	= 3,
	KLIN_EXIT_SYSTEM	= 4,	/* the system refused: privileges, memory, disk */
};

/* Check the status of every exit() from now on. */
void kl_ending_guard(void);

/* Record that a violation was found.  Return: its exit code. */
int kl_ending_violation(void);

/**
 * kl_ending() - compute the value that main() returns
 * @code: exit code of the command
 *
 * Return: @code.  Returns KLIN_EXIT_SYSTEM after a message if standard output was not written
 * completely, or if @code means a violation that kl_ending_violation() was not told of.
 */
int kl_ending(int code);

/*
 * Return: the exit code for a negative errno that a message has explained, assuming that a
 * wrong input is the user's fault.
 */
int kl_ending_error(int err);

/**
 * kl_ending_input() - classify a failure to read an input
 * @err: 0 or a negative errno that a message has explained
 *
 * Return: -EINVAL if the caller is at fault, for example for a missing file.  Otherwise @err:
 * a fault of the system, or 0.
 */
int kl_ending_input(int err);

#endif
