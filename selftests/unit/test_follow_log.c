// SPDX-License-Identifier: GPL-2.0
/*
 * Logs in EDN, JSON and CSV that arrive byte by byte, line by line or in random pieces have the
 * operations of the whole file, and the same first error.  KLIN_RUNS sets the number of logs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "history_util.h"
#include "records/records.h"

#define PROCESSES 4
#define OPS 400 /* more than any log has */
#define LINE 200

enum notation { EDN, JSON, CSV, NOTATIONS };

static const char methods[] = "spec s { map<word, word> m = empty;\n"
			      "method put(word v) { atomic_flush { m.put(0, v); } }\n"
			      "method get() -> word v { atomic { return m.get(0); } }\n"
			      "method take() -> word v { atomic { return m.get(0); } } }\n";
static const char events[] =
	"history { process .p; object .o; call when .t == \"c\"; return when .t == \"r\";\n"
	"failed when .t == \"f\"; unknown when .t == \"u\"; ignore when .p == \"nemesis\";\n"
	"method put when .f == \"put\" { argument v = .v; }\n"
	"method get when .f == \"get\" { result v = .v; }\n"
	"method take for x in .v when .f == \"take\" { result v = x; } }\n";
static const char whole[] =
	"history { process .p; object .o; call at .c; return at .r; unknown when .t == \"u\";\n"
	"failed when .t == \"f\"; ignore when .p == \"nemesis\";\n"
	"method put when .f == \"put\" { argument v = .v; }\n"
	"method get when .f == \"get\" { result v = .v; } }\n";

/* The log that is being written. */
struct log {
	FILE *f;
	enum notation notation;
	bool list;
	uint64_t seed;
	unsigned int records;
};

static unsigned int rnd(struct log *l, unsigned int below)
{
	return kl_rand(&l->seed) % below;
}

static const char *pick(struct log *l, const char *const *of, unsigned int n)
{
	return of[rnd(l, n)];
}

/* A value with characters that could be taken for the end of a record. */
static const char *value(struct log *l)
{
	static const char *const values[NOTATIONS][5] = {
		[EDN] = { "1", "\"a}\\\"\n{\"", "[2 \\}]", "#{:k \\newline}", "#:n{:a ; }\n1}" },
		[JSON] = { "1", "\"a}\\\"\\n{\"", "[2,\n{}]", "{\"x\": \"]\"}", "null" },
		[CSV] = { "1", "\"a,\"\"\nb\"", "\"\"", "x\"y", "" },
	};

	return pick(l, values[l->notation], l->notation == CSV ? 3 : 5);
}

/* Write what may stand before a record. */
static void gap(struct log *l)
{
	static const char *const edn[] = { "\n", "\n", "\n", "\n", " ", ",\n",
					   "\n; }\n", "\n#_ {:p\n1}\n", "\n#_ #_\n1\n[2]\n",
					   "\n^{:m 1}\n", "\n^:m\n#x.Op\n", "\n#_ ^:m\n#a \"\n\"\n" };
	static const char *const json[] = { "\n", "\n", " ", "\n\n" };

	if (l->notation == EDN) {
		fputs(l->records ? pick(l, edn, 12) : "", l->f);
	} else if (l->notation == JSON) {
		fputs(l->records ? pick(l, json, 4) : "", l->f);
		fputs(l->list && l->records ? rnd(l, 2) ? "," : ",\n" : "", l->f);
	}
	l->records++;
}

static void member(struct log *l, const char *name, const char *text, bool word)
{
	const char *quote = word ? "\"" : "";

	if (l->notation == EDN)
		fprintf(l->f, "%s:%s %s%s", *name == 'p' ? "" : rnd(l, 5) ? ", " : "\n", name,
			word ? ":" : "", text);
	else if (l->notation == JSON)
		fprintf(l->f, "%s\"%s\": %s%s%s", *name == 'p' ? "" : rnd(l, 5) ? ", " : ",\n",
			name, quote, text, quote);
	else
		fprintf(l->f, "%s%s", *name == 'p' ? "" : ",", text);
}

/* Write a record; @times: it is a whole operation, else these are NULL. */
static void record(struct log *l, unsigned int p, const char *t, const char *f, const char *v,
		   const char *const *times)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", p);
	gap(l);
	fputs(l->notation == CSV ? "" : "{", l->f);
	member(l, "p", p < PROCESSES ? number : "nemesis", p >= PROCESSES);
	member(l, "t", t, true);
	member(l, "f", f, true);
	snprintf(number, sizeof(number), "%u", rnd(l, 2));
	member(l, "o", number, false);
	if (times) {
		member(l, "c", times[0], false);
		member(l, "r", times[1], false);
	}
	member(l, "v", v, false);
	fputs(l->notation == CSV ? "\n" : "}", l->f);
}

