// SPDX-License-Identifier: GPL-2.0
/* Assembler of litmus tests: compiles x86 instructions to byte code. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/nearest.h"
#include "tso/litmus/litmus_asm.h"
#include "tso/litmus/litmus_story.h"

#define NEAR 64 /* size of a text "; did you mean ..." */
#define RAX		0
#define RSP		7

enum insn {
	MOV, XCHG, UXCH, CMPXCHG, XADD, ADD, SUB, AND, OR, XOR, SHL, SHR, CMP, TEST, INC, DEC,
	NEG, NOT, CMOV,
	LEA, MOVZX8, MOVZX16, MOVSX8, MOVSX16, MOVSX32, SETCC, JMP, JCC, MFENCE, NOFENCE, NOP, RET,
};

enum cond { EQ, NE, LT, LE, GT, GE, BELOW, BELOW_EQ, ABOVE, ABOVE_EQ, SIGN, NO_SIGN };

static const struct mnemonic {
	const char *name;
	enum insn insn;
	enum cond cond;
	unsigned int nops;
	bool sized;		/* it may have a suffix for the size of its operands */
	bool lockable;
} mnemonics[] = {
	{ "mov", MOV, 0, 2, true, false }, { "xchg", XCHG, 0, 2, true, true },
	{ "cmpxchg", CMPXCHG, 0, 2, true, true }, { "xadd", XADD, 0, 2, true, true },
	{ "add", ADD, 0, 2, true, true }, { "sub", SUB, 0, 2, true, true },
	{ "and", AND, 0, 2, true, true }, { "or", OR, 0, 2, true, true },
	{ "xor", XOR, 0, 2, true, true }, { "shl", SHL, 0, 2, true, false },
	{ "cmp", CMP, 0, 2, true, false }, { "test", TEST, 0, 2, true, false },
	{ "inc", INC, 0, 1, true, true }, { "dec", DEC, 0, 1, true, true },
	{ "neg", NEG, 0, 1, true, true }, { "not", NOT, 0, 1, true, true },
	{ "sal", SHL, 0, 2, true, false }, { "shr", SHR, 0, 2, true, false },
	{ "uxch", UXCH, 0, 2, true, false }, { "lea", LEA, 0, 2, true, false },
	{ "movzb", MOVZX8, 0, 2, true, false }, { "movzw", MOVZX16, 0, 2, true, false },
	{ "movsb", MOVSX8, 0, 2, true, false }, { "movsw", MOVSX16, 0, 2, true, false },
	{ "movsl", MOVSX32, 0, 2, true, false },
	{ "jmp", JMP, 0, 1, false, false },
	{ "mfence", MFENCE, 0, 0, false, false },
	/* On x86-TSO loads are in order, and so are stores: these fences have no effect. */
	{ "lfence", NOFENCE, 0, 0, false, false }, { "sfence", NOFENCE, 0, 0, false, false },
	{ "nop", NOP, 0, 0, true, false }, { "pause", NOP, 0, 0, false, false },
	/* The model has no caches: writing a line back changes no value and no order. */
	{ "clflush", NOP, 0, 0, false, false }, { "clflushopt", NOP, 0, 0, false, false },
	{ "endbr64", NOP, 0, 0, false, false }, { "ret", RET, 0, 0, true, false },
};

/* The conditions after j, set and cmov. */
static const struct {
	const char *name;
	enum cond cond;
} conditions[] = {
	{ "e", EQ }, { "z", EQ }, { "ne", NE }, { "nz", NE }, { "l", LT }, { "lt", LT },
	{ "nge", LT }, { "le", LE }, { "ng", LE }, { "g", GT }, { "gt", GT }, { "nle", GT },
	{ "ge", GE }, { "nl", GE }, { "b", BELOW }, { "c", BELOW }, { "nae", BELOW },
	{ "be", BELOW_EQ }, { "na", BELOW_EQ }, { "a", ABOVE }, { "nbe", ABOVE },
	{ "ae", ABOVE_EQ }, { "nc", ABOVE_EQ }, { "nb", ABOVE_EQ }, { "s", SIGN },
	{ "ns", NO_SIGN },
};

struct kl_lit_asm *kl_lit_asm_new(struct kl_litmus *l)
{
	struct kl_lit_asm *a = calloc(1, sizeof(*a));

	if (a)
		a->l = l;
	return a;
}

