/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Give up what attaching probes needed.  Recording goes on by descriptors and mapped memory that
 * the process already has.  Afterwards the calling thread
 *
 *	- has no capability and cannot gain one (no_new_privs);
 *	- may only use the system calls of a running klind, see confine.c.
 *
 * Each thread gives up its own, and threads that it starts have as little.  klind stays the user
 * that it is, normally root, because reports and the kernel's counters belong to root.
 */
#ifndef KLIND_CONFINE_H
#define KLIND_CONFINE_H

/**
 * klind_confine_prepare() - make the filter of system calls
 *
 * To be called once, before threads exist.  A call that the filter denies fails with EPERM, and the
 * first of each system call is reported.
 *
 * Return: 0, or a negative errno after a warning: klind_confine() then filters nothing.
 */
int klind_confine_prepare(void);

/* Drop this thread's capabilities, so that it cannot gain any.  Return: 0 or a negative errno. */
int klind_drop_capabilities(void);

/**
 * klind_confine() - confine this thread, as the head of this file says
 *
 * Return: 0, or a negative errno after a warning.
 */
int klind_confine(void);
void klind_confine_free(void);

#endif
