// SPDX-License-Identifier: GPL-2.0
/* Assembler of litmus tests: operands of instructions, and code that loads and stores them. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "tso/litmus/litmus_asm.h"

int kl_la_refuse(struct kl_lit_asm *a, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (!a->err)
		kl_lit_error(a->l, a->cell, "'%.*s': %s", (int)a->cell_len, a->cell ? a->cell : "",
			     why);
	a->err = -EINVAL;
	return -EINVAL;
}

uint32_t kl_la_emit(struct kl_lit_asm *a, uint32_t word)
{
	struct kl_litmus *l = a->l;

	if (a->err)
		return 0;
	if (l->ncode >= KL_VM_CODE_MAX) {
		kl_la_refuse(a, "the test is too long");
		return 0;
	}
	a->err = kl_grow(l->code, l->ccode, l->ncode + 1) ?:
		 kl_grow(l->cell, l->ccell, l->ncode + 1);
	if (a->err)
		return 0;
	l->cell[l->ncode] = a->cell;
	l->code[l->ncode] = word;
	return l->ncode++;
}

void kl_la_patch(struct kl_lit_asm *a, uint32_t at, uint32_t to)
{
	if (!a->err)
		a->l->code[at] = (a->l->code[at] & 0xffff) | (to - a->l->prog.start[a->t]) << 16;
}

void kl_la_barrier(struct kl_lit_asm *a, uint32_t word)
{
	struct kl_litmus *l = a->l;

	if (a->weak)
		return;
	kl_la_emit(a, word);
	if (l->nbarriers < KL_LIT_BARRIERS)
		l->barrier[l->nbarriers++] = (struct kl_lit_place){
			.at = a->cell - l->copy, .thread = a->t,
			.lock = (word & 0xff) == KL_I_BLOCK,
		};
}

unsigned int kl_la_temp(struct kl_lit_asm *a)
{
	const unsigned int r = a->temp++;

	if (r == KL_LIT_REGS) {
		kl_la_refuse(a, "the instruction needs too many intermediate values");
		a->temp = KL_LIT_TEMP;
	}
	if (a->l->nregs < a->temp)
		a->l->nregs = a->temp;
	return r;
}

unsigned int kl_la_constant(struct kl_lit_asm *a, uint64_t v)
{
	struct kl_litmus *l = a->l;
	unsigned int i, r = kl_la_temp(a);

	for (i = 0; i < l->npool && l->pool[i] != v; i++)
		;
	if (i == l->npool && !a->err) {
		a->err = kl_grow(l->pool, l->cpool, l->npool + 1);
		if (a->err)
			return r;
		l->pool[l->npool++] = v;
	}
	kl_la_emit(a, kl_insn_imm(KL_I_CONST, r, i));
	return r;
}

unsigned int kl_la_binary(struct kl_lit_asm *a, enum kl_opcode op, unsigned int x, unsigned int y)
{
	unsigned int r = kl_la_temp(a);

	kl_la_emit(a, kl_insn(op, r, x, y));
	return r;
}

unsigned int kl_la_masked(struct kl_lit_asm *a, unsigned int r, unsigned int size)
{
	return size == 8 ? r : kl_la_binary(a, KL_I_AND, r, kl_la_constant(a, kl_lit_mask(size)));
}

unsigned int kl_la_extended(struct kl_lit_asm *a, unsigned int r, unsigned int size,
			    unsigned int to)
{
	const unsigned int sign = kl_la_constant(a, 1ULL << (8 * size - 1));

	/* (r ^ sign) - sign copies the sign to all bits above it. */
	return kl_la_masked(a, kl_la_binary(a, KL_I_SUB, kl_la_binary(a, KL_I_XOR, r, sign), sign),
			    to);
}

/* ---- operands ------------------------------------------------------------ */

static const char *const names32[] = { "eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp" };
static const char *const names64[] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp" };

/*
 * Registers that no supported instruction changes.  As in herd, the instruction pointer keeps its
 * first value.
 */
static const char *const other[2][KL_LIT_TEMP - KL_LIT_OTHER] = {
	{ "EIP", "CS", "DS", "SS", "ES", "FS", "GS" },
	{ "rip", "cs", "ds", "ss", "es", "fs", "gs" },
};

