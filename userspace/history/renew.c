// SPDX-License-Identifier: GPL-2.0
/* Copies a history that grew and shrank, without the table entries that nothing uses any longer. */
#include <errno.h>
#include <string.h>

#include "history/internal.h"
#include "history/spell.h"

static int renew(struct kl_history **h, bool tables)
{
	struct kl_history *old = *h, *new = kl_history_new();
	size_t i;

	if (!new)
		return -ENOMEM;
	for (i = 0; i < old->nmethods; i++)
		if (kl_history_method(new, old->methods[i], strlen(old->methods[i])) < 0)
			goto err;
	for (i = 0; i < old->nobjects && tables; i++)
		if (kl_history_object(new, old->objects[i]) < 0)
			goto err;
	for (i = 0; i < old->nthreads && tables; i++)
		if (kl_history_thread(new, old->threads[i]) < 0)
			goto err;
	for (i = 0; i < old->nops; i++) {
		const struct kl_opsig s = *kl_op_sig(old, &old->ops[i]);
		const int64_t object = kl_history_object(new, old->objects[old->ops[i].object]);
		const int64_t thread = kl_history_thread(new, old->threads[old->ops[i].thread]);
		struct kl_op op = old->ops[i];

		if (object < 0 || thread < 0)
			goto err;
		op.object = object;
		op.thread = thread;
		if (kl_history_add(new, &op, &s, kl_op_args(old, &old->ops[i]),
				   kl_op_res(old, &old->ops[i])) ||
		    kl_history_set_points(new, i, kl_op_point(old, &old->ops[i]),
					  kl_op_drain(old, &old->ops[i])) ||
		    kl_history_set_stack(new, i, kl_op_stack(old, &old->ops[i])))
			goto err;
	}
	new->clock = old->clock;
	new->error = old->error;
	new->fresh = old->fresh;
	new->memory = old->memory;
	new->source = old->source;
	old->source = NULL;
	new->ncpus = old->ncpus;
	new->spec_path = old->spec_path;
	new->spec_text = old->spec_text;
	new->release = old->release;
	new->attached = old->attached;
	kl_history_move_spellings(new, old);
	new->coverage = old->coverage;
	new->ncoverage = old->ncoverage;
	new->ccoverage = old->ccoverage;
	old->spec_path = old->spec_text = old->release = old->attached = NULL;
	old->coverage = NULL;
	old->ncoverage = old->ccoverage = 0;
	kl_history_free(old);
	*h = new;
	return 0;
err:
	kl_history_free(new);
	return -ENOMEM;
}

int kl_history_renew(struct kl_history **h)
{
	return renew(h, true);
}

int kl_history_shorten(struct kl_history **h)
{
	return renew(h, false);
}