void kl_lit_asm_free(struct kl_lit_asm *a)
{
	free(a);
}

/* ---- instructions ---------------------------------------------------------- */

static void set_flags(struct kl_lit_asm *a, enum kl_la_flags kind, unsigned int size,
		      unsigned int x, unsigned int y)
{
	kl_la_emit(a, kl_insn(KL_I_MOV, KL_LIT_FLAG_A, x, 0));
	kl_la_emit(a, kl_insn(KL_I_MOV, KL_LIT_FLAG_B, y, 0));
	a->flags = kind;
	a->flags_size = size;
}

static int arith(struct kl_lit_asm *a, enum insn insn, const struct kl_la_operand *d,
		 const struct kl_la_operand *s, unsigned int size)
{
	static const enum kl_opcode ops[] = {
		[ADD] = KL_I_ADD, [SUB] = KL_I_SUB, [AND] = KL_I_AND, [OR] = KL_I_OR,
		[XOR] = KL_I_XOR, [SHL] = KL_I_SHL, [SHR] = KL_I_SHR, [TEST] = KL_I_AND,
		[INC] = KL_I_ADD, [DEC] = KL_I_SUB, [NEG] = KL_I_SUB, [NOT] = KL_I_XOR,
	};
	unsigned int x, y, r;

	if ((insn == SHL || insn == SHR) && (s->kind != OP_IMM || !s->imm || s->imm >= size * 8))
		return kl_la_refuse(a, "expected a shift by a constant from 1 to %u", size * 8 - 1);
	x = kl_la_fetch(a, d, size);
	if (insn == NEG) {
		y = x;
		x = kl_la_constant(a, 0);
	} else if (insn == NOT) {
		y = kl_la_constant(a, kl_lit_mask(size));
	} else if (insn == INC || insn == DEC) {
		y = kl_la_constant(a, 1);
	} else {
		y = kl_la_fetch(a, s, size);
	}
	r = insn == CMP ? x : kl_la_masked(a, kl_la_binary(a, ops[insn], x, y), size);
	/* Set the flags before an operand is overwritten. */
	if (insn == CMP || insn == SUB || insn == NEG)
		set_flags(a, FLAGS_CMP, size, x, y);
	else if (insn == INC || insn == DEC)	/* as x - -1, but the carry stays */
		set_flags(a, FLAGS_SIGNED, size, x,
			  insn == DEC ? y : kl_la_constant(a, kl_lit_mask(size)));
	else if (insn != NOT)		/* bit operations clear carry and overflow */
		set_flags(a, insn == ADD || insn == SHL || insn == SHR ? FLAGS_ARITH : FLAGS_CMP,
			  size, r, kl_la_constant(a, 0));
	if (insn != TEST && insn != CMP)
		kl_la_put(a, d, r, size);
	return 0;
}

static int exchange(struct kl_lit_asm *a, const struct kl_la_operand *x,
		    const struct kl_la_operand *y, unsigned int size)
{
	unsigned int t = kl_la_temp(a), u = kl_la_temp(a);

	if (x->kind == OP_IMM || y->kind == OP_IMM || (kl_la_in_memory(x) && kl_la_in_memory(y)))
		return kl_la_refuse(a, "expected a register and a location, or two registers");
	kl_la_emit(a, kl_insn(KL_I_MOV, t, kl_la_fetch(a, x, size), 0));
	kl_la_emit(a, kl_insn(KL_I_MOV, u, kl_la_fetch(a, y, size), 0));
	/* Store to memory first: the register may be part of the address. */
	kl_la_put(a, kl_la_in_memory(y) ? y : x, kl_la_in_memory(y) ? t : u, size);
	kl_la_put(a, kl_la_in_memory(y) ? x : y, kl_la_in_memory(y) ? u : t, size);
	return 0;
}

static int exchange_add(struct kl_lit_asm *a, const struct kl_la_operand *mem,
			const struct kl_la_operand *reg, unsigned int size)
{
	unsigned int old = kl_la_temp(a), sum;

	kl_la_emit(a, kl_insn(KL_I_MOV, old, kl_la_fetch(a, mem, size), 0));
	sum = kl_la_masked(a, kl_la_binary(a, KL_I_ADD, old, kl_la_fetch(a, reg, size)), size);
	kl_la_put(a, mem, sum, size);
	kl_la_put(a, reg, old, size);
	set_flags(a, FLAGS_ARITH, size, sum, kl_la_constant(a, 0));
	return 0;
}

