// SPDX-License-Identifier: GPL-2.0
/*
 * klin rounds: run the store-buffering test of Burckhardt et al., Figure 5, on the kernel's locks.
 *
 * klin.ko runs rounds of two threads on two CPUs.  No time is taken inside a round, since this
 * would drain the store buffer.  So a round shows only the order of each thread, and rounds follow
 * one another.  The history expresses this by the clock `epoch', with 16 ticks a round and an error
 * of 8.  Then operations of different threads in one round have no order, and all are before
 * those of the next round.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/file.h"
#include "history/klh.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/out_file.h"
#include "record/attach/module.h"

#define TICKS		16	/* ticks of a round */
#define DRAINED		4	/* tick of the barrier at a round's end, which drains all buffers */
#define MAX_ROUNDS	10000000

struct rounds_args {
	const char *spec, *out, *variant, *cpus;
	uint64_t rounds, seed;
};

enum { OPT_VARIANT = 256, OPT_ROUNDS, OPT_SEED, OPT_CPUS };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write the history to FILE, as text for .txt and -, else as "
	  ".klh",
	  0 },
	{ "variant", OPT_VARIANT, "NAME", 0,
	  "seqlock (default), trylock, mntput or futex; or one of these with full barriers, such "
	  "as seqlock_mb",
	  0 },
	{ "rounds", OPT_ROUNDS, "N", 0, "Number of rounds (default 100000)", 0 },
	{ "seed", OPT_SEED, "N", 0, "Seed of the threads' skew (default 1)", 0 },
	{ "cpus", OPT_CPUS, "LIST", 0, "The two CPUs (default: the first two)", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct rounds_args *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		break;
	case OPT_VARIANT:
		a->variant = arg;
		break;
	case OPT_ROUNDS:
		a->rounds = kl_arg_number(state, "rounds", arg, 1, MAX_ROUNDS);
		break;
	case OPT_SEED:
		a->seed = kl_arg_number(state, "seed", arg, 0, UINT64_MAX);
		break;
	case OPT_CPUS:
		a->cpus = arg;
		break;
	case ARGP_KEY_ARG:
		if (a->spec)
			argp_error(state, "expected one specification, found also '%s'", arg);
		a->spec = arg;
		break;
	case ARGP_KEY_END:
		if (!a->spec)
			kl_args_missing(state, "expected a specification: fig5.lin, fig5_lock.lin, "
					       "mntput.lin or futex.lin");
		kl_arg_keep(state, "output", a->out, a->spec);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "SPEC.lin",
	.doc = "Run rounds of a store-buffering test on the kernel's seqlock or spinlock (klin.ko "
	       "must be loaded) and write their history.  mntput and futex are two old bugs of the "
	       "kernel, see kmod/litmus_round.c.\v"
	       "Exit status: 0 the history is written, 2 usage or input, 4 the system refused.\n\n"
	       "Examples:\n"
	       "  # Run 100000 rounds on the kernel's seqlock.\n"
	       "  klin rounds -o fig5.klh fig5\n"
	       "  # Violations: without store buffers no order explains some rounds.\n"
	       "  klin check --memory-model=sc fig5.klh\n"
	       "  # With store buffers, all rounds are explained.\n"
	       "  klin check fig5.klh",
};

/* Add operation number @index of a thread in a round.  Return: 0 or -ENOMEM. */
static int add_op(struct kl_history *h, uint64_t round, unsigned int thread, unsigned int index,
		  const char *method, const struct kl_val *args, unsigned int nargs,
		  const struct kl_val *res, unsigned int nres)
{
	int64_t m = kl_history_method(h, method, strlen(method));
	int64_t o = kl_history_object(h, round), t = kl_history_thread(h, thread);
	struct kl_op op = {
		.call = round * TICKS + 2 * index, .ret = round * TICKS + 2 * index + 1,
		.cpu = thread,
	};
	const struct kl_opsig s = { .method = m, .nargs = nargs, .nres = nres };
	int ret;

	if (m < 0 || o < 0 || t < 0)
		return -ENOMEM;
	op.object = o;
	op.thread = t;
	ret = kl_history_add(h, &op, &s, args, res);
	return ret ?: kl_history_set_points(h, h->nops - 1, KL_TIME_MAX, round * TICKS + DRAINED);
}

