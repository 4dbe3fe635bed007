// SPDX-License-Identifier: GPL-2.0
/* Instructions of x86 litmus tests to the machine's byte code. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "tso/litmus.h"

#define LABELS_MAX	256
#define RAX		0

enum insn {
	MOV, XCHG, CMPXCHG, XADD, ADD, SUB, AND, OR, XOR, SHL, CMP, TEST, INC, DEC, NEG, NOT,
	JMP, JCC, MFENCE, NOFENCE, NOP,
};

enum cond { EQ, NE, LT, LE, GT, GE, BELOW, BELOW_EQ, ABOVE, ABOVE_EQ, SIGN, NO_SIGN };

/* What set the flags: nothing known, a comparison, arithmetic (only zero and sign are right). */
enum flags { FLAGS_NONE, FLAGS_CMP, FLAGS_ARITH };

static const struct mnemonic {
	const char *name;
	enum insn insn;
	enum cond cond;
	unsigned int nops;
	bool sized;		/* may have a suffix */
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
	{ "jmp", JMP, 0, 1, false, false },
	{ "je", JCC, EQ, 1, false, false }, { "jz", JCC, EQ, 1, false, false },
	{ "jne", JCC, NE, 1, false, false }, { "jnz", JCC, NE, 1, false, false },
	{ "jl", JCC, LT, 1, false, false }, { "jlt", JCC, LT, 1, false, false },
	{ "jle", JCC, LE, 1, false, false }, { "jg", JCC, GT, 1, false, false },
	{ "jgt", JCC, GT, 1, false, false }, { "jge", JCC, GE, 1, false, false },
	{ "jb", JCC, BELOW, 1, false, false }, { "jbe", JCC, BELOW_EQ, 1, false, false },
	{ "ja", JCC, ABOVE, 1, false, false }, { "jae", JCC, ABOVE_EQ, 1, false, false },
	{ "js", JCC, SIGN, 1, false, false }, { "jns", JCC, NO_SIGN, 1, false, false },
	{ "mfence", MFENCE, 0, 0, false, false },
	/* Loads are in order and so are stores of ordinary memory: nothing is left to do. */
	{ "lfence", NOFENCE, 0, 0, false, false }, { "sfence", NOFENCE, 0, 0, false, false },
	{ "nop", NOP, 0, 0, false, false }, { "pause", NOP, 0, 0, false, false },
};

enum operand_kind { OP_IMM, OP_REG, OP_MEM, OP_DEREF, OP_LABEL };

struct operand {
	enum operand_kind kind;
	uint64_t imm;
	unsigned int reg, size;		/* bytes; of a register's name */
	int loc;
	const char *text;
	size_t len;
};

struct label {
	const char *name;
	size_t len;
	int at;				/* -1: not seen yet */
	unsigned int line;		/* where it was used first */
};

struct fixup {
	uint32_t at;
	unsigned int label;
};

struct kl_lit_asm {
	struct kl_litmus *l;
	unsigned int t, line, temp;
	const char *cell;		/* for messages */
	size_t cell_len;
	enum flags flags;
	unsigned int flags_size;	/* bytes that were compared */
	bool deref;			/* some access is through a register */
	unsigned int sizes;		/* of all accesses, a bit for each size in bytes */
	struct label labels[LABELS_MAX];
	unsigned int nlabels;
	struct fixup fixups[LABELS_MAX];
	unsigned int nfixups;
	int err;
};

static int refuse(struct kl_lit_asm *a, const char *why)
{
	if (!a->err)
		kl_err_at(a->l->path, a->line, 0, "'%.*s': %s", (int)a->cell_len, a->cell, why);
	a->err = -EINVAL;
	return -EINVAL;
}

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

static uint32_t emit(struct kl_lit_asm *a, uint32_t word)
{
	struct kl_litmus *l = a->l;

	if (a->err)
		return 0;
	if (l->ncode >= KL_VM_CODE_MAX) {
		refuse(a, "the test is too long");
		return 0;
	}
	a->err = kl_grow(l->code, l->ccode, l->ncode + 1);
	if (a->err)
		return 0;
	l->code[l->ncode] = word;
	return l->ncode++;
}

