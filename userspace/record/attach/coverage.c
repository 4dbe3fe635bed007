// SPDX-License-Identifier: GPL-2.0
/* Finds out whether a probe clause sees all calls of its function, see coverage.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/attach/clone.h"
#include "record/attach/coverage.h"

__attribute__((format(printf, 3, 4)))
static void set_cover(struct kl_instances *c, enum kl_cover kind, const char *fmt, ...)
{
	va_list ap;

	c->kind = kind;
	va_start(ap, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
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

/* Return: the function's own code, which has the symbol @name; NULL if none or several have it. */
static const struct kl_site *find_own_code(const struct kl_sites *sites, const char *name)
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

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Return: true if the clause's assertion names @symbol. */
static bool is_named(const struct kl_probe_target *t, const char *symbol)
{
	const char *at = t->asserted;
	const size_t len = strlen(symbol);

	for (; at && *symbol && (at = strstr(at, symbol)); at++)
		if ((at == t->asserted || !is_name_char(at[-1])) && !is_name_char(at[len]))
			return true;
	return false;
}

/*
 * Note that calls at @where, an inlined instance or a clone in @symbol, are not recorded.  This
 * contradicts an assertion of the clause, unless the assertion names @symbol.
 */
__attribute__((format(printf, 5, 6)))
static void note_unseen(struct kl_instances *c, const struct kl_probe_target *t, const char *symbol,
			const char *where, const char *fmt, ...)
{
	char why[300];
	va_list ap;

	if (c->contradicted)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	c->contradicted = t->asserted && !is_named(t, symbol);
	if (c->contradicted)
		set_cover(c, KL_COVER_UNKNOWN,
			  "%s(): '%.80s' is contradicted: it is %s%s%s; an "
			  "assertion that accounts for this must name %s",
			  t->name, t->asserted, where, *why ? ", " : "", why, symbol);
	else
		set_cover(c, KL_COVER_UNKNOWN, "%s(): it is %s%s%s", t->name, where,
			  *why ? ", " : "", why);
}

/* Describe the place of an instance, as `klin sites' does. */
static const char *place_text(const struct kl_site *s, char *buf, size_t size)
{
	const char *file = s->file ? strrchr(s->file, '/') : NULL;
	char line[96] = "";

	if (s->file)
		snprintf(line, sizeof(line), " (%s:%u)", file ? file + 1 : s->file, s->line);
	snprintf(buf, size, "inlined at %s+0x%llx%s", s->symbol ? s->symbol : s->in,
		 (unsigned long long)s->offset, line);
	return buf;
}

/*
 * Add a target for an inlined instance of the function @f.  If the instance cannot be recorded,
 * note that.  Return: 0 or -ENOMEM.
 */
static int add_instance(struct kl_kernel *k, const struct kl_found *f, const struct kl_site *s,
			struct kl_instances *c)
{
	const struct kl_probe_target *t = f->target;
	struct kl_found *to = &c->found[c->n];
	char where[300];
	int err;

