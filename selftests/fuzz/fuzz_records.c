// SPDX-License-Identifier: GPL-2.0
/*
 * Histories that are read by the history block of a specification.  The input is a specification,
 * a line "%%", and a file in EDN, JSON or CSV.  An accepted history must survive the text form.
 */
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "records/records.h"
#include "selftests/fuzz/fuzz.h"
#include "spec/spec.h"

static void read_again(const struct kl_history *h)
{
	struct kl_history *back;
	size_t len, n;
	char *a = fuzz_history_text(h, &len), *b;

	if (kl_text_read("again", a, len, &back))
		fuzz_broken("the text of a history of records is not accepted");
	b = fuzz_history_text(back, &n);
	if (len != n || memcmp(a, b, len))
		fuzz_broken("what was read, written and read again differs");
	kl_history_free(back);
	free(a);
	free(b);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	char *text = fuzz_part(&data, &size), *copy;
	struct kl_history *h;
	struct kl_spec *s;
	int ret;

	ret = kl_spec_parse("fuzz", text, strlen(text), &s);
	free(text);
	if (ret)
		return;
	if (kl_spec_maps(s)) {
		copy = fuzz_copy(data, size);
		ret = kl_records_parse("fuzz", copy, size, s, &h);
		free(copy);
		if (!ret) {
			read_again(h);
			kl_history_free(h);
		}
	}
	kl_spec_free(s);
}
