// SPDX-License-Identifier: GPL-2.0
/* Reads a whole file by a history block, see records.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "history/formats/form.h"
#include "history/internal.h"
#include "history/source.h"
#include "records/map.h"
#include "records/records.h"

/* Give the history all that concerns the whole file. */
static int complete(struct kl_map_reader *rd, struct kl_input *in)
{
	struct kl_history *h = rd->m.h;
	int ret = h->nobjects || kl_history_object(h, 0) >= 0 ? 0 : -ENOMEM;

	h->declared = rd->failed || rd->pairs.now;
	h->skipped = rd->ignored;
	h->nils = rd->m.nils;
	h->digits = rd->m.numbers ? rd->m.digits : 0;
	snprintf(h->skipped_why, sizeof(h->skipped_why), "%zu records by 'ignore'", rd->ignored);
	if (rd->m.map->whole) {
		h->failed = rd->failed;
		kl_map_describe(rd);
		ret = ret ?: kl_source_note(h, in) ?: kl_history_finish(h);
		ret = ret ?: kl_map_check_at_once(rd);
	} else {
		ret = ret ?: kl_map_check_open(rd) ?: kl_pairs_end(&rd->pairs);
		ret = ret ?: kl_source_note(h, in);
		kl_map_describe(rd);
	}
	if (ret || h->nops || h->declared)
		return ret;
	return kl_map_none(rd, in->name);
}

/* Read all of @in by the history block. */
static int read_by_rules(struct kl_input *in, const struct kl_spec *spec, struct kl_history **out)
{
	struct kl_map_reader rd;
	const char *text, *end;
	int ret;

	in->places = KL_PLACES_OFFSETS;
	ret = kl_input_text(in, &text, &end) ?: kl_map_check_text(in->name, text, end, 0);
	if (ret)
		return ret;
	ret = kl_map_begin(&rd, spec) ?: kl_records_begin(&rd.r, in->name, text, end, rd.m.map);
	ret = ret ?: kl_map_records(&rd) ?: kl_map_check_paths(&rd, in->name) ?: complete(&rd, in);
	if (!ret) {
		*out = rd.m.h;
		rd.m.h = NULL;
	}
	kl_map_free(&rd);
	return ret;
}

/* What the reader of records is given. */
struct by_rules {
	const struct kl_spec *spec;
	bool rules; /* as in struct kl_read_opts */
};

/* Read by the form that the first bytes show, or by the history block if this is none or EDN. */
static int read_input(struct kl_input *in, const void *ctx, struct kl_history **out)
{
	const struct by_rules *by = ctx;
	const struct kl_form *form;
	const char *data;
	size_t len;
	int ret = kl_input_peek(in, &data, &len);

	ret = ret ?: kl_text_start(in->name, data, len);
	if (ret < 0)
		return ret;
	form = kl_form_tell(data + ret, len - ret);
	if (form && form != &kl_form_edn && len > (size_t)ret) {
		if (by->rules)
			kl_warn("%s has the form %s, so the history block has no effect", in->name,
				form->name);
		return kl_form_read(form, in, out);
	}
	kl_input_skip(in, ret);
	return read_by_rules(in, by->spec, out);
}

int kl_records_parse(const char *name, const char *data, size_t len, const struct kl_spec *spec,
		     struct kl_history **out)
{
	const struct by_rules by = { .spec = spec };
	struct kl_input in;
	int ret;

	kl_input_memory(&in, name, data, len);
	ret = read_input(&in, &by, out);
	kl_input_close(&in);
	return ret;
}

int kl_records_open(const char *path, const struct kl_read_opts *opts, const struct kl_spec *spec,
		    struct kl_history **out)
{
	const struct by_rules by = { .spec = spec, .rules = opts->rules };
	struct kl_read_opts as = *opts;

	as.read = read_input;
	as.ctx = &by;
	return kl_history_read_with(path, &as, out);
}