static void patch(struct kl_lit_asm *a, uint32_t at, uint32_t to)
{
	if (!a->err)
		a->l->code[at] = (a->l->code[at] & 0xffff) | (to - a->l->prog.start[a->t]) << 16;
}

static unsigned int temp(struct kl_lit_asm *a)
{
	return a->temp++;
}

static unsigned int constant(struct kl_lit_asm *a, uint64_t v)
{
	struct kl_litmus *l = a->l;
	unsigned int i, r = temp(a);

	for (i = 0; i < l->npool && l->pool[i] != v; i++)
		;
	if (i == l->npool && !a->err) {
		a->err = kl_grow(l->pool, l->cpool, l->npool + 1);
		if (a->err)
			return r;
		l->pool[l->npool++] = v;
	}
	emit(a, kl_insn_imm(KL_I_CONST, r, i));
	return r;
}

static unsigned int binary(struct kl_lit_asm *a, enum kl_opcode op, unsigned int x, unsigned int y)
{
	unsigned int r = temp(a);

	emit(a, kl_insn(op, r, x, y));
	return r;
}

static uint64_t mask_of(unsigned int size)
{
	return size == 8 ? UINT64_MAX : UINT32_MAX;
}

static unsigned int masked(struct kl_lit_asm *a, unsigned int r, unsigned int size)
{
	return size == 8 ? r : binary(a, KL_I_AND, r, constant(a, mask_of(size)));
}

/* ---- operands ------------------------------------------------------------ */

static const char *const names32[] = { "eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp" };
static const char *const names64[] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp" };

const char *kl_litmus_reg(bool x64, unsigned int reg)
{
	static const char *const upper[] = {
		"EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "EBP", "ESP",
	};
	static const char *const more[] = {
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	};

	return reg >= 8 ? more[reg - 8] : x64 ? names64[reg] : upper[reg];
}

int kl_lit_register(bool x64, const char *name, size_t len, unsigned int *size)
{
	unsigned int i, n = 0;

	for (i = 0; i < 8; i++) {
		if (len == 3 && !strncasecmp(name, names32[i], 3)) {
			*size = 4;
			return i;
		}
		if (x64 && len == 3 && !strncasecmp(name, names64[i], 3)) {
			*size = 8;
			return i;
		}
	}
	if (!x64 || len < 2 || tolower(name[0]) != 'r')
		return -1;
	for (i = 1; i < len && isdigit(name[i]); i++)
		n = n * 10 + (name[i] - '0');
	if (n < 8 || n > 15 || i > 3)
		return -1;
	*size = i == len ? 8 : 4;
	return i == len || (i + 1 == len && tolower(name[i]) == 'd') ? (int)n : -1;
}

static bool is_name(const char *s, size_t len)
{
	size_t i;

	if (!len || (!isalpha(s[0]) && s[0] != '_'))
		return false;
	for (i = 1; i < len; i++)
		if (!isalnum(s[i]) && !strchr("_.-/", s[i]))
			return false;
	return true;
}

static bool number(const char *s, size_t len, uint64_t *v)
{
	char buf[32], *end;

	if (!len || len >= sizeof(buf))
		return false;
	memcpy(buf, s, len);
	buf[len] = 0;
	if (!isdigit(buf[0]) && !(buf[0] == '-' && isdigit(buf[1])))
		return false;
	errno = 0;
	*v = buf[0] == '-' ? -strtoull(buf + 1, &end, 0) : strtoull(buf, &end, 0);
	return !*end && !errno;
}

static void trim(const char **s, size_t *len)
{
	while (*len && isspace(**s)) {
		(*s)++;
		(*len)--;
	}
	while (*len && isspace((*s)[*len - 1]))
		(*len)--;
}

/* (x), [x], (%rax), [RAX], 0(%rax) */
static int memory(struct kl_lit_asm *a, const char *s, size_t len, struct operand *o)
{
	const bool percent = len && *s == '%';
	unsigned int size;
	int reg;

	s += percent;
	len -= percent;
	reg = kl_lit_register(a->l->x64, s, len, &size);
	if (reg >= 0) {
		if (a->l->x64 && size != 8)
			return refuse(a, "an address of 32 bits");
		o->kind = OP_DEREF;
		o->reg = reg;
		return 0;
	}
	if (percent || !is_name(s, len))
		return refuse(a, "an address that is not understood, expected a location or a "
			      "register");
	o->kind = OP_MEM;
	o->loc = kl_lit_location(a->l, s, len);
	return o->loc < 0 ? refuse(a, "more locations than klin litmus has room for") : 0;
}

