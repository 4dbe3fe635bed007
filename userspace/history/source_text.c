// SPDX-License-Identifier: GPL-2.0
/*
 * Reads entries of a source again, see source_text.h.
 *
 * Entries of most forms are found by the number of their line.  The first search reads the whole
 * file and notes where each BLOCK-th line begins, so that a later one reads few lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "history/source_text.h"
#include "history/spell.h"

#define BLOCK 1024 /* lines */
#define SHORT 2048 /* bytes that most entries fit */
#define MOST (64u << 10) /* bytes of an entry that are looked at */

struct again {
	struct kl_source_again base;
	int fd; /* -1: the text is in memory, or cannot be read */
	uint64_t *block; /* offsets of lines 1, 1 + BLOCK, ... */
	size_t nblocks, cblocks;
	bool indexed;
	uint32_t line; /* the line that was found last, and its offset; 0: none */
	uint64_t line_at;
	char buf[MOST + 1 + KL_INPUT_BEHIND];
};

static struct again *again_of(const struct kl_source *s)
{
	return (struct again *)s->again;
}

static void free_again(struct kl_source_again *base)
{
	struct again *a = (struct again *)base;

	if (a->fd >= 0)
		close(a->fd);
	free(a->block);
	free(a);
}

/* Return: the file, or -1 if it is not there or has changed since it was read. */
static int open_again(const struct kl_source *s)
{
	const int fd = s->text || !s->path ? -1 : open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct kl_input_id id;
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		id = kl_input_id(&st);
		if (!memcmp(&id, &s->id, sizeof(id)))
			return fd;
	}
	close(fd);
	return -1;
}

/* Read at most @n bytes from offset @at of the text on into the buffer.  Return: their number. */
static size_t read_at(const struct kl_source *s, uint64_t at, size_t n)
{
	struct again *a = again_of(s);
	size_t len = 0;
	ssize_t ret;

	if (s->text) {
		len = at < s->len ? s->len - at : 0;
		len = len < n ? len : n;
		memcpy(a->buf, s->text + at, len);
		return len;
	}
	while (len < n) {
		ret = pread(a->fd, a->buf + len, n - len, s->skip + at + len);
		if (ret <= 0)
			break;
		len += ret;
	}
	return len;
}

/* Note where lines begin.  Return: 0 or -ENOMEM. */
static int index_lines(const struct kl_source *s)
{
	struct again *a = again_of(s);
	uint64_t at = 0, line = 1;
	const char *p;
	size_t n;
	int ret = kl_grow(a->block, a->cblocks, 1);

	if (ret)
		return ret;
	a->block[0] = 0;
	a->nblocks = 1;
	for (; (n = read_at(s, at, MOST)); at += n) {
		for (p = a->buf; (p = memchr(p, '\n', a->buf + n - p)); p++) {
			if (line++ % BLOCK)
				continue;
			ret = kl_grow(a->block, a->cblocks, a->nblocks + 1);
			if (ret)
				return ret;
			a->block[a->nblocks++] = at + (p + 1 - a->buf);
		}
	}
	a->indexed = true;
	return 0;
}

/* Find the offset of a line.  Return: 1, 0 if there is no such line, or -ENOMEM. */
static int find_line(const struct kl_source *s, uint32_t line, uint64_t *at)
{
	struct again *a = again_of(s);
	uint32_t here = (line - 1) / BLOCK * BLOCK + 1;
	const char *p;
	size_t n;
	int ret = a->indexed ? 0 : index_lines(s);

	if (ret || (line - 1) / BLOCK >= a->nblocks)
		return ret;
	*at = a->block[(line - 1) / BLOCK];
	if (a->line && a->line <= line && a->line >= here) {
		here = a->line;
		*at = a->line_at;
	}
	while (here < line) {
		n = read_at(s, *at, line - here < BLOCK / 8 ? SHORT : MOST);
		if (!n)
			return 0;
		for (p = a->buf; here < line && (p = memchr(p, '\n', a->buf + n - p)); p++)
			here++;
		*at += p ? p - a->buf : (ptrdiff_t)n;
	}
	a->line = line;
	a->line_at = *at;
	return 1;
}

/* Read a line of the text form: the words behind the method are values, but for `->' and a=b. */
static bool read_line(const char *text, const char *end, struct kl_entry *e)
{
	const char *p = text, *const stop = rawmemchr(text, '\n');
	unsigned int word;
	size_t n;

	e->len = stop - text;
	for (word = 0; (p = kl_scan_skip(p)) < stop; word++, p += n) {
		n = kl_scan_word(p);
		if (word >= KL_AT_VALUE && !kl_scan_is(p, n, "->") && !memchr(p, '=', n) &&
		    e->nwords < KL_ENTRY_WORDS)
			e->word[e->nwords++] = (struct kl_piece){ p, n };
	}
	return stop < end;
}

/* Read the entry that the buffer of @len bytes begins with.  Return: whether it ends there. */
static bool read_entry(const struct kl_history *h, size_t len, struct kl_entry *e)
{
	const struct kl_source *s = h->source;
	char *const buf = again_of(s)->buf;
	const char *newline;

	*e = (struct kl_entry){ 0 };
	buf[len] = '\n';
	memset(buf + len + 1, 0, KL_INPUT_BEHIND);
	if (s->form && s->form->entry)
		return s->form->entry(h, buf, buf + len, e);
	if (s->places == KL_PLACES_WORDS)
		return read_line(buf, buf + len, e);
	newline = memchr(buf, '\n', len);
	e->len = newline ? newline - buf : (ptrdiff_t)len;
	return newline;
}

