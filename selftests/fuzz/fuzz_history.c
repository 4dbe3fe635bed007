// SPDX-License-Identifier: GPL-2.0
/*
 * The readers of histories on files that were changed at random: they must
 * neither crash nor read what is not theirs (build with SAN=1), and what they
 * accept must come out of the text form as it went in.
 *
 * Kinds of input: text, .klh as it is (mostly stopped by its checksums), .klh
 * whose blocks are changed inside and made whole again, which reaches the decoder,
 * and the forms of other tools.  Usage: fuzz_history [ROUNDS [SEED]]; deterministic.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "check/gen.h"
#include "history/klh_format.h"

#define MAX_SIZE	(64u << 10)

struct file {
	uint8_t data[MAX_SIZE];
	size_t len;
};

static uint64_t seed = 1;

static void silent(enum kl_level level, const char *line)
{
}

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

/* A history's text; free() it. */
static char *text_of(const struct kl_history *h, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f || kl_text_write(h, f) || fclose(f))
		die("out of memory");
	return text;
}

/* A history of some shipped specification; its spec is set by its name. */
static struct kl_history *make(struct kl_gen_config c)
{
	static const char *const names[] = {
		"register", "pair", "set", "map", "queue", "stack", "counter", "lock", "stack_height",
		"pqueue", "deque",
	};
	const char *name = names[kl_rand_below(&seed, sizeof(names) / sizeof(names[0]))];
	struct kl_history *h;
	struct kl_spec *spec;

	if (kl_spec_load(name, &spec))
		die("no such specification");
	c.spec = spec;
	c.seed = kl_rand(&seed);
	if (kl_gen(&c, &h))
		die("cannot make a history");
	kl_spec_free(spec);
	h->spec_path = strdup(name);
	return h;
}

static struct kl_history *sample(void)
{
	struct kl_gap gap = { .from = 3, .to = KL_TIME_MAX, .lost = 9, .object = 1, .cpu = 2 };
	struct kl_history *h = make((struct kl_gen_config){
		/* more than the reader takes together, too */
		.ops = kl_rand_below(&seed, kl_rand_below(&seed, 8) ? 60 : 400), .threads = 3,
		.objects = 2,
		.delay = 1u << kl_rand_below(&seed, 30), .pending = 10,
		.points = kl_rand(&seed) & 1,
	});

	if (kl_history_add_gap(h, &gap))
		die("cannot add a gap");
	h->spec_text = strdup("spec x {\n\tword a;\n}\n");
	h->attached = strdup("fentry f\n");
	h->release = strdup("6.1.0");
	return h;
}

static void load(struct file *f, const char *data, size_t len)
{
	f->len = len < MAX_SIZE ? len : MAX_SIZE;
	memcpy(f->data, data, f->len);
}

static void load_klh(struct file *f, const struct kl_history *h, const char *path)
{
	char *data = NULL;
	size_t len = 0;

	if (kl_klh_write(h, path) || kl_read_file(path, &data, &len))
		die("cannot write a file in the temporary directory");
	load(f, data, len);
	free(data);
}

/* One change: bytes, runs of bytes, numbers at their bounds, words of the text form. */
static size_t change(uint8_t *p, size_t len, size_t max)
{
	static const char *const words[] = {
		" - ", "->", "0x", "18446744073709551615", "-1", "?", "# gap ", "\n", "cpu=", ">=",
		"empty", "@", "t", "# clock ", "\0", "99999999999999999999", " ", "# set\n", "[", "]",
		"{", "}", "(", ")", "\"", "\\", ":info", ":fail", "nil", ";", "invokes add", "\r\n",
		"[1] call pop", "[1] return", ":f :put", "#_", ":key \"a\"",
	};
	static const uint8_t odd[] = { 0, 1, 0x7f, 0x80, 0xff, 0xfe, '\n' };
	size_t at = len ? kl_rand_below(&seed, len) : 0, n, to;
	const char *w;

	switch (kl_rand_below(&seed, 7)) {
	case 0:
		if (len)
			p[at] ^= 1 << kl_rand_below(&seed, 8);
		return len;
	case 1:
		if (len)
			p[at] = odd[kl_rand_below(&seed, sizeof(odd))];
		return len;
	case 2:
		n = kl_rand_below(&seed, len - at + 1);
		n = n < 40 ? n : 40;
		memmove(p + at, p + at + n, len - at - n);
		return len - n;
	case 3:
		n = kl_rand_below(&seed, len - at + 1);
		n = n < 40 ? n : 40;
		to = len ? kl_rand_below(&seed, len) : 0;
		if (len + n > max)
			return len;
		memmove(p + to + n, p + to, len - to);
		memmove(p + to, p + (at + n <= to ? at : 0), n < to ? n : to);
		return len + n;
	case 4:
		w = words[kl_rand_below(&seed, sizeof(words) / sizeof(*words))];
		n = strlen(w);
		if (len + n > max)
			return len;
		memmove(p + at + n, p + at, len - at);
		memcpy(p + at, w, n);
		return len + n;
	case 5:
		for (n = 0; n < 10 && at < len; n++)
			p[at++] = kl_rand(&seed) & 1 ? 0xff : kl_rand(&seed);
		return len;
	default:
		return kl_rand_below(&seed, 8) ? len : at;
	}
}