static int operand(struct kl_lit_asm *a, const char *s, size_t len, struct operand *o)
{
	const char *open;
	uint64_t offset = 0;

	memset(o, 0, sizeof(*o));
	trim(&s, &len);
	o->text = s;
	o->len = len;
	if (number(s, len, &o->imm) || (len && *s == '$' && number(s + 1, len - 1, &o->imm))) {
		o->kind = OP_IMM;
		return 0;
	}
	if (len && (s[len - 1] == ')' || s[len - 1] == ']')) {
		open = memchr(s, s[len - 1] == ')' ? '(' : '[', len);
		if (!open || (open > s && (!number(s, open - s, &offset) || offset)))
			return refuse(a, "an address with an offset");
		s = s + len - (len - (open + 1 - s));
		len = o->text + o->len - 1 - s;
		trim(&s, &len);
		return memory(a, s, len, o);
	}
	if (len && *s == '%') {
		s++;
		len--;
	}
	if (is_name(s, len)) {
		int reg = kl_lit_register(a->l->x64, s, len, &o->size);

		o->kind = reg >= 0 ? OP_REG : OP_LABEL;
		o->reg = reg;
		return 0;
	}
	return refuse(a, "an operand that is not understood");
}

static bool in_memory(const struct operand *o)
{
	return o->kind == OP_MEM || o->kind == OP_DEREF;
}

/* All accesses to a location are of one size: what others would see is not guessed. */
static int sized(struct kl_lit_asm *a, const struct operand *o, unsigned int size)
{
	struct kl_lit_loc *loc;

	if (!in_memory(o))
		return 0;
	a->sizes |= size;
	a->deref |= o->kind == OP_DEREF;
	if (a->deref && a->sizes & (a->sizes - 1))
		return refuse(a, "accesses of different sizes, some through registers");
	if (o->kind == OP_DEREF)
		return 0;
	loc = &a->l->locs[o->loc];
	if (loc->size && loc->size != size)
		return refuse(a, "an access of another size than its location's");
	loc->size = size;
	return 0;
}

static unsigned int fetch(struct kl_lit_asm *a, const struct operand *o, unsigned int size)
{
	unsigned int r;

	switch (o->kind) {
	case OP_IMM:
		return constant(a, o->imm & mask_of(size));
	case OP_REG:
		return a->l->x64 ? masked(a, o->reg, size) : o->reg;
	case OP_MEM:
		r = temp(a);
		emit(a, kl_insn_imm(KL_I_LOAD, r, o->loc));
		return r;
	default:
		r = temp(a);
		emit(a, kl_insn(KL_I_READ, r, o->reg, 0));
		return r;
	}
}

static void put(struct kl_lit_asm *a, const struct operand *o, unsigned int r)
{
	if (o->kind == OP_REG)
		emit(a, kl_insn(KL_I_MOV, o->reg, r, 0));
	else if (o->kind == OP_MEM)
		emit(a, kl_insn_imm(KL_I_STORE, r, o->loc));
	else
		emit(a, kl_insn(KL_I_WRITE, r, o->reg, 0));
}

/* ---- instructions ---------------------------------------------------------- */

static void set_flags(struct kl_lit_asm *a, enum flags kind, unsigned int size, unsigned int x,
		      int y)
{
	emit(a, kl_insn(KL_I_MOV, KL_LIT_FLAG_A, x, 0));
	emit(a, kl_insn(KL_I_MOV, KL_LIT_FLAG_B, y >= 0 ? (unsigned int)y : constant(a, 0), 0));
	a->flags = kind;
	a->flags_size = size;
}

