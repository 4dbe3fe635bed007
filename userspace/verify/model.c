// SPDX-License-Identifier: GPL-2.0
/* Models for the verifier: reading an implementation, its code, and live registers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "spec/interp/flow.h"
#include "verify/model.h"

static int refuse(const struct kl_spec *s, struct kl_pos pos, const char *what, const char *name)
{
	kl_spec_err_at(s, pos, "klin verify %s: '%s'", what, name);
	return -EINVAL;
}

/* ---- reading a model ---------------------------------------------------------------------- */

static int read_struct(struct kl_vf_model *m)
{
	const struct kl_impl *im = m->im;
	const struct kl_struct *st = im->structs;
	unsigned int i, nfields = 0, next = 0, locks = 0;

	if (im->nstructs > 1)
		return refuse(m->spec, im->structs[1].pos, "supports nodes of one struct only",
			      im->structs[1].name);
	if (!im->nstructs)
		return 0;
	for (i = 0; i < st->nfields; i++) {
		const struct kl_field *f = &st->fields[i];

		if (f->type >= KL_IT_PTR) {
			if (next++)
				return refuse(m->spec, f->pos, "supports one pointer in a node, "
							       "this is the second", f->name);
			m->field[i] = FIELD_NEXT;
		} else if (f->type == KL_IT_LOCK) {
			if (locks++)
				return refuse(m->spec, f->pos, "supports one lock in a node, this "
							       "is the second", f->name);
			m->field[i] = FIELD_LOCK;
			m->has_lock = true;
		} else if (nfields == KL_VF_FIELDS) {
			return refuse(m->spec, f->pos,
				      "supports four fields of a node besides its pointer and its "
				      "lock, this is the fifth", f->name);
		} else {
			m->field[i] = nfields++;
		}
	}
	return 0;
}

/* Find the field that holds a set's keys. */
static int read_key_field(struct kl_vf_model *m)
{
	const struct kl_struct *st = m->im->structs;
	unsigned int i, n = 0;

	if (!m->im->nstructs)
		return refuse(m->spec, m->im->pos, "supports sets only as sorted lists of nodes",
			      m->spec->name);
	for (i = 0; i < st->nfields; i++) {
		m->key_field[i] = st->fields[i].key;
		n += st->fields[i].key;
	}
	if (n != 1)
		return refuse(m->spec, st->pos, "needs one field of type 'key' in the nodes of a "
			      "set", st->name);
	return 0;
}

static int read_state(struct kl_vf_model *m)
{
	struct kl_spec *s = m->spec;
	unsigned int at = m->im->nslots;
	size_t i;

	m->nslots = at;
	for (i = 0; i < m->im->nvars; i++)
		m->has_lock |= m->im->vars[i].f.type == KL_IT_LOCK;
	for (i = 0; i < s->nvars; i++) {
		const struct kl_var *v = &s->vars[i];

		if (!v->has_init)
			return refuse(s, v->pos, "needs an initial value of each variable of the "
				      "specification", v->name);
		if (!v->cont)
			continue;
		if (v->cont != KL_C_STACK && v->cont != KL_C_QUEUE && v->cont != KL_C_SET)
			return refuse(s, v->pos, "supports the containers stack, queue and set, "
						 "not this one", v->name);
		if (v->cont == KL_C_SET)
			m->keyed = true;
		if (at + 2 > KL_VF_GLOBALS)
			return refuse(s, v->pos, "has no room for more shared words", v->name);
		m->is_queue[v->slot] = v->cont == KL_C_QUEUE;
		m->cont[v->slot] = at;
		at += v->cont == KL_C_QUEUE ? 2 : 1;
	}
	m->scalar = at;
	at += s->nslots;
	if (at > KL_VF_GLOBALS) {
		kl_err("%s: klin verify supports %d shared words, but the implementation and "
		       "the specification have %u", s->path, KL_VF_GLOBALS, at);
		return -EINVAL;
	}
	m->ng = at;
	if (m->keyed && s->nvars > 1)
		return refuse(s, s->vars[1].pos, "supports a set only without other variables in "
						 "the specification", s->vars[1].name);
	return 0;
}

