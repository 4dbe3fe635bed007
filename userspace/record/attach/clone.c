// SPDX-License-Identifier: GPL-2.0
/* Recognises the clones that compilers make of a function, see clone.h. */
#include <string.h>

#include "record/attach/clone.h"

/*
 * GCC appends .isra.0 and .constprop.0; link-time optimisation appends .lto_priv.0 and .llvm.1234.
 * An unknown suffix counts as a clone, too.  A symbol whose only suffix is .cold is no clone: its
 * code belongs to the function itself.
 */
bool kl_is_clone(const char *symbol, const char *name)
{
	const size_t len = strlen(name);
	const char *rest;

	if (strncmp(symbol, name, len) || symbol[len] != '.')
		return false;
	rest = symbol + len;
	if (strncmp(rest, ".cold", 5))
		return true;
	rest += 5;
	return rest[*rest == '.' ? 1 + strspn(rest + 1, "0123456789") : 0];
}

bool kl_is_part(const char *symbol, const char *name)
{
	return kl_is_clone(symbol, name) && !strncmp(symbol + strlen(name), ".part.", 6);
}

const char *kl_clone_find(const struct kl_kernel *k, const struct kl_func *f, bool parts)
{
	size_t i;

	for (i = 0; i < k->nsyms; i++) {
		const struct kl_ksym *s = &k->syms[i];

		if (kl_is_clone(s->name, f->name) && (parts || !kl_is_part(s->name, f->name)) &&
		    !strcmp(s->module ? s->module : "", f->module))
			return s->name;
	}
	return NULL;
}
