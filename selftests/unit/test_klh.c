// SPDX-License-Identifier: GPL-2.0
/* The binary form: complete, truncated and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <zlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "generate/generate.h"
#include "history/klh.h"
#include "history/klh_format.h"
#include "history_util.h"

static char path[] = "/tmp/klin-test-klh-XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 || close(fd);
}

static int teardown(void **state)
{
	return unlink(path);
}

static char *klh_of(const struct kl_history *h, size_t *len)
{
	char *data;

	assert_int_equal(kl_klh_write(h, path), 0);
	assert_int_equal(kl_read_file(path, &data, len), 0);
	assert_true(kl_klh_is(data, *len));
	return data;
}

static void test_round_trip(void **state)
{
	uint64_t seed;

	for (seed = 0; seed < 300; seed++) {
		struct kl_history *h = history_random(seed), *back = NULL;
		size_t len;
		char *data = klh_of(h, &len);

		assert_int_equal(kl_klh_read("k", data, len, &back), 0);
		assert_same_history(h, back);
		assert_int_equal(h->nvals, back->nvals);
		assert_memory_equal(h->threads, back->threads, h->nthreads * sizeof(*h->threads));
		free(data);
		kl_history_free(h);
		kl_history_free(back);
	}
}

/* A file of several blocks, with tables larger than a block, is read back. */
static void test_several_blocks(void **state)
{
	struct kl_gen_config c = {
		.spec = shipped_spec("map"), .ops = 200000, .seed = 3, .threads = 8, .objects = 100,
		.delay = 100, .pending = 1, .error = 20,
	};
	struct kl_history *h, *back;
	size_t len, i;
	char *data;

	assert_int_equal(kl_gen(&c, &h), 0);
	kl_spec_free((struct kl_spec *)c.spec);
	for (i = 0; i < 2 * KLH_BLOCK_KEYS + 5; i++)
		assert_true(kl_history_object(h, 1000 + i) >= 0);
	data = klh_of(h, &len);
	assert_int_equal(kl_klh_read("k", data, len, &back), 0);
	assert_int_equal(back->nobjects, h->nobjects);
	assert_same_history(h, back);
	free(data);
	kl_history_free(h);
	kl_history_free(back);
}

/* Features of a run of operations.  A run without a feature is encoded compactly. */
enum trait {
	SPECIAL = 1, PENDING = 2, TOLD = 4, WIDE = 8, AGAIN = 16, NO_VALUES = 32, TRAITS = 64
};

static void add_random(struct kl_history *h, unsigned int traits, uint64_t *time, uint64_t *s)
{
	const uint64_t wide = traits & WIDE && !kl_rand_below(s, 9) ? 300 : 0;
	const bool none = traits & NO_VALUES && kl_rand_below(s, 2);
	struct kl_opsig sig = {
		.method = kl_rand_below(s, 3),
		.nargs = none ? 0 : 1 + kl_rand_below(s, 2),
		.nres = none ? 0 : kl_rand_below(s, 3),
	};
	struct kl_op op = {
		.call = *time += kl_rand_below(s, 200), .cpu = kl_rand_below(s, 8) + wide,
		.thread = kl_rand_below(s, 8) + wide, .object = kl_rand_below(s, 4) + wide,
	};
	struct kl_val v[4];
	unsigned int i;

	op.ret = op.call + kl_rand_below(s, 1u << kl_rand_below(s, 20));
	if (traits & PENDING && !kl_rand_below(s, 30))
		op.flags = 1 + kl_rand_below(s, 3);
	for (i = 0; i < 4; i++)
		v[i] = traits & SPECIAL && !kl_rand_below(s, 9) ?
		       kl_special(1 + kl_rand_below(s, KL_ABSENT)) :
		       kl_word(kl_rand_below(s, traits & AGAIN ? 6 : UINT64_MAX) >>
			       kl_rand_below(s, 64));
	assert_int_equal(kl_history_add(h, &op, &sig, v, v + 2), 0);
	if (traits & TOLD && !kl_rand_below(s, 30))
		assert_int_equal(kl_history_set_points(h, h->nops - 1,
						       op.call + kl_rand_below(s, 9),
						       op.call + kl_rand_below(s, 9)), 0);
}

