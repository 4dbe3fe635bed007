// SPDX-License-Identifier: GPL-2.0
/* Messages about a specification's text, and what its writer may have meant. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "spec/lex.h"

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
		kl_err_at(d->file, 0, 0, "too many errors, the rest of the file was not looked at");
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

/* Edits (insert, delete, replace, swap of neighbours) from @a to @b. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[3][KL_NAME_MAX + 2], i, j, best;
	size_t n = strnlen(a, KL_NAME_MAX), m = strnlen(b, KL_NAME_MAX);

	for (j = 0; j <= m; j++)
		d[0][j] = j;
	for (i = 1; i <= n; i++) {
		unsigned int *cur = d[i % 3], *prev = d[(i + 2) % 3], *prev2 = d[(i + 1) % 3];

		cur[0] = i;
		for (j = 1; j <= m; j++) {
			best = prev[j - 1] + (a[i - 1] != b[j - 1]);
			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    prev2[j - 2] + 1 < best)
				best = prev2[j - 2] + 1;
			cur[j] = best;
		}
	}
	return d[n % 3][m];
}

const char *kl_nearest(const char *name, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned int best_d = 0, d;
	size_t i;

	for (i = 0; i < n; i++) {
		d = distance(name, names[i]);
		if (d <= (strlen(names[i]) + 2) / 3 && d < strlen(name) && (!best || d < best_d)) {
			best = names[i];
			best_d = d;
		}
	}
	return best;
}
