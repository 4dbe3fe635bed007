/* SPDX-License-Identifier: GPL-2.0 */
/* The interpreter of fetch programs, which the verifier turns into straight code. */
#ifndef KLIN_FETCH_H
#define KLIN_FETCH_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "klin_event.h"

/* Keeps the compiler from turning arithmetic back into branches, which double the paths. */
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

static __always_inline __u64 klin_divide(__u64 a, __u64 b, bool is_signed, bool want_rest)
{
	bool neg_a = is_signed && (__s64)a < 0, neg_b = is_signed && (__s64)b < 0;
	__u64 q;

	if (neg_a)
		a = -a;
	if (neg_b)
		b = -b;
	q = want_rest ? a % b : a / b;
	return neg_a != (neg_b && !want_rest) ? -q : q;
}

static __always_inline __u64 klin_extend(__u64 v, __u32 size)
{
	switch (size) {
	case 1:
		return (__u8)v;
	case 2:
		return (__u16)v;
	case 4:
		return (__u32)v;
	case 1 | KLIN_SIGNED:
		return (__u64)((__s64)(v << 56) >> 56);
	case 2 | KLIN_SIGNED:
		return (__u64)((__s64)(v << 48) >> 48);
	case 4 | KLIN_SIGNED:
		return (__u64)((__s64)(v << 32) >> 32);
	}
	return v;
}

/* *fault is the sign bit of what the read returned. */
static __always_inline __u64 klin_load(__u64 addr, __u32 size, __u64 *fault)
{
	__u64 v = 0;
	long err;

	switch (size & ~KLIN_SIGNED) {
	case 1:
		err = bpf_probe_read_kernel(&v, 1, (void *)addr);
		break;
	case 2:
		err = bpf_probe_read_kernel(&v, 2, (void *)addr);
		break;
	case 4:
		err = bpf_probe_read_kernel(&v, 4, (void *)addr);
		break;
	default:
		err = bpf_probe_read_kernel(&v, 8, (void *)addr);
		break;
	}
	*fault = (__u64)err >> 63;
	return klin_extend(v, size);
}

#define KLIN_TEXT	32	/* bytes of a text in which numbers are looked for */

/*
 * The number @n, from 0, of the text at @addr, in decimal and separated by white
 * space.  *fault is set where that is not for certain what the kernel makes of
 * it: another base, a sign, other characters before its end, no such number, a
 * text too long.  No branches on the text: the verifier would follow them all.
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
		/* What follows the number does not change it. */
		bad |= alive & (digit ^ 1) & (space ^ 1) & klin_below(begun, n + 2);
		num = (num & (mine - 1)) | ((num * 10 + c - '0') & -mine);
		seen |= mine;
		last = digit;
	}
	*fault = bad | (seen ^ 1);
	return num;
}

/**
 * klin_fetch() - run a fetch program
 * @prog: in read-only data
 * @args: the function's arguments
 * @retval: its return value
 * @val: where values go
 * @object: where the object goes
 * @fault: bits of struct klin_event.fault are set here
 *
 * Return: false if this is not an operation.
 */
