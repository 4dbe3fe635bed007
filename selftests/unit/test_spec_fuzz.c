// SPDX-License-Identifier: GPL-2.0
/*
 * Specifications that are broken at random.  Each text is refused with a message, or accepted,
 * and then its methods terminate.  KL_FUZZ_RUNS sets the number of texts, KL_FUZZ_SEED the
 * first seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "spec/spec.h"

#define TEXT_MAX	8192
#define OPS		12

static const char everything[] =
	"spec all {\n"
	"const N = (1 << 4) - 2; word x = N, y; bool f = true; word a[N + 1] = 7;\n"
	"queue<word> q = empty; stack<bool> s; pqueue<word> max p = empty; set<word> t; map<word, "
	"bool> m;\n"
	"bag<word> g = empty;\n"
	"method one(word v, bool b) -> (word r, bool o) {\n"
	"	word i = 0, k; choose j in 0..2; choose k in i..v;\n"
	"	assume(v != 9 || b); fence;\n"
	"	atomic { while (i < 4) { a[i % 3] += v * 2 - (x & 3 | 8 ^ y) / 3 >> 1; i += 1; } "
	"q.push(v); }\n"
	"	either { atomic { if (f) x = v; else y = ~v; return (x, f && !b); } }\n"
	"	or { atomic_flush { q.push(x); x = q.pop(); assert(x != y || true); return (x == "
	"empty ? 1 : -x, f == b); } }\n"
	"}\n"
	"method two(word v) -> word { atomic { s.push(f); p.push(v); t.add(v); m.put(v, f); "
	"g.add(x);\n"
	"	if (t.has(y) && !m.remove(v) != f || g.remove(v)) return absent;\n"
	"	return p.pop(); } }\n"
	"method three() -> word { atomic { return q.size() + s.size() * g.count(x) - t.size() % 5; "
	"} }\n"
	"partition by none; }\n"
	"probe two on mod:f(net, lo, hi) { when return == 0 && lo != NULL; object &net->a.b[2] + 1 "
	"at call;\n"
	"	argument v = *(unsigned int *)(lo - offsetof(struct net, x.y)) at return; result "
	"return ? sizeof(u64) : -1; }\n"
	"probe three on klin:a.b;\n";

static const char *const words[] = {
	"{", "}", "(", ")", "[", "]", ";", ",", "..", "->", "=", "==", "word ", "bool ", "spec ",
	"probe ",
	"method ", "atomic ", "atomic_flush ", "either ", "or ", "choose x in 0..1;",
	"while (true) ",
	"return ", "empty", "absent", "full", "18446744073709551615", "0x", "99999999999999999999",
	"-", "~",
	"!", "&&", "? 1 : 0", "x", "q.pop()", "m.get(x)", "t.size()", "fence;", "const ",
	"partition by k;",
	"map<word, word> ", "/*", "*/", "//", "\"", "\x80", "offsetof(struct a, b)",
	"number(lo, 1)", "unknown", "(int *)", "return",
};

static unsigned int lines;

static void count(enum kl_level level, const char *line)
{
	(void)level;
	lines++;
	assert_true(strlen(line) > 0);
}

static size_t mutate(char *text, size_t len, const char *other, size_t other_len, uint64_t *seed)
{
	size_t n = 1 + kl_rand_below(seed, 4), at, cut, add;
	const char *word;

	while (n--) {
		at = kl_rand_below(seed, len + 1);
		cut = 0;
		word = words[kl_rand_below(seed, sizeof(words) / sizeof(*words))];
		add = strlen(word);
		switch (kl_rand_below(seed, 5)) {
		case 0:
			cut = kl_rand_below(seed, 40);
			add = 0;
			break;
		case 1:
			word = other + kl_rand_below(seed, other_len);
			add = kl_rand_below(seed, 60);
			if (add > other_len - (size_t)(word - other))
				add = other_len - (word - other);
			break;
		case 2:
			if (at < len)
				text[at] ^= 1 << kl_rand_below(seed, 8);
			continue;
		case 3:
			cut = kl_rand_below(seed, 6);
			break;
		}
		if (cut > len - at)
			cut = len - at;
		if (len - cut + add > TEXT_MAX)
			continue;
		memmove(text + at + add, text + at + cut, len - at - cut);
		memcpy(text + at, word, add);
		len += add - cut;
	}
	return len;
}

struct last {
	struct kl_val state[512];
	size_t len;
	unsigned int n;
};

