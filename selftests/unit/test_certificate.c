// SPDX-License-Identifier: GPL-2.0
/*
 * Certificates of small random histories, and mutations of them.  The replayer accepts and
 * rejects exactly as a judge that shares no code with klin.  KLIN_RUNS sets the number of
 * histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "history_util.h"
#include "replayed.h"
#include "tso/engine/tso.h"

#define MOST	7	/* operations */
#define THREADS	3
#define EMPTY	(-1)
#define NONE	(-100)

/* The judge's own form of a history, and its own state machine for each specification. */
struct op {
	int thread, call, ret;		/* ret is 0 if pending */
	int method, a, b, result;
};

static const char *const methods[][3] = {
	{ "read", "write", "cas" }, { "deq", "enq", "peek" }, { "pop", "push", "peek" },
	{ "get", "inc", "dec" },
};
static const char *const specs[] = { "register", "queue", "stack", "counter" };

struct world {
	int kind, n;
	struct op op[MOST];
};

struct state {
	int v[MOST + 1], n;		/* elements of a container, or a single value in v[0] */
};

/* Apply a method to a state.  Return: its result. */
static int apply(int kind, struct state *s, const struct op *op)
{
	int old = s->v[0], at = kind == 2 ? s->n - 1 : 0;

	if (kind == 0) {
		if (op->method == 0)
			return old;
		if (op->method == 1 || old == op->a)
			s->v[0] = op->method == 1 ? op->a : op->b;
		return op->method == 1 ? NONE : old == op->a;
	}
	if (kind == 3) {
		s->v[0] += op->method == 1 ? 1 : op->method == 2 ? -1 : 0;
		return old;
	}
	if (op->method == 1) {
		s->v[s->n++] = op->a;
		return NONE;
	}
	if (!s->n)
		return EMPTY;
	old = s->v[at];
	if (op->method == 0) {
		memmove(s->v + at, s->v + at + 1, (s->n - at - 1) * sizeof(*s->v));
		s->n--;
	}
	return old;
}

static bool completed(const struct op *op)
{
	return op->ret;
}

/* Return: true if the specification allows the order, with the recorded results. */
static bool right(const struct world *w, const int *order, int n)
{
	struct state s = { 0 };
	bool in[MOST] = { 0 };
	int i, k;

	for (i = 0; i < n; i++) {
		const struct op *op = &w->op[order[i]];
		int result;

		if (in[order[i]])
			return false;
		in[order[i]] = true;
		for (k = i + 1; k < n; k++)
			if (completed(&w->op[order[k]]) && w->op[order[k]].ret < op->call)
				return false;
		result = apply(w->kind, &s, op);
		if (completed(op) && result != op->result)
			return false;
	}
	for (i = 0; i < w->n; i++)
		if (!in[i] && completed(&w->op[i]))
			return false;
	return true;
}

/* Return: true if some order of the operations explains the results; all orders are tried. */
static bool linearizable(const struct world *w, int *order, int n)
{
	int i, k;

	if (right(w, order, n))
		return true;
	for (i = 0; i < w->n; i++) {
		for (k = 0; k < n && order[k] != i; k++)
			;
		if (k < n)
			continue;
		order[n] = i;
		if (linearizable(w, order, n + 1))
			return true;
	}
	return false;
}

/* Make a history of some overlapping operations, and sometimes change a result. */
static void make_world(struct world *w, uint64_t *seed)
{
	int running[THREADS] = { -1, -1, -1 }, time = 1, left = 2 + kl_rand_below(seed, MOST - 1);
	bool done[MOST] = { 0 };
	struct state s = { 0 };

	w->kind = kl_rand_below(seed, 4);
	for (w->n = 0; left || kl_rand_below(seed, 12); time++) {
		const int thread = kl_rand_below(seed, THREADS), i = running[thread];
		struct op *op = &w->op[i < 0 ? w->n : i];

		if (i < 0 && left) {
			*op = (struct op){
				.thread = thread, .call = time, .method = kl_rand_below(seed, 3),
				.a = kl_rand_below(seed, 3), .b = kl_rand_below(seed, 3),
			};
			running[thread] = w->n++;
			left--;
		} else if (i >= 0 && !done[i]) {
			op->result = apply(w->kind, &s, op);
			done[i] = true;
		} else if (i >= 0) {
			op->ret = time;
			running[thread] = -1;
			if (op->result != NONE && !kl_rand_below(seed, 8))
				op->result = w->kind == 0 && op->method == 2 ? !op->result :
					     (op->result + 2) % 3;
		}
	}
}

