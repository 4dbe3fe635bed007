// SPDX-License-Identifier: GPL-2.0
/* A stream that writes into memory, see memstream.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/memstream.h"

/* Append @n bytes to the text.  Return: @n; or 0 without memory, so that stdio records an error. */
static ssize_t append(void *cookie, const char *buf, size_t n)
{
	struct kl_memstream *m = cookie;

	if (kl_grow(m->text, m->cap, m->len + n + 1)) {
		errno = ENOMEM;
		return 0;
	}
	memcpy(m->text + m->len, buf, n);
	m->len += n;
	m->text[m->len] = '\0';
	return n;
}

int kl_memstream_open(struct kl_memstream *m)
{
	memset(m, 0, sizeof(*m));
	m->text = calloc(1, 1);
	m->cap = 1;
	m->f = m->text ? fopencookie(m, "w", (cookie_io_functions_t){ .write = append }) : NULL;
	if (m->f)
		return 0;
	free(m->text);
	return -ENOMEM;
}

int kl_memstream_close(struct kl_memstream *m, char **text, size_t *len)
{
	const int bad = ferror(m->f);

	*text = NULL;
	if (fclose(m->f) || bad) {
		free(m->text);
		return -ENOMEM;
	}
	*text = m->text;
	if (len)
		*len = m->len;
	return 0;
}
