// SPDX-License-Identifier: GPL-2.0
/* Hints about files that do not exist or are of another kind, see wrong_file.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/path.h"
#include "base/shipped.h"
#include "base/text.h"
#include "history/wrong_file.h"

#define MOST_FILES	1000	/* entries of a directory that are compared */
#define TAR_MAGIC 257 /* offset of the magic in a tar archive's first block */
#define LIN ".lin" /* the ending of specifications */

static const struct kl_file_kind spec = {
	"a specification", NULL, "name a history after it, or check it by `klin spec FILE'",
};
static const struct kl_file_kind history = {
	"a history", "a specification comes first, as in `klin check queue FILE'", NULL,
};
static const struct kl_file_kind log_lines = {
	"a log", "a specification comes first, as in `klin check logs/tally FILE'", NULL,
};
static const struct kl_file_kind no_text = {
	"neither text in UTF-8 nor a .klh file",
	NULL,
	"a history was expected",
};
static const struct kl_file_kind certificate = {
	"a certificate", "`klin replay FILE' checks it", "`klin replay FILE' checks it",
};
static const struct kl_file_kind litmus = {
	"a litmus test",
	"`klin litmus FILE' runs it",
	"`klin litmus FILE' runs it",
};
static const struct kl_file_kind result = {
	"a result of klin", "`klin report FILE' shows it", "`klin report FILE' shows it",
};

static const struct kl_file_kind cr_lines = {
	"text with lines that end in CR alone",
	"convert it, as in `tr \"\\r\" \"\\n\" <FILE'",
	"convert it, as in `tr \"\\r\" \"\\n\" <FILE'",
};
static const struct kl_file_kind conf = {
	"a configuration of klind",
	"`klind --check-config --config=FILE' checks it",
	"`klind --check-config --config=FILE' checks it",
};
static const struct kl_file_kind prose = {
	"no specification",
	"a specification begins with `spec NAME {'",
	NULL,
};
static const struct kl_file_kind tar = {
	"a tar archive",
	"unpack it, as in `tar xf FILE'",
	"unpack it, as in `tar xf FILE'",
};

/*
 * Find the file with nearly the name @path in its directory: a specification if @lin, else another
 * file.  @near gets its path.  Return: true if there is one.
 */
static bool near_file(const char *path, bool lin, char *near, size_t size)
{
	const char *last = kl_last_part(path), *one;
	char name[KL_NEAREST_MAX], stem[KL_NEAREST_MAX];
	const int dir_len = last - path;
	unsigned int best = KL_NEAREST_MAX, d, n = 0;
	struct dirent *e;
	DIR *dir;

	snprintf(name, sizeof(name), "%.*s", (int)kl_stem(last, LIN), last);
	snprintf(near, size, "%.*s", dir_len, path);
	dir = opendir(dir_len ? near : ".");
	if (!dir)
		return false;
	while (n++ < MOST_FILES && (e = readdir(dir))) {
		one = e->d_name;
		if (*one == '.' || e->d_type == DT_DIR || (one[kl_stem(one, LIN)] != '\0') != lin)
			continue;
		/* The ending makes names no more alike. */
		snprintf(stem, sizeof(stem), "%.*s", (int)kl_stem(one, LIN), one);
		one = stem;
		if (!kl_nearest(name, &one, 1))
			continue;
		one = e->d_name;
		d = kl_edits(last, strlen(last), one);
		if (d >= best)
			continue;
		best = d;
		snprintf(near, size, "%.*s%s", dir_len, path, one);
	}
	closedir(dir);
	return best < KL_NEAREST_MAX;
}

const char *kl_spec_hint(const char *path, int err, char hint[KL_FILE_HINT])
{
	const char *shipped;
	char near[KL_FILE_HINT / 2];

	*hint = '\0';
	if (err != -ENOENT)
		return hint;
	shipped = kl_shipped_near(path);
	if (!*path)
		snprintf(hint, KL_FILE_HINT, "; the name is empty");
	else if (near_file(path, true, near, sizeof(near)))
		snprintf(hint, KL_FILE_HINT, "; did you mean %s?", near);
	else if (shipped)
		snprintf(hint, KL_FILE_HINT, "; did you mean the shipped %s?", shipped);
	else
		snprintf(hint, KL_FILE_HINT, "; `klin spec --list' lists the shipped ones");
	return hint;
}

const char *kl_history_hint(const char *path, int err, char hint[KL_FILE_HINT])
{
	const char *joint = strpbrk(path, "=, ");
	const char *second = joint ? joint + 1 + strspn(joint + 1, " ") : "";
	char near[KL_FILE_HINT / 2];

	*hint = '\0';
	if (err != -ENOENT)
		return hint;
	if (!*path)
		snprintf(hint, KL_FILE_HINT, "; the name is empty");
	else if (joint && joint > path && !access(second, F_OK))
		snprintf(hint, KL_FILE_HINT, "; did you mean `%.*s %s', two arguments?",
			 (int)(joint - path), path, second);
	else if (kl_shipped_text(path))
		snprintf(hint, KL_FILE_HINT, "; this is the shipped specification: %s",
			 "name a history after it, or - for standard input");
	else if (near_file(path, false, near, sizeof(near)))
		snprintf(hint, KL_FILE_HINT, "; did you mean %s?", near);
	return hint;
}

