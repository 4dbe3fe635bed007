// SPDX-License-Identifier: GPL-2.0
/* klin gen: make random histories of a specification, with or without wrong results. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/digits.h"
#include "base/err.h"
#include "base/outfile.h"
#include "generate/generate.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/names.h"
#include "klin/out_file.h"

enum {
	OPT_TYPE = 0x100, OPT_THREADS, OPT_OPS, OPT_KEYS, OPT_OBJECTS, OPT_MIX, OPT_SEED,
	OPT_PENDING, OPT_STALL, OPT_MUTATE, OPT_DELAY, OPT_ERROR, OPT_ANY, OPT_POINTS, OPT_TO,
	OPT_WHERE, OPT_PRODUCERS, OPT_MEMORY_MODEL,
};

static const struct argp_option options[] = {
	{ "type", OPT_TYPE, "NAME|FILE.lin", 0,
	  "the specification: a shipped one by its name, or "
	  "a file (register)",
	  0 },
	{ "ops", OPT_OPS, "N", 0, "operations (1000)", 0 },
	{ "threads", OPT_THREADS, "N", 0, "threads (4)", 0 },
	{ "producers", OPT_PRODUCERS, "N", 0,
	  "N of the threads only add to a container, and the "
	  "others never add; 0: all threads call all methods (0)",
	  0 },
	{ "objects", OPT_OBJECTS, "N", 0, "objects (1)", 0 },
	{ "keys", OPT_KEYS, "N", 0,
	  "keys and values are below N; 0: 16 keys, and each value "
	  "is new (0)",
	  0 },
	{ "mix", OPT_MIX, "METHOD=WEIGHT,...", 0,
	  "relative frequencies of the methods; methods "
	  "that are not named are not called",
	  0 },
	{ "seed", OPT_SEED, "N", 0, "seed of the random numbers (1)", 0 },
	{ "delay", OPT_DELAY, "T", 0, "the longest wait, in units of time (100)", 1 },
	{ "error", OPT_ERROR, "T", 0, "error of the clock between CPUs (0)", 1 },
	{ "stall", OPT_STALL, NULL, 0, "now and then an operation takes as long as 500 others", 1 },
	{ "pending", OPT_PENDING, "PERCENT", 0, "share of operations whose return is not seen (0)",
	  1 },
	{ "any", OPT_ANY, NULL, 0, "begin in a state that the history does not name", 1 },
	{ "memory-model", OPT_MEMORY_MODEL, "MODEL", 0,
	  "the memory model that the history names: "
	  "sc, by which klin makes it, or tso (sc)",
	  1 },
	{ "points", OPT_POINTS, NULL, 0, "write the linearization points", 1 },
	{ "mutate", OPT_MUTATE, "K", 0,
	  "change K results, which probably makes the history wrong "
	  "(0)",
	  1 },
	{ "where", OPT_WHERE, "early|late|anywhere", 0,
	  "which results --mutate changes: of the "
	  "first tenth, of the last tenth, or any (anywhere)",
	  1 },
	{ "output", 'o', "FILE", 0,
	  "write the history to FILE, as .klh if the name ends in .klh "
	  "(standard output)",
	  2 },
	{ "to", OPT_TO, "FORM", 0,
	  "the form, regardless of the name of FILE; --to=help lists all "
	  "forms",
	  2 },
	{ 0 }
};

struct gen_args {
	struct kl_gen_config c;
	const char *type, *mix, *out;
	const struct kl_form *form;
	bool where; /* --where was given */
};

#define MOST_WEIGHT (1u << 20)

/* Parse METHOD=WEIGHT,... into @weight, by method.  Return: true, or false after a message. */
static bool parse_mix(const struct kl_spec *spec, const char *mix, uint32_t *weight)
{
	bool named[UINT8_MAX + 1] = { false };
	const char *p = mix;
	uint64_t total = 0;
	const char *end;
	unsigned int m;
	uint64_t n = 0;
	size_t len;

	for (;; p = end + 1) {
		len = strcspn(p, "=,");
		for (m = 0; m < kl_spec_nmethods(spec); m++) {
			const char *name = kl_spec_method(spec, m)->name;

			if (strlen(name) == len && !memcmp(name, p, len))
				break;
		}
		if (m == kl_spec_nmethods(spec)) {
			kl_no_method(spec, "mix", p, len);
			return false;
		}
		end = p[len] == '=' ? kl_digits(p + len + 1, &n) : NULL;
		if (!end || n >= MOST_WEIGHT) {
			kl_err("--mix: '%s': expected METHOD=WEIGHT, a weight below %u", p,
			       MOST_WEIGHT);
			return false;
		}
		if (named[m]) {
			kl_err("--mix: '%.*s' is named twice", (int)len, p);
			return false;
		}
		named[m] = true;
		weight[m] = n;
		total += weight[m];
		if (!*end)
			break;
		if (*end != ',') {
			kl_err("--mix: '%s': expected a comma or the end", end);
			return false;
		}
	}
	if (!total)
		kl_err("--mix=%s: expected a weight above 0", mix);
	return total;
}

static enum kl_gen_where where_of(struct argp_state *state, const char *arg)
{
	static const char *const names[] = { "early", "late", "anywhere", NULL };
	static const enum kl_gen_where values[] = { KL_GEN_EARLY, KL_GEN_LATE, KL_GEN_ANYWHERE };

	return values[kl_arg_choice(state, "where", arg, names)];
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct gen_args *args = state->input;
	struct kl_gen_config *c = &args->c;

