// SPDX-License-Identifier: GPL-2.0
/* Files that are no texts, see text.h. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

static const struct {
	const char *magic;
	size_t len;
	const char *what, *how;
} others[] = {
	{ "\x1f\x8b", 2, "compressed by gzip", "decompress it, as in `gunzip FILE'" },
	{ "\x28\xb5\x2f\xfd", 4, "compressed by zstd", "decompress it, as in `unzstd FILE'" },
	{ "\xfd" "7zXZ\0", 6, "compressed by xz", "decompress it, as in `unxz FILE'" },
	{ "BZh", 3, "compressed by bzip2", "decompress it, as in `bunzip2 FILE'" },
	{ "PK\3\4", 4, "a zip archive", "unpack it, as in `unzip FILE'" },
	{ "\xff\xfe", 2, "UTF-16", "convert it, as in `iconv -f UTF-16 -t UTF-8 FILE'" },
	{ "\xfe\xff", 2, "UTF-16", "convert it, as in `iconv -f UTF-16 -t UTF-8 FILE'" },
	{ "\177ELF", 4, "a program or an object file", "a text was expected" },
};

static const char utf8[] = "\xef\xbb\xbf";

int kl_text_start(const char *name, const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (len < others[i].len || memcmp(data, others[i].magic, others[i].len))
			continue;
		kl_err_at(name, 0, 0, "the file is %s: %s", others[i].what, others[i].how);
		return -EINVAL;
	}
	return len >= sizeof(utf8) - 1 && !memcmp(data, utf8, sizeof(utf8) - 1) ?
	       (int)sizeof(utf8) - 1 : 0;
}

int kl_text_zero(const char *name, unsigned int line, const char *text, size_t len)
{
	const char *zero = memchr(text, 0, len), *end = text + len, *start = text, *next;

	if (!zero)
		return 0;
	for (; (next = memchr(start, '\n', zero - start)); line++)
		start = next + 1;
	next = memchr(zero, '\n', end - zero);
	kl_err_at(name, line, zero - start + 1, "a zero byte: expected text");
	kl_err_source(start, (next ? next : end) - start, zero - start + 1);
	return -EINVAL;
}
