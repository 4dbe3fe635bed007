// SPDX-License-Identifier: GPL-2.0
/*
 * Histories of an unknown form: klin infers the form from the first bytes.  The readers of
 * memory and of files must agree, and a file's hash must be that of its bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"
#include "history/formats/form.h"
#include "history/history.h"
#include "selftests/fuzz/fuzz.h"

/* Read the file as `klin check' does. */
static struct kl_history *read_file(const uint8_t *data, size_t size, const struct kl_form *form,
				    unsigned int independent)
{
	const struct kl_read_opts opts = {
		.form = form, .hashed = true, .independent = independent,
	};
	char sha256[KL_SHA256_HEX];
	struct kl_history *h;

	if (kl_history_read_with(fuzz_file(data, size), &opts, &h))
		return NULL;
	kl_sha256(data, size, sha256);
	if (strcmp(sha256, h->sha256))
		fuzz_broken("the hash of a history is wrong");
	return h;
}

static void compare(const struct kl_history *a, const struct kl_history *b, const char *differ)
{
	size_t alen, blen;
	char *atext, *btext;

	if (!a != !b)
		fuzz_broken(differ);
	if (!a)
		return;
	atext = fuzz_history_text(a, &alen);
	btext = fuzz_history_text(b, &blen);
	if (alen != blen || memcmp(atext, btext, alen))
		fuzz_broken(differ);
	free(atext);
	free(btext);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	const struct kl_form *form;
	struct kl_history *memory, *file, *named = NULL;
	int mark;
	char *copy;

	copy = fuzz_copy(data, size);
	mark = kl_text_start("fuzz", copy, size);
	form = mark < 0 ? NULL : kl_form_tell(copy + mark, size - mark);
	if (kl_history_parse("fuzz", copy, size, KL_FORM_AUTO, &memory))
		memory = NULL;
	free(copy);
	file = read_file(data, size, KL_FORM_AUTO, KL_INDEPENDENT_TOLD);
	compare(memory, file, "a file has another history than the same bytes in memory");
	if (form) {
		named = read_file(data, size, form, KL_INDEPENDENT_TOLD);
		compare(file, named, "a history differs if its form is named");
	} else if (file) {
		fuzz_broken("a history of no form was read");
	}
	kl_history_free(memory);
	kl_history_free(file);
	kl_history_free(named);
	kl_history_free(read_file(data, size, KL_FORM_AUTO, KL_INDEPENDENT_YES));
	kl_history_free(read_file(data, size, KL_FORM_AUTO, KL_INDEPENDENT_NO));
}