	switch (key) {
	case OPT_TYPE:
		args->type = arg;
		break;
	case OPT_OPS:
		c->ops = kl_arg_number(state, "ops", arg, 0, UINT32_MAX - 1);
		break;
	case OPT_THREADS:
		c->threads = kl_arg_number(state, "threads", arg, 1, 1u << 20);
		break;
	case OPT_MEMORY_MODEL:
		c->tso = !kl_arg_sc(state, arg);
		break;
	case OPT_PRODUCERS:
		c->producers = kl_arg_number(state, "producers", arg, 0, 1u << 20);
		break;
	case OPT_OBJECTS:
		c->objects = kl_arg_number(state, "objects", arg, 1, 1u << 24);
		break;
	case OPT_KEYS:
		c->keys = kl_arg_number(state, "keys", arg, 0, UINT32_MAX);
		break;
	case OPT_MIX:
		args->mix = arg;
		break;
	case OPT_SEED:
		c->seed = kl_arg_number(state, "seed", arg, 0, UINT64_MAX);
		break;
	case OPT_DELAY:
		c->delay = kl_arg_number(state, "delay", arg, 0, 1u << 30);
		break;
	case OPT_ERROR:
		c->error = kl_arg_number(state, "error", arg, 0, 1u << 30);
		break;
	case OPT_STALL:
		c->stall = true;
		break;
	case OPT_PENDING:
		c->pending = kl_arg_number(state, "pending", arg, 0, 100);
		break;
	case OPT_ANY:
		c->any = true;
		break;
	case OPT_POINTS:
		c->points = true;
		break;
	case OPT_MUTATE:
		c->mutate = kl_arg_number(state, "mutate", arg, 0, UINT32_MAX);
		break;
	case OPT_WHERE:
		c->where = where_of(state, arg);
		args->where = true;
		break;
	case 'o':
		args->out = arg;
		break;
	case OPT_TO:
		args->form = kl_arg_to(state, arg);
		break;
	case ARGP_KEY_ARG:
		if (args->mix && strchr(arg, '='))
			argp_error(
				state,
				"expected options only, found '%s'; --mix has its methods in one "
				"argument, as in --mix=%s,%s",
				arg, args->mix, arg);
		if (strspn(arg, "0123456789") == strlen(arg))
			argp_error(state,
				   "expected options only, found '%s'; a number has its option, as "
				   "in --ops=%s",
				   arg, arg);
		argp_error(state, "expected options only, found '%s'; --type names "
			   "the kind of history", arg);
		break;
	case ARGP_KEY_END:
		if (c->producers >= c->threads)
			argp_error(state, "--producers=%u: expected fewer than --threads=%u",
				   c->producers, c->threads);
		if (args->where && !c->mutate)
			argp_error(state, "--where requires --mutate");
		if (c->mutate > c->ops)
			argp_error(state, "--mutate=%llu: expected at most --ops=%llu",
				   (unsigned long long)c->mutate, (unsigned long long)c->ops);
		kl_arg_keep(state, "output", args->out, args->type);
		if (c->points && c->error)
			argp_error(state, "--points requires --error=0");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int write_history(const struct gen_args *args, struct kl_history *h)
{
	int ret;

	h->spec_path = strdup(args->type);
	if (!h->spec_path) {
		kl_cannot_write(args->out, -ENOMEM);
		return KLIN_EXIT_SYSTEM;
	}
	ret = kl_history_write(h, args->out, args->form);
	if (!ret)
		return KLIN_EXIT_OK;
	return ret == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
}

static int make_history(struct gen_args *args, struct kl_spec *spec)
{
	uint32_t weight[UINT8_MAX + 1] = { 0 };
	struct kl_history *h;
	int ret;

	args->c.spec = spec;
	if (args->mix && !parse_mix(spec, args->mix, weight))
		return KLIN_EXIT_USAGE;
	args->c.weight = args->mix ? weight : NULL;
	ret = kl_gen(&args->c, &h);
	switch (ret) {
	case 0:
		ret = write_history(args, h);
		kl_history_free(h);
		return ret;
	case -EINVAL:
		kl_err("no history fits these options; expected fewer keys or objects, or, with "
		       "--producers, methods that add and methods that do not");
		return KLIN_EXIT_USAGE;
	case -EDEADLK:
		kl_err("%s: all threads wait forever: no method can be called", kl_spec_path(spec));
		return KLIN_EXIT_USAGE;
	case -E2BIG:
		return KLIN_EXIT_USAGE;
	default:
		kl_err("cannot make the history: %s", strerror(-ret));
		return KLIN_EXIT_SYSTEM;
	}
}

static int cmd_gen(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_opt,
		.doc = "Make a random history of a specification.\v"
		       "The same options make the same history.  `klin spec --list' names the\n"
		       "specifications that are shipped.\n\n"
		       "Exit status: 0 the history is written, 2 usage or input, 4 the system\n"
		       "refused.\n\n"
		       "Examples:\n"
		       "  # A million operations of 8 threads on a queue.\n"
		       "  klin gen --type=queue --ops=1000000 --threads=8 -o queue.klh\n"
		       "  # Some methods of a specification only.\n"
		       "  klin gen --type=lock --mix=trylock=3,unlock=1 -o lock.txt\n"
		       "  # A history with one wrong result, for a checker.\n"
		       "  klin gen --type=stack --mutate=1 | klin check -",
	};
	struct gen_args args = {
		.c = { .ops = 1000, .threads = 4, .objects = 1, .seed = 1, .delay = 100 },
		.type = "register",
		.out = "-",
		.form = KL_FORM_AUTO,
	};
	struct kl_spec *spec;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &args);
	if (ret)
		return ret;
	ret = kl_spec_load(args.type, &spec);
	if (ret)
		return kl_ending_error(ret);
	ret = make_history(&args, spec);
	kl_spec_free(spec);
	return ret;
}

KL_COMMAND("gen", cmd_gen, "make a random history");
