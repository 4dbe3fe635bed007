// SPDX-License-Identifier: GPL-2.0
/* What each method of a history does to the container. */
#include <stdlib.h>

#include "check/loglinear/loglinear.h"

uint8_t *ll_roles(const struct kl_slice *s)
{
	uint8_t *roles = calloc(s->h->nmethods + 1, sizeof(*roles));
	size_t i;

	for (i = 0; roles && i < s->h->nmethods; i++)
		roles[i] = s->methods[i] < 0 ? KL_ROLE_OTHER :
			   kl_spec_role(s->spec, s->methods[i]);
	return roles;
}
