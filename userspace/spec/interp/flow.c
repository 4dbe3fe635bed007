// SPDX-License-Identifier: GPL-2.0
/* A table of the registers and jumps of each instruction, for data-flow analyses of byte code. */
#include "spec/interp/code.h"
#include "spec/interp/flow.h"

static uint64_t bit(unsigned int r)
{
	return 1ULL << (r & 63);
}

void kl_insn_flow(const uint32_t *code, struct kl_flow *f)
{
	const unsigned int a = *code >> 8 & 0xff, b = *code >> 16 & 0xff, c = *code >> 24;
	const int imm = *code >> 16;

	*f = (struct kl_flow){ .words = 1, .next = true, .jump = -1 };
	switch ((enum kl_opcode)(*code & 0xff)) {
	case KL_I_MOV:
	case KL_I_NEG:
	case KL_I_INV:
	case KL_I_NOT:
	case KL_I_READ:
	case KL_I_FIELD:
		f->def = bit(a);
		f->use = bit(b);
		break;
	case KL_I_CONST:
	case KL_I_LOAD:
	case KL_I_ADDR:
	case KL_I_NEW:
	case KL_I_FRESH:
		f->def = bit(a);
		break;
	case KL_I_STORE:
	case KL_I_ASSUME:
		f->use = bit(a);
		break;
	case KL_I_ASSERT:
		f->use = bit(a);
		f->words = 2;
		break;
	case KL_I_LOADX:
	case KL_I_ADDRX:
		f->def = bit(a);
		f->use = bit(b);
		f->words = 2;
		break;
	case KL_I_STOREX:
		f->use = bit(a) | bit(b);
		f->words = 2;
		break;
	case KL_I_WRITE:
		f->use = bit(a) | bit(b);
		break;
	case KL_I_ADD ... KL_I_NEB:
	case KL_I_CHOOSE:
		f->def = bit(a);
		f->use = bit(b) | bit(c);
		break;
	case KL_I_JMP:
		f->next = false;
		f->jump = imm;
		break;
	case KL_I_JZ:
	case KL_I_JNZ:
		f->use = bit(a);
		f->jump = imm;
		break;
	case KL_I_EITHER:
		f->words = 1 + a;
		f->next = false;
		break;
	case KL_I_LOCK:
	case KL_I_UNLOCK:
		f->use = a ? bit(b) : 0;
		break;
	case KL_I_LIN:
		f->use = b ? bit(a) : 0;
		break;
	case KL_I_RETURN:
		f->use = kl_flow_regs(b, a);
		f->next = false;
		break;
	case KL_I_STOP:
		f->next = false;
		break;
	default:
		break;
	}
}
