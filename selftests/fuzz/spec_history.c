// SPDX-License-Identifier: GPL-2.0
/* Specifications and histories of the fuzz targets' inputs, see fuzz.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "selftests/fuzz/fuzz.h"
#include "spec/spec.h"

bool fuzz_spec_and_history(const uint8_t **data, size_t *size, struct kl_spec **s,
			   struct kl_history **h)
{
	char *text = fuzz_part(data, size);

	if (kl_spec_parse("fuzz", text, strlen(text), s))
		*s = NULL;
	free(text);
	text = fuzz_part(data, size);
	if (kl_text_read("fuzz", text, strlen(text), h))
		*h = NULL;
	free(text);
	return *s && *h;
}

char *fuzz_history_text(const struct kl_history *h, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f || kl_text_write(h, f) || fclose(f))
		fuzz_broken("out of memory");
	return text;
}
