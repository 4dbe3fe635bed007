// SPDX-License-Identifier: GPL-2.0
/*
 * Places where functions were inlined, from this program's own debugging information, compared
 * with a real run.  A child single-steps functions with inlined ones, and records what is
 * executed with which values.  Each entry that is called recordable must have been hit that
 * often, with these parameters at the given locations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwarf/debug.h"
#include "dwarf/insn.h"

#if __has_attribute(noclone)
#define one_copy noinline, noclone
#else
#define one_copy noinline
#endif

/* Compiled as in a kernel: code that sanitizers insert is not tested. */
#define noinline __attribute__((one_copy, no_sanitize("address", "undefined")))
#define always static inline \
	__attribute__((always_inline, no_sanitize("address", "undefined")))
#define LOG 4096

struct item {
	long lock, a, b;
};

/* What the child executes and records; the memory is shared with the child. */
static struct truth {
	volatile unsigned int n;
	struct {
		uint64_t item, value;
	} put[LOG];
} *truth;
static struct item items[4];
static volatile long sink;

/* The inlined function, which records its arguments before each action. */
always void put(struct item *o, long v)
{
	*(volatile long *)&o->lock = 1;
	truth->put[truth->n % LOG].item = (uintptr_t)o;
	truth->put[truth->n % LOG].value = v;
	truth->n++;
	*(volatile long *)&o->a = v;
	*(volatile long *)&o->lock = 0;
}

always long get(struct item *o, long unused)
{
	while (*(volatile long *)&o->lock)
		__asm__ volatile("pause");
	return *(volatile long *)&o->a;
}

static noinline void other(long v)
{
	sink = v;
	__asm__ volatile("" ::: "memory");
}

static noinline void plain_caller(struct item *o, long v)
{
	put(o, v);
}

static noinline void constant(struct item *o, long v)
{
	other(v);
	put(o, 42);
	other(v + 1);
}

static noinline void twice(struct item *o, long v)
{
	put(o, v);
	other(v);
	put(o + 1, v + 1);
}

static noinline void looped(struct item *o, long v)
{
	long i;

	for (i = 0; i < (v & 7); i++)
		put(&o[i & 1], i);
}

static noinline void unrolled(struct item *o, long v)
{
	int i;

#pragma GCC unroll 4
	for (i = 0; i < 2; i++)
		put(o, v + i);
}

static noinline void unrolled_far(struct item *o, long v)
{
	long i;

#pragma GCC unroll 4
	for (i = 0; i < (v & 15); i++)
		put(o, i);
}

static noinline void threaded(struct item *o, long v)
{
	if (v & 1)
		other(1);
	put(o, v & 1);
	if (v & 1)
		other(2);
}

static noinline void sometimes(struct item *o, long v)
{
	if (v % 3 == 0)
		put(o, v * 7);
	else if (v % 3 == 1)
		put(o + 1, o->b + v);
	other(v);
}

static noinline void spilled(struct item *o, long v)
{
	long a[8], i;

	for (i = 0; i < 8; i++) {
		other(v + i);
		a[i] = sink;
	}
	put(&o[a[3] & 1], a[7] + v * a[2]);
	other(a[0] + a[1] + a[4] + a[5] + a[6]);
}

static noinline void reader(struct item *o, long v)
{
	sink = get(o, v) + 1;
}

static const struct {
	const char *name;
	void (*run)(struct item *o, long v);
} subjects[] = {
	{ "plain_caller", plain_caller }, { "constant", constant }, { "twice", twice }, { "looped", looped },
	{ "unrolled", unrolled }, { "unrolled_far", unrolled_far }, { "threaded", threaded },
	{ "sometimes", sometimes }, { "spilled", spilled },
};

#define SUBJECTS (sizeof(subjects) / sizeof(*subjects))
#define CALLS 30

