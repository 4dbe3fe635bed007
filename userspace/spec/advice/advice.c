// SPDX-License-Identifier: GPL-2.0
/* Advice on names and words of other languages, see advice.h. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "spec/lang/advice.h"
#include "spec/lang/check.h"

#define METHODS_MAX	8 /* maximal number of methods of a container */

/* Words of other languages, with a blank around each, and what this one has in place of them. */
struct foreign {
	const char *words, *advice;
};

static const struct foreign everywhere[] = {
	{ " and And AND ", "; write '&&'" },
	{ " Or OR ", "; write '||'" },
	{ " not Not NOT ", "; write '!'" },
	{ " is eq equals ", "; write '=='" },
	{ " elif elseif elsif ", "; write 'else if'" },
	{ " True TRUE ", "; write 'true'" },
	{ " False FALSE ", "; write 'false'" },
	{ " NULL nullptr nil None null undefined ",
	  "; write 0, or one of 'empty', 'full' and 'absent'" },
	{ " int uint long short char unsigned signed u8 u16 u32 u64 s8 s16 s32 s64 int32_t "
	  "uint32_t int64_t uint64_t size_t integer Int atomic_t float double ",
	  "; the types are 'word', of 64 bits, and 'bool'" },
	{ " boolean Bool _Bool Boolean ", "; write 'bool'" },
	{ " void typedef ", "; leave it out" },
	{ " static extern inline volatile public private let var auto final then ",
	  "; leave it out" },
	{ " enum define ", "; write 'const NAME = NUMBER;'" },
	{ " shared struct client thread ",
	  " here: it belongs to an implementation, outside of 'spec' and of methods" },
	{ " def fn func function fun proc procedure operation op ", "; write 'method'" },
	{ " self this ", "; write the variable's name alone" },
	{ " len length size ", "; write NAME.size()" },
	{ " in contains ", "; sets, maps and bags have NAME.has(KEY)" },
	{ " for foreach ", ": write loops with 'while'" },
	{ " do ", ": write loops with 'while'" },
	{ " switch case match ", ": write 'if'" },
	{ " break continue goto ", ": let the loop's condition say when the loop ends" },
};

/* In implementations these come first. */
static const struct foreign in_impl[] = {
	{ " NULL nullptr nil None ", "; write 'null'" },
	{ " mutex spinlock spinlock_t rwlock pthread_mutex_t ", "; write 'lock'" },
	{ " spin_lock mutex_lock raw_spin_lock pthread_mutex_lock acquire ",
	  "; write 'lock(NAME);'" },
	{ " spin_unlock mutex_unlock raw_spin_unlock pthread_mutex_unlock release ",
	  "; write 'unlock(NAME);'" },
	{ " mb smp_mb fence mfence barrier smp_mb__after_atomic __sync_synchronize ",
	  "; write 'fence;'" },
	{ " smp_wmb wmb ", "; write 'wmb;'" },
	{ " smp_rmb rmb ", "; write 'rmb;'" },
	{ " cmpxchg try_cmpxchg atomic_cmpxchg compare_and_swap compare_exchange CAS ",
	  "; write 'cas(&PLACE, OLD, NEW)'" },
	{ " xadd faa fetch_add atomic_fetch_add ", "; write 'fadd(&PLACE, VALUE)'" },
	{ " swap exchange atomic_xchg ", "; write 'xchg(&PLACE, VALUE)'" },
	{ " malloc kmalloc kzalloc calloc ", "; write 'new STRUCT'" },
	{ " free kfree kfree_rcu ", "; nothing is freed" },
	{ " READ_ONCE WRITE_ONCE smp_load_acquire smp_store_release rcu_dereference "
	  "rcu_assign_pointer ", "; write the access without it" },
};

/* Words for an item of a probe clause, or for a part of a rule of a history block. */
static const struct foreign items[] = {
	{ " return returns ret retval result_ output out ", "; write 'result'" },
	{ " arg args arguments param params parameter parameters input ", "; write 'argument'" },
	{ " if filter where ", "; write 'when'" },
};

static const char *find(const struct foreign *list, size_t n, const char *padded)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strstr(list[i].words, padded))
			return list[i].advice;
	return NULL;
}

const char *kl_advise_word(const char *word, size_t len, bool impl)
{
	char padded[KL_NAME_MAX + 3];
	const char *advice = NULL;

	if (len > KL_NAME_MAX)
		return "";
	snprintf(padded, sizeof(padded), " %.*s ", (int)len, word);
	if (impl)
		advice = find(in_impl, sizeof(in_impl) / sizeof(*in_impl), padded);
	if (!advice)
		advice = find(everywhere, sizeof(everywhere) / sizeof(*everywhere), padded);
	return advice ? advice : "";
}

