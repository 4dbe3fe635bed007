// SPDX-License-Identifier: GPL-2.0
/* klin gen: random histories of correct structures, and of slightly wrong ones. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/file.h"
#include "generate/generate.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "base/shipped.h"

enum {
	OPT_TYPE = 0x100, OPT_THREADS, OPT_OPS, OPT_KEYS, OPT_OBJECTS, OPT_MIX, OPT_SEED,
	OPT_PENDING, OPT_STALL, OPT_MUTATE, OPT_DELAY, OPT_ERROR, OPT_ANY, OPT_POINTS, OPT_TO,
	OPT_WHERE, OPT_PRODUCERS, OPT_MEMORY_MODEL,
};

static const struct argp_option options[] = {
	{ "type", OPT_TYPE, "NAME|FILE.lin", 0, "the specification: a shipped one by its name, or "
	  "a file (register)", 0 },
	{ "ops", OPT_OPS, "N", 0, "operations (1000)", 0 },
	{ "threads", OPT_THREADS, "N", 0, "threads (4)", 0 },
	{ "producers", OPT_PRODUCERS, "N", 0, "so many of the threads only add to a container, the "
	  "others never do; 0: all do all (0)", 0 },
	{ "objects", OPT_OBJECTS, "N", 0, "objects (1)", 0 },
	{ "keys", OPT_KEYS, "N", 0, "keys and values are below N; 0: 16 keys, and each value "
	  "is new (0)", 0 },
	{ "mix", OPT_MIX, "METHOD=WEIGHT,...", 0, "how often which method is called; others "
	  "never", 0 },
	{ "seed", OPT_SEED, "N", 0, "of the random numbers (1)", 0 },
	{ "delay", OPT_DELAY, "T", 0, "the longest wait, in units of time (100)", 1 },
	{ "error", OPT_ERROR, "T", 0, "of the clocks between CPUs (0)", 1 },
	{ "stall", OPT_STALL, NULL, 0, "now and then an operation takes as long as 500 others", 1 },
	{ "pending", OPT_PENDING, "PERCENT", 0, "operations whose return is not seen (0)", 1 },
	{ "any", OPT_ANY, NULL, 0, "begin in a state that the history does not tell", 1 },
	{ "memory-model", OPT_MEMORY_MODEL, "MODEL", 0, "what the history says it is of: sc, as it "
	  "is made, or tso (sc)", 1 },
	{ "points", OPT_POINTS, NULL, 0, "tell the linearization points", 1 },
	{ "mutate", OPT_MUTATE, "K", 0, "change K results, so that the history is likely wrong "
	  "(0)", 1 },
	{ "where", OPT_WHERE, "early|late|anywhere", 0, "in which tenth of the operations "
	  "(anywhere)", 1 },
	{ "output", 'o', "FILE", 0, "where to (standard output); .klh if its name ends so", 2 },
	{ "to", OPT_TO, "FORM", 0, "The form, whatever the name; --to=help lists them", 2 },
	{ 0 }
};

struct env {
	struct kl_gen_config c;
	const char *type, *mix, *out;
	const struct kl_form *form;
};

/* METHOD=WEIGHT,...; false after a message. */
static bool parse_mix(const struct kl_spec *spec, const char *mix, uint32_t *weight)
{
	const char *p = mix;
	uint64_t total = 0;
	unsigned int m;
	size_t len;
	char *end;

	for (;; p = end + 1) {
		len = strcspn(p, "=,");
		for (m = 0; m < kl_spec_nmethods(spec); m++) {
			const char *name = kl_spec_method(spec, m)->name;

			if (strlen(name) == len && !memcmp(name, p, len))
				break;
		}
		if (m == kl_spec_nmethods(spec)) {
			kl_err("--mix: '%.*s': expected a method of %s", (int)len, p,
			       kl_spec_name(spec));
			return false;
		}
		if (p[len] != '=' || p[len + 1] < '0' || p[len + 1] > '9') {
			kl_err("--mix: '%s': expected METHOD=WEIGHT", p);
			return false;
		}
		weight[m] = strtoul(p + len + 1, &end, 10) % (1u << 20);
		total += weight[m];
		if (!*end)
			break;
		if (*end != ',') {
			kl_err("--mix: '%s': expected a comma or the end", end);
			return false;
		}
	}
	if (!total)
		kl_err("--mix=%s: expected some weight above 0", mix);
	return total;
}

