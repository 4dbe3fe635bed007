// SPDX-License-Identifier: GPL-2.0
/* Abstract values: truth, comparison, and arithmetic on known values. */
#include "verify/model.h"

uint8_t kl_vf_const(struct kl_vf_model *m, struct kl_val v)
{
	unsigned int i;

	for (i = 0; i < m->nconsts; i++)
		if (kl_val_eq(m->consts[i], v))
			return i ? VF_CONST + i : VF_NULL;
	if (i == KL_VF_CONSTS)
		return VF_TOP;
	m->consts[m->nconsts++] = v;
	return i ? VF_CONST + i : VF_NULL;
}

bool kl_vf_const_of(const struct kl_vf_model *m, uint8_t v, struct kl_val *out)
{
	if (v && (v <= VF_CONST || v >= VF_CONST + KL_VF_CONSTS))
		return false;
	*out = m->consts[v ? v - VF_CONST : 0];
	return true;
}

int kl_vf_truth(const struct kl_verifier *x, uint8_t v)
{
	struct kl_val c;

	if (kl_vf_const_of(&x->m, v, &c))
		return c.v || c.tag;
	return kl_vf_is_ptr(v) ? 1 : 2;
}

static bool is_key(uint8_t v)
{
	return v >= VF_KEY && v < VF_OWN;
}

int kl_vf_equal(const struct kl_verifier *x, uint8_t a, uint8_t b)
{
	struct kl_val c;

	if (a == VF_TOP || b == VF_TOP)
		return 2;
	if (is_key(a) || is_key(b))
		return kl_vf_key_equal(x, a, b);
	if (a == b)
		return 1;
	if (!kl_vf_is_data(a) && !kl_vf_is_data(b))
		return 0;
	/* Data is a word, and differs from special values. */
	if ((kl_vf_const_of(&x->m, a, &c) || kl_vf_const_of(&x->m, b, &c)) && c.tag)
		return 0;
	return 2;
}

int kl_vf_less(const struct kl_verifier *x, uint8_t a, uint8_t b, bool or_equal)
{
	struct kl_val p, q;

	if (is_key(a) || is_key(b))
		return kl_vf_key_less(x, a, b, or_equal);
	if (!kl_vf_const_of(&x->m, a, &p) || !kl_vf_const_of(&x->m, b, &q) || p.tag || q.tag)
		return 2;
	return or_equal ? p.v <= q.v : p.v < q.v;
}

static uint8_t arith(struct kl_verifier *x, enum kl_opcode op, uint8_t a, uint8_t b)
{
	static const int ops[] = {
		'+', '-', '*', '/', '%', '&', '|', '^', KL_OP_SHL, KL_OP_SHR,
	};
	struct kl_val p, q;

	if (!kl_vf_const_of(&x->m, a, &p) || !kl_vf_const_of(&x->m, b, &q) || p.tag || q.tag)
		return VF_TOP;
	if (op == KL_I_NEG)
		return kl_vf_const(&x->m, kl_word(-p.v));
	if (op == KL_I_INV)
		return kl_vf_const(&x->m, kl_word(~p.v));
	if ((op == KL_I_DIV || op == KL_I_MOD) && !q.v)
		return VF_TOP;
	return kl_vf_const(&x->m, kl_word(kl_arith(ops[op - KL_I_ADD], p.v, q.v)));
}

bool kl_vf_compute(struct kl_verifier *x, enum kl_opcode op, uint8_t b, uint8_t c, uint8_t *out)
{
	int is;

	switch (op) {
	case KL_I_ADD ... KL_I_SHR:
		*out = arith(x, op, b, c);
		return true;
	case KL_I_NEG:
	case KL_I_INV:
		*out = arith(x, op, b, VF_NULL);
		return true;
	case KL_I_NOT:
		is = kl_vf_truth(x, b);
		break;
	case KL_I_LT:
	case KL_I_LE:
		is = kl_vf_less(x, b, c, op == KL_I_LE);
		break;
	default:
		is = kl_vf_equal(x, b, c);
	}
	if (is == 2)
		return false;
	if (op == KL_I_NOT || op == KL_I_NE || op == KL_I_NEB)
		is = !is;
	*out = kl_vf_const(&x->m, kl_word(is));
	return true;
}
