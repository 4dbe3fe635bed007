// SPDX-License-Identifier: GPL-2.0
/* Specifications, see klin/klin.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libklin/internal.h"

struct klin_spec *lib_spec(struct kl_spec *s)
{
	struct klin_spec *spec = malloc(sizeof(*spec));

	if (spec)
		*spec = (struct klin_spec){ .users = 1, .s = s };
	return spec;
}

/* Make the object of @s unless there is an error.  Return: 0 or a negative errno. */
static int finish(int err, const char *name, struct kl_spec *s, struct klin_spec **spec)
{
	if (!err) {
		*spec = lib_spec(s);
		err = *spec ? 0 : -ENOMEM;
	}
	if (err)
		kl_spec_free(s);
	return lib_end(err, name);
}

int klin_spec_load(const char *path, struct klin_spec **spec)
{
	struct kl_spec *s = NULL;
	int err;

	lib_begin();
	*spec = NULL;
	err = kl_spec_load(path, &s);
	return finish(err, path, s, spec);
}

int klin_spec_parse(const char *name, const char *text, struct klin_spec **spec)
{
	struct kl_spec *s = NULL;
	int err;

	lib_begin();
	*spec = NULL;
	err = kl_spec_parse(name, text, strlen(text), &s);
	return finish(err, name, s, spec);
}

void klin_spec_free(struct klin_spec *spec)
{
	if (!spec || !lib_put(&spec->users))
		return;
	kl_spec_free(spec->s);
	free(spec);
}