static uint64_t reg(const struct user_regs_struct *r, uint64_t i)
{
	const uint64_t all[KL_LOC_REGS] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};

	assert_true(i < KL_LOC_REGS);
	return all[i];
}

/* Evaluate the steps of a location by their definition. */
static uint64_t evaluate(pid_t pid, const struct kl_loc *loc, const struct user_regs_struct *r,
			 uint64_t bias)
{
	uint64_t st[KL_LOC_STEPS] = { 0 }, b;
	unsigned int i, top = 0;

	for (i = 0; i < loc->n; i++) {
		const uint64_t num = loc->num[i];

		switch (loc->op[i]) {
		case KL_L_CONST: st[top++] = num; continue;
		case KL_L_ADDR: st[top++] = num + bias; continue;
		case KL_L_REG: st[top++] = reg(r, num); continue;
		case KL_L_NEG: st[top - 1] = -st[top - 1]; continue;
		case KL_L_NOT: st[top - 1] = ~st[top - 1]; continue;
		case KL_L_DEREF:
			assert_int_equal(num, 8);
			st[top - 1] = ptrace(PTRACE_PEEKDATA, pid, st[top - 1], 0);
			continue;
		}
		b = st[--top];
		switch (loc->op[i]) {
		case KL_L_ADD: st[top - 1] += b; break;
		case KL_L_SUB: st[top - 1] -= b; break;
		case KL_L_MUL: st[top - 1] *= b; break;
		case KL_L_AND: st[top - 1] &= b; break;
		case KL_L_OR: st[top - 1] |= b; break;
		case KL_L_XOR: st[top - 1] ^= b; break;
		case KL_L_SHL: st[top - 1] <<= b; break;
		case KL_L_SHR: st[top - 1] >>= b; break;
		case KL_L_SAR: st[top - 1] = (int64_t)st[top - 1] >> b; break;
		default: fail_msg("step %u of a location is unknown", loc->op[i]);
		}
	}
	assert_int_equal(top, 1);
	return loc->kind == KL_LOC_VALUE ? st[0] :
	       (uint64_t)ptrace(PTRACE_PEEKDATA, pid, st[0], 0);
}

static uint64_t bias_of(const struct kl_sites *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->site[i].in, "plain_caller"))
			return (uintptr_t)plain_caller - (all->site[i].entry - all->site[i].offset);
	fail_msg("no site in plain_caller()");
	return 0;
}

struct hit {
	bool known[2];
	uint64_t seen[2];
};

static void read_values(pid_t pid, const struct kl_site *s, const struct user_regs_struct *r,
			uint64_t bias, struct hit *h)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const struct kl_loc *loc = &s->params[i].loc;

		h->known[i] = loc->kind != KL_LOC_NONE;
		h->seen[i] = h->known[i] ? evaluate(pid, loc, r, bias) : 0;
	}
}

/* Single-step one subject.  Return: the number of hits of all its sites, in order. */
static unsigned int trace(unsigned int subject, const struct kl_sites *all, uint64_t bias,
			  struct hit *hits)
{
	struct user_regs_struct r;
	unsigned int n = 0;
	int status;
	long v;
	size_t i;
	pid_t pid;

	truth->n = 0;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		for (v = 0; v < CALLS; v++)
			subjects[subject].run(items, v);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (WIFSTOPPED(status)) {
		assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &r), 0);
		for (i = 0; i < all->n; i++) {
			const struct kl_site *s = &all->site[i];

			if (!s->inlined || !s->nranges || r.rip != s->entry + bias ||
			    strcmp(s->in, subjects[subject].name))
				continue;
			assert_true(n < LOG);
			read_values(pid, s, &r, bias, &hits[n++]);
		}
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	return n;
}

static struct kl_debug *open_self(void)
{
	struct kl_debug *d;

	assert_int_equal(kl_debug_open("/proc/self/exe", &d), 0);
	return d;
}

