// SPDX-License-Identifier: GPL-2.0
/* Prints byte code as text, for `klin spec --dump' and tests. */
#include <inttypes.h>

#include "spec/lang/ast.h"
#include "spec/interp/code.h"

enum form { F_NONE, F_A, F_AB, F_ABC, F_AJ, F_J };

static const struct {
	const char *name;
	enum form form;
} insns[KL_I_COUNT_] = {
	[KL_I_MOV] = { "mov", F_AB }, [KL_I_CONST] = { "const", F_NONE },
	[KL_I_LOAD] = { "load", F_NONE }, [KL_I_STORE] = { "store", F_NONE },
	[KL_I_LOADX] = { "loadx", F_AB }, [KL_I_STOREX] = { "storex", F_AB },
	[KL_I_ADD] = { "add", F_ABC }, [KL_I_SUB] = { "sub", F_ABC },
	[KL_I_MUL] = { "mul", F_ABC }, [KL_I_DIV] = { "div", F_ABC },
	[KL_I_MOD] = { "mod", F_ABC }, [KL_I_AND] = { "and", F_ABC },
	[KL_I_OR] = { "or", F_ABC }, [KL_I_XOR] = { "xor", F_ABC },
	[KL_I_SHL] = { "shl", F_ABC }, [KL_I_SHR] = { "shr", F_ABC },
	[KL_I_LT] = { "lt", F_ABC }, [KL_I_LE] = { "le", F_ABC },
	[KL_I_EQ] = { "eq", F_ABC }, [KL_I_NE] = { "ne", F_ABC },
	[KL_I_EQB] = { "eqb", F_ABC }, [KL_I_NEB] = { "neb", F_ABC },
	[KL_I_NEG] = { "neg", F_AB }, [KL_I_INV] = { "inv", F_AB }, [KL_I_NOT] = { "not", F_AB },
	[KL_I_JMP] = { "jmp", F_J }, [KL_I_JZ] = { "jz", F_AJ }, [KL_I_JNZ] = { "jnz", F_AJ },
	[KL_I_FORCE] = { "force", F_A }, [KL_I_CHOOSE] = { "choose", F_ABC },
	[KL_I_ANY] = { "any", F_A },
	[KL_I_EITHER] = { "either", F_NONE }, [KL_I_ASSUME] = { "assume", F_A },
	[KL_I_ASSERT] = { "assert", F_A }, [KL_I_BLOCK] = { "block", F_NONE },
	[KL_I_FENCE] = { "fence", F_NONE },
	[KL_I_CONT] = { "cont", F_NONE }, [KL_I_RETURN] = { "return", F_NONE },
};

static const char *slot_name(const struct kl_spec *s, unsigned int slot)
{
	size_t i;

	for (i = 0; i < s->nvars; i++)
		if (!s->vars[i].cont && slot >= s->vars[i].slot &&
		    slot < s->vars[i].slot + s->vars[i].len)
			return s->vars[i].name;
	return "?";
}

static void dump_const(const struct kl_val *v, FILE *f)
{
	static const char *const special[] = { "", "any", "empty", "full", "absent" };

	if (v->tag)
		fputs(special[v->tag], f);
	else
		fprintf(f, "%" PRIu64, v->v);
}

/* Print the operands.  Return: the number of data words after the instruction. */
static unsigned int dump_operands(const struct kl_spec *s, const uint32_t *code, FILE *f)
{
	unsigned int a = *code >> 8 & 0xff, b = *code >> 16 & 0xff, c = *code >> 24, i;
	unsigned int imm = *code >> 16;

	switch (*code & 0xff) {
	case KL_I_CONST:
		fprintf(f, " r%u, ", a);
		dump_const(&s->pool[imm], f);
		return 0;
	case KL_I_LOAD:
	case KL_I_STORE:
		fprintf(f, " r%u, %s", a, slot_name(s, imm));
		return 0;
	case KL_I_LOADX:
	case KL_I_STOREX:
		fprintf(f, " r%u, %s[r%u]", a, slot_name(s, code[1] & 0xffff), b);
		return 1;
	case KL_I_EITHER:
		for (i = 1; i <= a; i++)
			fprintf(f, "%s %" PRIu32, i > 1 ? "," : "", code[i]);
		return a;
	case KL_I_ASSERT:
		fprintf(f, " r%u, line %" PRIu32, a, code[1]);
		return 1;
	case KL_I_BLOCK:
		fputs(a ? " atomic_flush" : " atomic", f);
		return 0;
	case KL_I_CONT:
		fprintf(f, " r%u, %s.%s", a, s->conts[b]->name,
			kl_cont_method(s->conts[b]->cont, c)->name);
		return 0;
	case KL_I_RETURN:
		fprintf(f, " %u", a);
		if (a)
			fprintf(f, ", r%u", b);
		return 0;
	}
	switch (insns[*code & 0xff].form) {
	case F_A:
		fprintf(f, " r%u", a);
		break;
	case F_AB:
		fprintf(f, " r%u, r%u", a, b);
		break;
	case F_ABC:
		fprintf(f, " r%u, r%u, r%u", a, b, c);
		break;
	case F_AJ:
		fprintf(f, " r%u, %u", a, imm);
		break;
	case F_J:
		fprintf(f, " %u", imm);
		break;
	default:
		break;
	}
	return 0;
}

void kl_spec_dump(const struct kl_spec *s, FILE *f)
{
	size_t i;
	unsigned int j;

	for (i = 0; i < s->nmethods; i++) {
		const struct kl_method_def *m = &s->methods[i];
		const uint32_t *code = s->code + m->code;

		fprintf(f, "%s:\n", m->pub.name);
		for (j = 0; j < m->ncode; j++) {
			fprintf(f, "%6u  %s", j, insns[code[j] & 0xff].name);
			j += dump_operands(s, code + j, f);
			fputc('\n', f);
		}
	}
}
