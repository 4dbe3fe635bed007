// SPDX-License-Identifier: GPL-2.0
/*
 * Key-value logs with strings of one or two letters, so that several appends may explain a
 * read.  The verdict is that of a judge who tries all orders with real strings.  Certificates,
 * and the history after conversion to text, give the same verdict.  KLIN_RUNS sets the number
 * of logs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/check.h"
#include "check/engines.h"
#include "history_util.h"
#include "replayed.h"

#define MOST	9	/* operations of a random log */
#define ALL	16	/* operations of any log */
#define ROOM	64	/* bytes of a string */
#define NEVER	1000

enum kind { PUT, APPEND, GET };

static const char *const names[] = { "put", "append", "get" };

/* Keys, all different although some look alike.  Reports show them so. */
static const struct key {
	const char *text;
	enum { STRING, NUMBER, OTHER } kind;
} keys[] = {
	{ "\"k\"", STRING }, { "\"l\"", STRING }, { "\"0\"", STRING }, { "0", NUMBER },
	{ "\"00\"", STRING }, { "-1", NUMBER }, { "\"-1\"", STRING }, { ":k", OTHER },
	{ "k", OTHER }, { "\":k\"", STRING }, { "[0]", OTHER }, { "[\"0\"]", OTHER },
	{ "true", OTHER }, { "\"true\"", STRING }, { "0.0", OTHER }, { "\"[0]\"", STRING },
};

#define KEYS	(sizeof(keys) / sizeof(*keys))

struct op {
	enum kind kind;
	int key;		/* 0 or 1: which key of the log */
	char s[ROOM];
	int call, ret;		/* NEVER: it does not return */
	bool done;		/* while the log is made: it has taken effect */
};

struct log {
	struct op op[ALL];
	int n;
	unsigned int key[2];	/* indexes into keys */
	char text[8192];
	size_t len;
};

/* ---- the judge ---- */

static bool find_order(const struct log *log, int key, unsigned int done, const char *value)
{
	int i, first = NEVER;
	bool left = false;

	for (i = 0; i < log->n; i++)
		if (log->op[i].key == key && !(done >> i & 1) && log->op[i].ret < NEVER) {
			left = true;
			first = log->op[i].ret < first ? log->op[i].ret : first;
		}
	if (!left)
		return true;
	for (i = 0; i < log->n; i++) {
		const struct op *o = &log->op[i];
		char next[ROOM];

		if (o->key != key || done >> i & 1 || o->call > first)
			continue;
		if (o->kind == GET && o->ret < NEVER && strcmp(o->s, value))
			continue;
		snprintf(next, sizeof(next), "%s%s", o->kind == PUT ? "" : value,
			 o->kind == GET ? "" : o->s);
		if (find_order(log, key, done | 1u << i, next))
			return true;
	}
	return false;
}

static enum kl_verdict judge(const struct log *log)
{
	return find_order(log, 0, 0, "") && find_order(log, 1, 0, "") ? KL_LINEARIZABLE :
	       KL_VIOLATION;
}

/* ---- the logs ---- */

static void put_event(struct log *log, int process, const char *type, const struct op *o,
		      const char *value)
{
	log->len += snprintf(log->text + log->len, sizeof(log->text) - log->len,
			     "{:process %d, :type :%s, :f :%s, :key %s, :value %s%s%s}\n",
			     process, type, names[o->kind], keys[log->key[o->key]].text,
			     value ? "\"" : "", value ? value : "nil", value ? "\"" : "");
}

static void random_string(uint64_t *seed, int letters, int longest, char *s)
{
	int n = kl_rand(seed) % (longest + 1);

	s[n] = 0;
	while (n--)
		s[n] = 'a' + kl_rand(seed) % letters;
}

static void take_effect(struct op *o, char value[2][ROOM])
{
	char *v = value[o->key];

	if (o->done)
		return;
	o->done = true;
	if (o->kind == GET)
		strcpy(o->s, v);
	else if (o->kind == PUT)
		strcpy(v, o->s);
	else
		strcat(v, o->s);
}