static void test_sites_match_execution(void **state)
{
	static struct hit hits[LOG];
	struct kl_debug *d = open_self();
	struct kl_sites all = { 0 };
	unsigned int s, n, i, good = 0, refused = 0, values = 0;
	uint64_t bias;
	size_t k;

	assert_int_equal(kl_debug_sites(d, "put", NULL, &all), 0);
	bias = bias_of(&all);
	for (s = 0; s < SUBJECTS; s++) {
		bool sure = true, any = false;

		for (k = 0; k < all.n; k++) {
			if (!all.site[k].inlined || strcmp(all.site[k].in, subjects[s].name))
				continue;
			sure &= !*all.site[k].why;
			any = true;
		}
		assert_true(any);
		n = trace(s, &all, bias, hits);
		if (!sure) {
			refused++;
			continue;
		}
		good++;
		if (n != truth->n)
			fail_msg("%s: %u hits of %u operations", subjects[s].name, n, truth->n);
		for (i = 0; i < n; i++) {
			if (hits[i].known[0])
				assert_int_equal(hits[i].seen[0], truth->put[i].item);
			if (hits[i].known[1])
				assert_int_equal(hits[i].seen[1], truth->put[i].value);
			values += hits[i].known[0] + hits[i].known[1];
		}
	}
	kl_sites_free(&all);
	kl_debug_close(d);
	print_message("# %u subjects sure, %u refused, %u values compared\n", good, refused,
		      values);
	/* A detector that refuses everything would pass the checks above. */
	assert_true(good >= 3);
	assert_true(values > 100);
}

/* A function that is inlined once in the source but copied by the compiler must not be accepted. */
static void test_compiler_copies_refused(void **state)
{
	static struct hit hits[LOG];
	struct kl_debug *d = open_self();
	struct kl_sites all = { 0 };
	unsigned int s, n, wrong = 0;
	size_t k;

	assert_int_equal(kl_debug_sites(d, "put", NULL, &all), 0);
	for (s = 0; s < SUBJECTS; s++) {
		n = trace(s, &all, bias_of(&all), hits);
		if (n == truth->n)
			continue;
		wrong++;
		for (k = 0; k < all.n; k++)
			if (!strcmp(all.site[k].in, subjects[s].name) && *all.site[k].why)
				break;
		if (k == all.n)
			fail_msg("%s: nothing is refused", subjects[s].name);
	}
	kl_sites_free(&all);
	kl_debug_close(d);
	print_message("# %u subjects whose entries miss operations\n", wrong);
	if (!wrong)
		skip();
}

static void test_site_contents(void **state)
{
	struct kl_debug *d = open_self();
	struct kl_sites all = { 0 };
	char text[80];

	reader(items, 1);
	assert_int_equal(kl_debug_sites(d, "get", "reader", &all), 0);
	assert_int_equal(all.n, 1);
	assert_true(all.site[0].inlined);
	assert_string_equal(all.site[0].in, "reader");
	assert_string_equal(all.site[0].symbol, "reader");
	assert_int_equal(all.site[0].nparams, 2);
	assert_string_equal(all.site[0].params[0].name, "o");
	assert_string_equal(kl_dtype_text(&all.site[0].params[0].type, text, sizeof(text)),
			    "struct item *");
	assert_string_equal(all.site[0].params[1].name, "unused");
	assert_non_null(strstr(all.site[0].file, "test_sites.c"));
	assert_int_equal(kl_debug_sites(d, "no_such_function", NULL, &all), 0);
	assert_int_equal(kl_debug_sites(d, "put", "reader", &all), 0);
	assert_int_equal(all.n, 1);
	assert_int_equal(kl_debug_sites(d, "plain_caller", NULL, &all), 0);
	assert_int_equal(all.n, 2);
	assert_false(all.site[1].inlined);
	kl_sites_free(&all);
	kl_debug_close(d);
}

