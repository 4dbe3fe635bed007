// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of one form of histories (-DFORM): what it accepts comes out of the text form
 * as it went in, out of .klh, too, and its own form is read again if klin writes it.  The
 * text form is also read as a stream.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/form.h"
#include "history/history.h"
#include "history/klh.h"
#include "selftests/fuzz/fuzz.h"

static char *text_of(const struct kl_history *h, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f || kl_text_write(h, f) || fclose(f))
		fuzz_broken("out of memory");
	return text;
}

/* A file without an operation is refused, since it may be of any form. */
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
	b = text_of(back, &n);
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

	/* Of exactly this size: a byte too far is seen. */
	copy = malloc(size ? size : 1);
	if (!copy)
		fuzz_broken("out of memory");
	if (size)
		memcpy(copy, data, size);
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
	read_klh(h, a, alen);
	free(a);
	kl_history_free(h);
}