static int arith(struct kl_lit_asm *a, enum insn insn, const struct operand *d,
		 const struct operand *s, unsigned int size)
{
	static const enum kl_opcode ops[] = {
		[ADD] = KL_I_ADD, [SUB] = KL_I_SUB, [AND] = KL_I_AND, [OR] = KL_I_OR,
		[XOR] = KL_I_XOR, [SHL] = KL_I_SHL, [TEST] = KL_I_AND, [INC] = KL_I_ADD,
		[DEC] = KL_I_SUB,
	};
	unsigned int x, y, r;

	if (insn == SHL && (s->kind != OP_IMM || !s->imm || s->imm >= size * 8))
		return refuse(a, "a shift other than by a number of 1 to the width less 1");
	x = fetch(a, d, size);
	if (insn == NEG)
		r = binary(a, KL_I_SUB, constant(a, 0), x);
	else if (insn == NOT)
		r = binary(a, KL_I_XOR, x, constant(a, mask_of(size)));
	else if (insn == INC || insn == DEC)
		r = binary(a, ops[insn], x, constant(a, 1));
	else {
		y = fetch(a, s, size);
		if (insn == CMP) {
			set_flags(a, FLAGS_CMP, size, x, y);
			return 0;
		}
		r = binary(a, ops[insn], x, y);
	}
	r = masked(a, r, size);
	if (insn != TEST)
		put(a, d, r);
	if (insn != NOT)
		set_flags(a, FLAGS_ARITH, size, r, -1);
	return 0;
}

static int exchange(struct kl_lit_asm *a, const struct operand *x, const struct operand *y,
		    unsigned int size)
{
	unsigned int t = temp(a), u = temp(a);

	if (x->kind == OP_IMM || y->kind == OP_IMM || (in_memory(x) && in_memory(y)))
		return refuse(a, "expected a register and a location, or two registers");
	emit(a, kl_insn(KL_I_MOV, t, fetch(a, x, size), 0));
	emit(a, kl_insn(KL_I_MOV, u, fetch(a, y, size), 0));
	put(a, x, u);
	put(a, y, t);
	return 0;
}

static int exchange_add(struct kl_lit_asm *a, const struct operand *mem,
			const struct operand *reg, unsigned int size)
{
	unsigned int old = temp(a), sum;

	emit(a, kl_insn(KL_I_MOV, old, fetch(a, mem, size), 0));
	sum = masked(a, binary(a, KL_I_ADD, old, fetch(a, reg, size)), size);
	put(a, mem, sum);
	put(a, reg, old);
	set_flags(a, FLAGS_ARITH, size, sum, -1);
	return 0;
}

static int compare_exchange(struct kl_lit_asm *a, const struct operand *mem,
			    const struct operand *reg, unsigned int size)
{
	const struct operand rax = { .kind = OP_REG, .reg = RAX };
	unsigned int old = fetch(a, mem, size), expected = fetch(a, &rax, size);
	uint32_t to_else, to_end;

	set_flags(a, FLAGS_CMP, size, expected, old);
	to_else = emit(a, kl_insn_imm(KL_I_JZ, binary(a, KL_I_EQ, old, expected), 0));
	put(a, mem, fetch(a, reg, size));
	to_end = emit(a, kl_insn_imm(KL_I_JMP, 0, 0));
	patch(a, to_else, a->l->ncode);
	put(a, &rax, old);
	patch(a, to_end, a->l->ncode);
	return 0;
}

static unsigned int find_label(struct kl_lit_asm *a, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < a->nlabels; i++)
		if (a->labels[i].len == len && !memcmp(a->labels[i].name, name, len))
			return i;
	if (a->nlabels == LABELS_MAX) {
		refuse(a, "more labels than klin litmus has room for");
		return 0;
	}
	a->labels[i] = (struct label){ .name = name, .len = len, .at = -1, .line = a->line };
	a->nlabels++;
	return i;
}

static int jump(struct kl_lit_asm *a, uint32_t insn, const struct operand *to)
{
	if (to->kind != OP_LABEL)
		return refuse(a, "expected a label");
	if (a->nfixups == LABELS_MAX)
		return refuse(a, "more jumps than klin litmus has room for");
	a->fixups[a->nfixups].label = find_label(a, to->text, to->len);
	a->fixups[a->nfixups++].at = emit(a, insn);
	return 0;
}

