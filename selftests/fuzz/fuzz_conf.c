// SPDX-License-Identifier: GPL-2.0
/* The reader of klind.conf. */
#include <errno.h>
#include <stdlib.h>

#include "klind/conf.h"
#include "selftests/fuzz/fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	struct klind_conf *c = NULL;
	char *text;
	int ret;

	text = fuzz_text(data, size);
	ret = klind_conf_parse("fuzz", text, &c);
	if (ret && ret != -EINVAL)
		fuzz_broken("a configuration is refused without a message");
	if (!ret)
		klind_conf_free(c);
	free(text);
}
