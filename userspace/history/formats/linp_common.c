// SPDX-License-Identifier: GPL-2.0
/* Code that the readers of LinP's and FPTLin's forms share, see linp.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "history/internal.h"
#include "history/formats/linp.h"
#include "history/spell.h"
#include "history/source.h"

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

/* Set the name and the signature of method @i of the type. */
static int begin_method(struct kl_linp *l, unsigned int i)
{
	static const struct {
		uint8_t nargs, nres;
	} values[] = {
		[KL_LINP_GIVE] = { 1, 0 }, [KL_LINP_TAKE] = { 0, 1 }, [KL_LINP_TRUE] = { 1, 1 },
		[KL_LINP_FALSE] = { 1, 1 }, [KL_LINP_TELL] = { 1, 1 }, [KL_LINP_SWAP] = { 2, 1 },
	};
	const struct kl_linp_method *m = &l->type->methods[i];
	const int64_t index = kl_history_method(l->h, m->ours, strlen(m->ours));
	struct kl_linp_name *name = &l->name[i];
	const size_t len = strlen(m->theirs);

	if (index < 0)
		return index;
	/* Reports show a result, so the name of contains_true and contains_false is contains. */
	if (m->shape != KL_LINP_TRUE && m->shape != KL_LINP_FALSE &&
	    kl_history_spell_method(l->h, m->ours, m->theirs, len))
		return -ENOMEM;
	l->sig[i] = (struct kl_opsig){
		.method = index,
		.nargs = values[m->shape].nargs,
		.nres = values[m->shape].nres,
	};
	name->len = len < sizeof(name->chars) ? len : sizeof(name->chars);
	name->mask = UINT64_MAX >> (64 - 8 * name->len);
	memcpy(&name->chars, m->theirs, name->len);
	name->chars = le64toh(name->chars);
	name->rest = m->theirs + name->len;
	return 0;
}

int kl_linp_header(struct kl_linp *l, const char **pp)
{
	const char *p = kl_scan_skip(*pp + 1);
	size_t n = kl_scan_word(p);
	int ret;

	if (l->type && find_type(l->types, l->ntypes, p, n) && kl_scan_skip(p + n)[0] == '\n')
		return kl_scan_bad(&l->scan, p, "a comment: a file has one type");
	if (l->type)
		return 0;
	l->h->declared = true;
	l->type = find_type(l->types, l->ntypes, p, n);
	if (!l->type)
		return kl_scan_stop(&l->scan, p, l->expected);
	for (; l->type->methods[l->nmethods].theirs; l->nmethods++) {
		ret = begin_method(l, l->nmethods);
		if (ret)
			return ret;
	}
	l->h->spec_path = strdup(l->type->spec);
	return l->h->spec_path ? 0 : -ENOMEM;
}

/* Check that the operations of a process do not overlap. */
static int check_processes(const struct kl_linp *l)
{
	const struct kl_history *h = l->h;
	size_t a, b;
	int ret;

	ret = kl_history_overlap(h, &a, &b);
	if (ret <= 0)
		return ret;
	kl_history_err(h, b, KL_AT_CALL,
		  "process %" PRIu64 " is called at %" PRIu64
		  " during another operation of its thread, from %"
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
	l->h->view.times = l->type && !l->type->ties ? KL_TIMES_DOUBLED : KL_TIMES_FILE;
	l->h->view.complements = l->type && l->type->reversed;
	l->h->view.threadless = l->one_thread;
	l->h->fresh = true;
	if (!ret)
		ret = kl_source_note(l->h, in) ?: kl_history_finish(l->h);
	if (!ret && !l->one_thread)
		ret = check_processes(l);
	if (ret)
		kl_history_free(l->h);
	else
		*out = l->h;
	return ret;
}
