// SPDX-License-Identifier: GPL-2.0
/* The coverage of probe clauses, see coverage.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/history.h"

const char *const kl_cover_names[KL_COVER_KINDS] = {
	[KL_COVER_WHOLE] = "whole",
	[KL_COVER_ASSERTED] = "asserted",
	[KL_COVER_UNKNOWN] = "unknown",
	[KL_COVER_UNDRAINED] = "undrained",
};

int kl_history_cover(struct kl_history *h, enum kl_cover kind, const char *method, size_t len,
		     const char *text, size_t ntext)
{
	struct kl_coverage c = { .kind = kind };
	char *p;
	int ret = kl_grow(h->coverage, h->ccoverage, h->ncoverage + 1);

	if (ret)
		return ret;
	c.method = strndup(method, len);
	c.text = text ? strndup(text, ntext) : NULL;
	if (!c.method || (text && !c.text)) {
		free(c.method);
		free(c.text);
		return -ENOMEM;
	}
	for (p = c.text; p && *p; p++)
		if (*p == '"' || (unsigned char)*p < ' ' || *p == 127)
			*p = *p == '"' ? '\'' : ' ';
	h->coverage[h->ncoverage++] = c;
	return 0;
}

int kl_history_copy_coverage(struct kl_history *to, const struct kl_history *from)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < from->ncoverage && !ret; i++) {
		const struct kl_coverage *c = &from->coverage[i];

		ret = kl_history_cover(to, c->kind, c->method, strlen(c->method), c->text,
				       c->text ? strlen(c->text) : 0);
	}
	return ret;
}

void kl_history_free_coverage(struct kl_history *h)
{
	size_t i;

	for (i = 0; i < h->ncoverage; i++) {
		free(h->coverage[i].method);
		free(h->coverage[i].text);
	}
	free(h->coverage);
	h->coverage = NULL;
	h->ncoverage = h->ccoverage = 0;
}