/* Each part of a block is read with the encoding that its features need; signatures are many. */
static void test_all_encodings(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	uint64_t seed = 5, time = 0, round, i;

	for (round = 0; round < 4; round++) {
		struct kl_history *h = kl_history_new(), *back;
		unsigned int traits = 0;
		char *data;
		size_t len;

		for (i = 0; i < 3; i++)
			kl_history_method(h, names[i], 1);
		for (i = 0; i < 400; i++) {
			kl_history_object(h, i * i);
			kl_history_thread(h, i * 7);
		}
		while (h->nops < 80000) {
			if (!kl_rand_below(&seed, 200))
				traits = kl_rand_below(&seed, 3) ? kl_rand_below(&seed, 2) * AGAIN :
					 kl_rand_below(&seed, TRAITS);
			add_random(h, traits, &time, &seed);
		}
		data = klh_of(h, &len);
		assert_int_equal(kl_klh_read("k", data, len, &back), 0);
		assert_int_equal(back->nops, h->nops);
		assert_int_equal(kl_history_finish(h), 0);
		assert_same_history(h, back);
		free(data);
		kl_history_free(h);
		kl_history_free(back);
	}
}

/* A recording of ten steps: blocks with floors, and a gap among them. */
static char *stream(bool complete, size_t *len, struct kl_history **out)
{
	struct kl_gen_config c = {
		.spec = shipped_spec("seqlock"), .ops = 100, .seed = 9, .threads = 3, .objects = 2,
		.delay = 50,
	};
	struct kl_gap gap = { .from = 5, .to = 9, .lost = 3, .object = 1, .cpu = 2 };
	struct kl_history *h;
	struct kl_klh *k;
	char *data;
	size_t i;

	assert_int_equal(kl_gen(&c, &h), 0);
	kl_spec_free((struct kl_spec *)c.spec);
	assert_int_equal(kl_history_add_gap(h, &gap), 0);
	assert_int_equal(kl_klh_open(path, h, &k), 0);
	for (i = 0; i < 100; i += 10) {
		uint64_t floor = i < 90 ? h->ops[i + 10].call : KL_TIME_MAX;

		assert_int_equal(kl_klh_append(k, h, i, 10, floor), 0);
		if (i == 50)
			assert_int_equal(kl_klh_append_gaps(k, h, 0, 1), 0);
	}
	i = kl_klh_bytes(k);
	assert_int_equal(kl_klh_close(k, complete), 0);
	assert_int_equal(kl_read_file(path, &data, len), 0);
	assert_int_equal(*len, i + (complete ? KLH_BLOCK_HEADER : 0));
	*out = h;
	return data;
}

/* Collect the offset of each block; the last one is the end of the file. */
static size_t blocks_of(const char *data, size_t len, size_t *at)
{
	const uint8_t *p = (const uint8_t *)data;
	size_t n = 0, off = KLH_HEADER + klh_get32(p + 12);

	for (; off < len; off += KLH_BLOCK_HEADER + klh_get32(p + off + 12))
		at[n++] = off;
	return n;
}

/* A file that is cut at any byte yields its whole blocks, and a gap for the rest. */
static void test_truncated(void **state)
{
	struct kl_history *h, *back;
	size_t at[32], nblocks, len, cut;
	char *data = stream(true, &len, &h), *copy;

	nblocks = blocks_of(data, len, at);
	assert_int_equal(nblocks, 12);
	for (cut = 0; cut < len; cut++) {
		size_t whole = 0, ops, ngaps;
		int ret;

		/* A copy of exactly that size, so that ASan catches an access beyond the end. */
		copy = malloc(cut + 1);
		memcpy(copy + 1, data, cut);
		back = NULL;
		history_log_start();
		ret = kl_klh_read("k", copy + 1, cut, &back);
		history_log_stop();
		free(copy);
		if (cut < at[0]) {
			assert_int_equal(ret, -EINVAL);
			assert_non_null(strstr(history_log, "k: truncated inside its header"));
			continue;
		}
		assert_int_equal(ret, 0);
		assert_non_null(strstr(history_log, "klin: warning: k: truncated at offset "));
		while (whole + 1 < nblocks && at[whole + 1] <= cut)
			whole++;
		/* The seventh block has the gap. */
		ops = 10 * (whole > 6 ? whole - 1 : whole);
		assert_int_equal(back->nops, ops);
		ngaps = whole > 6;
		if (ops < 100) {
			const struct kl_gap *g = &back->gaps[back->ngaps - 1];

			ngaps++;
			assert_int_equal(g->from, ops ? h->ops[ops].call : KL_TIME_MIN);
			assert_int_equal(g->to, KL_TIME_MAX);
			assert_int_equal(g->object, KL_ALL_OBJECTS);
		}
		assert_int_equal(back->ngaps, ngaps);
		kl_history_free(back);
	}
	free(data);
	kl_history_free(h);
}