const char *kl_litmus_reg(bool x64, unsigned int reg)
{
	static const char *const upper[] = {
		"EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "EBP", "ESP",
	};
	static const char *const more[] = {
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	};

	if (reg >= KL_LIT_OTHER)
		return other[x64][reg - KL_LIT_OTHER];
	return reg >= 8 ? more[reg - 8] : x64 ? names64[reg] : upper[reg];
}

int kl_lit_other_register(bool x64, const char *name, size_t len, unsigned int *size)
{
	unsigned int i;

	*size = x64 ? 8 : 4;
	for (i = 0; i < KL_LIT_TEMP - KL_LIT_OTHER; i++)
		if (strlen(other[x64][i]) == len && !strncasecmp(name, other[x64][i], len))
			return KL_LIT_OTHER + i;
	return -1;
}

/* Return: number of bytes that the end of a name such as r8d means; 0 if the end is wrong. */
static unsigned int suffix_size(const char *s, size_t len)
{
	if (!len)
		return 8;
	if (len > 1)
		return 0;
	return tolower(*s) == 'd' ? 4 : tolower(*s) == 'w' ? 2 : tolower(*s) == 'b' ? 1 : 0;
}

int kl_lit_register(bool x64, const char *name, size_t len, unsigned int *size)
{
	static const char *const bytes[] = { "al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl" };
	unsigned int i, n = 0;

	for (i = 0; i < 8; i++) {
		*size = len == 3 && !strncasecmp(name, names32[i], 3) ? 4 :
			x64 && len == 3 && !strncasecmp(name, names64[i], 3) ? 8 :
			len == 2 && !strncasecmp(name, names32[i] + 1, 2) ? 2 :
			len == strlen(bytes[i]) && (x64 || i < 4) &&
			!strncasecmp(name, bytes[i], len) ? 1 : 0;
		if (*size)
			return i;
	}
	if (!x64 || len < 2 || tolower(name[0]) != 'r')
		return -1;
	for (i = 1; i < len && i < 3 && isdigit((unsigned char)name[i]); i++)
		n = n * 10 + (name[i] - '0');
	*size = n < 8 || n > 15 ? 0 : suffix_size(name + i, len - i);
	return *size ? (int)n : -1;
}

bool kl_la_is_name(const char *s, size_t len)
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

void kl_la_trim(const char **s, size_t *len)
{
	while (*len && isspace(**s)) {
		(*s)++;
		(*len)--;
	}
	while (*len && isspace((*s)[*len - 1]))
		(*len)--;
}

/* Parse a location x, or x+8 for the array's element there. */
static int location_operand(struct kl_lit_asm *a, const char *s, size_t len, uint64_t offset,
			    struct kl_la_operand *o)
{
	const char *plus = memchr(s, '+', len);
	const struct kl_lit_loc *loc;
	uint64_t more = 0;
	unsigned int size;

	if (plus && !number(plus + 1, s + len - plus - 1, &more))
		plus = s;
	if (!kl_la_is_name(s, plus ? (size_t)(plus - s) : len))
		return kl_la_refuse(a, "unknown form of address, expected a location or a "
				       "register");
	o->kind = OP_MEM;
	o->loc = kl_lit_location(a->l, s, plus ? (size_t)(plus - s) : len);
	if (o->loc < 0)
		return kl_la_refuse(a, "too many locations: klin litmus supports %d", KL_LIT_LOCS);
	offset += more;
	if (!offset)
		return 0;
	loc = &a->l->locs[o->loc];
	size = loc->size ? loc->size : 4;
	if (offset % size || offset / size >= loc->len)
		return kl_la_refuse(a, "the address is not an element of an array");
	o->loc += offset / size;
	return 0;
}

/* Return: the register named at @s, for an address or an index; negative after a message. */
static int address_register(struct kl_lit_asm *a, const char *s, size_t len)
{
	unsigned int size;
	int reg;

	kl_la_trim(&s, &len);
	if (len && *s == '%') {
		s++;
		len--;
	}
	reg = kl_lit_register(a->l->x64, s, len, &size);
	if (reg < 0)
		return kl_la_refuse(a, "unknown form of address, expected a location or a "
				       "register");
	if (size != (a->l->x64 ? 8 : 4))
		return kl_la_refuse(a, "expected an address register of %d bits",
				    a->l->x64 ? 64 : 32);
	return reg;
}

