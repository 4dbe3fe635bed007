// SPDX-License-Identifier: GPL-2.0
/*
 * A target for tool.sh: two bugs and a slow path, each behind a magic word.  With CALM it has
 * none.
 */
#include <string.h>

#include "base/err.h"
#include "selftests/fuzz/fuzz.h"

/* Other targets get this variable from libkl.a. */
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
