// SPDX-License-Identifier: GPL-2.0
/* Distinguishes header lines from comments, see directive.h. */
#include <ctype.h>
#include <string.h>

#include "base/nearest.h"
#include "history/directive.h"

#define JOINTS		"=:_-" /* characters that people put between words instead of blanks */
#define MAX_LINE	256 /* maximal length of a line whose words are joined by JOINTS */

/* Return: word @i, from 0, of the line at @p; @len is its length, or 0 if there is no such word. */
static const char *word_at(const char *p, unsigned int i, size_t *len)
{
	for (p = kl_scan_skip(p); i && *p != '\n'; i--)
		p = kl_scan_skip(p + kl_scan_word(p));
	*len = kl_scan_word(p);
	return p;
}

static unsigned int count_words(const char *p)
{
	unsigned int n = 0;

	for (p = kl_scan_skip(p); *p != '\n'; n++)
		p = kl_scan_skip(p + kl_scan_word(p));
	return n;
}

/* Return: true if the word at @p is in @list.  With @near, a long word may have a typing error. */
static bool is_listed(const char *p, size_t len, const char *list, bool near)
{
	char name[KL_NEAREST_MAX];
	size_t n;

	for (; list && *list; list += n + strspn(list + n, " ")) {
		n = strcspn(list, " ");
		if (n == len && !strncasecmp(p, list, n))
			return true;
		if (!near || n < 4 || n >= sizeof(name))
			continue;
		memcpy(name, list, n);
		name[n] = 0;
		if (kl_edits(p, len, name) <= 1)
			return true;
	}
	return false;
}

static bool is_number(const char *p, size_t len)
{
	size_t i;

	if (!len || !kl_scan_digit(*p))
		return false;
	for (i = 1; i < len && isxdigit((unsigned char)p[i]); i++)
		;
	return i == len || (p[1] == 'x' && len > 2);
}

/* Return: true if the word is a path, or can be the name of a shipped spec. */
static bool is_file(const char *p, size_t len)
{
	size_t i;

	if (memchr(p, '/', len) || (len > 4 && !memcmp(p + len - 4, ".lin", 4)))
		return true;
	for (i = 0; i < len && kl_scan_name(p[i]); i++)
		;
	return i == len && len;
}

/* Return: true if the whole rest of the line is a path, which may contain blanks. */
static bool names_file(const char *p)
{
	size_t len = strcspn(p, "\n");

	while (len && kl_scan_blank(p[len - 1]))
		len--;
	return memchr(p, '/', len) || (len > 4 && !memcmp(p + len - 4, ".lin", 4));
}

/* Return: true if word @d->at of the line at @p is in @d->next. */
static bool follows(const struct kl_directive *d, const char *p, bool near)
{
	size_t len;

	p = word_at(p, d->at, &len);
	if (!strcmp(d->next, "#"))
		return is_number(p, len);
	if (!strcmp(d->next, "#."))
		return len && kl_scan_digit(*p) && memchr(p, '.', len);
	if (!strcmp(d->next, "0x"))
		return len > 2 && !memcmp(p, "0x", 2);
	if (!strcmp(d->next, "/"))
		return is_file(p, len);
	return is_listed(p, len, d->next, near);
}

static bool has_later(const struct kl_directive *d, const char *p)
{
	size_t len;

	if (!d->later)
		return false;
	for (p = word_at(p, 0, &len); len; p = word_at(p + len, 0, &len))
		if (*d->later == '#' ? kl_scan_digit(*p) : is_listed(p, len, d->later, false))
			return true;
	return false;
}

/* Return: true if a line whose first word is @d->word is a header line.  @p is behind that word. */
static bool is_meant(const struct kl_directive *d, const char *p)
{
	const unsigned int n = count_words(p);
	const bool few = n <= d->few, more = d->words && n > d->words;

	if (d->few == KL_DIRECTIVE_ANY || !n || has_later(d, p))
		return true;
	if (!d->next)
		return false;
	if (few && !d->wordy)
		return true;
	/* The name of a file may contain blanks. */
	if (*d->next == '/')
		return names_file(p);
	return (few || !d->wordy) && follows(d, p, !more);
}

/* Return: true if the line would be a header line with @d->word as its first word. */
static bool would_be(const struct kl_directive *d, const char *p)
{
	size_t len;
	unsigned int n;

	word_at(p, 0, &len);
	if (d->aside && kl_scan_is(kl_scan_skip(p), len, d->aside))
		p = kl_scan_skip(p) + len;
	n = count_words(p);
	if (!d->next)
		return has_later(d, p);
	if (!n)
		return d->bare;
	if ((d->words && n > d->words) || !follows(d, p, false))
		return false;
	return !d->wordy || n <= d->few || has_later(d, p);
}

static bool is_typo(const struct kl_directive *d, const char *p, size_t len)
{
	const size_t n = strlen(d->word);
	char word[KL_NEAREST_MAX];
	size_t i;

	if (len > n + 2 || len >= sizeof(word) || is_listed(p, len, d->others, false))
		return false;
	for (i = 0; i < len; i++)
		word[i] = tolower((unsigned char)p[i]);
	return kl_edits(word, len, d->word) <= (n > 6 ? 2 : 1);
}

const struct kl_directive *kl_directive_find(const struct kl_directive *d, size_t n,
					     const char **pp)
{
	const char *p = kl_scan_skip(*pp);
	const size_t len = kl_scan_word(p);
	size_t i;

	/* Lines such as `#!' and `#text' are comments. */
	if (!kl_scan_blank(**pp))
		return NULL;
	for (i = 0; i < n; i++) {
		if (!kl_scan_is(p, len, d[i].word) || !is_meant(&d[i], p + len))
			continue;
		*pp = p + len;
		return &d[i];
	}
	return NULL;
}

static const struct kl_directive *find_meant(const struct kl_directive *d, size_t n, const char *p)
{
	const size_t len = kl_scan_word(p);
	size_t i;

	for (i = 0; i < n; i++)
		if (is_typo(&d[i], p, len) && would_be(&d[i], p + len))
			return &d[i];
	return NULL;
}

const struct kl_directive *kl_directive_meant(const struct kl_directive *d, size_t n,
					      const char **pp)
{
	const char *p = kl_scan_skip(*pp);
	const size_t len = strcspn(p, "\n");
	const struct kl_directive *meant = find_meant(d, n, p);
	char line[MAX_LINE + 2 * sizeof(uint64_t)] = "";
	size_t i;

	/*
	 * Joints may stand for blanks, as in `# memory=tso'.  A line that begins with a joint, such
	 * as `# --- first init ---', remains a comment.
	 */
	if (!meant && len < MAX_LINE && !strchr(JOINTS, *p) && strcspn(p, JOINTS) < len) {
		memcpy(line, p, len + 1);
		for (i = 0; i < len; i++)
			if (strchr(JOINTS, line[i]))
				line[i] = ' ';
		meant = find_meant(d, n, kl_scan_skip(line));
	}
	if (meant)
		*pp = p;
	return meant;
}