/* Make a correct log, and change the string of some reads. */
static void make_log(struct log *log, uint64_t *seed)
{
	const int letters = 1 + kl_rand(seed) % 2, nkeys = 1 + kl_rand(seed) % 3 / 2;
	const int most = 2 + kl_rand(seed) % (MOST - 1), puts = kl_rand(seed) % 3;
	char value[2][ROOM] = { "", "" };
	struct op *busy[3] = { NULL, NULL, NULL };
	int now = 0, p, q;

	memset(log, 0, sizeof(*log));
	log->key[0] = kl_rand(seed) % KEYS;
	log->key[1] = (log->key[0] + 1 + kl_rand(seed) % (KEYS - 1)) % KEYS;
	while (log->n < most || busy[0] || busy[1] || busy[2]) {
		struct op *o = busy[p = kl_rand(seed) % 3];

		if (!o && log->n < most) {
			o = busy[p] = &log->op[log->n++];
			o->kind = kl_rand(seed) % 4 < 2 ? APPEND : GET;
			if ((int)(kl_rand(seed) % 8) < puts)
				o->kind = PUT;
			o->key = kl_rand(seed) % nkeys;
			random_string(seed, letters, o->kind == PUT ? 3 : 2, o->s);
			o->call = now++;
			put_event(log, p, "invoke", o, o->kind == GET ? NULL : o->s);
		} else if (o && kl_rand(seed) % 10 == 0) {
			/* The operation may or may not have happened. */
			put_event(log, p, "info", o, o->kind == GET ? NULL : o->s);
			o->ret = NEVER;
			o->done |= kl_rand(seed) % 2;
			busy[p] = NULL;
		} else if (o) {
			take_effect(o, value);
			if (o->kind == GET && kl_rand(seed) % 5 == 0)
				random_string(seed, letters, strlen(o->s) + 1, o->s);
			put_event(log, p, "ok", o, o->s);
			o->ret = now++;
			busy[p] = NULL;
		}
		for (q = 0; q < 3; q++)
			if (busy[q] && kl_rand(seed) % 3 == 0)
				take_effect(busy[q], value);
	}
}

/* ---- */

static struct kl_spec *carried(const struct kl_history *h)
{
	struct kl_spec *spec;

	if (!h->spec_text)
		return shipped_spec(h->spec_path);
	assert_int_equal(kl_spec_parse("carried", h->spec_text, strlen(h->spec_text), &spec), 0);
	return spec;
}

static void check_with(const struct log *log, const struct kl_spec *spec,
		       const struct kl_history *h, enum kl_verdict want,
		       const struct kl_engine *engine)
{
	const struct kl_engine *const engines[] = { engine, NULL };
	const struct kl_options opt = {
		.engines = engines, .threads = 1, .max_shrink = 2, .classical = true,
	};
	struct kl_replay replay;
	struct kl_report *r;
	size_t i;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	if (r->verdict != want)
		fail_msg("%s: %s, expected %s:\n%s", engine->name, kl_verdict_name(r->verdict),
			 kl_verdict_name(want), log->text);
	for (i = 0; i < r->nparts; i++)
		if (r->parts[i].answer.verdict == KL_VIOLATION &&
		    (!r->parts[i].cex || r->parts[i].cex->oracle != KL_VIOLATION))
			fail_msg("%s: no counterexample that the oracle rejects:\n%s", engine->name,
				 log->text);
	if (replay_report(r, true, spec, h, &replay) || replay.open)
		fail_msg("%s: the replayer rejects the certificate:\n%s", engine->name, log->text);
	kl_report_free(r);
}

static void check(const struct log *log, const struct kl_history *h, enum kl_verdict want)
{
	static const struct kl_engine *const engines[] = {
		&kl_frontier_engine, &kl_dfs_engine, &kl_wgl_engine, &kl_oracle_engine,
	};
	struct kl_spec *spec = carried(h);
	size_t i;

	for (i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		check_with(log, spec, h, want, engines[i]);
	kl_spec_free(spec);
}

/* Reports show the string of an append, also after conversion to text. */
static void check_shown(const struct log *log, const struct kl_history *h)
{
	char shown[256], want[256];
	int i;

	assert_int_equal(h->nops, log->n);
	for (i = 0; i < log->n; i++) {
		const struct op *o = &log->op[i];

		if (o->kind != APPEND)
			continue;
		snprintf(want, sizeof(want), "append(%s, \"%s\")", keys[log->key[o->key]].text,
			 o->s);
		kl_op_print(shown, sizeof(shown), h, &h->ops[i]);
		assert_string_equal(shown, want);
	}
}

static void check_log(const struct log *log)
{
	const enum kl_verdict want = judge(log);
	struct kl_history *h, *again;
	size_t len;
	char *text;

	assert_int_equal(kl_history_parse("log", log->text, log->len, kl_form_find("edn"), &h), 0);
	check_shown(log, h);
	check(log, h, want);
	text = history_text(h, &len);
	assert_int_equal(kl_text_read("text", text, len, &again), 0);
	check_shown(log, again);
	check(log, again, want);
	free(text);
	kl_history_free(again);
	kl_history_free(h);
}

static void test_random_logs(void **state)
{
	const unsigned long runs = wanted_runs(1000);
	unsigned long wrong = 0, many = 0, i;
	uint64_t seed = 1;
	struct kl_history *h;
	struct log log;

	(void)state;
	for (i = 0; i < runs; i++) {
		make_log(&log, &seed);
		check_log(&log);
		wrong += judge(&log) == KL_VIOLATION;
		assert_int_equal(kl_history_parse("log", log.text, log.len, kl_form_find("edn"),
						  &h), 0);
		many += !!h->spec_text;
		kl_history_free(h);
	}
	/* The random logs are of all kinds. */
	if (runs >= 300)
		assert_true(wrong > runs / 20 && wrong < runs / 2 && many > runs / 100);
}

/* Several orders explain these reads: with or without an append, or in another order. */
static void test_ambiguous_reads(void **state)
{
	static const struct {
		const char *append[4], *got;
		enum kl_verdict verdict;
	} ways[] = {
		{ { "a", "aa", "aaa" }, "aaaaaa", KL_LINEARIZABLE },
		{ { "a", "aa", "aaa" }, "aaaa", KL_VIOLATION },
		{ { "a", "a", "a", "a" }, "aaaa", KL_LINEARIZABLE },
		{ { "a", "a", "a", "a" }, "aaaaa", KL_VIOLATION },
		{ { "ab", "a", "b" }, "abab", KL_LINEARIZABLE },
		{ { "ab", "a", "b" }, "abba", KL_LINEARIZABLE },
		{ { "ab", "a", "b" }, "aabb", KL_LINEARIZABLE },
		{ { "ab", "a", "b" }, "bbaa", KL_VIOLATION },
		{ { "ab", "ba", "a" }, "ababa", KL_LINEARIZABLE },
		{ { "ab", "ba", "a" }, "babab", KL_VIOLATION },
		{ { "ab", "ba", "", "" }, "abba", KL_LINEARIZABLE },
		{ { "", "", "" }, "", KL_LINEARIZABLE },
		{ { "", "", "" }, "a", KL_VIOLATION },
	};
	struct log log;
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		memset(&log, 0, sizeof(log));
		for (k = 0; k < 4 && ways[i].append[k]; k++) {
			log.op[k] = (struct op){ APPEND, 0, "", k, 10 + k, false };
			strcpy(log.op[k].s, ways[i].append[k]);
			put_event(&log, k, "invoke", &log.op[k], log.op[k].s);
		}
		log.n = k;
		for (k = 0; k < log.n; k++)
			put_event(&log, k, "ok", &log.op[k], log.op[k].s);
		log.op[log.n] = (struct op){ GET, 0, "", 20, 21, false };
		strcpy(log.op[log.n].s, ways[i].got);
		put_event(&log, 0, "invoke", &log.op[log.n], NULL);
		put_event(&log, 0, "ok", &log.op[log.n], ways[i].got);
		log.n++;
		assert_int_equal(judge(&log), ways[i].verdict);
		check_log(&log);
	}
}