	place_text(s, where, sizeof(where));
	if (c->n == KL_PLACES_MAX) {
		note_unseen(c, t, s->in, where,
			    "and at %u more places, which is too many to record", KL_PLACES_MAX);
		return 0;
	}
	if (t->object_at_return || t->when[1]) {
		note_unseen(c, t, s->in, where,
			    "where the clause cannot read values at the return");
		return 0;
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
		note_unseen(c, t, s->in, where, "and cannot be recorded there: %.200s",
			    *s->why ? s->why : to->why);
	c->n += !err;
	return err == -ENOMEM ? err : 0;
}

/* Judge the coverage by the instances in debugging information.  Return: 0 or -ENOMEM. */
static int judge_instances(struct kl_kernel *k, const struct kl_found *f,
			   const struct kl_sites *sites, struct kl_instances *c)
{
	const char *name = f->target->name;
	const struct kl_site *self = find_own_code(sites, name), *s;
	char where[200];
	size_t i;
	int err;

	if (!self) {
		set_cover(c, KL_COVER_UNKNOWN,
			  "%s(): debugging information does not show which function of this name "
			  "is probed", name);
		return 0;
	}
	for (i = 0; i < sites->n; i++) {
		s = &sites->site[i];
		if (s == self || !same_function(s, self) || s->init || !s->nranges)
			continue;
		if (s->inlined) {
			err = add_instance(k, f, s, c);
			if (err)
				return err;
		} else if (!(s->symbol && kl_is_part(s->symbol, name))) {
			snprintf(where, sizeof(where), "cloned as %s", s->symbol ? s->symbol :
				 "code without a symbol");
			note_unseen(c, f->target, s->symbol ? s->symbol : "", where, "%s", "");
		}
	}
	if (c->kind != KL_COVER_WHOLE)
		return 0;
	if (in_header(self)) {
		set_cover(c, KL_COVER_UNKNOWN,
			  "%s(): it is defined in a header, so other modules may "
			  "have copies",
			  name);
		return 0;
	}
	if (c->n)
		snprintf(c->text, sizeof(c->text), "%s(): %u inlined instance%s recorded, too",
			 name, c->n, c->n == 1 ? " is" : "s are");
	else
		snprintf(c->text, sizeof(c->text), "%s(): it is neither inlined nor cloned", name);
	return 0;
}

bool kl_live_patch(const struct kl_kernel *k, char *name, size_t size)
{
	DIR *dir = k->offline ? NULL : opendir("/sys/kernel/livepatch");
	const struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		found = d->d_name[0] != '.';
		snprintf(name, size, "%s", d->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

int kl_instances_find(struct kl_kernel *k, const struct kl_found *f, struct kl_instances *c)
{
	const struct kl_probe_target *t = f->target;
	const bool place = kl_target_is_place(t);
	const struct kl_sites *sites;
	char why[400], where[300];
	const char *clone;
	bool shown = false;
	int err = 0;

	*c = (struct kl_instances){ .kind = KL_COVER_WHOLE };
	if (t->kind == KL_TARGET_NOTHING)
		return 0;
	if (t->kind == KL_TARGET_KLIN) {
		snprintf(c->text, sizeof(c->text), "klin:%s announces each call itself", t->name);
		return 0;
	}
	if (!place) {
		err = kl_debug_instances(k, t->name, f->func.module, &sites, why, sizeof(why));
		if (err == -ENOMEM)
			return err;
		shown = !err;
		err = 0;
	}
	if (place)
		set_cover(c, KL_COVER_UNKNOWN, "%s%s%s%s: only executions of this place are seen",
			  t->inlined ? "inlined " : "", t->inlined ? t->inlined : "",
			  t->inlined ? " in " : "", t->name);
	else if (shown)
		err = judge_instances(k, f, sites, c);
	else
		set_cover(c, KL_COVER_UNKNOWN, "%s(): it is not known where it is inlined: %s",
			  t->name, why);
	clone = place ? NULL : kl_clone_find(k, &f->func, !shown);
	if (clone) {
		snprintf(where, sizeof(where), "cloned, as %s", clone);
		note_unseen(c, t, clone, where, "%s%s", shown ? "" : "and ", shown ? "" : why);
	}
	if (c->kind == KL_COVER_WHOLE && kl_live_patch(k, where, sizeof(where)))
		set_cover(c, KL_COVER_UNKNOWN,
			  "%s(): functions of the live patch %s may have it inlined",
			  t->name, where);
	if (c->kind == KL_COVER_UNKNOWN && t->asserted && !c->contradicted) {
		c->kind = KL_COVER_ASSERTED;
		snprintf(c->text, sizeof(c->text), "%s(): %s", t->name, t->asserted);
	}
	if (c->kind == KL_COVER_UNKNOWN)
		c->n = 0;
	return err;
}
