// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of one form of histories (-DFORM).  Every accepted history must survive
 * conversion to the text form and to .klh, and to its own form if klin writes that.  The text
 * form is also read as a stream.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/form.h"
#include "history/history.h"
#include "history/klh.h"
#include "selftests/fuzz/fuzz.h"

/* A file without operations is refused, since it could be of any form. */
static void read_own(const struct kl_history *h, const struct kl_form *form)
{
	struct kl_history *back;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	if (!f)
		fuzz_broken("out of memory");
	ret = form->write ? form->write(h, f) : -EINVAL;
	if (fclose(f))
		fuzz_broken("out of memory");
	if (!ret && h->nops) {
		if (kl_history_parse("own", text, len, form, &back))
			fuzz_broken("what klin wrote of a form is not accepted");
		if (back->nops != h->nops)
			fuzz_broken("what klin wrote of a form has other operations");
		kl_history_free(back);
	}
	free(text);
}

static void read_klh(const struct kl_history *h, const char *text, size_t len)
{
	struct kl_history *back;
	const char *path = fuzz_file("", 0);
	struct kl_klh *k;
	size_t n;
	char *b;

	if (kl_klh_open(path, h, &k))
		fuzz_broken("cannot write .klh");
	if (kl_klh_append_gaps(k, h, 0, h->ngaps) ||
	    kl_klh_append(k, h, 0, h->nops, KL_TIME_MAX) || kl_klh_close(k, true))
		fuzz_broken("cannot write .klh");
	if (kl_history_read(path, &back))
		fuzz_broken("what was written as .klh is not accepted");
	b = fuzz_history_text(back, &n);
	if (n != len || memcmp(b, text, len))
		fuzz_broken("what was written as .klh and read again differs");
	free(b);
	kl_history_free(back);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct kl_history *h, *back;
	bool whole;
	char *a, *b, *copy;
	size_t alen, blen, nops;
	int ret;

	copy = fuzz_copy(data, size);
	ret = kl_history_parse("fuzz", copy, size, kl_form_find(FORM), &h);
	free(copy);
	if (!strcmp(FORM, "text")) {
		whole = fuzz_stream(data, size, &nops);
		if (whole && size && !ret && nops != h->nops)
			fuzz_broken("a stream has other operations than the whole");
	}
	if (ret)
		return;
	read_own(h, kl_form_find(FORM));
	a = fuzz_history_text(h, &alen);
	if (!kl_text_read("again", a, alen, &back)) {
		b = fuzz_history_text(back, &blen);
		if (alen != blen || memcmp(a, b, alen))
			fuzz_broken("what was read, written and read again differs");
		free(b);
		kl_history_free(back);
	} else if (!strcmp(FORM, "text")) {
		fuzz_broken("the text that was written is not accepted");
	}
	read_klh(h, a, alen);
	free(a);
	kl_history_free(h);
}
