// SPDX-License-Identifier: GPL-2.0
/*
 * Finding out from a stack and from code whether a task is inside a function, on a small
 * artificial kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/unwind.h"

#define BASE	0xffffffff81000000
#define SIZE	0x1000
#define AT	0x1000		/* offset of the code in the file */
#define EACH	0x40		/* bytes of a function */

/* In order of address; functions of .sched.text are between the two marks. */
enum {
	CALLER, WRAPPER, OPS_READ, READ, READ_COLD, PASSES, THUNK, RETURN, POINTER, TWICE,
	OTHER_TWICE, SCHED_START, LOCK, SLOW, SCHEDULE, SCHED_END, ENTRY, ORC, VECTOR, NFUNCS
};

static const char *const names[NFUNCS] = {
	[CALLER] = "caller", [WRAPPER] = "wrapper", [OPS_READ] = "ops_read", [READ] = "read",
	[READ_COLD] = "read.cold", [PASSES] = "passes",
	[THUNK] = "__x86_indirect_thunk_rax", [RETURN] = "__x86_return_thunk",
	[POINTER] = "pointer", [TWICE] = "twice", [OTHER_TWICE] = "twice",
	[SCHED_START] = "__sched_text_start", [LOCK] = "lock", [SLOW] = "slow",
	[SCHEDULE] = "schedule", [SCHED_END] = "__sched_text_end", [ENTRY] = "entry_SYSCALL_64",
	[ORC] = "unwind_module_init", [VECTOR] = "asm_sysvec_apic_timer_interrupt",
};

struct fixture {
	uint8_t code[SIZE];
	struct kl_ksym syms[NFUNCS];
	struct kl_kernel k;
	struct kl_callees *c;
	char path[32], stack[512];
};

static uint64_t address(unsigned int f)
{
	return BASE + f * EACH;
}

/* Write an instruction with a rel32 at @at of @from, whose opcode has @n bytes. */
static void put(struct fixture *f, unsigned int from, unsigned int at, const char *op, size_t n,
		uint64_t to)
{
	uint8_t *p = f->code + from * EACH + at;
	int32_t rel = to - (address(from) + at + n + 4);

	memcpy(p, op, n);
	memcpy(p + n, &rel, 4);
}

static void call(struct fixture *f, unsigned int from, unsigned int at, unsigned int to)
{
	put(f, from, at, "\xe8", 1, address(to));
}

static void jump(struct fixture *f, unsigned int from, unsigned int at, unsigned int to)
{
	put(f, from, at, "\xe9", 1, address(to));
}