static void test_unclosed_recording(void **state)
{
	struct kl_history *h, *back;
	size_t len;
	char *data = stream(false, &len, &h);

	history_log_start();
	assert_int_equal(kl_klh_read("k", data, len, &back), 0);
	history_log_stop();
	assert_non_null(strstr(history_log, "truncated"));
	assert_int_equal(back->nops, 100);
	kl_history_free(back);

	/* A crashed machine may leave zeros at the end. */
	data = realloc(data, len + 4096);
	memset(data + len, 0, 4096);
	history_log_start();
	assert_int_equal(kl_klh_read("k", data, len + 4096, &back), 0);
	history_log_stop();
	assert_int_equal(back->nops, 100);
	kl_history_free(back);
	free(data);
	kl_history_free(h);
}

/* With any bit flipped, the reader fails or returns the original history. */
static void test_bit_flips_are_found(void **state)
{
	struct kl_history *h, *back;
	size_t len, i;
	char *data = stream(true, &len, &h);
	unsigned int bit;

	history_log_start();
	for (i = 0; i < len; i++) {
		for (bit = 0; bit < 8; bit++) {
			*history_log = 0;
			data[i] ^= 1 << bit;
			assert_int_equal(kl_klh_read("k", data, len, &back), -EINVAL);
			assert_true(*history_log);
			/*
			 * Without the right first bytes the file must not be taken for another
			 * form.
			 */
			assert_int_equal(kl_history_parse("k", data, len, KL_FORM_AUTO, &back),
					 -EINVAL);
			data[i] ^= 1 << bit;
		}
	}
	history_log_stop();
	free(data);
	kl_history_free(h);
}

static void test_other_version_refused(void **state)
{
	struct kl_history *h, *back;
	size_t len;
	char *data = stream(true, &len, &h);

	data[8] = 7;
	history_log_start();
	assert_int_equal(kl_klh_read("k", data, len, &back), -EINVAL);
	history_log_stop();
	assert_string_equal(history_log,
			    "klin: k: .klh version 7: expected version 1 or 2, the only ones "
			    "this klin reads\n");
	free(data);
	kl_history_free(h);
}

/* A .klh from before the introduction of `# memory' is a recording. */
static void test_without_memory_model(void **state)
{
	static const char line[] = "# memory sc\n";
	struct kl_history *h = kl_history_new(), *back;
	const size_t n = strlen(line);
	uint8_t *data;
	size_t len;
	char *at;

	assert_non_null(h);
	h->memory.sc = true;
	data = (uint8_t *)klh_of(h, &len);
	assert_int_equal(kl_klh_read("k", data, len, &back), 0);
	assert_true(back->memory.sc && back->memory.told);
	kl_history_free(back);
	at = memmem(data, len, line, n);
	assert_non_null(at);
	memmove(at, at + n, (char *)data + len - (at + n));
	len -= n;
	klh_put32(data + 12, klh_get32(data + 12) - n);
	klh_put32(data + 16, crc32(0, data + KLH_HEADER, klh_get32(data + 12)));
	klh_put32(data + 20, crc32(0, data, 20));
	assert_int_equal(kl_klh_read("k", data, len, &back), 0);
	assert_false(back->memory.sc || back->memory.told);
	kl_history_free(back);
	kl_history_free(h);
	free(data);
}

/* A file whose line ends were converted, as if it were text, is refused as damaged. */
static void test_converted_line_ends_refused(void **state)
{
	static const char data[40] = "\x89KLH\n\x1a\n";
	struct kl_history *back;

	history_log_start();
	assert_true(kl_klh_is(data, sizeof(data)));
	assert_int_equal(kl_klh_read("k", data, sizeof(data), &back), -EINVAL);
	history_log_stop();
	assert_string_equal(history_log,
			    "klin: k: offset 0: not the first bytes of a .klh file: the file is "
			    "damaged\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_several_blocks),
		cmocka_unit_test(test_all_encodings),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_unclosed_recording),
		cmocka_unit_test(test_bit_flips_are_found),
		cmocka_unit_test(test_other_version_refused),
		cmocka_unit_test(test_without_memory_model),
		cmocka_unit_test(test_converted_line_ends_refused),
	};

	return cmocka_run_group_tests_name("klh", tests, setup, teardown);
}
