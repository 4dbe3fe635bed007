// SPDX-License-Identifier: GPL-2.0
/* A target for tool.sh: two bugs and something slow, each behind a word; none if CALM. */
#include <string.h>

#include "base/err.h"
#include "selftests/fuzz/fuzz.h"

/* Elsewhere it is in libklin. */
void (*kl_log_sink)(enum kl_level level, const char *line);

static volatile unsigned long turns;

static bool begins(const uint8_t *data, size_t size, const char *word)
{
#ifdef CALM
	return false;
#endif
	return size >= strlen(word) && !memcmp(data, word, strlen(word));
}

void fuzz_one(const uint8_t *data, size_t size)
{
	if (begins(data, size, "one"))
		fuzz_broken("the first bug");
	if (begins(data, size, "two"))
		fuzz_broken("the second bug");
	while (begins(data, size, "slow"))
		turns++;
}
