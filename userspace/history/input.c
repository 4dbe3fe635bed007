// SPDX-License-Identifier: GPL-2.0
/* Reading a history's bytes, see input.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"
#include "base/mem.h"
#include "history/input.h"

#define CHUNK	(256u << 10)
#define PEEK	(64u << 10)

int kl_input_open(struct kl_input *in, const char *path)
{
	struct stat st;

	*in = (struct kl_input){ .name = path };
	if (!strcmp(path, "-")) {
		in->name = "<stdin>";
		in->fd = STDIN_FILENO;
		return 0;
	}
	in->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return -errno;
	if (!fstat(in->fd, &st) && !S_ISDIR(st.st_mode)) {
		in->file = S_ISREG(st.st_mode);
		in->size = in->file ? st.st_size : 0;
		in->id = kl_input_id(&st);
		return 0;
	}
	close(in->fd);
	in->fd = -1;
	return -EISDIR;
}

void kl_input_memory(struct kl_input *in, const char *name, const char *data, size_t len)
{
	*in = (struct kl_input){ .name = name, .fd = -1, .mem = data, .len = len, .end = true };
}

void kl_input_close(struct kl_input *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	free(in->buf);
	in->buf = NULL;
}

/*
 * Read until there are @want bytes in @in->buf, or the input ends.  Zeros follow the bytes:
 * room for a newline, and KL_INPUT_BEHIND bytes.
 */
static int fill(struct kl_input *in, size_t want)
{
	const size_t behind = 1 + KL_INPUT_BEHIND;
	ssize_t n;
	int ret;

	while (!in->end && in->len < want) {
		ret = kl_limit_look(NULL, 0) ?: kl_grow(in->buf, in->cap, want + behind);
		if (!ret)
			ret = kl_limit_wait(in->fd);
		if (ret)
			return ret;
		n = read(in->fd, in->buf + in->len, in->cap - behind - in->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (in->sha)
			sha256_update(in->sha, n, (const uint8_t *)in->buf + in->len);
		in->len += n;
		in->end = !n;
		memset(in->buf + in->len, 0, behind);
	}
	return 0;
}

int kl_input_peek(struct kl_input *in, const char **data, size_t *len)
{
	int ret = in->fd < 0 ? 0 : fill(in, PEEK);

	*data = in->mem ? in->mem : in->buf;
	*len = in->len;
	return ret;
}

void kl_input_skip(struct kl_input *in, size_t n)
{
	in->skipped += n;
	in->len -= n;
	if (in->mem)
		in->mem += n;
	else
		memmove(in->buf, in->buf + n, in->len);
}

static const char *last_newline(const char *p, size_t len)
{
	return len ? memrchr(p, '\n', len) : NULL;
}

/* Record that a run of @n bytes is handed out.  @all: the run is the whole input. */
static void hand_out(struct kl_input *in, size_t n, bool all)
{
	in->whole = !in->runs++ && all && n <= CHUNK ? n : 0;
}

/*
 * Hand out all lines of an input in memory.  They are copied, because readable bytes must
 * follow the last line.  Return: 1, 0 if they were handed out before, or a negative errno.
 */
static int memory_lines(struct kl_input *in, const char **p, const char **end)
{
	size_t n = in->len - in->at;
	int ret;

	if (!n)
		return 0;
	ret = kl_grow(in->buf, in->cap, n + 1 + KL_INPUT_BEHIND);
	if (ret)
		return ret;
	memcpy(in->buf, in->mem + in->at, n);
	in->at = in->len;
	if (in->buf[n - 1] != '\n')
		in->buf[n++] = '\n';
	memset(in->buf + n, 0, KL_INPUT_BEHIND);
	*p = in->buf;
	*end = in->buf + n;
	hand_out(in, n, true);
	return 1;
}

int kl_input_lines(struct kl_input *in, const char **p, const char **end)
{
	size_t want = CHUNK;
	const char *nl;
	int ret;

	if (in->fd < 0)
		return memory_lines(in, p, end);
	if (in->at) {
		memmove(in->buf, in->buf + in->at, in->len - in->at);
		in->len -= in->at;
		in->at = 0;
	}
	for (;; want *= 2) {
		ret = fill(in, want);
		if (ret)
			return ret;
		nl = last_newline(in->buf, in->len);
		if (nl || in->end)
			break;
	}
	if (!in->len)
		return 0;
	/* The last line joins the lines before it, so that a short text is one run. */
	if (in->end && in->buf[in->len - 1] != '\n') {
		in->buf[in->len] = '\n';
		nl = in->buf + in->len++;
	}
	*p = in->buf;
	*end = nl + 1;
	in->at = *end - *p;
	hand_out(in, in->at, in->end && in->at == in->len);
	return 1;
}

int kl_input_all(struct kl_input *in, const char **data, size_t *len)
{
	size_t want = CHUNK;
	int ret = 0;

	if (in->size > want)
		want = in->size;
	kl_expect(in->buf, in->cap, in->len, want + 2 + KL_INPUT_BEHIND);
	for (; in->fd >= 0 && !in->end && !ret; want += want / 2)
		ret = fill(in, want + 1);
	*data = in->mem ? in->mem : in->buf;
	*len = in->len;
	return ret;
}

int kl_input_text(struct kl_input *in, const char **p, const char **end)
{
	size_t len;
	int ret;

	ret = kl_input_all(in, p, &len);
	if (ret)
		return ret;
	ret = kl_grow(in->buf, in->cap, len + 1 + KL_INPUT_BEHIND);
	if (ret)
		return ret;
	if (in->mem && len)
		memcpy(in->buf, in->mem, len);
	if (!len || in->buf[len - 1] != '\n')
		in->buf[len++] = '\n';
	memset(in->buf + len, 0, KL_INPUT_BEHIND);
	hand_out(in, len, true);
	*p = in->buf;
	*end = *p + len;
	return 0;
}

int kl_input_sha256(struct kl_input *in, char hex[KL_SHA256_HEX])
{
	int ret = 0;

	while (!ret && !in->end) {
		in->at = in->len = 0;
		ret = fill(in, CHUNK);
	}
	kl_sha256_hex(in->sha, hex);
	return ret;
}
