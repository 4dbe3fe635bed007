// SPDX-License-Identifier: GPL-2.0
/* Edit distances between names, to suggest what the user may have meant. */
#include <string.h>

#include "record/attach/kernel.h"

#define LONGEST 127	/* bytes of a name; longer names are never near */

unsigned int kl_name_distance(const char *a, const char *b, unsigned int max)
{
	size_t la = strlen(a), lb = strlen(b), i, j;
	unsigned char prev[LONGEST + 1], row[LONGEST + 1];
	unsigned int best;

	if (la > LONGEST || lb > LONGEST || (la > lb ? la - lb : lb - la) > max)
		return max + 1;
	for (j = 0; j <= lb; j++)
		prev[j] = j;
	for (i = 1; i <= la; i++) {
		row[0] = i;
		best = i;
		for (j = 1; j <= lb; j++) {
			unsigned int d = prev[j - 1] + (a[i - 1] != b[j - 1]);

			if (prev[j] + 1u < d)
				d = prev[j] + 1;
			if (row[j - 1] + 1u < d)
				d = row[j - 1] + 1;
			row[j] = d;
			if (d < best)
				best = d;
		}
		if (best > max)
			return max + 1;
		memcpy(prev, row, lb + 1);
	}
	return prev[lb];
}

unsigned int kl_name_slack(const char *name)
{
	size_t len = strlen(name);

	return len < 3 ? 0 : len < 6 ? 1 : len < 12 ? 2 : 3;
}