static int compare_exchange(struct kl_lit_asm *a, const struct kl_la_operand *mem,
			    const struct kl_la_operand *reg, unsigned int size)
{
	const struct kl_la_operand rax = { .kind = OP_REG, .reg = RAX };
	unsigned int old = kl_la_fetch(a, mem, size), expected = kl_la_fetch(a, &rax, size);
	uint32_t to_else, to_end;

	set_flags(a, FLAGS_CMP, size, expected, old);
	to_else = kl_la_emit(a, kl_insn_imm(KL_I_JZ, kl_la_binary(a, KL_I_EQ, old, expected), 0));
	kl_la_put(a, mem, kl_la_fetch(a, reg, size), size);
	to_end = kl_la_emit(a, kl_insn_imm(KL_I_JMP, 0, 0));
	kl_la_patch(a, to_else, a->l->ncode);
	kl_la_put(a, &rax, old, size);
	kl_la_patch(a, to_end, a->l->ncode);
	return 0;
}

static unsigned int find_label(struct kl_lit_asm *a, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < a->nlabels; i++)
		if (a->labels[i].len == len && !memcmp(a->labels[i].name, name, len))
			return i;
	if (a->nlabels == KL_LA_LABELS) {
		kl_la_refuse(a, "too many labels: klin litmus supports %d", KL_LA_LABELS);
		return 0;
	}
	a->labels[i] = (struct kl_la_label){ .name = name, .len = len, .at = -1 };
	a->nlabels++;
	return i;
}

static int jump(struct kl_lit_asm *a, uint32_t insn, const struct kl_la_operand *to)
{
	if (to->kind != OP_LABEL)
		return kl_la_refuse(a, "expected a label");
	if (a->nfixups == KL_LA_LABELS)
		return kl_la_refuse(a, "too many jumps: klin litmus supports %d", KL_LA_LABELS);
	a->fixups[a->nfixups].label = find_label(a, to->text, to->len);
	a->fixups[a->nfixups++].at = kl_la_emit(a, insn);
	return 0;
}

/* Return: a register that is not 0 if the condition holds; negative after a message. */
static int condition_register(struct kl_lit_asm *a, enum cond cond)
{
	const unsigned int x = KL_LIT_FLAG_A, y = KL_LIT_FLAG_B;
	const bool has_sign = cond == SIGN || cond == NO_SIGN;
	unsigned int sx, sy, sign, r;

	if (a->flags == FLAGS_NONE)
		return kl_la_refuse(a, "the condition uses flags that may not have been set by an "
				       "earlier instruction");
	if (cond == EQ || cond == NE)
		return kl_la_binary(a, cond == EQ ? KL_I_EQ : KL_I_NE, x, y);
	if (!has_sign && (a->flags == FLAGS_ARITH || (a->flags == FLAGS_SIGNED && cond >= BELOW)))
		return kl_la_refuse(a, "the flags of arithmetic do not allow this comparison, "
				    "expected 'cmp' before it");
	sign = kl_la_constant(a, 1ULL << (a->flags_size * 8 - 1));
	if (has_sign) {
		r = kl_la_binary(a, KL_I_AND, kl_la_binary(a, KL_I_SUB, x, y), sign);
		return kl_la_binary(a, cond == SIGN ? KL_I_NE : KL_I_EQ, r, kl_la_constant(a, 0));
	}
	sx = cond >= BELOW ? x : kl_la_binary(a, KL_I_XOR, x, sign);
	sy = cond >= BELOW ? y : kl_la_binary(a, KL_I_XOR, y, sign);
	if (cond == LT || cond == BELOW)
		return kl_la_binary(a, KL_I_LT, sx, sy);
	if (cond == LE || cond == BELOW_EQ)
		return kl_la_binary(a, KL_I_LE, sx, sy);
	return kl_la_binary(a, cond == GT || cond == ABOVE ? KL_I_LT : KL_I_LE, sy, sx);
}

static int jump_if(struct kl_lit_asm *a, enum cond cond, const struct kl_la_operand *to)
{
	int r = condition_register(a, cond);

	return r < 0 ? r : jump(a, kl_insn_imm(KL_I_JNZ, r, 0), to);
}