static int read_keys(struct kl_vf_model *m)
{
	struct kl_spec *s = m->spec;
	char why[300];
	unsigned int i;
	int ret;

	if (!m->keyed)
		return 0;
	if (s->partition != KL_PART_PARAM) {
		kl_err("%s: klin verify checks a set one key at a time: the specification needs "
		       "'partition by k;'", s->path);
		return -EINVAL;
	}
	if (kl_spec_partition_doubt(s, why, sizeof(why))) {
		kl_err("klin verify checks a set one key at a time: %s", why);
		return -EINVAL;
	}
	for (i = 0; i < m->nm; i++) {
		m->m[i].key = s->methods[i].pub.part_param;
		if (m->m[i].key < 0 || m->m[i].key >= (int)m->m[i].nparams)
			return refuse(s, s->methods[i].pos, "needs the key as a parameter of each "
				      "method of a set", m->m[i].name);
	}
	ret = read_key_field(m);
	return ret;
}

/* ---- live registers ------------------------------------------------------------------------ */

static void liveness(struct kl_vf_method *m)
{
	bool changed = true;
	struct kl_flow f;
	unsigned int i;
	uint32_t at;

	while (changed) {
		changed = false;
		for (at = 0; at < m->ncode; at += f.words) {
			uint64_t out = 0;

			kl_insn_flow(m->code + at, &f);
			if (f.next && at + f.words < m->ncode)
				out |= m->live[at + f.words];
			if (f.jump >= 0)
				out |= m->live[f.jump];
			for (i = 1; !f.next && f.jump < 0 && i < f.words; i++)
				out |= m->live[m->code[at + i]];
			m->kept |= out & ~f.def;
			out = (out & ~f.def) | f.use;
			changed |= out != m->live[at];
			m->live[at] = out;
		}
	}
}

/* Mark the accesses with linearization points: each point belongs to the last access before it. */
static void find_points(struct kl_vf_method *m)
{
	struct kl_flow f;
	uint32_t at, last = 0;
	bool block = false;

	for (at = 0; at < m->ncode; at += f.words) {
		kl_insn_flow(m->code + at, &f);
		switch ((enum kl_opcode)(m->code[at] & 0xff)) {
		case KL_I_BLOCK:
			block = true;
			last = at;
			break;
		case KL_I_END:
			block = false;
			break;
		case KL_I_LOAD:
		case KL_I_STORE:
		case KL_I_LOADX:
		case KL_I_STOREX:
		case KL_I_READ:
		case KL_I_WRITE:
		case KL_I_LOCK:
		case KL_I_UNLOCK:
			if (!block)
				last = at;
			break;
		case KL_I_LIN:
			m->lin = true;
			m->other |= m->code[at] >> 24 & KL_LIN_OTHER;
			if (m->code[at] >> 24 & KL_LIN_ATTACHED)
				m->point[last] = true;
			break;
		default:
			break;
		}
	}
}

/* Return: true if the registers of the reference's code fit KL_VF_RREGS. */
static bool fits_registers(const uint32_t *code, uint32_t n)
{
	uint32_t at;

	for (at = 0; at < n; at++) {
		const uint32_t w = code[at];

		switch ((enum kl_opcode)(w & 0xff)) {
		case KL_I_EITHER:
			at += w >> 8 & 0xff;
			break;
		case KL_I_LOADX:
		case KL_I_STOREX:
		case KL_I_ASSERT:
			if ((w >> 8 & 0xff) >= KL_VF_RREGS - 1)
				return false;
			at++;
			break;
		case KL_I_RETURN:
			if ((w >> 16 & 0xff) + (w >> 8 & 0xff) > KL_VF_RREGS)
				return false;
			break;
		case KL_I_BLOCK:
		case KL_I_FENCE:
		case KL_I_JMP:
			break;
		default:
			if ((w >> 8 & 0xff) >= KL_VF_RREGS - 1)
				return false;
		}
	}
	return true;
}