static enum kl_gen_where where_of(struct argp_state *state, const char *arg)
{
	if (!strcmp(arg, "early"))
		return KL_GEN_EARLY;
	if (!strcmp(arg, "late"))
		return KL_GEN_LATE;
	if (strcmp(arg, "anywhere"))
		argp_error(state, "--where=%s: expected early, late or anywhere", arg);
	return KL_GEN_ANYWHERE;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	struct kl_gen_config *c = &env->c;

	switch (key) {
	case OPT_TYPE:
		env->type = arg;
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
		env->mix = arg;
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
		break;
	case 'o':
		env->out = arg;
		break;
	case OPT_TO:
		env->form = kl_arg_to(state, arg);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': expected options only", arg);
		break;
	case ARGP_KEY_END:
		if (c->producers >= c->threads)
			argp_error(state, "--producers=%u: expected fewer than --threads=%u",
				   c->producers, c->threads);
		if (c->points && c->error)
			argp_error(state, "--points: expected --error=0 with it, to tell them "
				   "exactly");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int write_history(const struct env *env, struct kl_history *h)
{
	int ret;

	h->spec_path = strdup(env->type);
	if (!h->spec_path) {
		kl_cannot_write(env->out, -ENOMEM);
		return KLIN_EXIT_SYSTEM;
	}
	ret = kl_history_write(h, env->out, env->form);
	if (!ret)
		return KLIN_EXIT_OK;
	return ret == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
}

static int make_history(struct env *env, struct kl_spec *spec)
{
	uint32_t weight[UINT8_MAX + 1] = { 0 };
	struct kl_history *h;
	int ret;

	env->c.spec = spec;
	if (env->mix && !parse_mix(spec, env->mix, weight))
		return KLIN_EXIT_USAGE;
	env->c.weight = env->mix ? weight : NULL;
	ret = kl_gen(&env->c, &h);
	switch (ret) {
	case 0:
		ret = write_history(env, h);
		kl_history_free(h);
		return ret;
	case -EINVAL:
		kl_err("these options fit no history: expected fewer keys times objects, or of a "
		       "container methods for the producers and for the others");
		return KLIN_EXIT_USAGE;
	case -EDEADLK:
		kl_err("%s: all threads wait for ever, none of the methods can be called",
		       kl_spec_path(spec));
		return KLIN_EXIT_USAGE;
	case -E2BIG:
		return KLIN_EXIT_USAGE;
	default:
		kl_err("cannot make the history: %s", strerror(-ret));
		return KLIN_EXIT_SYSTEM;
	}
}

static int run(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_opt,
		.doc = "Make a random history of what a specification describes.\v"
		       "The same options make the same history.  `klin spec --list' names the\n"
		       "specifications that are shipped.\n\n"
		       "  klin gen --type=queue --ops=1000000 --threads=8 -o queue.klh\n"
		       "  klin gen --type=my.lin --mix=lock=1,trylock=3 --mutate=1 | klin check -",
	};
	struct env env = {
		.c = { .ops = 1000, .threads = 4, .objects = 1, .seed = 1, .delay = 100 },
		.type = "register", .out = "-", .form = KL_FORM_AUTO,
	};
	struct kl_spec *spec;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &env);
	if (ret)
		return ret;
	if (access(env.type, F_OK) && !kl_shipped_text(env.type)) {
		kl_err("--type=%s: no such file, and no shipped specification (`klin spec --list' "
		       "names them)", env.type);
		return KLIN_EXIT_USAGE;
	}
	ret = kl_spec_load(env.type, &spec);
	if (ret)
		return kl_ending_error(ret);
	ret = make_history(&env, spec);
	kl_spec_free(spec);
	return ret;
}

KL_COMMAND("gen", run, "make a random history");