/* Change a block's raw data and put sums and lengths right again. */
static void change_inside(struct file *f)
{
	static uint8_t raw[4 * MAX_SIZE], out[8 * MAX_SIZE];
	size_t at = KLH_HEADER + klh_get32(f->data + 12), len, n, tail;
	uint64_t skip = kl_rand_below(&seed, 3);
	uint8_t *p;

	for (;; at += KLH_BLOCK_HEADER + len) {
		p = f->data + at;
		len = klh_get32(p + 12);
		if (klh_get32(p) != KLH_BLOCK || !skip--)
			break;
	}
	if (klh_get32(p) != KLH_BLOCK)
		return;
	n = ZSTD_decompress(raw, sizeof(raw), p + KLH_BLOCK_HEADER, len);
	if (ZSTD_isError(n))
		die("cannot decompress what was just written");
	/* Column lengths on purpose too, not only by chance. */
	if (!kl_rand_below(&seed, 4))
		klh_put32(raw + 4 * kl_rand_below(&seed, KLH_COLUMNS), kl_rand(&seed));
	n = change(raw, n, sizeof(raw));
	tail = f->len - at - KLH_BLOCK_HEADER - len;
	memcpy(out, p + KLH_BLOCK_HEADER + len, tail);
	len = ZSTD_compress(p + KLH_BLOCK_HEADER, MAX_SIZE - at - KLH_BLOCK_HEADER - tail, raw, n,
			    1);
	if (ZSTD_isError(len))
		return;
	memcpy(p + KLH_BLOCK_HEADER + len, out, tail);
	f->len = at + KLH_BLOCK_HEADER + len + tail;
	if (!kl_rand_below(&seed, 8))
		klh_put32(p + 4, kl_rand_below(&seed, 100000));
	klh_put32(p + 8, n);
	klh_put32(p + 12, len);
	klh_put32(p + 24, crc32(0, p + KLH_BLOCK_HEADER, len));
	klh_put32(p + 28, crc32(0, p, 28));
}

/* Returns whether it was accepted. */
static bool try_file(const struct file *f, const struct kl_form *form)
{
	struct kl_history *h, *back;
	/* Of exactly this size, so that one byte too far is seen. */
	char *copy = malloc(f->len + 1), *a, *b;
	size_t len, len2;
	int ret;

	if (!copy)
		die("out of memory");
	memcpy(copy, f->data, f->len);
	copy = realloc(copy, f->len ? f->len : 1);
	/* What it seems to be may be another form. */
	ret = kl_history_parse("fuzz", copy, f->len, kl_rand_below(&seed, 4) ? form : KL_FORM_AUTO, &h);
	free(copy);
	if (ret)
		return false;
	a = text_of(h, &len);
	/* .klh may hold what the text reader calls crossed threads, or a drain too early. */
	if (!kl_text_read("again", a, len, &back)) {
		b = text_of(back, &len2);
		if (len != len2 || memcmp(a, b, len))
			die("what was read, written and read again differs");
		free(b);
		kl_history_free(back);
	} else if (form == kl_form_find("text")) {
		die("the text that was written is not accepted");
	}
	free(a);
	kl_history_free(h);
	return true;
}

