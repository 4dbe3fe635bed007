// SPDX-License-Identifier: GPL-2.0
/* Results of checks, see klin/klin.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/sha256.h"
#include "check/certificate.h"
#include "libklin/result.h"
#include "report/verdict.h"

_Static_assert((int)KLIN_LINEARIZABLE == KL_LINEARIZABLE && (int)KLIN_VIOLATION == KL_VIOLATION &&
		       (int)KLIN_UNKNOWN == KL_UNKNOWN,
	       "the interface has klin's verdicts");
_Static_assert((int)KLIN_TEXT == KL_OUTPUT_TEXT && (int)KLIN_JSON == KL_OUTPUT_JSON &&
		       (int)KLIN_KTAP == KL_OUTPUT_KTAP && (int)KLIN_JUNIT == KL_OUTPUT_JUNIT,
	       "the interface has klin's forms of output");

enum klin_verdict klin_result_verdict(const struct klin_result *r)
{
	return (enum klin_verdict)r->report->verdict;
}

const char *klin_result_headline(const struct klin_result *r)
{
	return r->headline ?: "";
}

int klin_result_print(const struct klin_result *r, enum klin_form form, FILE *f)
{
	const struct kl_verdict_style style = { .output = (enum kl_output)form };
	int err;

	lib_begin();
	if (form > KLIN_JUNIT) {
		kl_err("the form %u is none of enum klin_form", form);
		return lib_end(-EINVAL, "result");
	}
	pthread_mutex_lock(&r->history->lock);
	err = kl_print_report(f, r->report, r->history->path ?: "history", &style);
	pthread_mutex_unlock(&r->history->lock);
	if (!err && ferror(f)) {
		kl_err("the result cannot be written");
		err = -EIO;
	}
	return lib_end(err, "result");
}

/* Write the history with its specification beside the certificate @path, and hash the file. */
static int write_history(const struct klin_result *r, const char *history)
{
	struct kl_history *h = r->history->h;
	size_t len;
	char *data;
	int err;

	if (!h->spec_path)
		h->spec_path = strdup(kl_spec_path(r->spec->s));
	if (!h->spec_text)
		h->spec_text = strdup(kl_spec_text(r->spec->s));
	if (!h->spec_path || !h->spec_text)
		return -ENOMEM;
	err = kl_klh_write(h, history) ?: kl_read_file(history, &data, &len);
	if (err)
		return err;
	kl_sha256(data, len, h->sha256);
	free(data);
	return 0;
}

static int write_certificate(const struct klin_result *r, const char *path)
{
	const char *name = r->history->path, *slash;
	char *history = NULL;
	int err = 0;

	if (!r->ordered) {
		kl_err("no proof was kept: set klin_options.certificate before klin_check()");
		return -ENODATA;
	}
	if (!name) {
		if (asprintf(&history, "%s.klh", path) < 0)
			return -ENOMEM;
		slash = strrchr(history, '/');
		name = slash ? slash + 1 : history;
		err = write_history(r, history);
	}
	if (strchr(name, '\n')) {
		kl_err("the name of the history has a newline, which a certificate cannot hold");
		err = -EINVAL;
	}
	err = err ?: kl_cert_write(r->report, r->report->classical, name, path);
	free(history);
	return err;
}

int klin_result_certificate(const struct klin_result *r, const char *path)
{
	int err;

	lib_begin();
	pthread_mutex_lock(&r->history->lock);
	err = write_certificate(r, path);
	pthread_mutex_unlock(&r->history->lock);
	return lib_end(err, path);
}
