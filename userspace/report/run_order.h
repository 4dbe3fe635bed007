/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run that is a violation only with store buffers: its calls and returns alone have an order.
 *
 *	the calls and returns alone have an order: push(A), pop() -> A, push(B)
 */
#ifndef KL_REPORT_RUN_ORDER_H
#define KL_REPORT_RUN_ORDER_H

#include "check/check.h"
#include "tso/explore/explore.h"
#include "tso/machine/vm.h"

/* The newest call of each thread, and the thread that returned last; zero first. */
struct kl_run_last {
	struct {
		unsigned int method;
		unsigned int called;	/* the step of the call */
		unsigned int left;	/* the step at which it left the store buffer, or 0 */
		bool inside;		/* it has not left yet */
	} call[KL_VM_THREADS];
	unsigned int thread;
	bool returned;
};

/* Note the events of a step. */
void kl_run_last_add(struct kl_run_last *l, const struct kl_explore_step *step);

/**
 * kl_run_order() - tell an order of the calls and returns alone
 * @x: the explorer
 * @r: the check of the run's history without store buffers, with a witness
 * @last: the run's last operation
 * @sentence: receives a sentence without full stop, to be freed; NULL if there is no such order
 *
 * Return: 0 or a negative errno.
 */
int kl_run_order(const struct kl_explorer *x, const struct kl_report *r,
		 const struct kl_run_last *last, char **sentence);

#endif
