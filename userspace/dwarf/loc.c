// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the location of a variable's value while a CPU is at an address (DWARF 5, 2.5 and 2.6).
 * A location is accepted only if it gives the whole value from the registers and the memory at
 * this moment.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/loc.h"

#define MAX_TYPES	64 /* maximal length of a chain of types, such as pointers and typedefs */

static const char *const registers[KL_LOC_REGS] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static void set_none(struct kl_loc *loc, const char *why)
{
	*loc = (struct kl_loc){ .kind = KL_LOC_NONE, .why = why };
}

static bool add_step(struct kl_loc *loc, enum kl_loc_op op, uint64_t num)
{
	if (loc->n == KL_LOC_STEPS)
		return false;
	loc->op[loc->n] = op;
	loc->num[loc->n++] = num;
	return true;
}

static bool add_reg(struct kl_loc *loc, uint64_t reg, int64_t off)
{
	if (reg >= KL_LOC_REGS || !add_step(loc, KL_L_REG, reg))
		return false;
	return !off || (add_step(loc, KL_L_CONST, off) && add_step(loc, KL_L_ADD, 0));
}

/* Add steps that compute the canonical frame address. */
static bool add_frame_address(struct kl_loc *loc, Dwarf_CFI *cfi, Dwarf_Addr pc)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;
	bool ok;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame))
		return false;
	/* Only the usual case is accepted: a register and an offset. */
	ok = !dwarf_frame_cfa(frame, &ops, &n) && n == 1 && ops[0].atom == DW_OP_bregx &&
	     add_reg(loc, ops[0].number, ops[0].number2);
	if (!ok && !loc->n && n == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
		ok = add_reg(loc, ops[0].atom - DW_OP_breg0, ops[0].number);
	free(frame);
	return ok;
}

/* Add steps that compute the frame base.  On x86, compilers use the canonical frame address. */
static bool add_frame_base(struct kl_loc *loc, Dwarf_Die *func, Dwarf_CFI *cfi, Dwarf_Addr pc)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	return func && dwarf_attr(func, DW_AT_frame_base, &attr) &&
	       dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) == 1 && n == 1 &&
	       ops[0].atom == DW_OP_call_frame_cfa && add_frame_address(loc, cfi, pc);
}

static const struct {
	uint8_t atom, op;
} simple_ops[] = {
	{ DW_OP_plus, KL_L_ADD }, { DW_OP_minus, KL_L_SUB }, { DW_OP_mul, KL_L_MUL },
	{ DW_OP_and, KL_L_AND }, { DW_OP_or, KL_L_OR }, { DW_OP_xor, KL_L_XOR },
	{ DW_OP_shl, KL_L_SHL }, { DW_OP_shr, KL_L_SHR }, { DW_OP_shra, KL_L_SAR },
	{ DW_OP_neg, KL_L_NEG }, { DW_OP_not, KL_L_NOT },
};

/*
 * Add the steps of one DWARF operation.
 * Return: false, with the reason in loc->why, if the value cannot be read.
 */
