// SPDX-License-Identifier: GPL-2.0
/* Reading a history while it grows, see stream.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "history/formats/form.h"
#include "history/internal.h"
#include "history/klh.h"
#include "history/scan.h"
#include "history/source.h"
#include "history/spell.h"
#include "history/stream.h"
#include "history/text.h"
#include "history/wrong_file.h"

#define CHUNK		(256u << 10)
#define MOMENT_MS 50

struct kl_stream {
	const char *name;
	int fd;
	bool file; /* the input is a file, which may grow */
	bool end; /* the input has ended */
	bool begun;		/* operations were handed out */
	char *buf;
	size_t cap, at, len;
	uint64_t offset; /* number of bytes of the file read so far */
	struct kl_start start;
	bool any; /* there were operations or gaps */
	struct kl_text_reader *text;
	struct kl_klh_reader *klh;
	struct kl_stream_log *log; /* reads logs of other programs, or NULL */
	bool by_log; /* this is such a log */
};

int kl_stream_open(const char *path, struct kl_stream **out)
{
	const bool in = !strcmp(path, "-");
	struct kl_stream *s = calloc(1, sizeof(*s));
	char hint[KL_FILE_HINT];
	struct stat st;
	int ret = -ENOMEM;

	if (s) {
		s->name = in ? "<stdin>" : path;
		s->fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
		ret = s->fd < 0 || fstat(s->fd, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
	}
	if (ret) {
		kl_stream_close(s);
		if (ret == -ENOMEM)
			return ret;
		kl_err("cannot read history '%s': %s%s", path, strerror(-ret),
		       kl_history_hint ? kl_history_hint(path, ret, hint) : "");
		return -EINVAL;
	}
	s->file = !in && S_ISREG(st.st_mode);
	*out = s;
	return 0;
}

void kl_stream_close(struct kl_stream *s)
{
	if (!s)
		return;
	kl_text_reader_free(s->text);
	kl_klh_reader_free(s->klh);
	if (s->log)
		s->log->free(s->log);
	if (s->fd > STDIN_FILENO)
		close(s->fd);
	free(s->buf);
	free(s);
}

void kl_stream_use(struct kl_stream *s, struct kl_stream_log *log)
{
	s->log = log;
}

/* Read more input.  Return: 1, 0 if there is none now, or a negative errno. */
static int fill(struct kl_stream *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct stat st;
	ssize_t n;
	int ret;

	if (s->at) {
		memmove(s->buf, s->buf + s->at, s->len - s->at);
		s->len -= s->at;
		s->at = 0;
	}
	/* Room for a newline is included. */
	ret = kl_grow(s->buf, s->cap, s->len + CHUNK + 1);
	if (ret)
		return ret;
	if (!s->file && poll(&p, 1, MOMENT_MS) <= 0)
		return 0;
	n = read(s->fd, s->buf + s->len, s->cap - 1 - s->len);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	s->len += n;
	s->offset += n;
	if (n)
		return 1;
	s->end = !s->file;
	if (s->file && !fstat(s->fd, &st) && (uint64_t)st.st_size < s->offset) {
		kl_err("%s: the file shrank while klin read it; %llu bytes had been read", s->name,
		       (unsigned long long)s->offset);
		return -EINVAL;
	}
	if (s->file)
		poll(NULL, 0, MOMENT_MS);
	return 0;
}

/*
 * Find the form from the first bytes, and make a reader, unless more bytes are needed.
 * Return: 0 or a negative errno.
 */
static int tell(struct kl_stream *s)
{
	const bool klh = kl_klh_is(s->buf, s->len);
	const int mark = kl_text_start(s->name, s->buf, s->len);
	int ret = 0;

	if (mark < 0)
		return mark;
	if (s->log && !klh)
		ret = s->log->is(s->log, s->buf + mark, s->len - mark, s->end);
	if (ret < 0)
		return ret == -EAGAIN ? 0 : ret;
	s->at += mark;
	if (ret) {
		s->by_log = true;
		return 0;
	}
	if (klh)
		s->klh = kl_klh_reader_new(s->name);
	else
		s->text = kl_text_reader_new(s->name);
	return s->klh || s->text ? 0 : -ENOMEM;
}

/*
 * Refuse a log of another program, which has one of the other forms or needs a history block: only
 * whole it is known how to read it.  @p: the first lines, up to @end.  Return: 0 or -EINVAL.
 */
static int check_form(const struct kl_stream *s, const char *p, const char *end)
{
	const struct kl_form *form = kl_form_tell(p, end - p);
	const struct kl_file_kind *kind = kl_file_kind ? kl_file_kind(p, end - p) : NULL;

	while (p < end && (kl_scan_blank(*p) || *p == '\n'))
		p++;
	/* The reader of the text form reports mistakes in its own lines better. */
	if (form ? form == &kl_form_text : *p == '#' || (*p == 't' && p[1] >= '0' && p[1] <= '9'))
		return 0;
	if (!form && kind && kind->not_history) {
		kl_err_at(s->name, 1, 0, "the file is %s: %s", kind->what, kind->not_history);
		return -EINVAL;
	}
	kl_err_at(s->name, 1, 0,
		  "a growing history has klin's own form, text or .klh, or its specification has a "
		  "history block, and this %s %s: check the log without --follow when it is whole",
		  form ? "is of the form" : "is of",
		  form ? form->name : "another one, such as EDN, JSON or CSV");
	kl_err_lines(p, end - p, 1);
	return -EINVAL;
}

static int take_lines(struct kl_stream *s)
{
	const char *p = s->buf + s->at, *nl;
	const struct kl_history *h;
	int ret;

	if (s->end && s->len > s->at && s->buf[s->len - 1] != '\n')
		s->buf[s->len++] = '\n';
	nl = s->len > s->at ? memrchr(p, '\n', s->len - s->at) : NULL;
	if (!nl)
		return 0;
	if (!s->start.more && check_form(s, p, nl + 1))
		return -EINVAL;
	s->at += nl + 1 - p;
	kl_start_add(&s->start, p, nl + 1 - p);
	ret = kl_text_reader_lines(s->text, p, nl + 1);
	h = kl_text_reader_history(s->text);
	s->any |= h->nops || h->ngaps;
	return ret;
}

/* Return: true if the form is known. */
static bool known(const struct kl_stream *s)
{
	return s->text || s->klh || s->by_log;
}

static int take(struct kl_stream *s)
{
	size_t used = 0;
	int ret;

	if (!known(s)) {
		/* Fewer than four bytes do not show the form. */
		if (s->len < 4 && !s->end)
			return 0;
		ret = tell(s);
		if (ret || !known(s))
			return ret;
	}
	if (s->text)
		return take_lines(s);
	if (s->by_log)
		ret = s->log->read(s->log, s->buf + s->at, s->len - s->at, s->end, &used);
	else
		ret = kl_klh_reader_feed(s->klh, s->buf + s->at, s->len - s->at, &used);
	s->at += used;
	return ret;
}

static bool over(const struct kl_stream *s)
{
	if (s->by_log)
		return s->log->ended(s->log);
	return s->text ? kl_text_reader_ended(s->text) : s->klh && kl_klh_reader_ended(s->klh);
}

static struct kl_history *history(const struct kl_stream *s)
{
	if (s->by_log)
		return s->log->history(s->log);
	return s->text ? kl_text_reader_history(s->text) :
	       s->klh  ? kl_klh_reader_history(s->klh) :
			 NULL;
}

/*
 * Drop the operations and gaps that were handed out.  Before the first operation gaps are kept,
 * because the user of the stream reads none before it.
 */
static int forget(struct kl_stream *s)
{
	struct kl_history *h = history(s);

	if (s->by_log)
		return s->log->forget(s->log);
	s->begun |= h->nops > 0;
	if (!s->begun)
		return 0;
	h->nops = h->ngaps = 0;
	if (h->nopsigs < KL_STREAM_OPSIGS)
		return 0;
	return s->text ? kl_text_reader_renew(s->text) : kl_klh_reader_renew(s->klh);
}

int kl_stream_read(struct kl_stream *s, enum kl_stream_state *state)
{
	const size_t before = s->at;
	int more = 0, ret = known(s) ? forget(s) : 0;

	/* take() reads one block of a .klh, so the buffer may hold more blocks. */
	if (!ret && s->len > s->at && s->klh)
		ret = take(s);
	if (!ret && s->at == before && !s->end && !over(s)) {
		more = fill(s);
		ret = more < 0 ? more : more || s->end ? take(s) : 0;
	} else if (!ret && s->at != before) {
		more = 1;
	}
	if (ret)
		return ret;
	if (over(s) && s->len > s->at) {
		kl_err("%s: unexpected lines after the end", s->name);
		return -EINVAL;
	}
	if (!over(s) && (more || !s->end))
		*state = more ? KL_STREAM_MORE : KL_STREAM_WAIT;
	else /* A text that ends is whole; a .klh has an end of its own. */
		*state = over(s) || !s->klh ? KL_STREAM_END : KL_STREAM_CUT;
	if (*state != KL_STREAM_END || !s->text)
		return 0;
	kl_text_reader_end(s->text);
	return s->any || kl_text_reader_history(s->text)->declared ? 0 :
	       kl_form_unread(s->name, &kl_form_text, &s->start);
}

const char *kl_stream_ends_by(const struct kl_stream *s)
{
	if (!s->file)
		return NULL;
	if (s->log && !s->text && !s->klh)
		return "";
	return s->text ? "a line `# end'" : "its end";
}

const struct kl_history *kl_stream_history(const struct kl_stream *s)
{
	return history(s);
}

bool kl_stream_begun(const struct kl_stream *s)
{
	return s->text || s->by_log || (s->klh && kl_klh_reader_begun(s->klh));
}

uint64_t kl_stream_floor(const struct kl_stream *s, bool *sure)
{
	*sure = true;
	if (s->by_log)
		return s->log->floor(s->log, sure);
	if (s->text)
		return kl_text_reader_floor(s->text, sure);
	return s->klh ? kl_klh_reader_floor(s->klh) : KL_TIME_MIN;
}

int kl_source_share_name(struct kl_history *to, const struct kl_history *from)
{
	if (!from->source || !from->source->name)
		return 0;
	kl_source_free(to->source);
	to->source = calloc(1, sizeof(*to->source));
	if (!to->source)
		return -ENOMEM;
	to->source->places = KL_PLACES_LINES;
	to->source->name = strdup(from->source->name);
	return to->source->name ? 0 : -ENOMEM;
}