static void write_events(struct log *l)
{
	static const char *const methods[] = { "put", "put", "get", "get", "take" };
	static const char *const ends[] = { "r", "r", "r", "r", "f", "u" };
	static const char *const lists[2][2] = { { "[1 \"]\"]", "#{}" }, { "[1, \"]\"]", "[]" } };
	const char *open[PROCESSES] = { NULL }, *end;
	unsigned int i, p;

	for (i = rnd(l, 60) + 2; i; i--) {
		p = rnd(l, PROCESSES + 1);
		if (p == PROCESSES) {
			record(l, p, "i", "kill", "1", NULL);
		} else if (!open[p]) {
			open[p] = pick(l, methods, l->notation == CSV ? 4 : 5);
			record(l, p, "c", open[p], value(l), NULL);
		} else {
			end = pick(l, ends, *open[p] == 't' && rnd(l, 20) ? 4 : 6);
			record(l, p, end, open[p],
			       *open[p] == 't' ? lists[l->notation][rnd(l, 2)] : value(l), NULL);
			open[p] = NULL;
		}
	}
	/* The number of operations of an open `take' is not known. */
	for (p = 0; p < PROCESSES; p++)
		if (open[p] && *open[p] == 't' && rnd(l, 20))
			record(l, p, "r", "take", lists[l->notation][0], NULL);
}

static void write_whole(struct log *l)
{
	static const char *const ends[] = { "r", "r", "r", "f", "u" };
	unsigned int free_at[PROCESSES] = { 0 }, i, p;
	char call[16], ret[16];

	for (i = rnd(l, 40) + 2; i; i--) {
		p = rnd(l, PROCESSES);
		snprintf(call, sizeof(call), "%u", free_at[p] += rnd(l, 5));
		snprintf(ret, sizeof(ret), "%u", free_at[p] += rnd(l, 5));
		record(l, p, pick(l, ends, 5), rnd(l, 2) ? "put" : "get", value(l),
		       (const char *const[]){ call, ret });
	}
}

/* Make a random log.  @times: of whole operations.  Return: its text, which the caller frees. */
static char *make_log(uint64_t seed, bool times, size_t *len)
{
	struct log l = { .seed = seed };
	char *text;

	l.notation = rnd(&l, NOTATIONS);
	l.list = l.notation != CSV && rnd(&l, 2);
	l.f = open_memstream(&text, len);
	assert_non_null(l.f);
	if (l.notation == CSV)
		fputs(times ? "p,t,f,o,c,r,\"v\"\n" : "p,t,f,o,\"v\"\n", l.f);
	fputs(l.list ? rnd(&l, 2) ? "[" : "\n[\n" : "", l.f);
	if (times)
		write_whole(&l);
	else
		write_events(&l);
	fputs(l.list ? "\n]" : "", l.f);
	fputs(rnd(&l, 2) ? "\n" : "", l.f);
	fclose(l.f);
	return text;
}

/* Operations, each as a line of text, and the first message. */
struct found {
	char op[OPS][LINE];
	size_t n;
	char message[LINE];
};

static char *first_message;

/*
 * Keep FILE:LINE and what is wrong.  The column and the word there are known only while the text is
 * there.
 */
static void keep_message(enum kl_level level, const char *line)
{
	unsigned int n = 0;

	(void)level;
	if (!first_message || *first_message)
		return;
	sscanf(line, "log:%*u:%n", (int *)&n);
	snprintf(first_message, LINE, "%.*s%s", (int)n, line,
		 strstr(line, "expected ") ?: strstr(line, " error: ") ?: " another message");
}

