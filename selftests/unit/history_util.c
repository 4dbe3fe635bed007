// SPDX-License-Identifier: GPL-2.0
/* Helpers for tests of histories, see history_util.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/hash.h"
#include "history_util.h"

unsigned long wanted_runs(unsigned long otherwise)
{
	const char *s = getenv("KLIN_RUNS");

	return s ? strtoul(s, NULL, 0) : otherwise;
}

bool few_wanted(void)
{
	return wanted_runs(1000) < 1000;
}

char history_log[8192];

static void keep(enum kl_level level, const char *line)
{
	size_t used = strlen(history_log);

	snprintf(history_log + used, sizeof(history_log) - used, "%s\n", line);
}

void history_log_start(void)
{
	*history_log = 0;
	kl_log_sink = keep;
}

void history_log_stop(void)
{
	kl_log_sink = NULL;
}

void history_log_place(const char *text)
{
	static const char end[] = "the end of the line:";
	const char *what = strstr(history_log, " error: "), *line = text, *word, *shown, *caret;
	unsigned int number, col;
	size_t len, width = 0;
	int at, n;

	assert_non_null(what);
	what += strlen(" error: ");
	word = *what == '\'' ? what + 1 : NULL;
	if (!word && strncmp(what, end, sizeof(end) - 1))
		return;
	if (sscanf(history_log, "%*[^:\n]:%u%n:%u%n", &number, &at, &col, &n) != 2)
		fail_msg("no column: %s", history_log);
	while (--number) {
		line = strchr(line, '\n');
		assert_non_null(line);
		line++;
	}
	len = strcspn(line, "\r\n");
	assert_in_range(col, 1, len + 1);
	/* A long word is cut, and unprintable characters of it are replaced. */
	if (word ? word[0] != '?' && word[0] != line[col - 1] : col <= strcspn(line, "\r\n"))
		fail_msg("another column: %s", history_log);
	shown = strchr(history_log, '\n') + 1;
	caret = strchr(shown, '\n') + 1;
	assert_memory_equal(shown, "  ", 2);
	width = strspn(caret, " ");
	assert_memory_equal(caret + width, "^\n", 2);
	/* A line that fits is shown from its beginning; a multi-byte character takes one column. */
	if (len <= 96 && width > col + 1)
		fail_msg("another caret: %s", history_log);
	memmove((char *)shown, caret + width + 2, strlen(caret + width + 2) + 1);
	memmove(history_log + at, history_log + n, strlen(history_log + n) + 1);
}

char *history_text(const struct kl_history *h, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	assert_non_null(f);
	assert_int_equal(kl_text_write(h, f), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

void assert_same_history(const struct kl_history *a, const struct kl_history *b)
{
	size_t len;
	char *x = history_text(a, &len), *y = history_text(b, &len);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

struct kl_spec *shipped_spec(const char *name)
{
	struct kl_spec *s;

	assert_int_equal(kl_spec_load(name, &s), 0);
	return s;
}

static struct kl_val random_val(uint64_t *s)
{
	switch (kl_rand_below(s, 8)) {
	case 0:
		return kl_special(1 + kl_rand_below(s, KL_ABSENT));
	case 1:
		return kl_word(kl_rand(s));
	case 2:
		return kl_word(-1 - kl_rand_below(s, 5000));
	default:
		return kl_word(kl_rand_below(s, 100));
	}
}

struct kl_history *history_random(uint64_t seed)
{
	static const char *const names[] = { "read", "write", "cas", "a_b9" };
	static const uint8_t nres[] = { 1, 0, 1, 8 }, nargs[] = { 0, 1, 2, 8 };
	struct kl_history *h = kl_history_new();
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	uint64_t s = seed, now[4] = { 0 };
	size_t n = kl_rand_below(&s, 60), i, j;
	const bool stacks = kl_rand(&s) & 1;

	assert_non_null(h);
	h->clock = kl_rand_below(&s, 4);
	h->error = kl_rand_below(&s, 3);
	h->fresh = kl_rand(&s) & 1;
	h->ncpus = kl_rand_below(&s, 9);
	if (kl_rand(&s) & 1)
		h->release = strdup("6.1.0-56-amd64");
	if (kl_rand(&s) & 1) {
		h->spec_path = strdup("specs/a file.lin");
		h->spec_text = strdup("spec s {\n\n\tword x = 0; // #\n}\n");
	}
	if (kl_rand(&s) & 1)
		h->attached = strdup("fentry f\n  kprobe g\n");
	for (i = 0; i < n; i++) {
		unsigned int m = kl_rand_below(&s, 4), t = kl_rand_below(&s, 4);
		struct kl_op op = { .cpu = KL_NO_CPU };
		uint64_t point = KL_TIME_MAX, drain = KL_TIME_MAX;
		struct kl_opsig sig = { .nargs = nargs[m], .nres = nres[m] };

		sig.method = kl_history_method(h, names[m], strlen(names[m]));
		op.thread = kl_history_thread(h, t * t * t * 1000003ULL);
		op.object = kl_history_object(h, 0xffff888100000000ULL * (kl_rand(&s) & 1) + t);
		op.call = now[t] + kl_rand_below(&s, 5);
		op.ret = now[t] = op.call + kl_rand_below(&s, 1u << kl_rand_below(&s, 20));
		if (!kl_rand_below(&s, 8))
			op.flags |= KL_OP_PENDING;
		if (!kl_rand_below(&s, 8))
			op.flags |= KL_OP_NOCALL;
		if ((op.flags & KL_OP_NOCALL) && (kl_rand(&s) & 1))
			op.call = KL_TIME_MIN;
		if (kl_rand(&s) & 1)
			op.cpu = kl_rand_below(&s, KL_NO_CPU);
		if (kl_rand(&s) & 1)
			point = op.call + kl_rand_below(&s, 9);
		if (kl_rand(&s) & 1)
			drain = op.call + kl_rand_below(&s, 1000);
		for (j = 0; j < KL_MAX_ARGS; j++) {
			args[j] = random_val(&s);
			res[j] = random_val(&s);
		}
		assert_int_equal(kl_history_add(h, &op, &sig, args, res), 0);
		assert_int_equal(kl_history_set_points(h, h->nops - 1, point, drain), 0);
		if (stacks && kl_rand(&s) & 1)
			assert_int_equal(kl_history_set_stack(h, h->nops - 1, kl_rand(&s)), 0);
		if (!kl_rand_below(&s, 20)) {
			struct kl_gap g = {
				.from = op.call, .to = kl_rand(&s) & 1 ? KL_TIME_MAX : now[t],
				.lost = kl_rand_below(&s, 3), .cpu = op.cpu,
				.object = kl_rand(&s) & 1 ? op.object : KL_ALL_OBJECTS,
				.reason = kl_rand_below(&s, 3),
			};

			assert_int_equal(kl_history_add_gap(h, &g), 0);
		}
	}
	assert_int_equal(kl_history_finish(h), 0);
	return h;
}
