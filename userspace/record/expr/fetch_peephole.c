// SPDX-License-Identifier: GPL-2.0
/* Makes fetch programs shorter, since each operation executes all steps. */
#include <stdbool.h>
#include <string.h>

#include "record/expr/compiler.h"

/* Return: true if a step's result may be unknown although its operands are known. */
static bool may_fail(unsigned int op)
{
	switch (op) {
	case KLIN_LOAD:
	case KLIN_NUMBER:
	case KLIN_UNKNOWN:
	case KLIN_DIV:
	case KLIN_MOD:
	case KLIN_SDIV:
	case KLIN_SMOD:
		return true;
	}
	return false;
}

/*
 * Join the first steps of @prog if they store an argument or the return value, perhaps truncated,
 * as a value or the object.  @code gets the joined step.  Return: the number of joined steps, or 0.
 */
static unsigned int join(const struct klin_insn *prog, unsigned int n, __u64 *code)
{
	const unsigned int from = prog[0].code & 0xff, reg = prog[0].code >> 8 & 0xff;
	const bool cut = n > 1 && (prog[1].code & 0xff) == KLIN_EXT &&
			 (prog[1].code >> 8 & 0xff) == reg;
	const unsigned int size = cut ? prog[1].code >> 24 & 0xff : 0, at = 1 + cut;
	unsigned int op;

	if ((from != KLIN_ARG && from != KLIN_RETVAL) || at >= n ||
	    (prog[at].code >> 16 & 0xff) != reg)
		return 0;
	op = prog[at].code & 0xff;
	if (op == KLIN_VAL)
		op = from == KLIN_ARG ? KLIN_VAL_ARG : KLIN_VAL_RET;
	else if (op == KLIN_OBJECT && from == KLIN_ARG && !cut)
		op = KLIN_OBJECT_ARG;
	else
		return 0;
	*code = KLIN_CODE(op, 0, prog[0].code >> 16 & 0xff, size, prog[at].code >> 32);
	return at + 1;
}

unsigned int kl_optimize_fetch(struct klin_insn *prog, unsigned int n)
{
	unsigned int i, to = 0, taken, args = 0;
	bool sure = true;

	for (i = 0; i < n; i += taken) {
		struct klin_insn step = prog[i];

		if ((step.code & 0xff) == KLIN_ARG)
			args |= 1U << (step.code >> 16 & 0xff);
		sure &= !may_fail(step.code & 0xff);
		taken = join(&prog[i], n - i, &step.code);
		if (!taken) {
			step.code |= sure ? (uint64_t)KLIN_SURE << 24 : 0;
			taken = 1;
		}
		prog[to++] = step;
	}
	memset(&prog[to], 0, (n - to) * sizeof(*prog));
	return args;
}
