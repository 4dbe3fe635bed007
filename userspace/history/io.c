// SPDX-License-Identifier: GPL-2.0
/* History files of any form: told by their first bytes, or by the name they are to have. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/limit.h"
#include "history/formats/form.h"
#include "history/history.h"
#include "history/order.h"

int kl_history_parse(const char *name, const char *data, size_t len, const struct kl_form *form,
		     struct kl_history **out)
{
	struct kl_input in;
	int ret;

	kl_input_memory(&in, name, data, len);
	ret = kl_form_read(form, &in, out);
	if (ret && ret != -EINVAL)
		kl_err("cannot read history '%s': %s", name, strerror(-ret));
	kl_input_close(&in);
	return ret;
}

int kl_text_read(const char *name, const char *text, size_t len, struct kl_history **out)
{
	return kl_history_parse(name, text, len, &kl_form_text, out);
}

int kl_history_read_with(const char *path, const struct kl_read_opts *opts,
			 struct kl_history **out)
{
	struct sha256_ctx sha;
	struct kl_input in;
	int ret;

	ret = kl_input_open(&in, path);
	in.independent = opts->independent;
	if (opts->hashed) {
		sha256_init(&sha);
		in.sha = &sha;
	}
	if (!ret)
		ret = kl_form_read(opts->form, &in, out);
	if (!ret && opts->hashed)
		ret = kl_input_sha256(&in, (*out)->sha256);
	if (ret && ret != -EINVAL && !kl_limit_met(ret))
		kl_err("cannot read history '%s': %s", in.name, strerror(-ret));
	kl_input_close(&in);
	return ret;
}

int kl_history_read_as(const char *path, const struct kl_form *form, struct kl_history **out)
{
	const struct kl_read_opts opts = { .form = form };

	return kl_history_read_with(path, &opts, out);
}

int kl_history_read(const char *path, struct kl_history **out)
{
	return kl_history_read_as(path, KL_FORM_AUTO, out);
}

int kl_history_read_hashed(const char *path, struct kl_history **out)
{
	const struct kl_read_opts opts = { .form = KL_FORM_AUTO, .hashed = true };

	return kl_history_read_with(path, &opts, out);
}

/* Does the history's specification mean what the form makes of its methods? */
static int check_spec(const struct kl_history *h, const struct kl_form *form)
{
	const char *const *name = form->specs;

	if (!h->spec_path || !*name)
		return 0;
	for (; *name; name++)
		if (kl_history_is(h, *name))
			return 0;
	kl_err("the history is of spec '%s', which the form %s cannot say", h->spec_path, form->name);
	return -EINVAL;
}

static int write_lines(const struct kl_history *h, const char *path, const struct kl_form *form)
{
	struct kl_outfile o;
	int ret;

	ret = kl_outfile_open(&o, path);
	if (ret)
		return ret;
	ret = form->write(h, o.f);
	if (!ret)
		return kl_outfile_commit(&o);
	kl_outfile_abort(&o);
	return ret;
}

int kl_history_write(const struct kl_history *h, const char *path, const struct kl_form *form)
{
	size_t len = strlen(path);
	int ret;

	if (!form)
		form = len > 4 && !strcmp(path + len - 4, ".klh") ? &kl_form_klh : &kl_form_text;
	if (form == &kl_form_klh && !strcmp(path, "-") && isatty(STDOUT_FILENO)) {
		kl_err("standard output is a terminal: .klh is binary, name a file for it");
		return -EINVAL;
	}
	if (form != &kl_form_klh && !form->write) {
		kl_err("klin does not write the form %s, it only reads it", form->name);
		return -EINVAL;
	}
	ret = check_spec(h, form);
	if (ret)
		return ret;
	ret = form == &kl_form_klh ? kl_klh_write(h, path) : write_lines(h, path, form);
	if (ret && ret != -EINVAL)
		kl_cannot_write(path, ret);
	return ret;
}
