// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of one form of histories (-DFORM).  Every accepted history must survive
 * conversion to the text form and to .klh, and to its own form if klin writes that.  The text
 * form is also read as a stream.  Its entries are read again, as reports do it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/form.h"
#include "history/history.h"
#include "history/klh.h"
#include "history/source_text.h"
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

/* Every entry of an accepted history can be read again. */
static void read_again(struct kl_history *h)
{
	const struct kl_source *s = h->source;
	struct kl_source_text t;
	char text[300];
	size_t i;

	kl_source_own_words(h, h, NULL);
	for (i = 0; i < h->nops; i++) {
		kl_op_print(text, sizeof(text), h, &h->ops[i]);
		if (!h->places || h->places[i] >= KL_FIRST_PLACE)
			continue;
		if (s->text && (kl_source_text(h, i, KL_SOURCE_CALL, &t) != 1 || !t.len))
			fuzz_broken("an operation's call cannot be read again");
		kl_source_text(h, i, KL_SOURCE_RETURN, &t);
	}
	for (i = 0; s && s->text && i < s->nother; i++)
		if (kl_source_text_at(h, s->other[i].at, s->other[i].line, &t) != 1)
			fuzz_broken("an entry of no operation cannot be read again");
	for (i = 0; s && s->text && i < s->nfailed; i++)
		if (kl_source_text_at(h, s->failed[i].ret_at, 0, &t) != 1 || !t.len)
			fuzz_broken("an operation that failed cannot be read again");
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
	read_again(h);
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