static int set_if(struct kl_lit_asm *a, enum cond cond, const struct kl_la_operand *d)
{
	int r = condition_register(a, cond), ret = kl_la_sized(a, d, 1);

	if (r < 0 || ret)
		return r < 0 ? r : ret;
	if (d->kind == OP_IMM || d->kind == OP_LABEL || (d->kind == OP_REG && d->size != 1))
		return kl_la_refuse(a, "expected a register of 8 bits or a location");
	kl_la_put(a, d, r, 1);
	return a->err;
}

/* A conditional move; it reads its source even if the condition does not hold. */
static int move_if(struct kl_lit_asm *a, enum cond cond, const struct kl_la_operand *d,
		   const struct kl_la_operand *s, unsigned int size)
{
	unsigned int v = kl_la_temp(a), new = kl_la_fetch(a, s, size);
	int r = condition_register(a, cond);
	uint32_t keep;

	if (r < 0)
		return r;
	kl_la_emit(a, kl_insn(KL_I_MOV, v, kl_la_fetch(a, d, size), 0));
	keep = kl_la_emit(a, kl_insn_imm(KL_I_JZ, r, 0));
	kl_la_emit(a, kl_insn(KL_I_MOV, v, new, 0));
	kl_la_patch(a, keep, a->l->ncode);
	kl_la_put(a, d, v, size);
	return 0;
}

/* Moves with zero or sign extension, such as movzbl and movslq. */
static int extend(struct kl_lit_asm *a, enum insn insn, char suffix, const struct kl_la_operand *s,
		  const struct kl_la_operand *d)
{
	const unsigned int from = insn == MOVZX8 || insn == MOVSX8 ? 1 :
				  insn == MOVSX32 ? 4 : 2;
	const unsigned int to = suffix == 'q' ? 8 : suffix == 'l' ? 4 : suffix == 'w' ? 2 : 0;
	unsigned int r;
	int ret;

	if (to <= from || d->kind != OP_REG || d->size != to || s->kind == OP_IMM ||
	    s->kind == OP_LABEL || (s->kind == OP_REG && s->size != from))
		return kl_la_refuse(a, "the operands do not fit the instruction");
	ret = kl_la_sized(a, s, from);
	if (ret)
		return ret;
	r = kl_la_fetch(a, s, from);
	if (insn == MOVSX8 || insn == MOVSX16 || insn == MOVSX32)
		r = kl_la_extended(a, r, from, to);
	kl_la_put(a, d, r, to);
	return a->err;
}

static int load_address(struct kl_lit_asm *a, const struct kl_la_operand *s,
			const struct kl_la_operand *d)
{
	if (s->kind != OP_MEM || d->kind != OP_REG || d->size != (a->l->x64 ? 8 : 4))
		return kl_la_refuse(a, "expected a location and a register that can hold its "
				       "address");
	a->l->locs[s->loc].addressed = true;
	kl_la_put(a, d, kl_la_constant(a, KL_VM_PTR + s->loc), d->size);
	return a->err;
}

/* Return: the size of an instruction's operands in bytes; 0 after a message. */
static unsigned int size_of(struct kl_lit_asm *a, char suffix, const struct kl_la_operand *o,
			    unsigned int n)
{
	unsigned int size = suffix == 'b' ? 1 : suffix == 'w' ? 2 : suffix == 'l' ? 4 :
			    suffix == 'q' ? 8 : 0, i;

	if (!a->l->x64 && suffix == 'q') {
		kl_la_refuse(a, "operands of 64 bits need a test for X86_64");
		return 0;
	}
	for (i = 0; i < n; i++) {
		if (o[i].kind != OP_REG)
			continue;
		if (size && size != o[i].size) {
			kl_la_refuse(a, "the operands have different sizes");
			return 0;
		}
		size = o[i].size;
	}
	for (i = 0; i < n && !size; i++)
		if (o[i].kind == OP_MEM)
			size = a->l->locs[o[i].loc].size;
	return size ? size : 4;
}

/*
 * Return: true if an operand is on the stack.  Compilers write a fence as a locked instruction that
 * changes nothing there.
 */
static bool is_stack(const struct kl_lit_asm *a, const struct kl_la_operand *o)
{
	return o->kind == OP_DEREF && o->reg == RSP && !o->scale && !a->l->reg[a->t][RSP];
}