/* The operations of a round in the variants whose names begin with @variant. */
struct variant {
	const char *variant;
	/* true: the operations of fig5_lock.lin; false: of fig5.lin, or @method0 and @method1 */
	bool lock;
	/* methods of the threads 0 and 1, which return the values of the round's line; or NULL */
	const char *method0, *method1;
	bool negate0, negate1;	/* the method returns 1 if the round's value is 0 */
	const char *required;	/* a method that the specification must have */
};

static const struct variant variants[] = {
	{ .variant = "seqlock", .required = "read" },
	{ .variant = "trylock", .required = "trylock", .lock = true },
	{ .variant = "mntput", .required = "legitimize", .method0 = "put", .negate0 = true,
	  .method1 = "legitimize", .negate1 = true },
	{ .variant = "futex", .required = "wait", .method0 = "wake", .method1 = "wait",
	  .negate1 = true },
};

static const struct variant *find_variant(const char *variant)
{
	size_t i, n = sizeof(variants) / sizeof(variants[0]);

	for (i = 1; i < n; i++)
		if (!strncmp(variant, variants[i].variant, strlen(variants[i].variant)))
			return &variants[i];
	return &variants[0];
}

/* Return: the variant for the methods of the specification, or NULL. */
static const char *variant_of(const struct kl_spec *spec)
{
	size_t i, n = sizeof(variants) / sizeof(variants[0]);

	for (i = 0; i < n; i++)
		if (kl_spec_find_method(spec, variants[i].required) >= 0)
			return variants[i].variant;
	return NULL;
}