static bool add_operation(struct kl_loc *loc, const Dwarf_Op *op, Dwarf_Die *func, Dwarf_CFI *cfi,
			  Dwarf_Addr pc)
{
	unsigned int i;

	loc->why = "computed in a way that klin does not support";
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return add_step(loc, KL_L_CONST, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return add_reg(loc, op->atom - DW_OP_breg0, op->number);
	for (i = 0; i < sizeof(simple_ops) / sizeof(*simple_ops); i++)
		if (simple_ops[i].atom == op->atom)
			return add_step(loc, simple_ops[i].op, 0);
	switch (op->atom) {
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u: case DW_OP_const2s:
	case DW_OP_const4u: case DW_OP_const4s: case DW_OP_const8u: case DW_OP_const8s:
	case DW_OP_constu: case DW_OP_consts:
		return add_step(loc, KL_L_CONST, op->number);
	case DW_OP_plus_uconst:
		return add_step(loc, KL_L_CONST, op->number) && add_step(loc, KL_L_ADD, 0);
	case DW_OP_bregx:
		return add_reg(loc, op->number, op->number2);
	case DW_OP_fbreg:
		return add_frame_base(loc, func, cfi, pc) &&
		       (!op->number ||
			(add_step(loc, KL_L_CONST, op->number) && add_step(loc, KL_L_ADD, 0)));
	case DW_OP_call_frame_cfa:
		return add_frame_address(loc, cfi, pc);
	case DW_OP_deref:
		return add_step(loc, KL_L_DEREF, 8);
	case DW_OP_deref_size:
		return add_step(loc, KL_L_DEREF, op->number);
	case DW_OP_nop:
		return true;
	case DW_OP_addr:
		return add_step(loc, KL_L_ADDR, op->number);
	case DW_OP_entry_value: case DW_OP_GNU_entry_value:
		loc->why = "overwritten: known only at the function's call";
		return false;
	case DW_OP_implicit_pointer: case DW_OP_GNU_implicit_pointer:
		loc->why = "optimised out: points to a variable that is not in memory";
		return false;
	case DW_OP_piece: case DW_OP_bit_piece:
		loc->why = "in several pieces";
		return false;
	}
	return false;
}

static void read_expression(struct kl_loc *loc, const Dwarf_Op *ops, size_t n, Dwarf_Die *func,
			    Dwarf_CFI *cfi, Dwarf_Addr pc)
{
	size_t i;

	*loc = (struct kl_loc){ .kind = KL_LOC_MEMORY };
	if (!n) {
		set_none(loc, "optimised out");
		return;
	}
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom < DW_OP_reg0 + KL_LOC_REGS) {
		loc->kind = KL_LOC_VALUE;
		add_step(loc, KL_L_REG, ops[0].atom - DW_OP_reg0);
		return;
	}
	for (i = 0; i < n; i++) {
		if (ops[i].atom == DW_OP_stack_value && i + 1 == n) {
			loc->kind = KL_LOC_VALUE;
		} else if (!add_operation(loc, &ops[i], func, cfi, pc)) {
			set_none(loc, loc->why);
			return;
		}
	}
	loc->why = NULL;
}

/*
 * Read a location list, which has an entry for each range of addresses.  An empty range at the
 * entry says that the value changes between statements at this one address (DWARF's views).  A
 * probe there cannot know which value it reads, so the location is refused.
 */
static void read_list(Dwarf_Attribute *attr, Dwarf_Die *func, Dwarf_CFI *cfi, Dwarf_Addr pc,
		      bool at_entry, struct kl_loc *loc)
{
	Dwarf_Addr base, from, to;
	bool found = false;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t n;

	set_none(loc, "optimised out here");
	while ((at = dwarf_getlocations(attr, at, &base, &from, &to, &ops, &n)) > 0) {
		if (at_entry && from == to && from == pc) {
			set_none(loc, "changes at the entry itself");
			return;
		}
		if (pc < from || pc >= to)
			continue;
		if (found) {
			set_none(loc, "in two places at once");
			return;
		}
		found = true;
		read_expression(loc, ops, n, func, cfi, pc);
	}
	if (at < 0)
		set_none(loc, "its location list is damaged");
}

void kl_loc_read(Dwarf_Die *var, Dwarf_Die *func, Dwarf_CFI *cfi, Dwarf_Addr pc, bool at_entry,
		 struct kl_loc *loc)
{
	Dwarf_Attribute attr;
	Dwarf_Sword num;

	if (dwarf_attr_integrate(var, DW_AT_const_value, &attr)) {
		*loc = (struct kl_loc){ .kind = KL_LOC_VALUE };
		if (dwarf_formsdata(&attr, &num) || !add_step(loc, KL_L_CONST, num))
			set_none(loc, "a constant that is not a number");
	} else if (dwarf_attr(var, DW_AT_location, &attr)) {
		read_list(&attr, func, cfi, pc, at_entry, loc);
	} else {
		set_none(loc, "optimised out");
	}
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

static bool is_signed(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die base;
	Dwarf_Word encoding;

	return !dwarf_peel_type(type, &base) && dwarf_tag(&base) == DW_TAG_base_type &&
	       dwarf_attr(&base, DW_AT_encoding, &attr) && !dwarf_formudata(&attr, &encoding) &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char);
}