static int data_insn(struct kl_lit_asm *a, const struct mnemonic *m, bool lock, char suffix,
		     struct kl_la_operand *o)
{
	/* Intel's order has the destination first, AT&T's last. */
	struct kl_la_operand *d = m->nops == 1 || !a->l->x64 ? &o[0] : &o[1];
	struct kl_la_operand *s = d == &o[0] ? &o[1] : &o[0];
	unsigned int size = size_of(a, suffix, o, m->nops), i;
	int ret = 0;

	if (!size)
		return -EINVAL;
	/*
	 * Herd accepts Intel's order of these instructions' operands in both syntaxes.  The operand
	 * in memory shows the order.
	 */
	if (((m->insn == CMPXCHG || m->insn == XADD) && kl_la_in_memory(s)) ||
	    (m->insn == CMOV && kl_la_in_memory(d))) {
		struct kl_la_operand *swap = d;

		d = s;
		s = swap;
	}
	if (lock && m->lockable && m->nops == 2 && is_stack(a, d) && s->kind == OP_IMM && !s->imm) {
		kl_la_barrier(a, kl_insn(KL_I_FENCE, 0, 0, 0));
		a->flags = FLAGS_NONE;
		return a->err;
	}
	for (i = 0; i < m->nops; i++) {
		if (o[i].kind == OP_LABEL)
			return kl_la_refuse(a, "expected a number, a register, or a location in "
					       "parentheses or brackets");
		ret = kl_la_sized(a, &o[i], size);
		if (ret)
			return ret;
	}
	if (m->nops == 2 && kl_la_in_memory(&o[0]) && kl_la_in_memory(&o[1]))
		return kl_la_refuse(a, "both operands are in memory");
	if (d->kind == OP_IMM && m->insn != CMP && m->insn != TEST)
		return kl_la_refuse(a, "the destination is a number, expected a register or a "
				       "location");
	if ((m->insn == CMPXCHG || m->insn == XADD) && (!kl_la_in_memory(d) || s->kind != OP_REG))
		return kl_la_refuse(a, "expected a location and a register");
	if (lock &&
	    (!m->lockable || !(kl_la_in_memory(d) || (m->insn == XCHG && kl_la_in_memory(s)))))
		return kl_la_refuse(a, "the instruction cannot have a lock prefix");
	if (m->insn == CMOV && (d->kind != OP_REG || (a->l->x64 && s->kind == OP_REG)))
		return kl_la_refuse(a, "expected a location and a register");
	if (m->insn == XCHG || (a->strong && m->lockable))
		lock = kl_la_in_memory(d) || kl_la_in_memory(s);
	if (lock)
		kl_la_barrier(a, kl_insn(KL_I_BLOCK, 1, 0, 0));
	if (m->insn == MOV)
		kl_la_put(a, d, kl_la_fetch(a, s, size), size);
	else if (m->insn == XCHG || m->insn == UXCH)
		ret = exchange(a, d, s, size);
	else if (m->insn == CMOV)
		ret = move_if(a, m->cond, d, s, size);
	else if (m->insn == XADD)
		ret = exchange_add(a, d, s, size);
	else if (m->insn == CMPXCHG)
		ret = compare_exchange(a, d, s, size);
	else
		ret = arith(a, m->insn, d, s, size);
	if (lock && !a->weak)
		kl_la_emit(a, kl_insn(KL_I_END, 0, 0, 0));
	return ret ? ret : a->err;
}

static const struct mnemonic *find(const char *name, size_t len, bool sized)
{
	unsigned int i;

	for (i = 0; i < sizeof(mnemonics) / sizeof(mnemonics[0]); i++)
		if (strlen(mnemonics[i].name) == len && (mnemonics[i].sized || !sized) &&
		    !strncasecmp(mnemonics[i].name, name, len))
			return &mnemonics[i];
	return NULL;
}

/* Return: "; did you mean ...", in @buf, if an instruction has nearly this name, or "". */
static const char *near_instruction(const char *name, size_t len, char buf[NEAR])
{
	const char *names[sizeof(mnemonics) / sizeof(mnemonics[0])], *near;
	char word[NEAR / 2];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		names[i] = mnemonics[i].name;
	snprintf(word, sizeof(word), "%.*s", len < sizeof(word) ? (int)len : 0, name);
	for (i = 0; word[i]; i++)
		word[i] = tolower((unsigned char)word[i]);
	near = kl_nearest(word, names, sizeof(names) / sizeof(names[0]));
	*buf = 0;
	if (near)
		snprintf(buf, NEAR, "; did you mean '%s'?", near);
	return buf;
}