static int jump_if(struct kl_lit_asm *a, enum cond cond, const struct operand *to)
{
	const unsigned int x = KL_LIT_FLAG_A, y = KL_LIT_FLAG_B;
	unsigned int sx, sy, sign, r;

	if (a->flags == FLAGS_NONE)
		return refuse(a, "a jump on flags that no instruction before it has set for "
			      "certain");
	if (cond == EQ || cond == NE)
		return jump(a, kl_insn_imm(KL_I_JNZ,
					   binary(a, cond == EQ ? KL_I_EQ : KL_I_NE, x, y), 0), to);
	if (a->flags == FLAGS_ARITH && cond != SIGN && cond != NO_SIGN)
		return refuse(a, "a comparison on the flags of arithmetic, expected 'cmp' before "
			      "it");
	sign = constant(a, 1ULL << (a->flags_size * 8 - 1));
	if (cond == SIGN || cond == NO_SIGN) {
		r = binary(a, KL_I_AND, binary(a, KL_I_SUB, x, y), sign);
		return jump(a, kl_insn_imm(cond == SIGN ? KL_I_JNZ : KL_I_JZ, r, 0), to);
	}
	sx = cond >= BELOW ? x : binary(a, KL_I_XOR, x, sign);
	sy = cond >= BELOW ? y : binary(a, KL_I_XOR, y, sign);
	switch (cond) {
	case LT:
	case BELOW:
		r = binary(a, KL_I_LT, sx, sy);
		break;
	case LE:
	case BELOW_EQ:
		r = binary(a, KL_I_LE, sx, sy);
		break;
	case GT:
	case ABOVE:
		r = binary(a, KL_I_LT, sy, sx);
		break;
	default:
		r = binary(a, KL_I_LE, sy, sx);
		break;
	}
	return jump(a, kl_insn_imm(KL_I_JNZ, r, 0), to);
}

/* The bytes that an instruction works on; 0 after a message. */
static unsigned int size_of(struct kl_lit_asm *a, char suffix, const struct operand *o,
			    unsigned int n)
{
	unsigned int size = suffix == 'l' ? 4 : suffix == 'q' ? 8 : 0, i;

	if (!a->l->x64 && suffix == 'q') {
		refuse(a, "64 bits in a test for X86");
		return 0;
	}
	if (suffix == 'b' || suffix == 'w') {
		refuse(a, "an access of 8 or 16 bits");
		return 0;
	}
	for (i = 0; i < n; i++) {
		if (o[i].kind != OP_REG)
			continue;
		if (size && size != o[i].size) {
			refuse(a, "operands of different sizes");
			return 0;
		}
		size = o[i].size;
	}
	for (i = 0; i < n && !size; i++)
		if (o[i].kind == OP_MEM)
			size = a->l->locs[o[i].loc].size;
	return size ? size : 4;
}

static int data_insn(struct kl_lit_asm *a, const struct mnemonic *m, bool lock, char suffix,
		     struct operand *o)
{
	/* Intel's order has the destination first, AT&T's last. */
	struct operand *d = m->nops == 1 || !a->l->x64 ? &o[0] : &o[1];
	struct operand *s = d == &o[0] ? &o[1] : &o[0];
	unsigned int size = size_of(a, suffix, o, m->nops), i;
	int ret = 0;

	if (!size)
		return -EINVAL;
	/* Herd writes these in Intel's order for both: the location tells which is which. */
	if ((m->insn == CMPXCHG || m->insn == XADD) && in_memory(s)) {
		struct operand *swap = d;

		d = s;
		s = swap;
	}
	for (i = 0; i < m->nops; i++) {
		if (o[i].kind == OP_LABEL)
			return refuse(a, "an operand that is neither a number, a register nor a "
				      "location in parentheses or brackets");
		ret = sized(a, &o[i], size);
		if (ret)
			return ret;
	}
	if (m->nops == 2 && in_memory(&o[0]) && in_memory(&o[1]))
		return refuse(a, "two operands in memory");
	if (d->kind == OP_IMM && m->insn != CMP && m->insn != TEST)
		return refuse(a, "a number as destination");
	if ((m->insn == CMPXCHG || m->insn == XADD) && (!in_memory(d) || s->kind != OP_REG))
		return refuse(a, "expected a location and a register");
	if (lock && (!m->lockable || !(in_memory(d) || (m->insn == XCHG && in_memory(s)))))
		return refuse(a, "a lock prefix on an instruction that cannot have one");
	if (m->insn == XCHG)
		lock = in_memory(d) || in_memory(s);
	if (lock)
		emit(a, kl_insn(KL_I_BLOCK, 1, 0, 0));
	if (m->insn == MOV)
		put(a, d, fetch(a, s, size));
	else if (m->insn == XCHG)
		ret = exchange(a, d, s, size);
	else if (m->insn == XADD)
		ret = exchange_add(a, d, s, size);
	else if (m->insn == CMPXCHG)
		ret = compare_exchange(a, d, s, size);
	else
		ret = arith(a, m->insn, d, s, size);
	if (lock)
		emit(a, kl_insn(KL_I_END, 0, 0, 0));
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

static size_t word(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && !isspace(s[n]))
		n++;
	return n;
}

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