/* Return: at most @len, such that no character of UTF-8 is cut. */
static size_t whole_characters(const char *text, size_t len)
{
	size_t n = len;

	while (n && len - n < 3 && (text[n] & 0xc0) == 0x80)
		n--;
	return n && (text[n] & 0xc0) == 0xc0 ? n : len;
}

static int read_text(const struct kl_history *h, uint64_t at, struct kl_source_text *out)
{
	char *const buf = again_of(h->source)->buf;
	size_t len = read_at(h->source, at, SHORT);
	bool whole = len && read_entry(h, len, &out->entry);

	if (len == SHORT && !whole) {
		len = read_at(h->source, at, MOST);
		whole = read_entry(h, len, &out->entry);
	}
	if (!len)
		return 0;
	/* The last line of a file may have no newline. */
	if (!whole && len < MOST)
		out->entry.len = out->entry.len ?: len;
	else if (!whole)
		out->entry.len = len;
	out->text = buf;
	out->len = out->entry.len < KL_SOURCE_TEXT ? out->entry.len :
						     whole_characters(buf, KL_SOURCE_TEXT);
	out->cut = out->len < out->entry.len || (!whole && len == MOST);
	while (out->len && strchr("\r\n", buf[out->len - 1]) && buf[out->len - 1])
		out->len--;
	return 1;
}

int kl_source_text_at(const struct kl_history *h, uint32_t at, uint32_t line,
		      struct kl_source_text *out)
{
	struct kl_source *s = h->source;
	uint64_t from = at;
	int ret;

	if (!s || (!s->text && !s->path) || (at == KL_NO_PLACE && !line))
		return 0;
	if (!s->again) {
		struct again *a = calloc(1, sizeof(*a));

		if (!a)
			return -ENOMEM;
		a->base.free = free_again;
		a->fd = open_again(s);
		s->again = &a->base;
	}
	if (!s->text && again_of(s)->fd < 0)
		return 0;
	ret = at == KL_NO_PLACE ? find_line(s, line, &from) : 1;
	return ret > 0 ? read_text(h, from, out) : ret;
}

int kl_source_text(const struct kl_history *h, size_t op, enum kl_source_half half,
		   struct kl_source_text *out)
{
	const struct kl_source *s = h->source;
	const struct kl_source_events *e;

	if (!s || !h->places || h->places[op] >= KL_FIRST_PLACE)
		return 0;
	e = kl_source_events(h, op);
	if (!e)
		return half == KL_SOURCE_CALL && s->places != KL_PLACES_OFFSETS ?
			       kl_source_text_at(h, KL_NO_PLACE, h->places[op], out) :
			       0;
	/* Columns have a meaning in such texts, where a line may hold several entries. */
	if (s->places == KL_PLACES_OFFSETS) {
		const uint32_t at = half == KL_SOURCE_CALL ? e->call_at : e->ret_at;

		return at == KL_NO_PLACE ? 0 : kl_source_text_at(h, at, 0, out);
	}
	return kl_source_text_at(h, KL_NO_PLACE,
				 half == KL_SOURCE_CALL ? e->call_line : e->ret_line, out);
}

/* Print a word that is one line.  Return: false if it is not. */
static bool print_word(const struct kl_piece *word, char *buf, size_t size)
{
	size_t i;

	for (i = 0; i < word->len; i++)
		if ((unsigned char)word->s[i] < ' ' || word->s[i] == 0x7f)
			return false;
	if (!word->len || word->len >= size)
		return false;
	memcpy(buf, word->s, word->len);
	buf[word->len] = 0;
	return true;
}

static bool is_nil(const struct kl_piece *word)
{
	return word->len == 3 && !memcmp(word->s, "nil", 3);
}

/* Has the value a spelling that the lines of some operation may not share? */
static bool may_differ(const struct kl_history *of, const struct kl_opsig *s, unsigned int i)
{
	const struct kl_val v = of->vals[s->vals + i];

	return kl_history_spelling(of, v.v) || v.v <= 1;
}

static bool print_own(const struct kl_history *of, size_t op, unsigned int i, char *buf,
		      size_t size)
{
	const struct kl_opsig *s = kl_op_sig(of, &of->ops[op]);
	const unsigned int n = s->nargs + s->nres;
	const bool arg = i < s->nargs;
	struct kl_source_text t;
	struct kl_entry *e = &t.entry;

	if (!may_differ(of, s, i) || kl_source_text(of, op, KL_SOURCE_CALL, &t) <= 0)
		return false;
	if (of->source->places == KL_PLACES_WORDS)
		return e->nwords == n && print_word(&e->word[i], buf, size);
	/* An :invoke with nil gets its value from the :ok. */
	if (arg && e->nwords == s->nargs && !is_nil(&e->word[i]))
		return print_word(&e->word[i], buf, size);
	return kl_source_text(of, op, KL_SOURCE_RETURN, &t) > 0 &&
	       e->nwords == (arg ? s->nargs : s->nres) &&
	       print_word(&e->word[arg ? i : i - s->nargs], buf, size);
}

void kl_source_own_words(struct kl_history *h, const struct kl_history *of, const uint32_t *ops)
{
	const struct kl_source *s = of->source;

	if (of->respelled && s && s->form && (s->form->entry || s->places == KL_PLACES_WORDS))
		h->own = (struct kl_own_words){ .print = print_own, .of = of, .ops = ops };
}
