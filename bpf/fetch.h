/* SPDX-License-Identifier: GPL-2.0 */
/* The interpreter of fetch programs.  The verifier turns each program into straight code. */
#ifndef KLIN_FETCH_H
#define KLIN_FETCH_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"

/* Hides a value from the compiler, which would turn arithmetic into branches. */
#define opaque(x) asm volatile("" : "+r"(x))

static __always_inline __u64 klin_nonzero(__u64 x)
{
	__u64 n = -x;

	opaque(n);
	n |= x;
	opaque(n);
	return n >> 63;
}

static __always_inline __u64 klin_below(__u64 a, __u64 b)
{
	__u64 d = a - b, l = ~a & b, m = ~a | b;

	opaque(d);
	opaque(l);
	m &= d;
	opaque(m);
	return (l | m) >> 63;
}

/* Division is rare and its code is long, so it is not inlined into each unrolled step. */
static __noinline __u64 klin_divide(__u64 a, __u64 b, __u32 op)
{
	bool is_signed = op == KLIN_SDIV || op == KLIN_SMOD;
	bool rest = op == KLIN_MOD || op == KLIN_SMOD;
	bool neg_a = is_signed && (__s64)a < 0, neg_b = is_signed && (__s64)b < 0;
	__u64 q;

	if (neg_a)
		a = -a;
	if (neg_b)
		b = -b;
	q = rest ? a % b : a / b;
	return neg_a != (neg_b && !rest) ? -q : q;
}

/* Truncate @v to 1, 2, 4 or 8 bytes, and extend it to 8 bytes, by its sign or by zeros. */
static __always_inline __u64 klin_extend(__u64 v, __u32 size)
{
	__u32 shift = 64 - 8 * (size & 15);

	return size & KLIN_SIGNED ? (__u64)((__s64)(v << shift) >> shift) : v << shift >> shift;
}

/* Read kernel or user memory; *fault becomes 1 if the read failed, else 0. */
static __always_inline __u64 klin_load(__u64 addr, __u32 size, __u64 *fault)
{
	__u64 v = 0;
	long err;

	if (size & KLIN_USER)
		err = bpf_probe_read_user(&v, size & 15, (void *)addr);
	else
		err = bpf_probe_read_kernel(&v, size & 15, (void *)addr);
	*fault = (__u64)err >> 63;
	return klin_extend(v, size);
}

#define KLIN_TEXT	32	/* bytes of a text that klin_number() reads */

/*
 * Return the decimal number with index @n in the text at @addr; numbers are separated by white
 * space.  Set *fault where the kernel may read the text differently: another base, a sign, other
 * characters before the number's end, no such number, a text that is too long.  There are no
 * branches on the text, since the verifier would follow them all.
 */
static __noinline __u64 klin_number(__u64 addr, __u64 n, __u64 *fault)
{
	__u64 num = 0, seen = 0, bad = 0, last = 0, alive = 1, begun = 0;
	char text[KLIN_TEXT] = {};
	__u32 i;
	long len;

	len = bpf_probe_read_kernel_str(text, sizeof(text), (void *)addr);
	if (len < 0 || len >= KLIN_TEXT)
		bad = 1;
	for (i = 0; i < KLIN_TEXT; i++) {
		__u64 c = (__u8)text[i], digit, space, start, mine;

		alive &= klin_nonzero(c);
		digit = klin_below(c - '0', 10);
		space = klin_below(c - '\t', 5) | (klin_nonzero(c ^ ' ') ^ 1);
		start = digit & ~last & alive;
		begun += start;
		mine = digit & alive & (klin_nonzero(begun ^ (n + 1)) ^ 1);
		bad |= mine & start & (klin_nonzero(c ^ '0') ^ 1);
		/* Characters after the number do not change it. */
		bad |= alive & (digit ^ 1) & (space ^ 1) & klin_below(begun, n + 2);
		num = (num & (mine - 1)) | ((num * 10 + c - '0') & -mine);
		seen |= mine;
		last = digit;
	}
	*fault = bad | (seen ^ 1);
	return num;
}

#ifdef KLIN_WITH_REGS
/*
 * Read register @n, by DWARF's numbering.  Each register has a read of its own: compilers merge
 * equal reads into a computed address, which the kernel does not allow here.
 */
static __noinline __u64 klin_cpu_reg(struct pt_regs *r, __u32 n)
{
	__u64 v = 0;

#define READ(num, reg) case num: v = r->reg; opaque(v); break
	switch (n) {
	READ(0, ax);
	READ(1, dx);
	READ(2, cx);
	READ(3, bx);
	READ(4, si);
	READ(5, di);
	READ(6, bp);
	READ(7, sp);
	READ(8, r8);
	READ(9, r9);
	READ(10, r10);
	READ(11, r11);
	READ(12, r12);
	READ(13, r13);
	READ(14, r14);
	READ(15, r15);
	}
#undef READ
	return v;
}
#endif

/**
 * klin_fetch_at() - run a fetch program
 * @regs: the processor's registers, for KLIN_REG
 * @prog: the program, in read-only data
 * @args: the function's arguments
 * @retval: its return value
 * @val: where values go
 * @object: where the object goes
 * @fault: bits of struct klin_event.fault are set here
 *
 * Return: false if this is not an operation.
 */
