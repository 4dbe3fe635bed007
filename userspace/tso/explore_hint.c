// SPDX-License-Identifier: GPL-2.0
/* The explorer: a hint at the commonest misfit of a specification and an implementation. */
#include <stdlib.h>

#include "base/memstream.h"
#include "tso/explore_internal.h"

/*
 * A step of the specification in `atomic_flush' waits until the thread's store buffer is
 * empty.  An implementation whose method does not drain its buffer may return before.
 */
int kl_ex_find_hint(struct kl_explorer *x)
{
	const struct kl_vm_event *e = &x->vm.ev[x->vm.nev - 1];
	const char *name = x->methods[e->method].name;
	struct kl_memstream m;
	int ret;

	free(x->hint);
	x->hint = NULL;
	if (e->kind != KL_EV_RET || !kl_abstract_drains(x->abs, x->explained, e))
		return 0;
	ret = kl_memstream_open(&m);
	if (ret)
		return ret;
	fprintf(m.f, "the specification's step of %s() drains the store buffer (atomic_flush), and "
		"the implementation's did not; when it returns, ", name);
	if (kl_vm_has_writes(&x->vm.thread[e->thread])) {
		fputs("its stores are not all in memory: ", m.f);
		kl_ex_print_buffer(x, &x->vm, e->thread, m.f);
	} else {
		fprintf(m.f, "T%u's buffer holds no store, only the marker of a call or return "
			"of its own that nothing has drained", e->thread);
	}
	fprintf(m.f, "; either %s() needs a fence or an atomic step, or the specification "
		"'atomic' in place of 'atomic_flush'", name);
	return kl_memstream_close(&m, &x->hint, NULL);
}
