// SPDX-License-Identifier: GPL-2.0
/* Reads history files; the first bytes show the form. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/limit.h"
#include "history/formats/form.h"
#include "history/history.h"
#include "history/wrong_file.h"

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
	char hint[KL_FILE_HINT];
	struct sha256_ctx sha;
	struct kl_input in;
	int ret;

	ret = kl_input_open(&in, path);
	in.name = opts->name ? opts->name : in.name;
	in.independent = opts->independent;
	if (opts->hashed) {
		sha256_init(&sha);
		in.sha = &sha;
	}
	if (!ret)
		ret = opts->read ? opts->read(&in, opts->ctx, out) :
				   kl_form_read(opts->form, &in, out);
	if (!ret && opts->hashed)
		ret = kl_input_sha256(&in, (*out)->sha256);
	if (ret && ret != -EINVAL && !kl_limit_met(ret))
		kl_err("cannot read history '%s': %s%s", in.name, strerror(-ret),
		       kl_history_hint ? kl_history_hint(path, ret, hint) : "");
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
