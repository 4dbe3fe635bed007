// SPDX-License-Identifier: GPL-2.0
/* Why a verdict is UNKNOWN, see unknown.h. */
#include "report/json.h"
#include "report/unknown.h"
#include "report/verdict.h"
#include "report/words.h"

static void print_one(FILE *f, const struct kl_report *r, const struct kl_unknown *u)
{
	kl_put_sentence(f, "What is not known:", u->why);
	if (u->first && r->nparts > 1) {
		fprintf(f, "  This is so for %zu of %zu partitions, the first being ", u->parts,
			r->nparts);
		kl_print_part_name(f, r->h, u->first);
		fputs(".\n", f);
	}
	if (u->progress)
		kl_put_sentence(f, "  Progress:", u->progress);
	kl_put_sentence(f, "  Advice:", u->advice);
}

int kl_print_unknown(FILE *f, const struct kl_report *r)
{
	struct kl_unknown all[KL_UNKNOWN_CAUSES];
	size_t n, i;
	int ret = kl_unknown_explain(r, all, &n);

	for (i = 0; i < n; i++)
		print_one(f, r, &all[i]);
	kl_unknown_free(all, n);
	return ret;
}

static json_t *unknown_json(const struct kl_report *r, const struct kl_unknown *u)
{
	json_t *j = json_object();

	json_object_set_new(j, "cause", json_string(kl_unknown_codes[u->cause]));
	json_object_set_new(j, "partitions", json_integer(u->parts));
	if (u->first)
		kl_json_part_name(j, r->h, u->first);
	json_object_set_new(j, "why", kl_json_text(u->why));
	if (u->progress)
		json_object_set_new(j, "progress", kl_json_text(u->progress));
	json_object_set_new(j, "advice", kl_json_text(u->advice));
	return j;
}

void kl_add_unknown(json_t *j, const struct kl_report *r)
{
	struct kl_unknown all[KL_UNKNOWN_CAUSES];
	json_t *list;
	size_t n, i;

	if (kl_unknown_explain(r, all, &n))
		kl_json_no_memory();
	if (!n)
		return;
	list = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(list, unknown_json(r, &all[i]));
	json_object_set_new(j, "why_unknown", list);
	kl_unknown_free(all, n);
}