static int read_methods(struct kl_vf_model *m)
{
	struct kl_spec *s = m->spec;
	uint32_t start[KL_VF_METHODS], n[KL_VF_METHODS];
	unsigned int i, k;
	size_t words = 0;
	uint32_t *lines;
	uint64_t *live;
	bool *point;
	const size_t ncode = s->ncode;
	int ret;

	if (m->im->nmethods > KL_VF_METHODS) {
		kl_err("%s: klin verify supports at most %d methods", s->path, KL_VF_METHODS);
		return -EINVAL;
	}
	ret = kl_impl_lin(s, start, n, &m->nregs, m->names);
	if (ret)
		return ret;
	/* The specification's code moves in memory when more is compiled, so it is copied. */
	m->code = calloc(s->ncode, 2 * sizeof(*m->code));
	if (!m->code)
		return -ENOMEM;
	lines = m->code + s->ncode;
	memcpy(m->code, s->code, s->ncode * sizeof(*m->code));
	memcpy(lines, s->lines, s->ncode * sizeof(*lines));
	s->ncode = ncode;
	m->nm = m->im->nmethods;
	for (i = 0; i < m->nm; i++)
		words += n[i];
	m->live = live = calloc(words + 1, sizeof(*live));
	m->point = point = calloc(words + 1, sizeof(*point));
	if (!live || !point)
		return -ENOMEM;
	for (i = 0; i < m->nm; i++) {
		const struct kl_method_def *d = &m->im->methods[i], *sd = &s->methods[i];
		struct kl_vf_method *v = &m->m[i];

		*v = (struct kl_vf_method){
			.name = d->pub.name, .code = m->code + start[i], .ncode = n[i],
			.ref = m->code + sd->code, .nref = sd->ncode,
			.lines = lines + start[i], .live = live,
			.point = point,
			.nparams = d->pub.nparams, .nresults = d->pub.nresults, .key = -1,
		};
		live += n[i];
		point += n[i];
		if (v->nresults > KL_VF_RESULTS)
			return refuse(s, d->pos,
				      "supports methods with at most two results", v->name);
		if (!fits_registers(v->ref, v->nref))
			return refuse(s, sd->pos, "has too few registers for this method of the "
				      "specification", v->name);
		for (k = 0; k < v->nparams; k++)
			if (d->pub.params[k].type == KL_T_BOOL)
				v->bools |= 1u << k;
		liveness(v);
		find_points(v);
	}
	return 0;
}

int kl_vf_model(struct kl_vf_model *m, struct kl_spec *spec)
{
	unsigned int i;
	int ret;

	memset(m, 0, sizeof(*m));
	m->spec = spec;
	m->im = spec->impl;
	if (!m->im) {
		kl_err("%s: the file has no implementation: 'klin verify' needs 'shared' and "
		       "'method' after the specification, as the shipped explore/treiber has them; "
		       "`klin spec --list' lists such models",
		       spec->path);
		return -EINVAL;
	}
	if (m->im->nthreads)
		return refuse(spec, m->im->threads[0].pos,
			      "runs methods in any order: expected 'client general(N);' or 'client "
			      "roles(...);' instead of a thread", m->im->threads[0].name);
	if (m->im->nslots > KL_VF_GLOBALS) {
		kl_err("%s: klin verify supports %d shared words, but the model has %u", spec->path,
		       KL_VF_GLOBALS, m->im->nslots);
		return -EINVAL;
	}
	kl_vf_const(m, kl_word(0));
	kl_vf_const(m, kl_word(1));
	ret = read_struct(m);
	if (!ret)
		ret = read_state(m);
	if (!ret)
		ret = read_methods(m);
	if (!ret)
		ret = read_keys(m);
	for (i = 0; i < sizeof(m->prot) / sizeof(*m->prot); i++)
		m->prot[i] = UINT64_MAX;
	for (i = 0; i < m->nm; i++)
		if (m->m[i].other && !m->keyed && !ret) {
			kl_err("%s: klin verify supports '@lin other' for sets only ('%s')",
			       spec->path, m->m[i].name);
			ret = -EINVAL;
		}
	return ret;
}

void kl_vf_model_free(struct kl_vf_model *m)
{
	free(m->live);
	free(m->point);
	free(m->code);
}
