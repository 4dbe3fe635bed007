// SPDX-License-Identifier: GPL-2.0
/* What the readers of LinP's and FPTLin's forms share, see linp.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "history/internal.h"
#include "history/linp.h"

#define MAX_TIME	((UINT64_MAX >> 1) - 1)

static const struct kl_linp_type *find_type(const struct kl_linp_type *types, size_t n,
					    const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (kl_scan_is(name, len, types[i].name) ||
		    (types[i].also && kl_scan_is(name, len, types[i].also)))
			return &types[i];
	return NULL;
}

bool kl_linp_is(const struct kl_head *head, const struct kl_linp_type *types, size_t n)
{
	const char *p = head->first, *name;
	size_t len;

	if (!kl_head_is(head, &p, "#"))
		return false;
	len = kl_head_word(head, &p);
	name = p;
	p += len;
	return len && !kl_head_word(head, &p) && find_type(types, n, name, len);
}

int kl_linp_header(struct kl_linp *l, const char **pp)
{
	const char *p = kl_scan_skip(*pp + 1);
	size_t i, n = kl_scan_word(p);
	int64_t index;

	if (l->type)
		return 0;
	l->type = find_type(l->types, l->ntypes, p, n);
	if (!l->type)
		return kl_scan_stop(&l->scan, p, l->expected);
	for (i = 0; l->type->methods[i].theirs; i++) {
		const char *ours = l->type->methods[i].ours;

		index = kl_history_method(l->h, ours, strlen(ours));
		if (index < 0)
			return index;
		l->method[i] = index;
	}
	l->h->spec_path = strdup(l->type->spec);
	return l->h->spec_path ? 0 : -ENOMEM;
}

int kl_linp_method(struct kl_linp *l, const char **pp)
{
	const char *p = kl_scan_skip(*pp);
	const struct kl_linp_method *m;
	size_t n = kl_scan_word(p);

	if (!l->type)
		return kl_scan_stop(&l->scan, p, "a first line `# TYPE', as in `# stack'");
	for (m = l->type->methods; m->theirs; m++) {
		if (kl_scan_is(p, n, m->theirs)) {
			*pp = p + n;
			return m - l->type->methods;
		}
	}
	return kl_scan_bad(&l->scan, p, l->type->expected);
}

int kl_linp_times(struct kl_linp *l, const char **pp, struct kl_op *op)
{
	const char *p = kl_scan_skip(*pp), *tok;

	tok = p;
	if (kl_scan_u64(&l->scan, &p, &op->call, "the time of the start"))
		return -EINVAL;
	if (op->call > MAX_TIME)
		return kl_scan_bad(&l->scan, tok, "a time below 2^63 - 1");
	p = kl_scan_skip(p);
	tok = p;
	if (kl_scan_u64(&l->scan, &p, &op->ret, "the time of the end"))
		return -EINVAL;
	if (op->ret > MAX_TIME)
		return kl_scan_bad(&l->scan, tok, "a time below 2^63 - 1");
	*pp = p;
	if (l->type->ties)
		return op->ret >= op->call ? 0 :
		       kl_scan_bad(&l->scan, tok, "an end not before the start");
	if (op->ret <= op->call)
		return kl_scan_bad(&l->scan, tok, "an end after the start");
	op->call = 2 * op->call + 1;
	op->ret *= 2;
	return 0;
}

int kl_linp_value(struct kl_linp *l, int m, const char **pp, struct kl_val *v)
{
	enum kl_linp_shape shape = l->type->methods[m].shape;
	const char *p = kl_scan_skip(*pp), *tok = p;

	*v = (struct kl_val){ 0 };
	if (kl_scan_word64(&l->scan, &p, &v->v, "a value, a number"))
		return -EINVAL;
	*pp = p;
	if (v->v == (uint64_t)-1 && shape != KL_LINP_SWAP && shape != KL_LINP_TAKE)
		return kl_scan_bad(&l->scan, tok, "a value other than -1, which is `empty'");
	if (l->type->reversed && v->v > INT64_MAX && v->v != (uint64_t)-1)
		return kl_scan_bad(&l->scan, tok, "a priority from 0 to 2^63 - 1");
	return 0;
}

int kl_linp_result(struct kl_linp *l, const char **pp, struct kl_val *v)
{
	const char *p = kl_scan_skip(*pp), *tok = p;

	*v = (struct kl_val){ 0 };
	if (kl_scan_word64(&l->scan, &p, &v->v, "1 or 0, what the method returned"))
		return -EINVAL;
	*pp = p;
	return v->v > 1 ? kl_scan_bad(&l->scan, tok, "1 or 0, what the method returned") : 0;
}

int kl_linp_add(struct kl_linp *l, int m, struct kl_op *op, struct kl_val v, struct kl_val w)
{
	const struct kl_linp_method *method = &l->type->methods[m];
	struct kl_shape s = { .method = l->method[m], .nargs = 1, .nres = 1 };
	struct kl_val args[2] = { v, w }, res = v;

	if (l->type->reversed) {
		args[0].v = ~v.v;
		res.v = ~v.v;
	}
	switch (method->shape) {
	case KL_LINP_GIVE:
		s.nres = 0;
		break;
	case KL_LINP_TAKE:
		s.nargs = 0;
		if (v.v == (uint64_t)-1)
			res = kl_special(KL_EMPTY);
		break;
	case KL_LINP_TRUE:
		res = kl_word(1);
		break;
	case KL_LINP_FALSE:
		res = kl_word(0);
		break;
	case KL_LINP_TELL:
		res = w;
		break;
	case KL_LINP_SWAP:
		s.nargs = 2;
		res = kl_word(1);
		break;
	}
	op->flags |= KL_OP_DRAINED;
	op->cpu = KL_NO_CPU;
	return kl_history_add(l->h, op, &s, args, &res);
}

/* A process does one thing at a time. */
static int check_processes(const struct kl_linp *l)
{
	const struct kl_history *h = l->h;
	size_t a, b;
	int ret;

	ret = kl_history_overlap(h, &a, &b);
	if (ret <= 0)
		return ret;
	kl_err_at(l->scan.name, 0, 0,
		  "process %" PRIu64 " is called at %" PRIu64 " while in another operation, from %"
		  PRIu64 " to %" PRIu64, h->threads[h->ops[b].thread],
		  h->ops[b].call / 2, h->ops[a].call / 2, h->ops[a].ret / 2);
	return -EINVAL;
}

int kl_linp_read(struct kl_linp *l, struct kl_input *in,
		 int (*line)(void *ctx, const char **pp), struct kl_history **out)
{
	int64_t index;
	int ret;

	l->scan = (struct kl_scan){ .name = in->name };
	l->h = kl_history_new();
	if (!l->h)
		return -ENOMEM;
	l->scan.h = l->h;
	index = kl_history_object(l->h, 0);
	if (index >= 0 && l->one_thread)
		index = kl_history_thread(l->h, 0);
	ret = index < 0 ? index : kl_scan_lines(&l->scan, in, line, l);
	if (!ret && !l->type) {
		kl_err_at(in->name, 0, 0, "no line `# TYPE': expected %s", l->expected);
		ret = -EINVAL;
	}
	l->h->clock = KL_CLOCK_SEQ;
	l->h->fresh = true;
	if (!ret)
		ret = kl_history_finish(l->h);
	if (!ret && !l->one_thread)
		ret = check_processes(l);
	if (ret)
		kl_history_free(l->h);
	else
		*out = l->h;
	return ret;
}
