// SPDX-License-Identifier: GPL-2.0
/* Does a probe clause see all calls of its function?  See coverage.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coverage.h"

__attribute__((format(printf, 3, 4)))
static void set(struct kl_instances *c, enum kl_cover kind, const char *fmt, ...)
{
	va_list ap;

	c->kind = kind;
	c->n = 0;
	va_start(ap, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
}

/* What GCC appends to the names of code that it made of a function. */
static bool is_clone(const char *symbol, const char *name)
{
	const size_t len = strlen(name);

	/* A .cold part belongs to the function, and a .part is called by what is inlined. */
	return !strncmp(symbol, name, len) && symbol[len] == '.' &&
	       strncmp(symbol + len, ".cold", 5) && strncmp(symbol + len, ".part.", 6);
}

/* A clone among the kernel's symbols, or NULL. */
static const char *find_clone(const struct kl_kernel *k, const struct kl_func *f)
{
	size_t i;

	for (i = 0; i < k->nsyms; i++)
		if (is_clone(k->syms[i].name, f->name) &&
		    !strcmp(k->syms[i].module ? k->syms[i].module : "", f->module))
			return k->syms[i].name;
	return NULL;
}

static bool in_header(const struct kl_site *s)
{
	const size_t len = s->decl_file ? strlen(s->decl_file) : 0;

	return s->declared_inline || len < 2 || strcmp(s->decl_file + len - 2, ".c");
}

static bool same_function(const struct kl_site *a, const struct kl_site *b)
{
	return a->decl_line == b->decl_line && a->decl_file && b->decl_file &&
	       !strcmp(a->decl_file, b->decl_file);
}

/* The function itself, by the symbol that is attached to; NULL if it is not there, or twice. */
static const struct kl_site *find_itself(const struct kl_sites *sites, const char *name)
{
	const struct kl_site *found = NULL;
	size_t i;

	for (i = 0; i < sites->n; i++) {
		const struct kl_site *s = &sites->site[i];

		if (s->inlined || !s->symbol || s->offset || strcmp(s->symbol, name))
			continue;
		if (found)
			return NULL;
		found = s;
	}
	return found;
}

/* A clause for an inlined instance of the function @f. */
static int add_instance(struct kl_kernel *k, const struct kl_found *f, const struct kl_site *s,
			struct kl_instances *c)
{
	const struct kl_probe_target *t = f->target;
	struct kl_found *to = &c->found[c->n];
	int err;

	if (c->n == KL_PLACES_MAX) {
		set(c, KL_COVER_UNKNOWN, "%s(): it is inlined at more than %u places", t->name,
		    KL_PLACES_MAX);
		return -EOPNOTSUPP;
	}
	if (t->object_at_return || t->when[1]) {
		set(c, KL_COVER_UNKNOWN, "%s(): it is inlined at %s+0x%llx, where what the clause "
		    "reads at the return cannot be seen", t->name, s->symbol ? s->symbol : s->in,
		    (unsigned long long)s->offset);
		return -EOPNOTSUPP;
	}
	*to = (struct kl_found){ .way = KL_WAY_NONE, .nplaces = 1 };
	to->target = kl_target_inlined(k, t, s->in);
	if (!to->target)
		return -ENOMEM;
	err = kl_place_of_site(k, f->func.module, s, t->name, &to->places[0], to->why,
			       sizeof(to->why));
	if (!err)
		err = kl_target_place(k, to, 0);
	if (err && err != -ENOMEM)
		set(c, KL_COVER_UNKNOWN, "%s(): inlined at %s+0x%llx, it cannot be recorded: %s",
		    t->name, s->symbol ? s->symbol : s->in, (unsigned long long)s->offset, to->why);
	c->n += !err;
	return err;
}

/* Debugging information shows all instances of the function: are they seen? */
static int look_at(struct kl_kernel *k, const struct kl_found *f, const struct kl_sites *sites,
		   struct kl_instances *c)
{
	const char *name = f->target->name, *clone = find_clone(k, &f->func);
	const struct kl_site *self = find_itself(sites, name), *s;
	size_t i;
	int err;

	if (!self) {
		set(c, KL_COVER_UNKNOWN, "%s(): debugging information does not tell which one it is",
		    name);
		return 0;
	}
	if (in_header(self)) {
		set(c, KL_COVER_UNKNOWN, "%s(): it is defined in a header, so other modules may "
		    "have copies", name);
		return 0;
	}
	for (i = 0; i < sites->n; i++) {
		s = &sites->site[i];
		if (s == self || !same_function(s, self) || s->init || !s->nranges)
			continue;
		if (!s->inlined && s->symbol && !strncmp(s->symbol, name, strlen(name)) &&
		    !strncmp(s->symbol + strlen(name), ".part.", 6))
			continue;
		if (!s->inlined) {
			set(c, KL_COVER_UNKNOWN, "%s(): its clone %s is called in its place", name,
			    s->symbol ? s->symbol : "without a symbol");
			return 0;
		}
		err = add_instance(k, f, s, c);
		if (err)
			return err == -ENOMEM ? err : 0;
	}
	if (clone)
		set(c, KL_COVER_UNKNOWN, "%s(): the kernel has a clone, %s", name, clone);
	else if (c->n)
		snprintf(c->text, sizeof(c->text), "%s(): %u inlined instance%s recorded, too",
			 name, c->n, c->n == 1 ? " is" : "s are");
	else
		snprintf(c->text, sizeof(c->text), "%s(): it is neither inlined nor cloned", name);
	return 0;
}

int kl_instances_find(struct kl_kernel *k, const struct kl_found *f, struct kl_instances *c)
{
	const struct kl_probe_target *t = f->target;
	const struct kl_sites *sites;
	const char *clone;
	char why[300];
	int err = 0;

	*c = (struct kl_instances){ .kind = KL_COVER_WHOLE };
	if (t->kind == KL_TARGET_NOTHING)
		return 0;
	if (t->kind == KL_TARGET_KLIN) {
		snprintf(c->text, sizeof(c->text), "klin:%s announces each call itself", t->name);
		return 0;
	}
	if (kl_target_is_place(t)) {
		set(c, KL_COVER_UNKNOWN, "%s%s%s%s: only what is executed there is seen",
		    t->inlined ? "inlined " : "", t->inlined ? t->inlined : "",
		    t->inlined ? " in " : "", t->name);
	} else if (kl_debug_instances(k, t->name, f->func.module, &sites, why, sizeof(why))) {
		clone = find_clone(k, &f->func);
		set(c, KL_COVER_UNKNOWN, "%s(): where it is inlined is not known: %s%s%s", t->name,
		    why, clone ? "; it has a clone, " : "", clone ? clone : "");
	} else {
		err = look_at(k, f, sites, c);
	}
	if (!err && c->kind == KL_COVER_UNKNOWN && t->asserted) {
		c->kind = KL_COVER_ASSERTED;
		snprintf(c->text, sizeof(c->text), "%s(): %s", t->name, t->asserted);
	}
	return err;
}
