// SPDX-License-Identifier: GPL-2.0
/* Writes history files, in the form that the caller or the file's name says. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/outfile.h"
#include "base/path.h"
#include "history/formats/form.h"
#include "history/formats/order.h"
#include "history/history.h"

/* Check that the form's methods have the same meaning as in the history's spec. */
static int check_spec(const struct kl_history *h, const struct kl_form *form)
{
	const char *const *name = form->specs;

	if (!h->spec_path || !*name)
		return 0;
	for (; *name; name++)
		if (kl_history_is(h, *name))
			return 0;
	kl_err("the history has spec '%s', which the form %s cannot "
	       "express", h->spec_path, form->name);
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

/* Warn of a file in klin's text form whose name ends as those of another form. */
static void warn_ending(const char *path)
{
	static const char *const others[] = { "json", "jsonl", "csv" };
	const char *dot = strrchr(kl_last_part(path), '.');
	const struct kl_form *form = dot ? kl_form_find(dot + 1) : NULL;
	size_t i;

	if (form && form != &kl_form_klh && form != &kl_form_text)
		kl_warn("%s is written in klin's text form; --to=%s names another", path,
			form->name);
	for (i = 0; dot && i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(dot + 1, others[i]))
			kl_warn("%s is written in klin's text form: klin writes no %s", path,
				others[i]);
}

int kl_history_write(const struct kl_history *h, const char *path, const struct kl_form *form)
{
	size_t len = strlen(path);
	int ret;

	if (!form)
		warn_ending(path);
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