/* @line: of the operation's record. */
static void add(struct found *to, const struct kl_history *h, size_t i, unsigned int line)
{
	const struct kl_op *op = &h->ops[i];
	const struct kl_opsig *s = kl_op_sig(h, op);
	char *at = to->op[to->n++];
	unsigned int k, n;

	n = snprintf(at, LINE, "line %u t%llu @%llu %llu %llu %s %x", line,
		     (unsigned long long)h->threads[op->thread],
		     (unsigned long long)h->objects[op->object], (unsigned long long)op->call,
		     (unsigned long long)op->ret, h->methods[s->method], op->flags);
	for (k = 0; k < s->nargs + s->nres; k++)
		n += snprintf(at + n, LINE - n, " %llu.%u",
			      (unsigned long long)kl_op_args(h, op)[k].v,
			      kl_op_args(h, op)[k].tag);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static unsigned int line_at(const char *text, size_t at)
{
	unsigned int line = 1;

	while (at--)
		line += *text++ == '\n';
	return line;
}

static int read_whole(const struct kl_spec *s, const char *text, size_t len, struct found *to)
{
	struct kl_history *h;
	size_t i;
	int ret;

	*to = (struct found){ .n = 0 };
	first_message = to->message;
	ret = kl_records_parse("log", text, len, s, &h);
	if (ret)
		return ret;
	for (i = 0; i < h->nops; i++)
		add(to, h, i, line_at(text, h->places[i]));
	kl_history_free(h);
	qsort(to->op, to->n, LINE, by_text);
	return 0;
}

/* How much of the text arrives next. */
enum pieces { BYTES, LINES, RANDOM, PIECES };

static size_t piece(enum pieces pieces, const char *text, size_t left, uint64_t *seed)
{
	const char *newline = memchr(text, '\n', left);
	size_t n = kl_rand(seed) % 90;

	if (pieces == BYTES)
		n = 1;
	else if (pieces == LINES)
		n = newline ? (size_t)(newline + 1 - text) : left;
	return n < left ? n : left;
}

/*
 * Read by pieces, as a stream does.  @other: gets whether it is no such log, or the end of its list
 * came first: what is behind it is not waited for.
 */
static int read_pieces(const struct kl_spec *s, const char *text, size_t len, enum pieces pieces,
		       uint64_t seed, struct found *to, bool *other)
{
	size_t at = 0, have = 0, used, i;
	struct kl_stream_log *log;
	uint64_t floor = 0;
	bool sure = false;
	int ret = 0, is = -EAGAIN;

	*to = (struct found){ .n = 0 };
	first_message = to->message;
	assert_int_equal(kl_records_follow("log", s, &log), 0);
	while (!ret && !log->ended(log)) {
		const bool end = at + have == len;

		have += piece(pieces, text + at + have, len - at - have, &seed);
		if (is == -EAGAIN) {
			is = log->is(log, text + at, have, end);
			if (is == -EAGAIN)
				continue;
			/* A character was changed such that it has another form. */
			if (!is)
				break;
		} else {
			ret = log->forget(log);
		}
		used = 0;
		ret = ret ?: log->read(log, text + at, have, end, &used);
		assert_true(used <= have);
		at += used;
		have -= used;
		for (i = 0; !ret && i < log->history(log)->nops; i++) {
			assert_true(!sure || log->history(log)->ops[i].call >= floor);
			add(to, log->history(log), i, log->history(log)->places[i]);
		}
		floor = log->floor(log, &sure);
		assert_true(!end || ret || log->ended(log));
	}
	*other = !is || (log->ended(log) && at < len);
	log->free(log);
	qsort(to->op, to->n, LINE, by_text);
	return ret;
}

static struct found want, got;

static void compare(const struct kl_spec *s, const char *text, size_t len, uint64_t seed)
{
	const int ret = read_whole(s, text, len, &want);
	enum pieces pieces;
	bool other;
	size_t i;
	int is;

	for (pieces = 0; pieces < PIECES; pieces++) {
		is = read_pieces(s, text, len, pieces, seed, &got, &other);
		if (other || strstr(want.message, "the end of the file"))
			continue;
		if (is != ret || strcmp(want.message, got.message))
			fail_msg("pieces %d: %d '%s', expected %d '%s', of:\n%.*s", pieces, is,
				 got.message, ret, want.message, (int)len, text);
		for (i = 0; !ret && i < want.n && i < got.n; i++)
			if (strcmp(want.op[i], got.op[i]))
				fail_msg("pieces %d: '%s', expected '%s', of:\n%.*s", pieces,
					 got.op[i], want.op[i], (int)len, text);
		if (!ret && got.n != want.n)
			fail_msg("pieces %d: %zu operations, expected %zu, of:\n%.*s", pieces,
				 got.n, want.n, (int)len, text);
	}
}

static struct kl_spec *load(const char *block)
{
	struct kl_spec *s;
	char text[2000];

	snprintf(text, sizeof(text), "%s%s", methods, block);
	assert_int_equal(kl_spec_parse("s", text, strlen(text), &s), 0);
	return s;
}

static void test_logs(void **state)
{
	struct kl_spec *s[] = { load(events), load(whole) };
	const unsigned long n = wanted_runs(2000);
	unsigned long i, accepted = 0;
	size_t len;
	char *text;

	(void)state;
	for (i = 0; i < n; i++) {
		text = make_log(i * 77 + 1, i % 4 == 0, &len);
		compare(s[i % 4 == 0], text, len, i);
		accepted += !*want.message;
		free(text);
	}
	/* Most logs must be accepted, or the test would show little. */
	assert_true(accepted > n / 2);
	kl_spec_free(s[0]);
	kl_spec_free(s[1]);
}

/* Logs that are cut, or in which a character was changed. */
static void test_wrong_logs(void **state)
{
	static const char chars[] = "{}[]()\"\\,:;#^_\n 1a";
	const unsigned long n = wanted_runs(2000);
	struct kl_spec *s = load(events);
	unsigned long i;
	uint64_t seed;
	size_t len;
	char *text;

	(void)state;
	for (i = 0; i < n; i++) {
		seed = i * 91 + 5;
		text = make_log(seed, false, &len);
		if (i % 2)
			len = kl_rand(&seed) % len + 1;
		else
			text[kl_rand(&seed) % len] = chars[kl_rand(&seed) % strlen(chars)];
		compare(s, text, len, i);
		free(text);
	}
	kl_spec_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_wrong_logs),
	};

	kl_log_sink = keep_message;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
