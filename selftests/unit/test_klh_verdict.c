// SPDX-License-Identifier: GPL-2.0
/*
 * Verdicts on damaged .klh files.  Small files of several kinds are read with each bit
 * flipped, and cut at each length.  The result is an error, or the verdict of the whole file.
 * Only a truncated file, which a message reports, may be UNKNOWN.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "check/check.h"
#include "generate/generate.h"
#include "history/formats/form.h"
#include "history/klh.h"
#include "history_util.h"
#include "tso/engine/tso.h"

static char path[] = "/tmp/klin-test-klh-verdict-XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 || close(fd);
}

static int teardown(void **state)
{
	return unlink(path);
}

struct kind {
	const char *spec;
	struct kl_gen_config gen;
	/* number of blocks of a recording, each with its floor; 0: a single file */
	unsigned int blocks;
	bool gap;		/* operations were lost after the last block */
	enum kl_verdict verdict;
};

static const struct kind kinds[] = {
	{ .spec = "queue", .gen = { .ops = 24, .seed = 1, .delay = 20 } },
	{ .spec = "queue", .gen = { .ops = 24, .seed = 3, .delay = 20, .mutate = 2 },
	  .verdict = KL_VIOLATION },
	{ .spec = "stack", .gen = { .ops = 24, .seed = 4, .delay = 20, .any = true } },
	{ .spec = "set", .gen = { .ops = 30, .seed = 5, .keys = 3, .delay = 9, .mutate = 1,
				  .where = KL_GEN_LATE },
	  .blocks = 3, .verdict = KL_VIOLATION },
	{ .spec = "map", .gen = { .ops = 30, .seed = 6, .keys = 3, .objects = 2, .delay = 9,
				  .pending = 10 }, .blocks = 2 },
	{ .spec = "register", .gen = { .ops = 24, .seed = 7, .delay = 30, .error = 4 } },
	{ .spec = "seqlock", .gen = { .ops = 12, .seed = 9, .delay = 20, .tso = true } },
	{ .spec = "seqlock", .gen = { .ops = 16, .seed = 9, .delay = 20, .tso = true, .mutate = 3,
				      .where = KL_GEN_LATE },
	  .blocks = 2, .verdict = KL_VIOLATION },
	{ .spec = "queue", .gen = { .ops = 20, .seed = 2, .delay = 20 }, .blocks = 2, .gap = true,
	  .verdict = KL_UNKNOWN },
	{ .spec = "queue", .gen = { .ops = 20, .seed = 3, .delay = 20, .mutate = 2 }, .blocks = 2,
	  .gap = true, .verdict = KL_VIOLATION },
};

struct trial {
	const struct kind *kind;
	struct kl_spec *spec;
	char *data;
	size_t len;
	unsigned long refused, same, unknown;
};

/* Return: 0 with the verdict on the bytes, or the reader's error. */
static int decide(const struct trial *t, const char *data, size_t len, enum kl_verdict *verdict)
{
	const struct kl_options opt = {
		.threads = 1,
		.classical = !t->kind->gen.tso,
	};
	struct kl_history *h = NULL;
	struct kl_report *r;
	int ret;

	history_log_start();
	ret = kl_history_parse("k", data, len, KL_FORM_AUTO, &h);
	history_log_stop();
	if (ret)
		return ret;
	assert_int_equal(kl_check(t->spec, h, &opt, &r), 0);
	*verdict = r->verdict;
	kl_report_free(r);
	kl_history_free(h);
	return 0;
}

