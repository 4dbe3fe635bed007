// SPDX-License-Identifier: GPL-2.0
/*
 * Specifications: the parser, the type checker and the interpreter.  If a specification
 * compiles, some operations run on the fast path and on the interpreter, which must agree.
 * The target also classifies each specification, as the engines do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "selftests/fuzz/fuzz.h"
#include "spec/classify/container.h"
#include "spec/classify/ends.h"
#include "spec/spec.h"

#define OPS	8
#define SLOTS	256
#define KEPT	30	/* maximum number of compared outcomes of an operation */
#define WORK	(1u << 20) /* a longer operation is not compared */

struct last {
	struct kl_val state[SLOTS];
	size_t len;
	unsigned int n;
};

static int take(void *ctx, const struct kl_outcome *o)
{
	struct last *l = ctx;

	if (o->len <= SLOTS) {
		memcpy(l->state, o->state, o->len * sizeof(*o->state));
		l->len = o->len;
	}
	return ++l->n > KEPT;
}

static void operation(const struct kl_spec *s, struct kl_run *quick, struct kl_run *slow,
		      struct last *l, uint64_t *seed)
{
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS], *expected;
	const unsigned int m = kl_rand_below(seed, kl_spec_nmethods(s));
	struct last before = *l, other = *l;
	unsigned int i;
	char buf[100];
	int ret, ret_slow;

	for (i = 0; i < KL_MAX_ARGS; i++) {
		args[i] = kl_word(kl_rand_below(seed, 4));
		args[i].tag = kl_rand_below(seed, 16) ? KL_WORD : KL_ANY;
		res[i] = kl_word(kl_rand_below(seed, 3));
		res[i].tag = kl_rand_below(seed, 2) ? KL_WORD : KL_ANY;
	}
	expected = kl_rand_below(seed, 2) ? res : NULL;
	l->n = other.n = 0;
	kl_run_set_bound(quick, WORK, NULL, NULL);
	ret = kl_run_apply(quick, before.state, before.len, m, args, expected, take, l);
	kl_run_set_bound(slow, WORK, NULL, NULL);
	ret_slow = kl_run_apply(slow, before.state, before.len, m, args, expected, take, &other);
	if (ret == -EDQUOT || ret_slow == -EDQUOT)
		return;
	if (ret != 0 && ret != 1 && ret != -E2BIG)
		fuzz_broken("an operation ends with an error that is none of its own");
	if (ret_slow != ret || l->n != other.n || l->len != other.len ||
	    memcmp(l->state, other.state, l->len * sizeof(*l->state)))
		fuzz_broken("the short way and the long one differ");
	kl_state_print(buf, sizeof(buf), s, NULL, l->state, l->len);
}

static void classify(const struct kl_spec *s)
{
	const unsigned int n = kl_spec_nmethods(s);
	bool *used = malloc(n + 1);
	struct kl_end_method end;
	struct kl_container c;
	unsigned int m;

	if (!used)
		fuzz_broken("out of memory");
	kl_spec_container(s, &c);
	for (m = 0; m < n && c.kind != KL_CONTAINER_NONE; m++) {
		kl_spec_role(s, m);
		if (c.kind == KL_CONTAINER_QUEUE || c.kind == KL_CONTAINER_STACK ||
		    c.kind == KL_CONTAINER_DEQUE) {
			kl_spec_end_method(s, m, &end);
			kl_spec_failing_push(s, m, &end);
		}
		used[m] = m & 1;
	}
	if (c.kind == KL_CONTAINER_DEQUE)
		kl_spec_deque_used(s, used);
	free(used);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static struct last l;
	struct kl_run *quick, *slow;
	const struct kl_val *init;
	struct kl_spec *s = NULL;
	uint64_t seed = size;
	unsigned int op;

	if (kl_spec_parse("fuzz", (const char *)data, size, &s))
		return;
	classify(s);
	quick = kl_run_new(s);
	slow = kl_run_new(s);
	init = quick && slow ? kl_run_init(quick, size & 1, &l.len) : NULL;
	if (!init)
		fuzz_broken("out of memory");
	kl_run_set_slow(slow, true);
	if (kl_spec_nmethods(s) && l.len <= SLOTS) {
		memcpy(l.state, init, l.len * sizeof(*init));
		for (op = 0; op < OPS; op++)
			operation(s, quick, slow, &l, &seed);
	}
	kl_run_free(quick);
	kl_run_free(slow);
	kl_spec_free(s);
}