static __always_inline bool klin_fetch(const volatile struct klin_insn *prog, const __u64 *args,
				       __u64 retval, __u64 *val, __u64 *object, __u32 *fault)
{
	__u64 r[KLIN_REGS] = {}, bad = 0, f, t;
	__u32 i;

#pragma unroll
	for (i = 0; i < KLIN_INSNS; i++) {
		__u64 code = prog[i].code;
		__u32 op = code & 0xff, dst = (code >> 8) & (KLIN_REGS - 1);
		__u32 src = (code >> 16) & (KLIN_REGS - 1), size = (code >> 24) & 0xff;
		__s64 off = (__s64)code >> 32;

		if (op == KLIN_END)
			break;
		switch (op) {
		case KLIN_IMM:
			r[dst] = prog[i].imm;
			bad &= ~(1ULL << dst);
			continue;
		case KLIN_ARG:
			r[dst] = src < KLIN_MAX_PARAMS ? args[src] : 0;
			bad &= ~(1ULL << dst);
			continue;
		case KLIN_RETVAL:
			r[dst] = retval;
			bad &= ~(1ULL << dst);
			continue;
		case KLIN_MOV:
			r[dst] = r[src];
			f = (bad >> src) & 1;
			bad = (bad & ~(1ULL << dst)) | f << dst;
			continue;
		case KLIN_LOAD:
			t = (bad >> src) & 1;
			r[dst] = klin_load(r[src] + off, size, &f);
			bad = (bad & ~(1ULL << dst)) | (f | t) << dst;
			continue;
		case KLIN_NUMBER:
			r[dst] = klin_number(r[dst], off, &f);
			bad |= f << dst;
			continue;
		case KLIN_EXT:
			r[dst] = klin_extend(r[dst], size);
			continue;
		case KLIN_LNOT:
			r[dst] = klin_nonzero(r[dst]) ^ 1;
			continue;
		case KLIN_LAND:
			f = ((bad >> dst) & 1) | (r[dst] & (bad >> src) & 1);
			r[dst] &= r[src];
			bad = (bad & ~(1ULL << dst)) | f << dst;
			continue;
		case KLIN_LOR:
			f = ((bad >> dst) & 1) | (~r[dst] & (bad >> src) & 1);
			r[dst] |= r[src];
			bad = (bad & ~(1ULL << dst)) | f << dst;
			continue;
		case KLIN_SELECT:
			t = -klin_nonzero(r[dst]);
			f = ((bad >> dst) & 1) | (t & (bad >> src) & 1) |
			    (~t & (bad >> (off & (KLIN_REGS - 1))) & 1);
			r[dst] = (r[src] & t) | (r[off & (KLIN_REGS - 1)] & ~t);
			bad = (bad & ~(1ULL << dst)) | f << dst;
			continue;
		case KLIN_VAL:
			val[off & (KLIN_MAX_VALS - 1)] = r[src];
			*fault |= ((bad >> src) & 1) << (off & (KLIN_MAX_VALS - 1));
			continue;
		case KLIN_OBJECT:
			*object = r[src];
			*fault |= (bad >> src & 1) << 30;
			continue;
		case KLIN_WHEN:
			f = (bad >> src) & 1;
			if (!f && !r[src])
				return false;
			*fault |= f << 31;
			continue;
		}

		/* The rest are dst = dst op src. */
		t = r[src];
		bad |= ((bad >> src) & 1) << dst;
		switch (op) {
		case KLIN_ADD:
			r[dst] += t;
			break;
		case KLIN_SUB:
			r[dst] -= t;
			break;
		case KLIN_MUL:
			r[dst] *= t;
			break;
		case KLIN_DIV:
		case KLIN_MOD:
		case KLIN_SDIV:
		case KLIN_SMOD:
			bad |= (klin_nonzero(t) ^ 1) << dst;
			r[dst] = klin_divide(r[dst], t, op == KLIN_SDIV || op == KLIN_SMOD,
					     op == KLIN_MOD || op == KLIN_SMOD);
			break;
		case KLIN_AND:
			r[dst] &= t;
			break;
		case KLIN_OR:
			r[dst] |= t;
			break;
		case KLIN_XOR:
			r[dst] ^= t;
			break;
		case KLIN_SHL:
			r[dst] <<= t & 63;
			break;
		case KLIN_SHR:
			r[dst] >>= t & 63;
			break;
		case KLIN_SAR:
			r[dst] = (__s64)r[dst] >> (t & 63);
			break;
		case KLIN_EQ:
			r[dst] = klin_nonzero(r[dst] ^ t) ^ 1;
			break;
		case KLIN_LTU:
			r[dst] = klin_below(r[dst], t);
			break;
		case KLIN_LTS:
			r[dst] = klin_below(r[dst] ^ 1ULL << 63, t ^ 1ULL << 63);
			break;
		}
	}
	return true;
}

#endif