static void put_op(FILE *f, int kind, const struct op *op)
{
	fprintf(f, "t%d @0 %d ", op->thread, op->call);
	fprintf(f, op->ret ? "%d " : "- ", op->ret);
	fputs(methods[kind][op->method], f);
	if (kind == 0 && op->method)
		fprintf(f, op->method == 2 ? " %d %d" : " %d", op->a, op->b);
	else if (kind != 3 && op->method == 1)
		fprintf(f, " %d", op->a);
	if (completed(op) && op->result == EMPTY && kind != 3)
		fputs(" -> empty", f);
	else if (completed(op) && op->result != NONE)
		fprintf(f, " -> %d", op->result);
	else if (!completed(op) && (kind == 3 || op->method != 1))
		fputs(" -> ?", f);
	fputc('\n', f);
}

static struct kl_history *history_of(const struct world *w)
{
	struct kl_history *h = NULL;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int i;

	fputs("# klin history 1\n# first init\n", f);
	for (i = 0; i < w->n; i++)
		put_op(f, w->kind, &w->op[i]);
	fclose(f);
	assert_int_equal(kl_text_read("world", text, len, &h), 0);
	free(text);
	return h;
}

struct trial {
	struct world w;
	struct kl_spec *spec;
	struct kl_history *h;
	char path[64], *text;		/* text: klin's own certificate */
	size_t len;
	bool linearizable;
	struct kl_replay out;
};

/* Replay the bytes as the certificate. */
static int replay(struct trial *t, const char *text, size_t len)
{
	FILE *f = fopen(t->path, "w");
	int ret;

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	history_log_start();
	memset(&t->out, 0, sizeof(t->out));
	ret = replay_file(t->path, t->spec, t->h, &(struct kl_limits){ 0 }, &t->out);
	history_log_stop();
	assert_true(!ret || *history_log);
	return ret;
}

static void fail_at(const struct trial *t, const char *what, int ret)
{
	fprintf(stderr, "%s: %d, %s\n%s\n", what, ret, history_log, t->text);
	kl_text_write(t->h, stderr);
	fail();
}

