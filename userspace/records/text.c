// SPDX-License-Identifier: GPL-2.0
/* Records that are written anew in EDN, see record.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "records/record.h"

#define BEHIND (1 + KL_INPUT_BEHIND) /* a newline, and bytes that kl_edn may read */

int kl_record_put(struct kl_records *r, const char *s, size_t len)
{
	const int ret = kl_grow(r->text, r->ctext, r->ntext + len + BEHIND);

	if (ret)
		return ret;
	memcpy(r->text + r->ntext, s, len);
	r->ntext += len;
	return 0;
}

int kl_record_put_char(struct kl_records *r, unsigned char c)
{
	char text[8];

	if (c == '"' || c == '\\')
		return kl_record_put(r, (char[]){ '\\', c }, 2);
	if (c >= ' ' && c != 0x7f)
		return kl_record_put(r, (char *)&c, 1);
	snprintf(text, sizeof(text), "\\u%04x", c);
	return kl_record_put(r, text, 6);
}

int kl_record_mark(struct kl_records *r, const char *source)
{
	const int ret = kl_grow(r->marks, r->cmarks, r->nmarks + 1);

	if (!ret)
		r->marks[r->nmarks++] = (struct kl_record_mark){ r->ntext, source };
	return ret;
}

void kl_record_clear(struct kl_records *r, const char *source)
{
	r->ntext = r->nmarks = 0;
	r->tok = source;
}

int kl_record_read(struct kl_records *r)
{
	static const char behind[BEHIND] = "\n";
	struct kl_edn *e = &r->edn;
	int ret = kl_record_put(r, behind, BEHIND);

	if (ret)
		return ret;
	e->p = e->scan.text = r->text;
	e->end = e->scan.end = r->text + r->ntext - KL_INPUT_BEHIND;
	e->scan.line = 1;
	/* The readers of JSON and CSV have reported bad syntax; only limits can fail here. */
	e->scan.quiet = true;
	ret = kl_edn_value(e, &r->record);
	return ret == -EINVAL ? kl_record_bad(r, NULL,
					      "this record has a value that klin cannot "
					      "read: a number of more than 300 digits, or lists "
					      "nested more than 60 deep") :
				ret;
}

const char *kl_record_source(const struct kl_records *r, const char *tok)
{
	size_t low = 0, high = r->nmarks, mid;

	if (r->form == KL_RECORDS_EDN)
		return tok;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (r->marks[mid].at < (size_t)(tok - r->text))
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->nmarks ? r->marks[low].source : r->tok;
}