/* Parse "ROUND b a1 a2" or "ROUND b ok", see kmod/litmus_round.c, and add its operations. */
static int add_round(struct kl_history *h, const char *line, const struct variant *m)
{
	const struct kl_val one[2] = { kl_word(1), kl_word(1) };
	bool lock = m->lock, two = m->lock || m->method0;
	struct kl_val b, a[2];
	unsigned long long v[4];
	int n = sscanf(line, "%llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3]), ret;

	if (n != (two ? 3 : 4) || v[0] > UINT64_MAX / TICKS - 1)
		return -EINVAL;
	b = kl_word(v[1] ^ m->negate0);
	a[0] = kl_word(v[2] ^ m->negate1);
	a[1] = kl_word(two ? 0 : v[3]);
	if (m->method0) {
		ret = add_op(h, v[0], 0, 0, m->method0, NULL, 0, &b, 1);
		return ret ? ret : add_op(h, v[0], 1, 0, m->method1, NULL, 0, a, 1);
	}
	ret = lock ? add_op(h, v[0], 0, 0, "unlock", NULL, 0, NULL, 0) :
		     add_op(h, v[0], 0, 0, "write", one, 2, NULL, 0);
	if (!ret)
		ret = add_op(h, v[0], 0, 1, "get_y", NULL, 0, &b, 1);
	if (!ret)
		ret = add_op(h, v[0], 1, 0, "set_y", one, 1, NULL, 0);
	if (!ret)
		ret = lock ? add_op(h, v[0], 1, 1, "trylock", NULL, 0, a, 1) :
			     add_op(h, v[0], 1, 1, "read", NULL, 0, a, 2);
	return ret;
}

static int read_results(struct kl_history *h, const struct variant *m)
{
	char *text, *line, *save = NULL;
	size_t len;
	int ret = kl_read_file(KL_MODULE_DIR "rounds_result", &text, &len);

	if (ret) {
		kl_err(KL_MODULE_DIR "rounds_result: %s", strerror(-ret));
		return ret;
	}
	for (line = strtok_r(text, "\n", &save); line && !ret;
	     line = strtok_r(NULL, "\n", &save)) {
		ret = add_round(h, line, m);
		if (ret == -EINVAL)
			kl_err(KL_MODULE_DIR "rounds_result: '%s' is no result of a round", line);
	}
	free(text);
	return ret ? ret : kl_history_finish(h);
}

/*
 * Start the rounds in klin.ko and wait for their end.  Return: 0, or a negative errno after a
 * message.
 */
static int run_rounds(const struct rounds_args *a)
{
	char *setting, state[32];
	int ret;

	if (asprintf(&setting, "variant=%s rounds=%llu seed=%llu%s%s", a->variant,
		     (unsigned long long)a->rounds, (unsigned long long)a->seed,
		     a->cpus ? " cpus=" : "", a->cpus ? a->cpus : "") < 0) {
		kl_err("out of memory");
		return -ENOMEM;
	}
	ret = kl_module_write("rounds", setting);
	if (ret)
		ret = kl_module_refused(setting, ret);
	free(setting);
	if (ret)
		return ret;
	do {
		usleep(10000);
		if (!kl_module_value("status", "state", state, sizeof(state))) {
			kl_err("klin.ko went away");
			return -ENOENT;
		}
	} while (!strcmp(state, "running"));
	return 0;
}

static int describe(struct kl_history *h, const struct rounds_args *a, const struct kl_spec *spec)
{
	struct utsname u;

	h->clock = KL_CLOCK_EPOCH;
	h->error = TICKS / 2;
	h->fresh = true;
	h->ncpus = 2;
	h->spec_path = strdup(a->spec);
	h->spec_text = strdup(kl_spec_text(spec));
	h->release = uname(&u) ? NULL : strdup(u.release);
	if (asprintf(&h->attached, "klin.ko rounds, variant %s: plain stores into its own memory, "
		     "no probe and no time-stamp inside a round", a->variant) < 0)
		h->attached = NULL;
	return h->spec_path && h->spec_text && h->attached ? 0 : -ENOMEM;
}

static int cmd_rounds(int argc, char **argv)
{
	struct rounds_args a = { .variant = "seqlock", .rounds = 100000, .seed = 1 };
	struct kl_history *h = NULL;
	struct kl_spec *spec = NULL;
	char non_sc[32];
	const struct variant *m;
	int ret, code = KLIN_EXIT_USAGE;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	ret = kl_spec_load(a.spec, &spec);
	if (ret)
		return kl_ending_error(ret);
	m = find_variant(a.variant);
	if (kl_spec_find_method(spec, m->required) < 0) {
		const char *near = variant_of(spec);

		kl_err("%s: the specification has no method '%s', which variant %s requires; %s%s%s",
		       a.spec, m->required, a.variant,
		       near ? "did you mean --variant=" :
			      "expected fig5, fig5_lock, mntput or futex",
		       near ?: "", near ? "?" : "");
		goto out;
	}
	ret = run_rounds(&a);
	if (ret) {
		code = ret == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
		goto out;
	}
	code = KLIN_EXIT_SYSTEM;
	h = kl_history_new();
	if (!h || describe(h, &a, spec) || read_results(h, m))
		goto out;
	kl_module_value("status", "non_sc", non_sc, sizeof(non_sc));
	fprintf(stderr, "%s: %llu rounds, %s with the outcome that sequential consistency "
		"forbids\n",
		a.variant, (unsigned long long)a.rounds, non_sc);
	ret = a.out ? kl_history_write(h, a.out, KL_FORM_AUTO) : 0;
	if (!ret)
		code = KLIN_EXIT_OK;
out:
	kl_history_free(h);
	kl_spec_free(spec);
	return code;
}

KL_COMMAND("rounds", cmd_rounds, "store-buffering rounds on the kernel's own locks");
