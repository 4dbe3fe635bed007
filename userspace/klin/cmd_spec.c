// SPDX-License-Identifier: GPL-2.0
/* klin spec: check a specification and print its methods and probes. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "check/check.h"
#include "klin/cmd.h"
#include "spec/mapping/mapping.h"
#include "spec/probe/probe.h"
#include "base/shipped.h"
#include "spec/spec.h"

struct spec_args {
	const char *path;
	bool dump, list;
};

static const struct argp_option options[] = {
	{ "dump", 'd', NULL, 0, "Print the byte code too", 0 },
	{ "list", 'l', NULL, 0, "List the shipped specifications and models", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct spec_args *args = state->input;

	switch (key) {
	case 'd':
		args->dump = true;
		return 0;
	case 'l':
		args->list = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->path)
			argp_error(state, "expected one FILE, found also '%s'", arg);
		args->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (args->path && args->list)
			argp_error(state, "--list takes no FILE");
		if (args->list && args->dump)
			argp_error(state, "--list and --dump exclude each other");
		if (!args->path && !args->list)
			kl_args_missing(state, "expected FILE; `klin spec --list' lists the "
					       "shipped ones");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_opt,
	.args_doc = "FILE",
	.doc = "Check the specification in FILE (.lin) and print its methods and probes.\v"
	       "FILE may also be the name of a shipped specification or model, without .lin.\n\n"
	       "Exit status: 0 the specification is right, 2 usage, or the specification has an "
	       "error, 4 the system refused.\n\n"
	       "Examples:\n"
	       "  # Check a specification.\n"
	       "  klin spec seqlock\n"
	       "  # Name the shipped specifications.\n"
	       "  klin spec --list\n"
	       "  # Print a shipped one, with its byte code.\n"
	       "  klin spec --dump queue",
};

static void print_params(const struct kl_param *p, unsigned int n)
{
	unsigned int i;

	printf("(");
	for (i = 0; i < n; i++)
		printf("%s%s %s", i ? ", " : "", p[i].type == KL_T_BOOL ? "bool" : "word",
		       p[i].name);
	printf(")");
}

static void print_method(const struct kl_method *m)
{
	printf("  %s", m->name);
	print_params(m->params, m->nparams);
	if (m->nresults) {
		printf(" -> ");
		print_params(m->results, m->nresults);
	}
	printf(": %u atomic step%s", m->nblocks, m->nblocks == 1 ? "" : "s");
	if (m->pure)
		printf(", writes nothing");
	else
		printf(", %s", m->flush ? "leaves nothing in the store buffer" :
		       "its writes may wait in the store buffer");
	if (m->barrier)
		printf(", a barrier%s", m->barrier_always ? "" : " on some paths");
	printf("\n");
}

static void print_probe(const struct kl_spec *s, const struct kl_probe *p)
{
	unsigned int i;

	printf("  %s on ", kl_spec_method(s, p->method)->name);
	for (i = 0; i < p->ntargets; i++) {
		const struct kl_probe_target *t = &p->targets[i];

		printf("%s%s%s%s%s%s%s%s", i ? " or " : "",
		       t->kind == KL_TARGET_KLIN ? "klin:" : "", t->inlined ? "inlined " : "",
		       t->inlined ? t->inlined : "", t->inlined ? " in " : "",
		       t->module ? t->module : "", t->module ? ":" : "", t->name);
		if (t->at_offset)
			printf("+0x%llx", (unsigned long long)t->offset);
	}
	printf(", line %u\n", p->pos.line);
}

/* Print the rules of the history block, and the methods without a rule. */
static void print_history(const struct kl_spec *s, const struct kl_mapping *map)
{
	const struct kl_map_rule *r;
	unsigned int i;

	printf("history, %s:\n",
	       map->whole ? "a record for each operation" : "a record for each call and return");
	for (r = map->rules; r; r = r->next)
		printf("  %s%s, line %u\n", kl_spec_method(s, r->method)->name,
		       r->each ? " for each element" : "", r->pos.line);
	for (i = 0; i < kl_spec_nmethods(s); i++) {
		for (r = map->rules; r && r->method != i; r = r->next)
			;
		if (!r)
			printf("  %s: no rule\n", kl_spec_method(s, i)->name);
	}
}

static const char *part_name(const struct kl_method *m)
{
	unsigned int k = m->part_param;

	return k < m->nparams ? m->params[k].name : m->results[k - m->nparams].name;
}

static void print_spec(const struct kl_spec *s)
{
	char doubt[512];
	unsigned int i;

	printf("spec %s\n", kl_spec_name(s));
	switch (kl_spec_partition(s)) {
	case KL_PART_OBJECT:
		printf("partition by object\n");
		break;
	case KL_PART_PARAM:
		printf("partition by %s%s\n", part_name(kl_spec_method(s, 0)),
		       kl_spec_partition_doubt(s, doubt, sizeof(doubt)) ? ", which is not certain" :
									  "");
		break;
	case KL_PART_NONE:
		printf("partition by none\n");
		break;
	}
	printf("methods:\n");
	for (i = 0; i < kl_spec_nmethods(s); i++)
		print_method(kl_spec_method(s, i));
	if (kl_spec_nprobes(s))
		printf("probes:\n");
	for (i = 0; i < kl_spec_nprobes(s); i++)
		print_probe(s, kl_spec_probe(s, i));
	if (kl_spec_mapping(s))
		print_history(s, kl_spec_mapping(s));
}

/* Print the name, and the first sentence of the comment after the license. */
static void print_shipped(const struct kl_shipped *p)
{
	const char *s = strchr(p->text, '\n');

	printf("%-21s ", p->name);
	while (s && !strncmp(s, "\n//", 3)) {
		for (s += 3; *s && *s != '\n'; s++) {
			putchar(*s);
			if (*s == '.' && (s[1] == '\n' || s[1] == ' '))
				goto end;
		}
	}
end:
	putchar('\n');
}

static int cmd_spec(int argc, char **argv)
{
	struct spec_args args = { 0 };
	struct kl_spec *s;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &args);
	if (ret)
		return ret;
	if (args.list) {
		const struct kl_shipped *p;

		for (p = kl_shipped; p->name; p++)
			print_shipped(p);
		return KLIN_EXIT_OK;
	}
	ret = kl_spec_load(args.path, &s);
	if (ret)
		return kl_ending_error(ret);
	kl_warn_suspicious(s);
	print_spec(s);
	if (args.dump)
		kl_spec_dump(s, stdout);
	kl_spec_free(s);
	return KLIN_EXIT_OK;
}

KL_COMMAND("spec", cmd_spec, "check a specification and say what it is");