/* Return: the length of the word at @s. */
static size_t word_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && !isspace(s[n]))
		n++;
	return n;
}

/* Split operands at commas outside of brackets.  Return: their number; at most 4 are counted. */
static unsigned int split(const char *s, size_t len, const char *part[4], size_t part_len[4])
{
	unsigned int n = 0;
	size_t i, start = 0, depth = 0;

	if (!len)
		return 0;
	for (i = 0; i <= len; i++) {
		if (i < len && (s[i] == '(' || s[i] == '['))
			depth++;
		else if (i < len && (s[i] == ')' || s[i] == ']'))
			depth -= depth > 0;
		if ((i < len && (s[i] != ',' || depth)) || n == 4)
			continue;
		part[n] = s + start;
		part_len[n++] = i - start;
		start = i + 1;
	}
	return n;
}

/* Find jCC, setCC or cmovCC; cmovCC may have a suffix.  Return: false if it is none of them. */
static bool find_conditional(const char *s, size_t len, struct mnemonic *m, char *suffix)
{
	const bool set = len > 3 && !strncasecmp(s, "set", 3);
	const bool move = len > 4 && !strncasecmp(s, "cmov", 4);
	const size_t skip = move ? 4 : set ? 3 : 1;
	size_t i, n;

	if (!move && !set && (len < 2 || tolower(*s) != 'j'))
		return false;
	for (i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		n = strlen(conditions[i].name);
		if (len < skip + n || strncasecmp(s + skip, conditions[i].name, n) ||
		    (len != skip + n && !(move && len == skip + n + 1 &&
					  strchr("bwlqBWLQ", s[len - 1]))))
			continue;
		*suffix = len == skip + n ? 0 : tolower(s[len - 1]);
		*m = (struct mnemonic){
			.insn = move ? CMOV : set ? SETCC : JCC, .cond = conditions[i].cond,
			.nops = move ? 2 : 1,
		};
		/* In cmovl the l is a condition; cmovll has a condition and a suffix. */
		if (!*suffix)
			return true;
	}
	return *suffix;
}

static int other_insn(struct kl_lit_asm *a, const struct mnemonic *m, char suffix,
		      const struct kl_la_operand *o)
{
	const bool att = a->l->x64;

	switch (m->insn) {
	case LEA:
		return load_address(a, att ? &o[0] : &o[1], att ? &o[1] : &o[0]);
	case SETCC:
		return set_if(a, m->cond, &o[0]);
	case JMP:
		return jump(a, kl_insn_imm(KL_I_JMP, 0, 0), &o[0]);
	case JCC:
		return jump_if(a, m->cond, &o[0]);
	case MFENCE:
		kl_la_barrier(a, kl_insn(KL_I_FENCE, 0, 0, 0));
		break;
	case RET:
		kl_la_emit(a, kl_insn(KL_I_STOP, 0, 0, 0));
		break;
	case NOFENCE:
	case NOP:
		break;
	default:
		return extend(a, m->insn, suffix, att ? &o[0] : &o[1], att ? &o[1] : &o[0]);
	}
	return a->err;
}

static int instruction(struct kl_lit_asm *a, const char *s, size_t len)
{
	const char *part[4] = { NULL };
	size_t part_len[4], n = word_len(s, len);
	struct kl_la_operand o[2] = { 0 };
	const struct mnemonic *m;
	struct mnemonic conditional;
	char near[NEAR];
	bool lock = a->lock;
	char suffix = 0;
	unsigned int i, nops;
	int ret;

	a->lock = false;
	if (n == 4 && !strncasecmp(s, "lock", 4)) {
		lock = true;
		s += n;
		len -= n;
		kl_la_trim(&s, &len);
		n = word_len(s, len);
		if (!n) {
			a->lock = true;
			return 0;
		}
	}
	m = find(s, n, false);
	if (!m && find_conditional(s, n, &conditional, &suffix))
		m = &conditional;
	if (!m && n > 1 && strchr("bwlqBWLQ", s[n - 1])) {
		suffix = tolower(s[n - 1]);
		m = find(s, n - 1, true);
	}
	if (!m)
		return kl_la_refuse(a, "unknown instruction%s", near_instruction(s, n, near));
	nops = m->insn == NOP ? 0 : split(s + n, len - n, part, part_len);
	if (nops != m->nops)
		return kl_la_refuse(a, "the instruction has %u operand%s, found %u%s", m->nops,
				    m->nops == 1 ? "" : "s", nops,
				    nops < m->nops ? "; ',' stands between operands" : "");
	for (i = 0; i < nops; i++) {
		ret = kl_la_operand(a, part[i], part_len[i], &o[i]);
		if (ret)
			return ret;
	}
	if (m->insn < LEA)
		return data_insn(a, m, lock, suffix, o);
	if (lock)
		return kl_la_refuse(a, "the instruction cannot have a lock prefix");
	return other_insn(a, m, suffix, o);
}