static void write_core(struct fixture *f)
{
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
		.e_machine = EM_X86_64, .e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_vaddr = BASE, .p_memsz = SIZE, .p_filesz = SIZE,
			  .p_offset = AT };
	int fd;

	strcpy(f->path, "/tmp/klin-callees-XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
	assert_int_equal(pwrite(fd, &ph, sizeof(ph), sizeof(eh)), sizeof(ph));
	assert_int_equal(pwrite(fd, f->code, SIZE, AT), SIZE);
	close(fd);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	unsigned int i;

	assert_non_null(f);
	memset(f->code, 0x90, sizeof(f->code));
	for (i = 0; i < NFUNCS; i++) {
		f->syms[i] = (struct kl_ksym){ names[i], NULL, address(i) };
		jump(f, i, EACH - 5, RETURN);
	}
	f->k.syms = f->syms;
	f->k.nsyms = NFUNCS;
	/* Calls in CALLER; the return address is 5 bytes further, or 2. */
	call(f, CALLER, 0, LOCK);
	call(f, CALLER, 5, WRAPPER);
	call(f, CALLER, 10, SCHEDULE);
	call(f, CALLER, 15, OPS_READ);
	call(f, CALLER, 20, READ);
	memcpy(f->code + CALLER * EACH + 25, "\x90\x90\x90\xff\xd0", 5);
	call(f, CALLER, 30, SLOW);
	call(f, CALLER, 35, THUNK);
	call(f, ENTRY, 11, CALLER);
	call(f, VECTOR, 0x11, SCHEDULE);
	/* WRAPPER jumps to LOCK, and a breakpoint replaces the jump's first byte. */
	put(f, WRAPPER, 3, "\xcc", 1, address(LOCK));
	put(f, LOCK, 7, "\x0f\x85", 2, address(SLOW));
	call(f, SLOW, 1, SCHEDULE);
	jump(f, OPS_READ, 9, READ);
	put(f, READ, 2, "\x0f\x84", 2, address(READ_COLD) + 4);
	call(f, READ, 20, LOCK);
	jump(f, PASSES, 4, THUNK);
	memcpy(f->code + POINTER * EACH + 8, "\xff\xe0", 2);
	write_core(f);
	assert_int_equal(kl_callees_open(&f->k, f->path, &f->c), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kl_callees_free(f->c);
	unlink(f->path);
	free(f);
	return 0;
}

/*
 * Return: KL_INSIDE if a task with this stack is inside @func, KL_OUTSIDE if it is not, or
 * KL_MAYBE_INSIDE.  The kernel's entry function is added as the last line of the stack.
 */
static int inside(struct fixture *f, unsigned int func, const char *stack)
{
	const struct kl_func fn = { .name = names[func], .addr = address(func) };

	snprintf(f->stack, sizeof(f->stack), "%s[<0>] entry_SYSCALL_64+0x10/0x40\n", stack);
	return kl_callees_inside(f->c, &fn, f->stack);
}

#define LINE(name, offset)	"[<0>] " name "+" #offset "/0x40\n"

static void test_function_on_stack(void **state)
{
	assert_int_equal(inside(*state, READ, LINE("read", 0x19)), KL_INSIDE);
	assert_int_equal(inside(*state, READ, LINE("read.cold", 0x19)), KL_INSIDE);
	assert_int_equal(inside(*state, READ, LINE("read.part.0", 0x19)), KL_INSIDE);
	assert_int_equal(inside(*state, OPS_READ, LINE("caller", 0xf)), KL_OUTSIDE);
	assert_int_equal(inside(*state, READ, ""), KL_OUTSIDE);
}

/* The stack omits functions in .sched.text. */
static void test_function_omitted_from_stack(void **state)
{
	assert_int_equal(inside(*state, LOCK, LINE("caller", 0x5)), KL_INSIDE);
	assert_int_equal(inside(*state, LOCK, LINE("caller", 0xf)), KL_OUTSIDE);
	assert_int_equal(inside(*state, LOCK, LINE("caller", 0x23)), KL_OUTSIDE);
	assert_int_equal(inside(*state, SLOW, LINE("caller", 0x5)), KL_INSIDE);
	assert_int_equal(inside(*state, SLOW, LINE("caller", 0x23)), KL_INSIDE);
	assert_int_equal(inside(*state, LOCK, LINE("read", 0x19) LINE("caller", 0x19)), KL_INSIDE);
	/* A tail call has removed the frame of another function. */
	assert_int_equal(inside(*state, LOCK, LINE("caller", 0xa)), KL_INSIDE);
	assert_int_equal(inside(*state, WRAPPER, LINE("caller", 0xa)), KL_INSIDE);
	assert_int_equal(inside(*state, WRAPPER, LINE("caller", 0x5)), KL_OUTSIDE);
}

static void test_call_through_pointer(void **state)
{
	assert_int_equal(inside(*state, LOCK, LINE("caller", 0x1e)), KL_MAYBE_INSIDE);
	assert_int_equal(inside(*state, LOCK, LINE("caller", 0x28)), KL_MAYBE_INSIDE);
	/* This function has a frame while it sleeps. */
	assert_int_equal(inside(*state, READ, LINE("caller", 0x1e)), KL_OUTSIDE);
	/* The task sleeps in another function that was called by pointer, not in the lock. */
	assert_int_equal(inside(*state, LOCK, LINE("caller", 0xf) LINE("caller", 0x1e)),
			 KL_OUTSIDE);
}

/* A function that ended in a tail call has no frame any more. */
static void test_tail_call(void **state)
{
	assert_int_equal(inside(*state, OPS_READ, LINE("read", 0x19) LINE("caller", 0x14)),
			 KL_INSIDE);
	assert_int_equal(inside(*state, OPS_READ, LINE("read.cold", 0x19) LINE("caller", 0x14)),
			 KL_INSIDE);
	assert_int_equal(inside(*state, OPS_READ, LINE("read", 0x19) LINE("caller", 0x19)),
			 KL_OUTSIDE);
	assert_int_equal(inside(*state, OPS_READ, LINE("read", 0x19) LINE("caller", 0x1e)),
			 KL_MAYBE_INSIDE);
	/* The tail call goes to an unknown function. */
	assert_int_equal(inside(*state, PASSES, LINE("read", 0x19) LINE("caller", 0x1e)),
			 KL_MAYBE_INSIDE);
	assert_int_equal(inside(*state, POINTER, LINE("read", 0x19) LINE("caller", 0x1e)),
			 KL_MAYBE_INSIDE);
	assert_int_equal(inside(*state, POINTER, LINE("read", 0x19) LINE("caller", 0x14)),
			 KL_OUTSIDE);
}

/*
 * An interrupt may hit a function that the stack omits; a name may belong to no function or to
 * two.
 */
static void test_unknown_frames(void **state)
{
	struct fixture *f = *state;
	const struct kl_func hidden = { .name = "read" };

	assert_int_equal(inside(f, LOCK, LINE("schedule", 0x6)
				LINE("asm_sysvec_apic_timer_interrupt", 0x16)
				LINE("caller", 0x5)), KL_INSIDE);
	assert_int_equal(inside(f, LOCK, LINE("twice", 0x9)), KL_MAYBE_INSIDE);
	assert_int_equal(inside(f, LOCK, LINE("bpf_prog_1", 0x9)), KL_MAYBE_INSIDE);
	assert_int_equal(inside(f, READ, LINE("bpf_prog_1", 0x9) LINE("caller", 0x14)),
			 KL_MAYBE_INSIDE);
	assert_int_equal(inside(f, READ, LINE("bpf_prog_1", 0x9) LINE("caller", 0xf)),
			 KL_OUTSIDE);
	assert_int_equal(kl_callees_inside(f->c, &hidden, LINE("caller", 0xf)), KL_MAYBE_INSIDE);
	assert_int_equal(kl_callees_by_name("read", LINE("caller", 0xf)), KL_MAYBE_INSIDE);
	assert_int_equal(kl_callees_by_name("read", LINE("caller", 0xf) LINE("read", 0x9)),
			 KL_INSIDE);
	assert_int_equal(inside(f, LOCK, "garbage\n\n[<0>]\n+/\n"), KL_MAYBE_INSIDE);
}

/* The address at @offset of a function; 0 ends a list of addresses. */
#define IP(f, offset)	(address(f) + (offset))

static int running(struct fixture *f, unsigned int func, const uint64_t *ips)
{
	const struct kl_func fn = { .name = names[func], .addr = address(func) };
	unsigned int n = 0;

	while (ips[n])
		n++;
	return kl_callees_running(f->c, &fn, ips, n);
}

#define RUNNING(f, func, ...)	running(f, func, (const uint64_t[]){ __VA_ARGS__, 0 })
#define FROM_CALLER(offset)	IP(CALLER, offset), IP(ENTRY, 0x10)

/* The stack of a preempted task shows all functions, and the innermost has called nothing. */
static void test_preempted_task(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(RUNNING(f, READ, IP(READ, 0x30), FROM_CALLER(0x19)), KL_INSIDE);
	assert_int_equal(RUNNING(f, READ, IP(READ_COLD, 0x6), FROM_CALLER(0x19)), KL_INSIDE);
	assert_int_equal(RUNNING(f, CALLER, IP(READ, 0x30), FROM_CALLER(0x19)), KL_INSIDE);
	/* Before this address there is a call of LOCK, which has returned. */
	assert_int_equal(RUNNING(f, LOCK, FROM_CALLER(0x5)), KL_OUTSIDE);
	assert_int_equal(RUNNING(f, LOCK, IP(READ, 0x19), FROM_CALLER(0x19)), KL_OUTSIDE);
	assert_int_equal(RUNNING(f, LOCK, IP(LOCK, 0), FROM_CALLER(0x5)), KL_INSIDE);
	assert_int_equal(RUNNING(f, READ, IP(ENTRY, 0x3)), KL_OUTSIDE);
	/* The task is preempted at the same address, while an interrupt that hit there runs. */
	assert_int_equal(RUNNING(f, LOCK, IP(SCHEDULE, 0x20), IP(VECTOR, 0x16), IP(READ, 0x19),
				 FROM_CALLER(0x19)), KL_OUTSIDE);
	assert_int_equal(RUNNING(f, READ, IP(SCHEDULE, 0x20), IP(VECTOR, 0x16), IP(READ, 0x19),
				 FROM_CALLER(0x19)), KL_INSIDE);
	/* A function that made a tail call has no frame, but its return has not happened. */
	assert_int_equal(RUNNING(f, OPS_READ, IP(READ, 0x30), FROM_CALLER(0x14)), KL_INSIDE);
	assert_int_equal(RUNNING(f, OPS_READ, IP(READ, 0x30), FROM_CALLER(0x19)), KL_OUTSIDE);
	assert_int_equal(RUNNING(f, OPS_READ, IP(READ, 0x30), FROM_CALLER(0x1e)), KL_MAYBE_INSIDE);
	assert_int_equal(RUNNING(f, PASSES, IP(THUNK, 0x1), FROM_CALLER(0x1e)), KL_MAYBE_INSIDE);
}

/* The answer is not certain with an incomplete stack, unknown code, or another unwinder. */
static void test_preempted_task_unknown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(RUNNING(f, READ, IP(CALLER, 0xf)), KL_MAYBE_INSIDE);
	assert_int_equal(RUNNING(f, READ, IP(READ, 0x30)), KL_INSIDE);
	assert_int_equal(running(f, READ, (const uint64_t[]){ 0 }), KL_MAYBE_INSIDE);
	assert_int_equal(RUNNING(f, READ, BASE - 0x100, FROM_CALLER(0xf)), KL_MAYBE_INSIDE);
	kl_callees_free(f->c);
	f->syms[ORC].name = "another";
	assert_int_equal(kl_callees_open(&f->k, f->path, &f->c), 0);
	assert_int_equal(RUNNING(f, READ, IP(CALLER, 0xf), IP(ENTRY, 0x10)), KL_MAYBE_INSIDE);
	assert_int_equal(RUNNING(f, READ, IP(READ, 0xf), IP(ENTRY, 0x10)), KL_INSIDE);
}

static void test_unreadable_core(void **state)
{
	struct fixture *f = *state;
	struct kl_callees *c = NULL;

	assert_true(kl_callees_open(&f->k, "/nonexistent", &c) < 0);
	assert_true(kl_callees_open(&f->k, "/dev/null", &c) < 0);
	f->syms[CALLER].addr = 0;
	assert_true(kl_callees_open(&f->k, f->path, &c) < 0);
	f->syms[CALLER].addr = address(CALLER);
	assert_null(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_function_on_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_function_omitted_from_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_call_through_pointer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tail_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(test_preempted_task, setup, teardown),
		cmocka_unit_test_setup_teardown(test_preempted_task_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_core, setup, teardown),
	};

	return cmocka_run_group_tests_name("callees", tests, NULL, NULL);
}
