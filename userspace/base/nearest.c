// SPDX-License-Identifier: GPL-2.0
/* Suggestions for mistyped names, see nearest.h. */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

unsigned int kl_edits(const char *a, size_t na, const char *b)
{
	unsigned int d[3][KL_NEAREST_MAX + 2], i, j, best;
	size_t n = na < KL_NEAREST_MAX ? na : KL_NEAREST_MAX, m = strnlen(b, KL_NEAREST_MAX);

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

/* May @name stand for @meant, with @d edits?  Of one letter, only the same letter twice may. */
static bool is_near(const char *name, const char *meant, unsigned int d)
{
	if (strlen(meant) == 1)
		return strlen(name) == 2 && name[0] == *meant && name[1] == *meant;
	return d <= (strlen(meant) + 1) / 3 && d < strlen(name);
}

const char *kl_nearest(const char *name, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned int best_d = 0, d;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!strcasecmp(name, names[i]))
			return names[i];
		d = kl_edits(name, strlen(name), names[i]);
		if (is_near(name, names[i], d) && (!best || d < best_d)) {
			best = names[i];
			best_d = d;
		}
	}
	return best;
}