/* Apply the change, if it changes the cell: after the labels, before the instruction. */
static void change_cell(struct kl_lit_asm *a)
{
	const struct kl_lit_change *change = a->l->change;
	const size_t at = a->cell - a->l->copy;
	size_t i;

	a->weak = change && change->weaken && change->weak == at;
	a->strong = false;
	for (i = 0; change && i < change->nmore; i++) {
		if (change->more[i].at != at)
			continue;
		if (change->more[i].lock)
			a->strong = true;
		else
			kl_la_emit(a, kl_insn(KL_I_FENCE, 0, 0, 0));
	}
}

/* Replace a cell by the one that it changes places with. */
static void swap_cell(const struct kl_litmus *l, const char **text, size_t *len)
{
	const struct kl_lit_change *change = l->change;
	const size_t at = *text - l->copy;
	unsigned int i;

	for (i = 0; i < 2 && change && change->swaps; i++) {
		if (at != change->swap[i])
			continue;
		*len = kl_lit_instruction(l, change->swap[!i], text);
		return;
	}
}

int kl_lit_asm_cell(struct kl_lit_asm *a, const char *text, size_t len)
{
	const char *colon;
	unsigned int label;

	if (a->l->change && a->l->change->alone && a->l->change->thread != a->t)
		return 0;
	kl_la_trim(&text, &len);
	swap_cell(a->l, &text, &len);
	a->cell = text;
	a->cell_len = len;
	a->temp = KL_LIT_TEMP;
	if (len && a->l->ninsns < KL_LIT_INSNS)
		a->l->insn[a->l->ninsns++] = (struct kl_lit_place){
			.at = text - a->l->copy, .thread = a->t,
		};
	while ((colon = memchr(text, ':', len)) && kl_la_is_name(text, colon - text)) {
		label = find_label(a, text, colon - text);
		if (a->labels[label].at >= 0)
			return kl_la_refuse(a, "the label is defined twice");
		a->labels[label].at = a->l->ncode;
		/* A jump to the label may come with other flags. */
		a->flags = FLAGS_NONE;
		len -= colon + 1 - text;
		text = colon + 1;
		kl_la_trim(&text, &len);
	}
	change_cell(a);
	return len && !a->err ? instruction(a, text, len) : a->err;
}

void kl_lit_asm_thread(struct kl_lit_asm *a, unsigned int t)
{
	struct kl_litmus *l = a->l;
	unsigned int i;

	a->t = t;
	a->nlabels = 0;
	a->nfixups = 0;
	a->flags = FLAGS_NONE;
	a->lock = false;
	a->cell = NULL;
	a->cell_len = 0;
	l->prog.start[t] = l->ncode;
	if (l->nregs < KL_LIT_TEMP)
		l->nregs = KL_LIT_TEMP;
	for (i = 0; i < KL_LIT_TEMP; i++) {
		if (!l->reg[t][i])
			continue;
		a->temp = KL_LIT_TEMP;
		kl_la_emit(a, kl_insn(KL_I_MOV, i, kl_la_constant(a, l->reg[t][i]), 0));
	}
}

int kl_lit_asm_end(struct kl_lit_asm *a)
{
	unsigned int i;

	if (a->lock)
		return kl_la_refuse(a, "the lock prefix has no instruction");
	for (i = 0; i < a->nfixups; i++) {
		const struct kl_la_label *label = &a->labels[a->fixups[i].label];

		if (label->at < 0) {
			kl_lit_error(a->l, label->name, "no label '%.*s'", (int)label->len,
				     label->name);
			return -EINVAL;
		}
		kl_la_patch(a, a->fixups[i].at, label->at);
	}
	kl_la_check_addressed(a);
	kl_la_emit(a, kl_insn(KL_I_STOP, 0, 0, 0));
	return a->err;
}