/* Parse the text in brackets with an index: %rax,%rbx or %rax,%rbx,8. */
static int indexed_operand(struct kl_lit_asm *a, const char *s, size_t len, uint64_t offset,
			   struct kl_la_operand *o)
{
	const char *comma = memchr(s, ',', len), *more = comma + 1, *end = s + len;
	const char *second = memchr(more, ',', end - more), *times = second ? second + 1 : NULL;
	size_t times_len = times ? end - times : 0;
	uint64_t scale = 1;
	int base = address_register(a, s, comma - s), index;

	index = base < 0 ? base : address_register(a, more, (second ? second : end) - more);
	if (index < 0)
		return index;
	if (times)
		kl_la_trim(&times, &times_len);
	if (times && (!number(times, times_len, &scale) || !scale || scale > 8 ||
		      scale & (scale - 1)))
		return kl_la_refuse(a, "expected 1, 2, 4 or 8 as the factor of the index");
	o->kind = OP_DEREF;
	o->reg = base;
	o->index = index;
	o->scale = scale;
	o->offset = offset;
	return 0;
}

/*
 * Parse an operand in memory: (x), [x], (%rax), [RAX], 8(%rax), 8(%rax,%rbx,4), 8(x), x+8(%rip).
 * @s is the text in the brackets, and @before the text before them.
 */
static int memory_operand(struct kl_lit_asm *a, const char *s, size_t len, const char *before,
			  size_t before_len, struct kl_la_operand *o)
{
	const bool percent = len && *s == '%';
	uint64_t offset = 0;
	unsigned int size;
	int reg;

	if (memchr(s, ',', len)) {
		if (before_len && !number(before, before_len, &offset))
			return kl_la_refuse(a, "unknown form of address, expected as in 8(%%rax)");
		return indexed_operand(a, s, len, offset, o);
	}
	s += percent;
	len -= percent;
	if (len == 3 && !strncasecmp(s, "rip", 3))
		return location_operand(a, before, before_len, 0, o);
	if (before_len && !number(before, before_len, &offset))
		return kl_la_refuse(a, "unknown form of address, expected as in 8(%%rax)");
	reg = kl_lit_register(a->l->x64, s, len, &size);
	if (reg < 0 && !percent)
		return location_operand(a, s, len, offset, o);
	reg = address_register(a, s, len);
	if (reg < 0)
		return reg;
	o->kind = OP_DEREF;
	o->reg = reg;
	o->offset = offset;
	return 0;
}

int kl_la_operand(struct kl_lit_asm *a, const char *s, size_t len, struct kl_la_operand *o)
{
	const char *open;
	size_t before;

	memset(o, 0, sizeof(*o));
	kl_la_trim(&s, &len);
	o->text = s;
	o->len = len;
	if (number(s, len, &o->imm) || (len && *s == '$' && number(s + 1, len - 1, &o->imm))) {
		o->kind = OP_IMM;
		return 0;
	}
	if (len && (s[len - 1] == ')' || s[len - 1] == ']')) {
		open = memchr(s, s[len - 1] == ')' ? '(' : '[', len);
		if (!open)
			return kl_la_refuse(a, "the closing bracket has no opening one");
		before = open - s;
		s = open + 1;
		len = o->text + o->len - 1 - s;
		kl_la_trim(&s, &len);
		return memory_operand(a, s, len, o->text, before, o);
	}
	if (len && *s == '%') {
		s++;
		len--;
	}
	if (kl_la_is_name(s, len)) {
		int reg = kl_lit_register(a->l->x64, s, len, &o->size);

		o->kind = reg >= 0 ? OP_REG : OP_LABEL;
		o->reg = reg;
		return 0;
	}
	return kl_la_refuse(a, "unknown operand, expected a number, a register or a location");
}

bool kl_la_in_memory(const struct kl_la_operand *o)
{
	return o->kind == OP_MEM || o->kind == OP_DEREF;
}

int kl_la_sized(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int size)
{
	struct kl_lit_loc *loc;

	if (!kl_la_in_memory(o))
		return 0;
	a->sizes |= size;
	a->deref |= o->kind == OP_DEREF;
	if (a->deref && a->sizes & (a->sizes - 1))
		return kl_la_refuse(a, "accesses have different sizes, and some are through "
				       "registers; use one size");
	if (o->kind == OP_DEREF)
		return 0;
	loc = &a->l->locs[o->loc];
	if (loc->size && loc->size != size)
		return kl_la_refuse(a, "the sizes of the access and of its location differ");
	loc->size = size;
	return 0;
}

