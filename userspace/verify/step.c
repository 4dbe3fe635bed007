// SPDX-License-Identifier: GPL-2.0
/* A thread's step from an abstract state, in all possible ways. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/model.h"

enum kl_vf_end kl_vf_alarm(struct kl_verifier *x, struct kl_vf_run *r, const char *fmt, ...)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	/* While the reference runs, the thread is behind the instruction with the point. */
	const unsigned int pc = th->pc - (r->ref && th->pc);
	int n = 0;
	va_list ap;

	if (x->alarm || x->deaf)
		return VF_ALARM;
	if (th->method >= 0)
		n = snprintf(x->message, sizeof(x->message), "line %u, in '%s': ",
			     kl_vf_line(x, th->method, pc), x->m.m[th->method].name);
	va_start(ap, fmt);
	vsnprintf(x->message + n, sizeof(x->message) - n, fmt, ap);
	va_end(ap);
	return VF_ALARM;
}

/* Run until the step ends. */
static enum kl_vf_end run(struct kl_verifier *x, struct kl_vf_run *r)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const uint32_t *code = x->m.m[th->method].code;
	enum kl_vf_end e;
	bool first = true;

	for (;;) {
		if (kl_grow(x->stack, x->cstack, x->nstack + KL_VF_FORKS))
			return kl_vf_no_room(x, r);
		if (r->ref) {
			e = kl_vf_ref_step(x, r);
		} else {
			if (!first && r->jumps > 1 && !r->block)
				return VF_STEPPED;
			if (!r->resume && kl_vf_stops(x, r, code[th->pc]))
				return VF_STEPPED;
			r->resume = true;
			if (++r->steps > KL_VF_STEPS)
				return kl_vf_alarm(x, r, "an endless loop that accesses no memory");
			e = kl_vf_insn(x, r, code);
			r->resume = false;
		}
		first = false;
		x->steps++;
		if (e != VF_STEPPED || th->method < 0)
			return e;
	}
}

static int finish(struct kl_verifier *x, size_t base)
{
	struct kl_vf_run r;
	int ret = 0;

	while (x->nstack > base && !ret && !x->alarm) {
		memcpy(&r, &x->stack[--x->nstack], sizeof(r));
		switch (run(x, &r)) {
		case VF_STEPPED:
			ret = x->emit(x, &r);
			break;
		case VF_NONE:
			break;
		case VF_ALARM:
			/* Alarms of a joined thread are found in that thread's own view. */
			if (x->deaf)
				break;
			x->alarm = true;
			memcpy(&x->bad, &r.s, sizeof(x->bad));
			break;
		}
	}
	x->nstack = base;
	return ret;
}

static int start(struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t,
		 struct kl_vf_run **r)
{
	if (kl_grow(x->stack, x->cstack, x->nstack + KL_VF_FORKS))
		return -ENOMEM;
	*r = &x->stack[x->nstack++];
	memset(*r, 0, offsetof(struct kl_vf_run, alt));
	kl_vf_copy(&(*r)->s, s);
	(*r)->t = t;
	return 0;
}

static int begin_all(struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t,
		     unsigned int method)
{
	const struct kl_vf_method *m = &x->m.m[method];
	const unsigned int first = x->concrete ? VF_RANK + 1 : VF_KEY;
	const unsigned int n = m->key < 0 ? 1 : x->concrete ? 5 : 3;
	unsigned int k, bits;
	struct kl_vf_run *r;
	int ret;

	for (k = 0; k < n; k++) {
		for (bits = 0; bits <= m->bools; bits++) {
			if (bits & ~m->bools)
				continue;
			ret = start(x, s, t, &r);
			if (ret)
				return ret;
			kl_vf_begin(x, r, method, m->key < 0 ? 0 : first + k, bits);
			r->method = method;
			r->line = kl_vf_line(x, method, 0);
		}
	}
	return 0;
}

int kl_vf_step(struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t)
{
	const size_t base = x->nstack;
	struct kl_vf_run *r;
	unsigned int i;
	int ret = 0;

	if (s->th[t].method >= 0) {
		ret = start(x, s, t, &r);
		if (!ret) {
			r->method = s->th[t].method;
			r->line = kl_vf_line(x, r->method, s->th[t].pc);
		}
	} else if (!x->concrete || s->th[t].ops < x->max_ops) {
		for (i = 0; i < x->m.nm && !ret; i++)
			if (x->role[t] >> i & 1)
				ret = begin_all(x, s, t, i);
	}
	return ret ? ret : finish(x, base);
}
