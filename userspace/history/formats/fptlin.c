// SPDX-License-Identifier: GPL-2.0
/*
 * FPTLin's form: a line with the type, then a line for each operation: process, start, end, method,
 * value, and for a set the result, 1 or 0.  See linp.h for values and times.
 *
 *	# set
 *	2 0 2 CONTAINS 2 0
 *
 * READ_MODIFY_WRITE A B read A and wrote B, so it is a cas(A, B) that succeeded.  A register is
 * 0 at first.
 */
#include <errno.h>

#include "history/formats/linp_scan.h"

#define PEEK	{ "PEEK", "peek", KL_LINP_TAKE }

static const struct kl_linp_type types[] = {
	{ .name = "stack", .spec = "stack", .expected = "PUSH, POP or PEEK",
	  .methods = { { "PUSH", "push", KL_LINP_GIVE }, { "POP", "pop", KL_LINP_TAKE }, PEEK } },
	{ .name = "queue", .spec = "queue", .expected = "ENQ, DEQ or PEEK",
	  .methods = { { "ENQ", "enq", KL_LINP_GIVE }, { "DEQ", "deq", KL_LINP_TAKE }, PEEK } },
	{ .name = "priorityqueue", .spec = "pqueue", .reversed = true,
	  .expected = "INSERT, POLL or PEEK",
	  .methods = { { "INSERT", "push", KL_LINP_GIVE },
		       { "POLL", "pop", KL_LINP_TAKE }, PEEK } },
	{ .name = "set", .spec = "set", .expected = "INSERT, REMOVE or CONTAINS",
	  .methods = { { "INSERT", "add", KL_LINP_TELL }, { "REMOVE", "remove", KL_LINP_TELL },
		       { "CONTAINS", "has", KL_LINP_TELL } } },
	{ .name = "rmw", .spec = "register", .expected = "READ_MODIFY_WRITE",
	  .methods = { { "READ_MODIFY_WRITE", "cas", KL_LINP_SWAP } } },
};

#define NTYPES	(sizeof(types) / sizeof(*types))

static bool is_fptlin(const struct kl_head *head)
{
	return kl_linp_is(head, types, NTYPES) && head->data < head->end &&
	       kl_scan_digit(*head->data);
}

static int scan_line(void *ctx, const char **pp)
{
	struct kl_linp *l = ctx;
	struct kl_op op = { 0 };
	enum kl_linp_shape shape;
	const char *p = *pp;
	int64_t thread;
	uint64_t process, v, w = 0;
	int m, ret;

	if (*p == '#')
		return kl_linp_header(l, pp);
	if (!l->type)
		return kl_scan_stop(&l->scan, p, "a first line `# TYPE', as in `# stack'");
	if (kl_scan_u64(&l->scan, &p, &process, "a process, a number") ||
	    kl_linp_times(l, &p, &op))
		return -EINVAL;
	m = kl_linp_method(l, &p);
	if (m < 0)
		return m;
	shape = l->type->methods[m].shape;
	ret = kl_linp_value(l, m, &p, &v);
	if (ret)
		return ret;
	if (shape == KL_LINP_TELL && kl_linp_result(l, &p, &w))
		return -EINVAL;
	if (shape == KL_LINP_SWAP) {
		p = kl_scan_skip(p);
		if (kl_scan_int64(&l->scan, &p, &w, "another value, a number"))
			return -EINVAL;
	}
	if (kl_scan_eol(&l->scan, &p))
		return -EINVAL;
	*pp = p;
	thread = kl_history_thread(l->h, process);
	if (thread < 0)
		return thread;
	op.thread = thread;
	return kl_linp_add(l, m, &op, v, w);
}

static int read_fptlin(struct kl_input *in, struct kl_history **out)
{
	struct kl_linp l = {
		.types = types, .ntypes = NTYPES,
		.expected = "set, stack, queue, priorityqueue or rmw",
	};

	return kl_linp_read(&l, in, scan_line, out);
}

const struct kl_form kl_form_fptlin = {
	.name = "fptlin", .rank = 40,
	.help = "FPTLin's",
	.header = true, .example = "# stack",
	.is = is_fptlin, .places = KL_PLACES_LINES, .read = read_fptlin,
};
KL_FORM(kl_form_fptlin);