/* Write as `klin convert' does, or as a recording, block by block. */
static void write_file(const struct kind *k, const struct kl_history *h)
{
	const size_t each = k->blocks ? (h->nops + k->blocks - 1) / k->blocks : 0;
	struct kl_klh *klh;
	size_t at, n;

	if (!k->blocks) {
		assert_int_equal(kl_klh_write(h, path), 0);
		return;
	}
	assert_int_equal(kl_klh_open(path, h, &klh), 0);
	assert_int_equal(kl_klh_append_gaps(klh, h, 0, h->ngaps), 0);
	for (at = 0; at < h->nops; at += n) {
		n = h->nops - at < each ? h->nops - at : each;
		assert_int_equal(kl_klh_append(klh, h, at, n, at + n < h->nops ?
					       h->ops[at + n].call : KL_TIME_MAX), 0);
	}
	assert_int_equal(kl_klh_close(klh, true), 0);
}

static void begin(struct trial *t, const struct kind *k)
{
	struct kl_gen_config c = k->gen;
	enum kl_verdict verdict;
	struct kl_history *h;

	*t = (struct trial){ .kind = k, .spec = shipped_spec(k->spec) };
	c.spec = t->spec;
	c.threads = 3;
	c.objects = c.objects ? c.objects : 1;
	assert_int_equal(kl_gen(&c, &h), 0);
	if (k->gap) {
		const struct kl_gap gap = {
			.from = h->ops[h->nops - 1].ret + 1, .to = KL_TIME_MAX, .lost = 1,
			.object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU, .reason = KL_GAP_LOST,
		};

		assert_int_equal(kl_history_add_gap(h, &gap), 0);
	}
	write_file(k, h);
	kl_history_free(h);
	assert_int_equal(kl_read_file(path, &t->data, &t->len), 0);
	assert_int_equal(decide(t, t->data, t->len, &verdict), 0);
	assert_int_equal(verdict, k->verdict);
}

static void end(struct trial *t)
{
	print_message("%s, %s, %zu bytes: %lu refused, %lu decided alike, %lu UNKNOWN\n",
		      t->kind->spec, kl_verdict_name(t->kind->verdict), t->len, t->refused,
		      t->same, t->unknown);
	kl_spec_free(t->spec);
	free(t->data);
}

static void try(struct trial *t, const char *data, size_t len, bool cut)
{
	enum kl_verdict verdict;
	int ret = decide(t, data, len, &verdict);

	if (ret) {
		assert_int_equal(ret, -EINVAL);
		assert_true(*history_log);
		t->refused++;
	} else if (verdict == t->kind->verdict) {
		t->same++;
	} else {
		if (!cut || verdict != KL_UNKNOWN)
			fail_msg("%s, %s, %zu bytes: %s", t->kind->spec,
				 kl_verdict_name(t->kind->verdict), len, kl_verdict_name(verdict));
		t->unknown++;
	}
	/* An empty file does not say that it was longer, and gets no verdict. */
	if (cut && !ret && len)
		assert_non_null(strstr(history_log, "k: truncated at offset "));
	else if (cut && !ret)
		assert_int_equal(verdict, KL_UNKNOWN);
}

static void test_flipped_bits(void **state)
{
	struct trial t;
	size_t i, at;
	int bit;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		begin(&t, &kinds[i]);
		for (at = 0; at < t.len; at++) {
			for (bit = 0; bit < 8; bit++) {
				t.data[at] ^= 1 << bit;
				try(&t, t.data, t.len, false);
				t.data[at] ^= 1 << bit;
			}
		}
		end(&t);
	}
}

static void test_truncated_lengths(void **state)
{
	struct trial t;
	size_t i, len;
	char *copy;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		begin(&t, &kinds[i]);
		for (len = 0; len < t.len; len++) {
			/*
			 * Memory of exactly that size, so that ASan catches an access beyond the
			 * end.
			 */
			copy = malloc(len + 1);
			assert_non_null(copy);
			memcpy(copy + 1, t.data, len);
			try(&t, copy + 1, len, true);
			free(copy);
		}
		/* The verdict of the whole file is found, although its end is missing. */
		assert_true(t.same);
		end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_truncated_lengths),
	};

	return cmocka_run_group_tests_name("klh_verdict", tests, setup, teardown);
}
