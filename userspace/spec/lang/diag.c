// SPDX-License-Identifier: GPL-2.0
/* Messages about the text of a spec. */
#include <stdio.h>

#include "base/err.h"
#include "spec/lang/lex.h"

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
	if (d->errors == KL_ERRORS_MAX)
		kl_err_at(d->file, 0, 0, "too many errors; the rest of the file was not checked");
}

void kl_diag_warn(struct kl_diag *d, struct kl_pos pos, const char *fmt, ...)
{
	char msg[1024];
	va_list ap;

	if (d->warned)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_warn_at(d->file, pos.line, pos.col, "%s", msg);
}