/* What other tools say, one of each form; more comes from klin's own writers. */
static const struct {
	const char *form, *text;
} others[] = {
	{ "fptlin", "# set\n2 0 2 CONTAINS 2 0\n0 0 4 INSERT 2 1\n2 3 6 REMOVE 2 1\n" },
	{ "fptlin", "# rmw\n0 1 10 READ_MODIFY_WRITE 0 2\n1 1 10 READ_MODIFY_WRITE 2 3\n" },
	{ "fptlin", "# priorityqueue\n0 1 10 INSERT 3\n1 2 9 POLL 3\n1 10 11 PEEK -1\n" },
	{ "linp", "# stack\npush 1 1 2\npop 1 2 4\npeek -1 3 9\n" },
	{ "linp", "# set\ninsert 7 1 2\ncontains_true 7 2 2\nremove 7 2 5\ncontains_false 7 6 8\n" },
	{ "limo", "# @object atomic-stack\n[1] call push(a)\n[2] call pop()\n[1] return\n"
	  "[2] return a\n[3] call push 7\n[4] call pop\n[4] return empty\n" },
	{ "events", "2 invokes add 23\n0 invokes contains 3\n2 returns true\n0 returns false\n" },
	{ "jepsen", "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:invoke"
	  "\t:cas\t[4 2]\nINFO  jepsen.util - 1\t:fail\t:cas\t[4 2]\nINFO  jepsen.util - 0\t:info"
	  "\t:read\t:timed-out\n" },
	{ "edn", "; x\n[{:process 0, :type :invoke, :f :write, :value 3}\n{:process :nemesis, :type "
	  ":info, :f :kill, :value [\"n1\" {:a #{1}}]}\n#a.Op{:process 0, :type :ok, :f :write}]\n" },
	{ "edn", "{:process 9, :type :invoke, :f :append, :key \"0\", :value \"x 9 0 y\"}\n"
	  "{:process 1, :type :invoke, :f :put, :key \"a\", :value \"x 1 0 y\"}\n"
	  "{:process 9, :type :ok, :f :append, :key \"0\", :value \"x 9 0 y\"}\n"
	  "{:process 9, :type :invoke, :f :get, :key \"0\", :value nil}\n"
	  "{:process 9, :type :ok, :f :get, :key \"0\", :value \"x 9 0 y\"}\n" },
};

/* A file of kind @kind: text, .klh, .klh, others. */
static const struct kl_form *make_file(struct file *f, unsigned int kind, const char *path)
{
	static const char *const written[] = { "linp", "events", "edn", "jepsen" };
	const struct kl_form *form;
	struct kl_history *h;
	size_t len, i;
	char *text;

	if (kind == 3 && kl_rand(&seed) & 1) {
		i = kl_rand_below(&seed, sizeof(others) / sizeof(*others));
		load(f, others[i].text, strlen(others[i].text));
		return kl_form_find(others[i].form);
	}
	h = sample();
	form = kl_form_find(kind == 0 ? "text" : kind < 3 ? "klh" : written[kl_rand_below(&seed, 4)]);
	if (kind == 3) {
		kl_history_free(h);
		h = make((struct kl_gen_config){
			.ops = 30, .threads = 3, .objects = 1, .delay = 9,
			.pending = kl_rand_below(&seed, 2) * 10,
		});
		if (kl_history_write(h, path, form)) {
			form = kl_form_find("text");
			kind = 0;
		}
	}
	if (kind == 0) {
		text = text_of(h, &len);
		load(f, text, len);
		free(text);
	} else if (kind < 3) {
		load_klh(f, h, path);
	} else if (kl_read_file(path, &text, &len)) {
		die("cannot read a file in the temporary directory");
	} else {
		load(f, text, len);
		free(text);
	}
	kl_history_free(h);
	return form;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "text", "klh", "klh blocks", "others" };
	const struct kl_form *form = NULL;
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 4000, accepted, i;
	char path[] = "/tmp/klin-fuzz-XXXXXX";
	static struct file orig, f;
	int kind, changes, fd = mkstemp(path);

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	if (fd < 0 || close(fd))
		die("no temporary directory");
	kl_log_sink = silent;
	printf("1..4\n");
	for (kind = 0; kind < 4; kind++) {
		accepted = 0;
		for (i = 0; i < rounds; i++) {
			if (i % 50 == 0)
				form = make_file(&orig, kind, path);
			f = orig;
			if (kind == 2)
				change_inside(&f);
			else
				for (changes = 1 + kl_rand_below(&seed, 4); changes; changes--)
					f.len = change(f.data, f.len, MAX_SIZE);
			accepted += try_file(&f, form);
		}
		/* Changes that are all rejected, or all without effect, would test little. */
		printf("%s %d - %s: %" PRIu64 " of %" PRIu64 " accepted\n",
		       accepted && accepted < rounds ? "ok" : "not ok", kind + 1, names[kind], accepted,
		       rounds);
	}
	unlink(path);
	return 0;
}
