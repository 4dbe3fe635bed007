// SPDX-License-Identifier: GPL-2.0
/* Reports as JSON. */
#include <jansson.h>

#include "report/json.h"

static json_t *op_json(const struct kl_history *h, const struct kl_op *op)
{
	char text[512];
	json_t *j = json_object();

	kl_op_print(text, sizeof(text), h, op);
	json_object_set_new(j, "thread", json_integer(h->threads[op->thread]));
	json_object_set_new(j, "operation", json_string(text));
	json_object_set_new(j, "call", json_integer(op->call));
	json_object_set_new(j, "return", op->ret == KL_TIME_MAX ? json_null() :
								 json_integer(op->ret));
	return j;
}

static json_t *part_json(const struct kl_part_result *p)
{
	json_t *j = json_object(), *ops;
	char object[32];
	size_t i;

	snprintf(object, sizeof(object), "0x%llx", (unsigned long long)p->object);
	json_object_set_new(j, "object", json_string(object));
	if (p->has_key)
		json_object_set_new(j, "key", json_integer(p->key));
	json_object_set_new(j, "operations", json_integer(p->nops));
	json_object_set_new(j, "verdict", json_string(kl_verdict_name(p->answer.verdict)));
	json_object_set_new(j, "engine", p->answer.engine ? json_string(p->answer.engine) :
							    json_null());
	if (p->answer.verdict == KL_UNKNOWN)
		json_object_set_new(j, "reason", json_string(p->answer.reason));
	json_object_set_new(j, "needs_store_buffer", json_boolean(p->sc_violation));
	if (!p->cex)
		return j;
	ops = json_array();
	for (i = 0; i < p->cex->h->nops; i++)
		json_array_append_new(ops, op_json(p->cex->h, &p->cex->h->ops[i]));
	json_object_set_new(j, "counterexample", ops);
	json_object_set_new(j, "oracle_agrees", json_boolean(p->cex->oracle == KL_VIOLATION));
	return j;
}

static void add_cost(json_t *j, const struct kl_report *r, const struct kl_cost *c)
{
	json_object_set_new(j, "read_seconds", json_real(c->read_seconds));
	json_object_set_new(j, "check_seconds", json_real(r->seconds));
	json_object_set_new(j, "certificate_seconds", json_real(c->certificate_seconds));
	json_object_set_new(j, "user_seconds", json_real(c->user_seconds));
	json_object_set_new(j, "peak_bytes", json_integer(c->peak_bytes));
}

void kl_print_json(FILE *f, const struct kl_report *r, const char *name,
		   const struct kl_cost *cost)
{
	json_t *j = json_object(), *parts = json_array();
	size_t i;

	json_object_set_new(j, "history", json_string(name));
	json_object_set_new(j, "spec", json_string(kl_spec_name(r->spec)));
	json_object_set_new(j, "verdict", json_string(kl_verdict_name(r->verdict)));
	if (r->verdict == KL_UNKNOWN)
		json_object_set_new(j, "reason", json_string(r->reason));
	json_object_set_new(j, "operations", json_integer(r->h->nops));
	json_object_set_new(j, "gaps", json_integer(r->h->ngaps));
	json_object_set_new(j, "linearizable", json_integer(r->count[KL_LINEARIZABLE]));
	json_object_set_new(j, "violations", json_integer(r->count[KL_VIOLATION]));
	json_object_set_new(j, "unknown", json_integer(r->count[KL_UNKNOWN]));
	json_object_set_new(j, "need_store_buffer", json_integer(r->sc_violations));
	json_object_set_new(j, "seconds", json_real(r->seconds));
	if (cost)
		add_cost(j, r, cost);
	for (i = 0; i < r->nparts; i++)
		if (r->parts[i].answer.verdict != KL_LINEARIZABLE || r->nparts <= 100)
			json_array_append_new(parts, part_json(&r->parts[i]));
	json_object_set_new(j, "partitions", parts);
	json_dumpf(j, f, JSON_INDENT(2));
	fputc('\n', f);
	json_decref(j);
}