int kl_la_check_addressed(struct kl_lit_asm *a)
{
	unsigned int i;

	for (i = 0; i < a->l->nlocs && a->deref; i++)
		if (a->l->locs[i].addressed && a->l->locs[i].size &&
		    a->l->locs[i].size != a->sizes)
			return kl_la_refuse(a, "accesses through registers have another size than "
					    "location '%s', which they may reach",
					    a->l->locs[i].name);
	return 0;
}

/* Emit: sum += v * yes, where the register @yes is 1 or 0. */
static void add_if(struct kl_lit_asm *a, unsigned int sum, unsigned int yes, uint64_t v)
{
	kl_la_emit(a, kl_insn(KL_I_ADD, sum, sum,
			      kl_la_binary(a, KL_I_MUL, yes, kl_la_constant(a, v))));
}

/*
 * Compute the address of an operand with an offset or index.  The machine has no byte addresses and
 * no arithmetic on addresses.  So the code compares the base register with each location, and adds
 * the offset in words to the location's number.  An address outside of the location or array of the
 * base leads to no word.  Return: a register with the address.
 */
static unsigned int computed_address(struct kl_lit_asm *a, const struct kl_la_operand *o,
				     unsigned int size)
{
	const struct kl_lit_loc *locs = a->l->locs;
	unsigned int at, first, len, i, begin = 0, keep, out;

	if (!o->scale && !o->offset)
		return o->reg;
	if (o->offset % (int64_t)size || o->scale % size) {
		kl_la_refuse(a, "the address may be in the middle of a location");
		return 0;
	}
	at = kl_la_constant(a, o->offset / (int64_t)size);
	first = kl_la_constant(a, 0);
	len = kl_la_constant(a, 0);
	keep = a->temp;
	if (o->scale)
		kl_la_emit(a, kl_insn(KL_I_ADD, at, at, kl_la_binary(a, KL_I_MUL, o->index,
				      kl_la_constant(a, o->scale / size))));
	for (i = 0; i < a->l->nlocs; i++) {
		unsigned int is;

		a->temp = keep;
		is = kl_la_binary(a, KL_I_EQ, o->reg, kl_la_constant(a, KL_VM_PTR + i));
		/* In an array kl_lit_loc.len decreases by one from element to element. */
		if (!i || !locs[i].len || locs[i - 1].len != locs[i].len + 1)
			begin = i;
		add_if(a, at, is, i);
		add_if(a, first, is, begin);
		add_if(a, len, is, locs[i].len ? i - begin + locs[i].len : 1);
	}
	a->temp = keep;
	/* An address outside becomes a number above all words, at which KL_I_ADDRX fails. */
	out = kl_la_binary(a, KL_I_LE, len, kl_la_binary(a, KL_I_SUB, at, first));
	add_if(a, at, out, UINT32_MAX);
	kl_la_emit(a, kl_insn(KL_I_ADDRX, at, at, 0));
	kl_la_emit(a, a->l->nlocs << 16);
	return at;
}

unsigned int kl_la_fetch(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int size)
{
	unsigned int r, at;

	switch (o->kind) {
	case OP_IMM:
		return kl_la_constant(a, o->imm & kl_lit_mask(size));
	case OP_REG:
		return size < (a->l->x64 ? 8 : 4) ? kl_la_masked(a, o->reg, size) : o->reg;
	case OP_MEM:
		r = kl_la_temp(a);
		kl_la_emit(a, kl_insn_imm(KL_I_LOAD, r, o->loc));
		return r;
	default:
		at = computed_address(a, o, size);
		r = kl_la_temp(a);
		kl_la_emit(a, kl_insn(KL_I_READ, r, at, 0));
		return r;
	}
}

void kl_la_put(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int r,
	       unsigned int size)
{
	/* A store of 4 bytes clears the upper half of the register; 1 and 2 bytes keep the rest. */
	if (o->kind == OP_REG && size < 4)
		r = kl_la_binary(a, KL_I_OR, r,
				 kl_la_binary(a, KL_I_AND, o->reg,
					      kl_la_constant(a, ~kl_lit_mask(size) &
							     kl_lit_mask(a->l->x64 ? 8 : 4))));
	if (o->kind == OP_REG)
		kl_la_emit(a, kl_insn(KL_I_MOV, o->reg, r, 0));
	else if (o->kind == OP_MEM)
		kl_la_emit(a, kl_insn_imm(KL_I_STORE, r, o->loc));
	else
		kl_la_emit(a, kl_insn(KL_I_WRITE, r, computed_address(a, o, size), 0));
}
