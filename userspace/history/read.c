// SPDX-License-Identifier: GPL-2.0
/* Tells the forms of history files by their first bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "history/history.h"
#include "history/klh.h"

int kl_history_read(const char *path, struct kl_history **out)
{
	const char *name = strcmp(path, "-") ? path : "<stdin>";
	char *data;
	size_t len;
	int ret;

	ret = kl_read_file(path, &data, &len);
	if (ret) {
		kl_err("cannot read history '%s': %s", name, strerror(-ret));
		return ret;
	}
	if (kl_klh_is(data, len))
		ret = kl_klh_read(name, data, len, out);
	else
		ret = kl_text_read(name, data, len, out);
	free(data);
	return ret;
}