static int instruction(struct kl_lit_asm *a, const char *s, size_t len)
{
	const char *part[4] = { NULL };
	size_t part_len[4], n = word(s, len);
	const struct mnemonic *m;
	struct operand o[2] = { 0 };
	bool lock = false;
	char suffix = 0;
	unsigned int i, nops;
	int ret;

	if (n == 4 && !strncasecmp(s, "lock", 4)) {
		lock = true;
		s += n;
		len -= n;
		trim(&s, &len);
		n = word(s, len);
	}
	m = find(s, n, false);
	if (!m && n > 1 && strchr("bwlqBWLQ", s[n - 1])) {
		suffix = tolower(s[n - 1]);
		m = find(s, n - 1, true);
	}
	if (!m)
		return refuse(a, "an instruction that klin litmus does not know");
	nops = split(s + n, len - n, part, part_len);
	if (nops != m->nops)
		return refuse(a, "another number of operands than the instruction has");
	for (i = 0; i < nops; i++) {
		ret = operand(a, part[i], part_len[i], &o[i]);
		if (ret)
			return ret;
	}
	if (m->insn < JMP)
		return data_insn(a, m, lock, suffix, o);
	if (lock)
		return refuse(a, "a lock prefix on an instruction that cannot have one");
	if (m->insn == JMP)
		return jump(a, kl_insn_imm(KL_I_JMP, 0, 0), &o[0]);
	if (m->insn == JCC)
		return jump_if(a, m->cond, &o[0]);
	if (m->insn == MFENCE)
		emit(a, kl_insn(KL_I_FENCE, 0, 0, 0));
	return a->err;
}

int kl_lit_asm_cell(struct kl_lit_asm *a, const char *text, size_t len, unsigned int line)
{
	const char *colon;
	unsigned int label;

	trim(&text, &len);
	a->line = line;
	a->cell = text;
	a->cell_len = len;
	a->temp = KL_LIT_TEMP;
	while ((colon = memchr(text, ':', len)) && is_name(text, colon - text)) {
		label = find_label(a, text, colon - text);
		if (a->labels[label].at >= 0)
			return refuse(a, "a label that is there already");
		a->labels[label].at = a->l->ncode;
		/* Who jumps here may have other flags. */
		a->flags = FLAGS_NONE;
		len -= colon + 1 - text;
		text = colon + 1;
		trim(&text, &len);
	}
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
	l->prog.start[t] = l->ncode;
	for (i = 0; i < KL_LIT_GPRS; i++) {
		if (!l->reg[t][i])
			continue;
		a->temp = KL_LIT_TEMP;
		emit(a, kl_insn(KL_I_MOV, i, constant(a, l->reg[t][i]), 0));
	}
}

int kl_lit_asm_end(struct kl_lit_asm *a)
{
	unsigned int i;

	for (i = 0; i < a->nfixups; i++) {
		const struct label *label = &a->labels[a->fixups[i].label];

		if (label->at < 0) {
			kl_err_at(a->l->path, label->line, 0, "no label '%.*s'", (int)label->len,
				  label->name);
			return -EINVAL;
		}
		patch(a, a->fixups[i].at, label->at);
	}
	emit(a, kl_insn(KL_I_STOP, 0, 0, 0));
	return a->err;
}
