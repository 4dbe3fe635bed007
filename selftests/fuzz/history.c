// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of one form of histories (-DFORM): what it accepts comes out of the text form
 * as it went in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "selftests/fuzz/fuzz.h"

static char *text_of(const struct kl_history *h, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f || kl_text_write(h, f) || fclose(f))
		fuzz_broken("out of memory");
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kl_history *h, *back;
	char *a, *b, *copy;
	size_t alen, blen;
	int ret;

	fuzz_silence();
	/* Of exactly this size: a byte too far is seen. */
	copy = malloc(size ? size : 1);
	if (!copy)
		fuzz_broken("out of memory");
	if (size)
		memcpy(copy, data, size);
	ret = kl_history_parse("fuzz", copy, size, kl_form_find(FORM), &h);
	free(copy);
	if (ret)
		return 0;
	a = text_of(h, &alen);
	if (!kl_text_read("again", a, alen, &back)) {
		b = text_of(back, &blen);
		if (alen != blen || memcmp(a, b, alen))
			fuzz_broken("what was read, written and read again differs");
		free(b);
		kl_history_free(back);
	} else if (!strcmp(FORM, "text")) {
		fuzz_broken("the text that was written is not accepted");
	}
	free(a);
	kl_history_free(h);
	return 0;
}
