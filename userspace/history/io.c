// SPDX-License-Identifier: GPL-2.0
/* History files of any form: told by their first bytes, or by the name they are to have. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "history/history.h"
#include "history/klh.h"

int kl_history_read(const char *path, struct kl_history **out)
{
	const char *name = strcmp(path, "-") ? path : "<stdin>";
	char *data;
	size_t len;
	int ret;

	ret = kl_read_file(path, &data, &len);
	if (ret) {
		kl_err("cannot read history '%s': %s", name, strerror(-ret));
		return ret;
	}
	if (kl_klh_is(data, len))
		ret = kl_klh_read(name, data, len, out);
	else
		ret = kl_text_read(name, data, len, out);
	free(data);
	return ret;
}

static int write_text(const struct kl_history *h, const char *path)
{
	struct kl_outfile o;
	int ret;

	ret = kl_outfile_open(&o, path);
	if (ret)
		return ret;
	ret = kl_text_write(h, o.f);
	if (!ret)
		return kl_outfile_commit(&o);
	kl_outfile_abort(&o);
	return ret;
}

int kl_history_write(const struct kl_history *h, const char *path, enum kl_form form)
{
	size_t len = strlen(path);
	int ret;

	if (form == KL_FORM_AUTO)
		form = len > 4 && !strcmp(path + len - 4, ".klh") ? KL_FORM_KLH : KL_FORM_TEXT;
	if (form == KL_FORM_KLH && !strcmp(path, "-") && isatty(STDOUT_FILENO)) {
		kl_err("standard output is a terminal: .klh is binary, name a file for it");
		return -EINVAL;
	}
	ret = form == KL_FORM_KLH ? kl_klh_write(h, path) : write_text(h, path);
	if (ret)
		kl_err("cannot write '%s': %s", path, strerror(-ret));
	return ret;
}
