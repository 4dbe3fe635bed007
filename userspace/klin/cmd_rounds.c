// SPDX-License-Identifier: GPL-2.0
/*
 * klin rounds: Figure 5 of Burckhardt et al. on the kernel's own locks.
 *
 * klin.ko runs rounds of two threads on two CPUs without a time-stamp inside,
 * since that would drain the store buffer.  All that is known of a round is each
 * thread's own order, and that rounds follow one another: the clock is `epoch',
 * 16 ticks a round with an error of 8, so that no operation of a round is before
 * another thread's of the same round, and all are before the next round's.
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
#include "record/attach/module.h"

#define TICKS		16	/* a round's */
#define DRAINED		4	/* when the barrier at a round's end has drained all buffers */
#define MAX_ROUNDS	10000000

struct rounds_args {
	const char *spec, *out, *variant, *cpus;
	uint64_t rounds, seed;
};

enum { OPT_VARIANT = 256, OPT_ROUNDS, OPT_SEED, OPT_CPUS };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "The history: .klh, or text for .txt and -", 0 },
	{ "variant", OPT_VARIANT, "NAME", 0,
	  "seqlock (default), trylock, mntput or futex, and each with full barriers: seqlock_mb "
	  "and so on", 0 },
	{ "rounds", OPT_ROUNDS, "N", 0, "How many (default 100000)", 0 },
	{ "seed", OPT_SEED, "N", 0, "Of the threads' skew (default 1)", 0 },
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
			argp_error(state, "one specification expected, '%s' is too much", arg);
		a->spec = arg;
		break;
	case ARGP_KEY_END:
		if (!a->spec)
			argp_error(state, "no specification given: fig5.lin, fig5_lock.lin, "
				   "mntput.lin or futex.lin");
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
	       "Examples:\n"
	       "  klin rounds -o fig5.klh specs/fig5.lin\n"
	       "  klin check --memory-model=sc fig5.klh      # violations: no order without "
	       "buffers\n"
	       "  klin check fig5.klh                        # explained by the store buffer",
};

static int add(struct kl_history *h, uint64_t round, unsigned int thread, unsigned int place,
	       const char *method, const struct kl_val *args, unsigned int nargs,
	       const struct kl_val *res, unsigned int nres)
{
	int64_t m = kl_history_method(h, method, strlen(method));
	int64_t o = kl_history_object(h, round), t = kl_history_thread(h, thread);
	struct kl_op op = {
		.call = round * TICKS + 2 * place, .ret = round * TICKS + 2 * place + 1,
		.cpu = thread,
	};
	const struct kl_shape s = { .method = m, .nargs = nargs, .nres = nres };
	int ret;

	if (m < 0 || o < 0 || t < 0)
		return -ENOMEM;
	op.object = o;
	op.thread = t;
	ret = kl_history_add(h, &op, &s, args, res);
	return ret ?: kl_history_tell(h, h->nops - 1, KL_TIME_MAX, round * TICKS + DRAINED);
}

/* What a variant's rounds mean, by how its name begins. */
struct meaning {
	const char *variant;
	bool lock;		/* of fig5_lock.lin, else of fig5.lin, if there are no names: */
	const char *zero, *one;	/* the methods of the two threads; each tells of its outcome */
	bool zero_not, one_not;	/* by 1 for the word 0 */
	const char *needs;	/* a method of the specification */
};

static const struct meaning meanings[] = {
	{ .variant = "seqlock", .needs = "read" },
	{ .variant = "trylock", .needs = "trylock", .lock = true },
	{ .variant = "mntput", .needs = "legitimize", .zero = "put", .zero_not = true,
	  .one = "legitimize", .one_not = true },
	{ .variant = "futex", .needs = "wait", .zero = "wake", .one = "wait", .one_not = true },
};

static const struct meaning *find_meaning(const char *variant)
{
	size_t i, n = sizeof(meanings) / sizeof(meanings[0]);

	for (i = 1; i < n; i++)
		if (!strncmp(variant, meanings[i].variant, strlen(meanings[i].variant)))
			return &meanings[i];
	return &meanings[0];
}

/* "ROUND b a1 a2", or "ROUND b ok". */
static int add_round(struct kl_history *h, const char *line, const struct meaning *m)
{
	const struct kl_val one[2] = { kl_word(1), kl_word(1) };
	bool lock = m->lock, two = m->lock || m->zero;
	struct kl_val b, a[2];
	unsigned long long v[4];
	int n = sscanf(line, "%llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3]), ret;

	if (n != (two ? 3 : 4) || v[0] > UINT64_MAX / TICKS - 1)
		return -EINVAL;
	b = kl_word(v[1] ^ m->zero_not);
	a[0] = kl_word(v[2] ^ m->one_not);
	a[1] = kl_word(two ? 0 : v[3]);
	if (m->zero) {
		ret = add(h, v[0], 0, 0, m->zero, NULL, 0, &b, 1);
		return ret ? ret : add(h, v[0], 1, 0, m->one, NULL, 0, a, 1);
	}
	ret = lock ? add(h, v[0], 0, 0, "unlock", NULL, 0, NULL, 0) :
		     add(h, v[0], 0, 0, "write", one, 2, NULL, 0);
	if (!ret)
		ret = add(h, v[0], 0, 1, "get_y", NULL, 0, &b, 1);
	if (!ret)
		ret = add(h, v[0], 1, 0, "set_y", one, 1, NULL, 0);
	if (!ret)
		ret = lock ? add(h, v[0], 1, 1, "trylock", NULL, 0, a, 1) :
			     add(h, v[0], 1, 1, "read", NULL, 0, a, 2);
	return ret;
}

static int read_results(struct kl_history *h, const struct meaning *m)
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
	const struct meaning *m;
	int ret, code = KLIN_EXIT_USAGE;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	ret = kl_spec_load(a.spec, &spec);
	if (ret)
		return kl_ending_error(ret);
	m = find_meaning(a.variant);
	if (kl_spec_find_method(spec, m->needs) < 0) {
		kl_err("%s: has no method '%s', which variant %s needs", a.spec, m->needs,
		       a.variant);
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
