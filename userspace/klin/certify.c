// SPDX-License-Identifier: GPL-2.0
/* The proof of the first violation in a growing history, see certify.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "base/outfile.h"
#include "base/quote.h"
#include "klin/certify.h"
#include "klin/out_file.h"
#include "watch/proof.h"

/* Return: the name of the history's file, to be freed; NULL when out of memory. */
static char *history_path(const char *path)
{
	char *history;

	return asprintf(&history, "%s.klh", path) < 0 ? NULL : history;
}

void certify_arg(struct argp_state *state, const char *path, const char *input)
{
	char *history = history_path(path);

	if (!strcmp(path, "-"))
		argp_error(state, "--certificate=-: expected a file's name; a violation's "
				  "operations are written beside it");
	kl_arg_keep(state, "certificate", path, input);
	if (strchr(path, '\n'))
		argp_error(state, "--certificate: the name has a newline, which a certificate "
				  "cannot hold; choose another name");
	if (input && history && kl_same_file(history, input))
		argp_error(state,
			   "--certificate=%s would replace the input by %s; choose another "
			   "name",
			   path, history);
	free(history);
}

char *certify_replay(const char *path)
{
	struct kl_memstream m;
	char *command = NULL;

	if (kl_memstream_open(&m))
		return NULL;
	fputs("klin replay ", m.f);
	kl_put_quoted(m.f, path);
	return kl_memstream_close(&m, &command, NULL) ? NULL : command;
}

/* Write the history first: a certificate is written only for a history that exists. */
static int write_files(struct kl_proof *p, bool classical, const char *history, const char *path)
{
	int ret = kl_klh_write(p->h, history);

	if (ret) {
		kl_cannot_write(history, ret);
		return ret;
	}
	ret = proof_certify(p, classical, history, path);
	if (ret)
		kl_cannot_write(path, ret);
	return ret;
}

int certify_write(const char *path, const struct kl_spec *spec,
		  const struct kl_online_violation *v, bool classical)
{
	struct flight_shot *shot;
	struct kl_proof p = { 0 };
	char *history;
	int ret = -ENOMEM;

	if (!v->history)
		return -ENODATA;
	history = history_path(path);
	shot = proof_window(spec, v->history);
	if (history && shot)
		ret = proof_check(&p, spec, shot, NULL, classical);
	if (!ret && p.r->verdict != KL_VIOLATION)
		ret = -ENODATA;
	if (!ret)
		ret = write_files(&p, classical, history, path);
	else if (ret != -ENODATA)
		kl_cannot_write(path, ret);
	proof_free(&p);
	flight_shot_free(shot);
	free(history);
	return ret;
}