static bool begins(const char *data, const char *end, const char *with)
{
	const size_t len = strlen(with);

	return (size_t)(end - data) >= len && !memcmp(data, with, len);
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && *p && strchr(" \t\r\n", *p))
		p++;
	return p;
}

/* Skip blanks and the comments of a specification. */
static const char *skip_comments(const char *p, const char *end)
{
	const char *close;

	for (;;) {
		p = skip_blanks(p, end);
		if (begins(p, end, "//"))
			close = memchr(p, '\n', end - p);
		else if (begins(p, end, "/*"))
			close = memmem(p, end - p, "*/", 2);
		else
			return p;
		p = close ? close + (*close == '\n' ? 1 : 2) : end;
	}
}

/* Return: true for a JSON object whose first member is klin's schema. */
static bool is_result(const char *p, const char *end)
{
	static const char *const words[] = { "{", "\"schema\"", ":", "\"klin/1\"" };
	size_t i;

	for (i = 0; i < 4; i++) {
		p = skip_blanks(p, end);
		if (!begins(p, end, words[i]))
			return false;
		p += strlen(words[i]);
	}
	return true;
}

/* Return: true for a line of klin's text form, as in "t3 @1 10 20 write 7". */
static bool is_operation(const char *p, const char *end)
{
	if (p == end || *p++ != 't')
		return false;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return begins(p, end, " @");
}

/* Begins a history's header: `# klin history 1', `# @object atomic-stack', or `# queue'? */
static bool is_header(const char *p, const char *end)
{
	const char *word = p + 2, *line = memchr(p, '\n', end - p);

	if (begins(p, end, "# klin history ") || begins(p, end, "# @object "))
		return true;
	return line && begins(p, end, "# ") && line > word && !memchr(word, ' ', line - word);
}

/* Return: true if the first bytes are text in ASCII or UTF-8. */
static bool is_text(const char *s, size_t n)
{
	unsigned int more = 0;
	size_t i;

	for (i = 0; i < n && i < 512; i++) {
		const unsigned char c = s[i];

		if (more ? (c & 0xc0) != 0x80 : !kl_utf8_length(c))
			return false;
		if ((c < ' ' && !strchr("\t\n\v\f\r\033", c)) || !c || c == 0x7f)
			return false;
		more = more ? more - 1 : kl_utf8_length(c) - 1;
	}
	return true;
}

/* Return: true for a text whose first line that is no comment is an operation. */
static bool has_operation(const char *p, const char *end)
{
	while (begins(p, end, "#")) {
		p = memchr(p, '\n', end - p);
		p = p ? skip_blanks(p, end) : end;
	}
	return is_operation(p, end);
}

/* Return: true for a text whose first line has no word of a specification and no bracket. */
static bool is_prose(const char *p, const char *end)
{
	static const char *const words[] = {
		"spec",	  "probe", "history", "struct", "shared",  "method", "init",  "client",
		"thread", "final", "memory",  "word",	"bool",	   "const",  "queue", "stack",
		"deque",  "set",   "map",     "bag",	"typedef", "atomic",
	};
	const char *line = memchr(p, '\n', end - p);
	char word[KL_NEAREST_MAX];
	size_t n = 0;

	line = line ? line : end;
	if (p == line || memchr(p, '{', line - p))
		return false;
	while (p + n < line && n + 1 < sizeof(word) &&
	       (isalnum((unsigned char)p[n]) || p[n] == '_'))
		n++;
	snprintf(word, sizeof(word), "%.*s", (int)n, p);
	return !n || !kl_nearest(word, words, sizeof(words) / sizeof(*words));
}

const struct kl_file_kind *kl_file_kind(const char *data, size_t len)
{
	const char *end = data + len, *p = skip_comments(data, end);

	if (begins(data, end, "klin-certificate "))
		return &certificate;
	if (is_result(data, end))
		return &result;
	if (begins(data, end, "X86 ") || begins(data, end, "X86_64 "))
		return &litmus;
	if (memchr(data, '\r', len) && !memchr(data, '\n', len) && is_text(data, len))
		return &cr_lines;
	if (len > TAR_MAGIC && begins(data + TAR_MAGIC, end, "ustar"))
		return &tar;
	if (begins(p, end, "spec ") || begins(p, end, "shared ") || begins(p, end, "struct ") ||
	    begins(p, end, "probe "))
		return &spec;
	/* A comment of another language may come before a specification. */
	if (begins(p, end, "#") && memmem(p, end - p, "\nspec ", 6))
		return NULL;
	if (is_header(p, end) || begins(p, end, "\211KLH") || has_operation(p, end))
		return &history;
	if (begins(p, end, "[klind]") || begins(p, end, "[spec "))
		return &conf;
	if (begins(p, end, "{") || begins(p, end, "[") || begins(p, end, "INFO "))
		return &log_lines;
	if (!is_text(data, len))
		return &no_text;
	return is_prose(p, end) ? &prose : NULL;
}