/* A put may store a string that appends have built before, and later appends may extend it. */
static void test_equal_put_and_appends(void **state)
{
	static const struct {
		enum kind kind;
		const char *s;
	} steps[] = {
		{ APPEND, "a" }, { GET, "a" }, { APPEND, "a" }, { GET, "aa" }, { PUT, "b" },
		{ GET, "b" }, { PUT, "aa" }, { APPEND, "a" }, { GET, "aaa" }, { APPEND, "a" },
		{ GET, "aaaa" }, { APPEND, "a" }, { GET, "aaaaa" },
	};
	const size_t n = sizeof(steps) / sizeof(*steps);
	struct log log;
	size_t i, wrong;

	(void)state;
	/* First the correct log, then with a wrong string for each get. */
	for (wrong = 0; wrong <= n; wrong++) {
		if (wrong && steps[wrong - 1].kind != GET)
			continue;
		memset(&log, 0, sizeof(log));
		for (i = 0; i < n; i++) {
			struct op *o = &log.op[log.n++];

			*o = (struct op){ steps[i].kind, 0, "", 2 * i, 2 * i + 1, false };
			snprintf(o->s, sizeof(o->s), "%s%s", steps[i].s, i + 1 == wrong ? "a" : "");
			put_event(&log, 0, "invoke", o, o->kind == GET ? NULL : o->s);
			put_event(&log, 0, "ok", o, o->s);
		}
		assert_int_equal(judge(&log), wrong ? KL_VIOLATION : KL_LINEARIZABLE);
		check_log(&log);
	}
}

/* Keys that look alike are distinct: a get of one does not see a put to another. */
static void test_keys_that_look_alike(void **state)
{
	struct log log;
	unsigned int a, b;
	int other;

	(void)state;
	for (a = 0; a < KEYS; a++) {
		for (b = 0; b < 2 * KEYS; b++) {
			if (a == b / 2)
				continue;
			other = b % 2;
			memset(&log, 0, sizeof(log));
			log.key[0] = a;
			log.key[1] = b / 2;
			log.n = 3;
			log.op[0] = (struct op){ PUT, 0, "x", 0, 1, false };
			log.op[1] = (struct op){ PUT, 1, "y", 2, 3, false };
			log.op[2] = (struct op){ GET, other, "y", 4, 5, false };
			for (int i = 0; i < log.n; i++) {
				struct op *o = &log.op[i];

				put_event(&log, 0, "invoke", o, o->kind == GET ? NULL : o->s);
				put_event(&log, 0, "ok", o, o->s);
			}
			assert_int_equal(judge(&log), other ? KL_LINEARIZABLE : KL_VIOLATION);
			check_log(&log);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_that_look_alike),
		cmocka_unit_test(test_random_logs),
		cmocka_unit_test(test_ambiguous_reads),
		cmocka_unit_test(test_equal_put_and_appends),
	};

	return cmocka_run_group_tests_name("kv", tests, NULL, NULL);
}