static __always_inline bool klin_fetch_at(struct pt_regs *regs,
					  const volatile struct klin_insn *prog, const __u64 *args,
					  __u64 retval, __u64 *val, __u64 *object, __u32 *fault)
{
	__u64 r[KLIN_REGS], bad = 0;
	bool begun = false;
	__u32 i, j;

#pragma unroll
	for (i = 0; i < KLIN_STEPS; i++) {
		__u32 op = prog[i].op, dst, src, size;
		__s64 off;
		__u64 a, b, fa = 0, fb = 0;
		__u64 v = 0, f;	/* the new value of dst, and whether it is unknown */

		if (op == KLIN_END)
			break;
		/* The commonest steps come first: they need neither dst nor src. */
		if (op == KLIN_VAL_ARG || op == KLIN_VAL_RET) {
			if (op == KLIN_VAL_RET) {
				v = retval;
			} else {
				src = prog[i].src;
				if (src < KLIN_MAX_PARAMS)
					v = args[src];
			}
			size = prog[i].size;
			if (size)
				v = klin_extend(v, size);
			off = prog[i].off;
			val[off & (KLIN_MAX_VALS - 1)] = v;
			continue;
		}
		if (op == KLIN_OBJECT_ARG) {
			src = prog[i].src;
			if (src < KLIN_MAX_PARAMS)
				*object = args[src];
			continue;
		}
		if (!begun) {
			begun = true;
			for (j = 0; j < KLIN_REGS; j++)
				r[j] = 0;
		}
		dst = prog[i].dst & (KLIN_REGS - 1);
		src = prog[i].src & (KLIN_REGS - 1);
		size = prog[i].size;
		off = prog[i].off;
		a = r[dst];
		b = r[src];
		if (!(size & KLIN_SURE)) {
			fa = (bad >> dst) & 1;
			fb = (bad >> src) & 1;
		}
		f = fa | fb;
		switch (op) {
		case KLIN_IMM:
			v = prog[i].imm;
			f = 0;
			break;
		case KLIN_ARG:
			if (src < KLIN_MAX_PARAMS)
				v = args[src];
			f = 0;
			break;
		case KLIN_RETVAL:
			v = retval;
			f = 0;
			break;
		case KLIN_UNKNOWN:
			f = 1;
			break;
		case KLIN_CURRENT:
			v = bpf_get_current_task();
			f = 0;
			break;
#ifdef KLIN_WITH_REGS
		case KLIN_REG:
			v = klin_cpu_reg(regs, off);
			f = 0;
			break;
#endif
		case KLIN_MOV:
			v = b;
			f = fb;
			break;
		case KLIN_LOAD:
			v = klin_load(b + off, size, &f);
			f |= fb;
			break;
		case KLIN_NUMBER:
			v = klin_number(a, off, &f);
			f |= fa;
			break;
		case KLIN_EXT:
			v = klin_extend(a, size);
			f = fa;
			break;
		case KLIN_LNOT:
			v = klin_nonzero(a) ^ 1;
			f = fa;
			break;
		case KLIN_LAND:
			v = a & b;
			f = fa | (a & fb);
			break;
		case KLIN_LOR:
			v = a | b;
			f = fa | (~a & fb);
			break;
		case KLIN_SELECT:
			v = -klin_nonzero(a);
			f = fa | (v & fb) | (~v & (bad >> (off & (KLIN_REGS - 1))) & 1);
			v = (b & v) | (r[off & (KLIN_REGS - 1)] & ~v);
			break;
		case KLIN_ADD:
			v = a + b;
			break;
		case KLIN_SUB:
			v = a - b;
			break;
		case KLIN_MUL:
			v = a * b;
			break;
		case KLIN_DIV:
		case KLIN_MOD:
		case KLIN_SDIV:
		case KLIN_SMOD:
			v = klin_divide(a, b, op);
			f |= klin_nonzero(b) ^ 1;
			break;
		case KLIN_AND:
			v = a & b;
			break;
		case KLIN_OR:
			v = a | b;
			break;
		case KLIN_XOR:
			v = a ^ b;
			break;
		case KLIN_SHL:
			v = a << (b & 63);
			break;
		case KLIN_SHR:
			v = a >> (b & 63);
			break;
		case KLIN_SAR:
			v = (__s64)a >> (b & 63);
			break;
		case KLIN_EQ:
			v = klin_nonzero(a ^ b) ^ 1;
			break;
		case KLIN_LTU:
			v = klin_below(a, b);
			break;
		case KLIN_LTS:
			v = klin_below(a ^ 1ULL << 63, b ^ 1ULL << 63);
			break;
		case KLIN_VAL:
			val[off & (KLIN_MAX_VALS - 1)] = b;
			if (!(size & KLIN_SURE))
				*fault |= fb << (off & (KLIN_MAX_VALS - 1));
			continue;
		case KLIN_MARK:
			*fault |= fb << (off & (KLIN_MAX_VALS - 1)) |
				  (b & ~fb & 1) << (KLIN_MARKS + (off & (KLIN_MAX_VALS - 1)));
			continue;
		case KLIN_OBJECT:
			*object = b;
			if (!(size & KLIN_SURE))
				*fault |= fb << 30;
			continue;
		case KLIN_WHEN:
			if (!fb && !b)
				return false;
			if (!(size & KLIN_SURE))
				*fault |= fb << 31;
			continue;
		}
		r[dst] = v;
		if (size & KLIN_SURE)
			continue;
		bad = (bad & ~(1ULL << dst)) | f << dst;
	}
	return true;
}

/* klin_fetch_at() for programs that have no struct pt_regs. */
static __always_inline bool klin_fetch(const volatile struct klin_insn *prog, const __u64 *args,
				       __u64 retval, __u64 *val, __u64 *object, __u32 *fault)
{
	return klin_fetch_at(NULL, prog, args, retval, val, object, fault);
}

#endif