static int take_some(void *ctx, const struct kl_outcome *o)
{
	struct last *l = ctx;

	if (o->len <= 512) {
		memcpy(l->state, o->state, o->len * sizeof(*o->state));
		l->len = o->len;
	}
	return ++l->n > 30;
}

static void run(const struct kl_spec *s, uint64_t *seed)
{
	struct kl_run *r = kl_run_new(s), *slow = kl_run_new(s);
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	const struct kl_val *init, *expected;
	struct last l, other;
	char buf[100];
	int op, i, ret, m;
	size_t len;

	assert_true(r && slow);
	kl_run_set_slow(slow, true);
	init = kl_run_init(r, kl_rand_below(seed, 2), &len);
	assert_non_null(init);
	l.len = len <= 512 ? len : 0;
	memcpy(l.state, init, l.len * sizeof(*init));
	for (op = 0; op < OPS && l.len; op++) {
		struct kl_val before[512];

		memcpy(before, l.state, sizeof(before));
		for (i = 0; i < KL_MAX_ARGS; i++) {
			args[i] = kl_word(kl_rand_below(seed, 4));
			args[i].tag = kl_rand_below(seed, 16) ? KL_WORD : KL_ANY;
			res[i] = kl_word(kl_rand_below(seed, 3));
			res[i].tag = kl_rand_below(seed, 2) ? KL_WORD : KL_ANY;
		}
		m = kl_rand_below(seed, kl_spec_nmethods(s));
		expected = kl_rand_below(seed, 2) ? res : NULL;
		len = l.len;
		l.n = 0;
		other = l;
		ret = kl_run_apply(r, before, len, m, args, expected, take_some, &l);
		assert_true(ret == 0 || ret == 1 || ret == -E2BIG);
		assert_int_equal(kl_run_apply(slow, before, len, m, args, expected, take_some,
					      &other), ret);
		assert_true(l.n == other.n && l.len == other.len);
		assert_memory_equal(l.state, other.state, l.len * sizeof(*l.state));
		kl_state_print(buf, sizeof(buf), s, NULL, l.state, l.len);
	}
	kl_run_free(r);
	kl_run_free(slow);
}

struct corpus {
	const char *text[16];
	size_t len[16], n;
};

static void load(struct corpus *c)
{
	static const char *const files[] = {
		"specs/port_range.lin", "specs/spinlock_kernel.lin", "specs/map.lin",
		"specs/register.lin",
		"specs/bounded_queue.lin", "specs/fig5_lock.lin",
	};
	size_t i;
	char *text;

	c->n = 0;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_int_equal(kl_read_file(files[i], &text, &c->len[c->n]), 0);
		c->text[c->n++] = text;
	}
	c->text[c->n] = everything;
	c->len[c->n++] = strlen(everything);
}

static void test_broken_texts(void **state)
{
	const char *env = getenv("KL_FUZZ_RUNS"), *env_seed = getenv("KL_FUZZ_SEED");
	unsigned long runs = env ? strtoul(env, NULL, 0) : 6000, accepted = 0, i;
	uint64_t seed = env_seed ? strtoul(env_seed, NULL, 0) : 1;
	static char text[TEXT_MAX + 1];
	struct corpus c;
	struct kl_spec *s;
	size_t from, other, len;
	int ret;

	load(&c);
	kl_log_sink = count;
	for (i = 0; i < runs; i++) {
		from = kl_rand_below(&seed, 2) ? c.n - 1 : kl_rand_below(&seed, c.n);
		other = kl_rand_below(&seed, c.n);
		memcpy(text, c.text[from], c.len[from]);
		len = mutate(text, c.len[from], c.text[other], c.len[other], &seed);
		lines = 0;
		s = NULL;
		ret = kl_spec_parse("fuzz", text, len, &s);
		assert_true(ret == 0 || ret == -EINVAL);
		/* A refusal has a message of a few lines. */
		assert_true(ret ? lines && lines <= 21 + 40 && !s : s != NULL);
		if (ret)
			continue;
		accepted++;
		run(s, &seed);
		kl_spec_free(s);
	}
	kl_log_sink = NULL;
	assert_true(accepted > runs / 100);
	for (i = 0; i + 1 < c.n; i++)
		free((char *)c.text[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broken_texts),
	};

	return cmocka_run_group_tests_name("spec_fuzz", tests, NULL, NULL);
}