const char *kl_advise_item(const char *word, size_t len)
{
	char padded[KL_NAME_MAX + 3];
	const char *advice;

	if (len > KL_NAME_MAX)
		return "";
	snprintf(padded, sizeof(padded), " %.*s ", (int)len, word);
	advice = find(items, sizeof(items) / sizeof(*items), padded);
	return advice ? advice : "";
}

const char *kl_advise_name(const char *name, const char *const *names, size_t n,
			   char buf[KL_ADVICE_MAX])
{
	const char *near = kl_nearest(name, names, n);

	*buf = 0;
	if (near)
		snprintf(buf, KL_ADVICE_MAX, "; did you mean '%s'?", near);
	return buf;
}

const char *kl_advise_variable(const struct kl_checker *c, const char *name, struct kl_pos pos,
			       char buf[KL_ADVICE_MAX])
{
	const char *names[KL_LOCALS_MAX + 2 * KL_ITEMS_MAX];
	const char *word = kl_advise_word(name, strlen(name), false);
	size_t i, n = 0;

	for (i = 0; i < c->s->nconsts; i++) {
		const struct kl_const *k = &c->s->consts[i];

		if (strcmp(k->name, name))
			continue;
		snprintf(buf, KL_ADVICE_MAX,
			 k->pos.line < pos.line ||
					 (k->pos.line == pos.line && k->pos.col < pos.col) ?
				 "; the constant in line %u has a mistake" :
				 "; the constant is declared later, in line %u",
			 k->pos.line);
		return buf;
	}
	for (i = 0; i < c->nscope; i++)
		names[n++] = c->scope[i]->name;
	for (i = 0; i < c->s->nvars; i++)
		names[n++] = c->s->vars[i].name;
	for (i = 0; i < c->s->nconsts; i++)
		names[n++] = c->s->consts[i].name;
	kl_advise_name(name, names, n, buf);
	return *buf ? buf : word;
}

const char *kl_advise_operand(const struct kl_ast_expr *e, const char *what)
{
	if (e->kind == KL_A_BINARY && e->op != KL_OP_AND && e->op != KL_OP_OR &&
	    !strcmp(what, "the operand"))
		return "; comparisons form no chain, and '==' and '<' bind before '&', '^' and '|'";
	return "; append '? 1 : 0'";
}

struct kl_pos kl_spec_method_pos(const struct kl_spec *s, unsigned int method)
{
	return s->methods[method].pos;
}

struct kl_pos kl_spec_unset_pos(const struct kl_spec *s)
{
	size_t i;

	for (i = 0; i < s->nvars; i++)
		if (!s->vars[i].has_init)
			return s->vars[i].pos;
	return (struct kl_pos){ 0 };
}

/* Return: the first choice without a range among the statements from @s on, or NULL. */
static const struct kl_stmt *any_choice(const struct kl_stmt *s)
{
	const struct kl_stmt *found = NULL;

	for (; s && !found; s = s->next)
		found = s->kind == KL_S_CHOOSE && !s->a ? s :
							  any_choice(s->body) ?: any_choice(s->other);
	return found;
}

struct kl_pos kl_spec_any_choice_pos(const struct kl_spec *s, const char **name)
{
	const struct kl_stmt *found = NULL;
	size_t i;

	for (i = 0; i < s->nmethods && !found; i++)
		found = any_choice(s->methods[i].body);
	*name = found ? found->name : NULL;
	return found ? found->pos : (struct kl_pos){ 0 };
}

const char *kl_spec_near_method(const struct kl_spec *s, const char *name, char *buf, size_t size)
{
	const char *names[KL_ITEMS_MAX], *near;
	size_t i;

	for (i = 0; i < s->nmethods; i++)
		names[i] = s->methods[i].pub.name;
	near = kl_nearest(name, names, s->nmethods);
	*buf = 0;
	if (near)
		snprintf(buf, size, "; did you mean '%s'?", near);
	return buf;
}

const char *kl_advise_method(enum kl_cont_kind kind, const char *name, char buf[KL_ADVICE_MAX])
{
	char list[KL_ADVICE_MAX / 2], copy[sizeof(list)], *s = copy;
	const char *names[METHODS_MAX];
	enum kl_cont_kind other;
	size_t n = 0;

	strcpy(copy, kl_cont_list(kind, list, sizeof(list)));
	while (n < METHODS_MAX && s) {
		names[n++] = s;
		s = strchr(s, ',');
		if (s)
			*s = 0;
		if (s)
			s += 2;
	}
	/* A method of another container is no typing error. */
	for (other = KL_C_QUEUE; other <= KL_C_BAG; other++)
		if (kl_cont_find(other, name))
			n = 0;
	if (!*kl_advise_name(name, names, n, buf))
		snprintf(buf, KL_ADVICE_MAX, "; it has %s", list);
	return buf;
}