static void begin(struct trial *t, struct kl_spec *const *spec, uint64_t *seed)
{
	const struct kl_options opt = {
		.threads = 1,
		.classical = true, .max_shrink = 1,
	};
	struct kl_report *r;
	int order[MOST];

	make_world(&t->w, seed);
	t->spec = spec[t->w.kind];
	t->h = history_of(&t->w);
	t->linearizable = linearizable(&t->w, order, 0);
	snprintf(t->path, sizeof(t->path), "%s/klin-certificate-%d",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	assert_int_equal(kl_check(t->spec, t->h, &opt, &r), 0);
	assert_int_equal(kl_cert_write(r, true, "-", t->path), 0);
	assert_int_equal(kl_read_file(t->path, &t->text, &t->len), 0);
	if (r->verdict != (t->linearizable ? KL_LINEARIZABLE : KL_VIOLATION))
		fail_at(t, "another verdict than the judge's", 0);
	kl_report_free(r);
	assert_int_equal(replay(t, t->text, t->len), 0);
	if (t->out.accepted != t->linearizable || t->out.refuted == t->linearizable)
		fail_at(t, "klin's own certificate", 0);
}

static void end(struct trial *t)
{
	unlink(t->path);
	free(t->text);
	kl_history_free(t->h);
}

/*
 * Return: where the operations of the line with @word begin, with their length; NULL if there
 * is no such line.
 */
static const char *line_of(const char *text, const char *word, size_t *len)
{
	char start[16];
	const char *s;

	snprintf(start, sizeof(start), "\n%s", word);
	s = strstr(text, start);
	if (s)
		*len = strcspn(s + strlen(start), "\n");
	return s ? s + strlen(start) : NULL;
}

/* Read an order.  Return: the number of operations, -1 if the text is not an order. */
static int read_order(const struct world *w, const char *s, size_t len, int *order, int max)
{
	const char *stop = s + len;
	int n = 0, op, more;

	while (s < stop) {
		if (*s == ' ') {
			s++;
			continue;
		}
		if (!isdigit((unsigned char)*s))
			return -1;
		op = strtol(s, (char **)&s, 10);
		more = 0;
		if (s < stop && *s == '+') {
			if (!isdigit((unsigned char)s[1]))
				return -1;
			more = strtol(s + 1, (char **)&s, 10);
		}
		if ((s < stop && *s != ' ') || op + more >= w->n || n + more >= max)
			return -1;
		for (; more >= 0; more--)
			order[n++] = op++;
	}
	return n;
}

/* Replay klin's certificate, with the operations of the line that begins with @word replaced. */
static int replay_with(struct trial *t, const char *word, const int *ops, int n)
{
	char *text;
	size_t len, old;
	FILE *f = open_memstream(&text, &len);
	const char *at = line_of(t->text, word, &old);
	int i, ret;

	assert_non_null(at);
	fwrite(t->text, 1, at - t->text, f);
	for (i = 0; i < n; i++)
		fprintf(f, " %d", ops[i]);
	fwrite(at + old, 1, t->text + t->len - at - old, f);
	fclose(f);
	ret = replay(t, text, len);
	free(text);
	return ret;
}

/* Mutate a list of operations.  Return: its new length. */
static int mutate(const struct world *w, int *ops, int n, uint64_t *seed)
{
	const int i = n ? kl_rand_below(seed, n) : 0, k = n ? kl_rand_below(seed, n) : 0;
	const int old = ops[i];

	switch (kl_rand_below(seed, n ? 5 : 1)) {
	case 0:
		ops[n] = kl_rand_below(seed, w->n);
		return n + 1;
	case 1:
		ops[i] = ops[k];
		ops[k] = old;
		return n;
	case 2:
		memmove(ops + i, ops + i + 1, (n - i - 1) * sizeof(*ops));
		return n - 1;
	case 3:
		ops[n] = ops[i];
		return n + 1;
	default:
		ops[i] = kl_rand_below(seed, w->n);
		return n;
	}
}

static void mutate_order(struct trial *t, uint64_t *seed, unsigned long count[2])
{
	int order[2 * MOST], n, ret, times;
	size_t len;
	const char *at = line_of(t->text, "order", &len);
	bool is;

	n = read_order(&t->w, at, len, order, 2 * MOST);
	assert_true(n >= 0 && right(&t->w, order, n));
	for (times = 1 + kl_rand_below(seed, 3); times; times--)
		n = mutate(&t->w, order, n, seed);
	is = right(&t->w, order, n);
	ret = replay_with(t, "order", order, n);
	if (ret != (is ? 0 : -EBADMSG))
		fail_at(t, is ? "a right order" : "a wrong order", ret);
	count[is]++;
}

/*
 * Mutate the kept operations.  A certificate must never show a false violation, and with all
 * operations it must show every true one.
 */
static void mutate_kept(struct trial *t, uint64_t *seed, unsigned long count[2])
{
	int kept[MOST], n = 0, ret, i;
	const bool all = !kl_rand_below(seed, 2);
	char parts[256] = "";
	size_t len;
	FILE *f;
	char *text;

	for (i = 0; i < t->w.n; i++)
		if (all || kl_rand_below(seed, 3))
			kept[n++] = i;
	if (!n)
		return;
	for (i = 0; i < n; i++)
		snprintf(parts + strlen(parts), sizeof(parts) - strlen(parts), " %d", kept[i]);
	f = open_memstream(&text, &len);
	{
		char lines[400];

		snprintf(lines, sizeof(lines),
			 "partitions 1 by object\npart VIOLATION %d frontier\n"
			 "cut - end 1000000\nkept%s", t->w.n, parts);
		write_certificate(f, t->spec, t->h, true, lines);
	}
	fclose(f);
	ret = replay(t, text, len);
	free(text);
	if (ret != 0 && ret != -EBADMSG)
		fail_at(t, "core members", ret);
	if (!ret && t->out.refuted && t->linearizable)
		fail_at(t, "a violation that is none", ret);
	if (all && !t->linearizable != !ret)
		fail_at(t, "the violation of all operations", ret);
	count[!ret]++;
}

static void test_mutated_certificates(void **state)
{
	unsigned long runs = wanted_runs(5000), i, orders[2] = { 0 }, kept[2] = { 0 };
	struct kl_spec *spec[4];
	uint64_t seed = 7;
	int k;

	for (k = 0; k < 4; k++)
		spec[k] = shipped_spec(specs[k]);
	for (i = 0; i < runs; i++) {
		struct trial t;

		begin(&t, spec, &seed);
		for (k = 0; k < 8 && t.linearizable; k++)
			mutate_order(&t, &seed, orders);
		for (k = 0; k < 3; k++)
			mutate_kept(&t, &seed, kept);
		end(&t);
	}
	printf("# %lu orders right, %lu wrong; %lu violations shown, %lu not\n",
	       orders[1], orders[0], kept[1], kept[0]);
	assert_true(orders[0] && orders[1] && kept[0] && kept[1]);
	for (k = 0; k < 4; k++)
		kl_spec_free(spec[k]);
}

static bool inside(const char *text, const char *word, size_t at)
{
	size_t len;
	const char *s = line_of(text, word, &len);

	return s && at >= (size_t)(s - text) && at < (size_t)(s - text) + len;
}

/* Flip each bit of the byte at @at, and check the replies. */
static void judge_flip(struct trial *t, const char *text, size_t at)
{
	const int ret = replay(t, text, t->len);
	int order[2 * MOST], n;
	size_t len;
	const char *s;

	if (!ret) {
		assert_int_equal(t->out.accepted, t->linearizable);
		assert_int_equal(t->out.refuted, !t->linearizable);
		assert_false(t->out.unknown);
	}
	if (inside(text, "order", at)) {
		s = line_of(text, "order", &len);
		n = read_order(&t->w, s, len, order, 2 * MOST);
		if (ret != -EINVAL && (n < 0 || right(&t->w, order, n) != !ret))
			fail_at(t, "an order with a bit turned over", ret);
	} else if (ret == -EBADMSG && !inside(text, "kept", at) && !inside(text, "cut", at)) {
		fail_at(t, "wrong, though no claim was changed", ret);
	}
}

static void test_truncation_and_flipped_bits(void **state)
{
	unsigned long runs = few_wanted() ? 2 : 8, i;
	struct kl_spec *spec[4];
	uint64_t seed = 3;
	int k;

	for (k = 0; k < 4; k++)
		spec[k] = shipped_spec(specs[k]);
	for (i = 0; i < runs; i++) {
		struct trial t;
		char *text;
		size_t at;

		begin(&t, spec, &seed);
		text = malloc(t.len + 1);
		memcpy(text, t.text, t.len + 1);
		for (at = 0; at < t.len; at++) {
			/* The last byte ends the last line, which is complete without it. */
			assert_int_equal(replay(&t, text, at), at + 1 < t.len ? -EINVAL : 0);
			for (k = 0; k < 8; k++) {
				text[at] ^= 1 << k;
				judge_flip(&t, text, at);
				text[at] ^= 1 << k;
			}
		}
		free(text);
		end(&t);
	}
	for (k = 0; k < 4; k++)
		kl_spec_free(spec[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutated_certificates),
		cmocka_unit_test(test_truncation_and_flipped_bits),
	};

	return cmocka_run_group_tests_name("certificate", tests, NULL, NULL);
}