/* Instructions whose lengths are easily misjudged. */
static void test_instruction_lengths(void **state)
{
	static const struct {
		const char *bytes;
		unsigned int size;	/* 0: not an instruction */
		enum kl_flow flow;
	} insns[] = {
		{ "\x90", 1, KL_FLOW_NEXT },
		{ "\xc3", 1, KL_FLOW_END },
		{ "\xcc", 1, KL_FLOW_END },
		{ "\xeb\xfe", 2, KL_FLOW_JUMP },
		{ "\x75\x02", 2, KL_FLOW_BRANCH },
		{ "\xe9\x01\x02\x03\x04", 5, KL_FLOW_JUMP },
		{ "\xe8\x01\x02\x03\x04", 5, KL_FLOW_NEXT },
		{ "\x0f\x84\x01\x02\x03\x04", 6, KL_FLOW_BRANCH },
		{ "\xff\xe0", 2, KL_FLOW_INDIRECT },
		{ "\xff\xd0", 2, KL_FLOW_NEXT },
		{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, KL_FLOW_NEXT },
		{ "\xb8\x01\x02\x03\x04", 5, KL_FLOW_NEXT },
		{ "\x66\xb8\x01\x02", 4, KL_FLOW_NEXT },
		{ "\xf6\x00\x01", 3, KL_FLOW_NEXT },
		{ "\xf6\x10", 2, KL_FLOW_NEXT },
		{ "\xf7\x40\x01\x01\x02\x03\x04", 7, KL_FLOW_NEXT },
		{ "\x66\xf7\x00\x01\x02", 5, KL_FLOW_NEXT },
		{ "\x8b\x04\x25\x01\x02\x03\x04", 7, KL_FLOW_NEXT },
		{ "\x8b\x05\x01\x02\x03\x04", 6, KL_FLOW_NEXT },
		{ "\xf0\x48\x0f\xb1\x0b", 5, KL_FLOW_NEXT },
		{ "\x0f\xba\xe8\x01", 4, KL_FLOW_NEXT },
		{ "\x0f\xa4\xc2\x01", 4, KL_FLOW_NEXT },
		{ "\x66\x0f\x3a\x0f\xc1\x08", 6, KL_FLOW_NEXT },
		{ "\xc5\xf8\x77", 3, KL_FLOW_NEXT },
		{ "\xc4\xe3\x7d\x39\xc1\x01", 6, KL_FLOW_NEXT },
		{ "\x62\xf1\x7c\x48\x28\xc1", 6, KL_FLOW_NEXT },
		{ "\x65\x48\x8b\x04\x25\x01\x02\x03\x04", 9, KL_FLOW_NEXT },
		{ "\xf3\x0f\x1e\xfa", 4, KL_FLOW_NEXT },
		{ "\x0f\x0b", 2, KL_FLOW_NEXT },
		{ "\x06", 0, KL_FLOW_NEXT },
		{ "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0, 0 },
	};
	struct kl_insn insn;
	size_t i, n;

	for (i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		uint8_t buf[24] = { 0 };

		memcpy(buf, insns[i].bytes, insns[i].size ? insns[i].size : strlen(insns[i].bytes));
		if (!insns[i].size) {
			assert_int_equal(kl_insn_decode(buf, sizeof(buf), &insn), -EINVAL);
			continue;
		}
		assert_int_equal(kl_insn_decode(buf, sizeof(buf), &insn), 0);
		assert_int_equal(insn.len, insns[i].size);
		assert_int_equal(insn.flow, insns[i].flow);
		/* A truncated instruction is invalid. */
		for (n = 0; n < insns[i].size; n++)
			assert_int_equal(kl_insn_decode(buf, n, &insn), -EINVAL);
	}
}

static int set_up(void **state)
{
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return truth == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites_match_execution),
		cmocka_unit_test(test_compiler_copies_refused),
		cmocka_unit_test(test_site_contents),
		cmocka_unit_test(test_instruction_lengths),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