/*
 * Return: true if the chain of DW_AT_type from @type on ends, after at most MAX_TYPES types.  In a
 * damaged file the chain may be a cycle, which libdw would follow for ever.
 */
static bool chain_ends(const Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die die = *type;
	unsigned int n;

	for (n = 0; n < MAX_TYPES; n++)
		if (!dwarf_attr(&die, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &die))
			return true;
	return false;
}

void kl_dtype_read(Dwarf_Die *var, struct kl_dtype *t)
{
	Dwarf_Attribute attr;
	Dwarf_Word size;
	Dwarf_Die type;
	int tag;

	*t = (struct kl_dtype){ .kind = "", .name = "void" };
	if (!dwarf_attr_integrate(var, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type))
		return;
	if (!chain_ends(&type)) {
		t->name = "";
		return;
	}
	if (!dwarf_aggregate_size(&type, &size))
		t->size = size;
	t->is_signed = is_signed(&type);
	for (;;) {
		tag = dwarf_tag(&type);
		if (tag == DW_TAG_pointer_type)
			t->ptr++;
		else if (!is_qualifier(tag))
			break;
		if (!dwarf_attr(&type, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type))
			return;
	}
	if (tag == DW_TAG_structure_type)
		t->kind = "struct";
	else if (tag == DW_TAG_union_type)
		t->kind = "union";
	else if (tag == DW_TAG_enumeration_type)
		t->kind = "enum";
	else if (tag != DW_TAG_base_type && tag != DW_TAG_typedef)
		return;
	t->name = dwarf_diename(&type);
	if (t->name)
		return;
	t->kind = "";
	t->name = t->ptr ? "void" : "";
}

const char *kl_dtype_text(const struct kl_dtype *t, char *buf, size_t size)
{
	unsigned int i;
	size_t len;

	len = snprintf(buf, size, "%s%s%s%s", t->kind, *t->kind ? " " : "",
		       *t->name ? t->name : "(unnamed)", t->ptr ? " " : "");
	for (i = 0; i < t->ptr && len + 1 < size; i++) {
		buf[len++] = '*';
		buf[len] = '\0';
	}
	return buf;
}

/* Print the steps as "reg" or "reg+0x10".  Return: @buf, or NULL if they have another form. */
static const char *reg_text(const struct kl_loc *loc, unsigned int n, char *buf, size_t size)
{
	int64_t off;

	if (!n || loc->op[0] != KL_L_REG)
		return NULL;
	if (n == 1) {
		snprintf(buf, size, "%s", registers[loc->num[0]]);
		return buf;
	}
	if (n != 3 || loc->op[1] != KL_L_CONST || loc->op[2] != KL_L_ADD)
		return NULL;
	off = loc->num[1];
	snprintf(buf, size, "%s%c0x%llx", registers[loc->num[0]], off < 0 ? '-' : '+',
		 (unsigned long long)(off < 0 ? -off : off));
	return buf;
}

const char *kl_loc_text(const struct kl_loc *loc, char *buf, size_t size)
{
	char text[40];

	if (loc->kind == KL_LOC_NONE)
		snprintf(buf, size, "%s", loc->why);
	else if (loc->kind == KL_LOC_VALUE && loc->n == 1 && loc->op[0] == KL_L_CONST)
		snprintf(buf, size, "constant %lld", (long long)loc->num[0]);
	else if (loc->n == 1 && loc->op[0] == KL_L_ADDR)
		snprintf(buf, size, "%s0x%llx", loc->kind == KL_LOC_MEMORY ? "memory at " :
			 "address ", (unsigned long long)loc->num[0]);
	else if (reg_text(loc, loc->n, text, sizeof(text)))
		snprintf(buf, size, "%s%s", loc->kind == KL_LOC_MEMORY ? "memory at " : "", text);
	else
		snprintf(buf, size, "%scomputed in %u steps",
			 loc->kind == KL_LOC_MEMORY ? "memory at an address " : "", loc->n);
	return buf;
}
