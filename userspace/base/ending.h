/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exit status of a program.  Scripts act on the status, and 1 means a violation, so no
 * library function may cause status 1.  main() calls kl_ending_guard() first and returns the value
 * of kl_ending().  If something else ends the program, the status becomes 4, after a message.
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

/* Record that a violation was found.  Return: the exit code of a violation. */
int kl_ending_violation(void);

/**
 * kl_ending() - compute the value that main() returns
 * @code: exit code of the command
 *
 * Return: @code, or KLIN_EXIT_SYSTEM after a message.  The latter happens if standard output was
 * not written completely, or if @code means a violation without a call of kl_ending_violation().
 */
int kl_ending(int code);

/*
 * Return: the exit code for @err, 0 or a negative errno that a message has explained.  An errno
 * that does not mean a refusal by the system counts as a wrong input: KLIN_EXIT_USAGE.
 */
int kl_ending_error(int err);

/**
 * kl_ending_input() - classify a failure to read an input
 * @err: 0 or a negative errno that a message has explained
 *
 * Return: -EINVAL if the user is at fault, for example if a file is missing.  Otherwise @err,
 * which is 0 or a fault of the system.
 */
int kl_ending_input(int err);

#endif
