// SPDX-License-Identifier: GPL-2.0
/* Messages about the text of a spec. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "spec/lang/ast.h"
#include "spec/lang/lex.h"

/* Show the line of the text that a message is about, with a caret. */
static void show_source(const struct kl_diag *d, struct kl_pos pos)
{
	const char *line = d->text;
	unsigned int n;

	for (n = 1; line && n < pos.line; n++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (line && pos.line && pos.col && strcspn(line, "\r\n"))
		kl_err_source(line, strcspn(line, "\r\n"), pos.col);
}

void kl_diag_err(struct kl_diag *d, struct kl_pos pos, const char *fmt, ...)
{
	char msg[1024];
	va_list ap;

	d->errors++;
	if (d->errors > KL_ERRORS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_err_at(d->file, pos.line, pos.col, "%s", msg);
	show_source(d, pos);
	if (d->errors == KL_ERRORS_MAX)
		kl_err_at(d->file, 0, 0, "too many errors; the rest of the file was not checked");
}

void kl_diag_warn(struct kl_diag *d, struct kl_pos pos, const char *fmt, ...)
{
	char msg[1024];
	va_list ap;

	if (d->warned || d->errors)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_warn_at(d->file, pos.line, pos.col, "%s", msg);
	show_source(d, pos);
}

void kl_spec_err_at(const struct kl_spec *s, struct kl_pos pos, const char *fmt, ...)
{
	struct kl_diag d = { .file = s->path, .text = s->text };
	char msg[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_diag_err(&d, pos, "%s", msg);
}
