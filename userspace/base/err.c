// SPDX-License-Identifier: GPL-2.0
/* Messages for people, see err.h. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define SHOWN	96	/* maximum number of bytes of a source line that are shown */

const char *kl_log_name = "klin";
enum kl_level kl_log_level = KL_LOG_WARN;
void (*kl_log_sink)(enum kl_level level, const char *line);

void kl_vlog(enum kl_level level, const char *fmt, va_list ap)
{
	char line[2048];

	if (level > kl_log_level)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	if (kl_log_sink)
		kl_log_sink(level, line);
	else
		fprintf(stderr, "%s\n", line);
}

#define KL_LOG_FN(name, level, prefix)                                              \
	void name(const char *fmt, ...)                                             \
	{                                                                           \
		char line[2000];                                                    \
		va_list ap;                                                         \
                                                                                    \
		snprintf(line, sizeof(line), "%s: %s%s", kl_log_name, prefix, fmt); \
		va_start(ap, fmt);                                                  \
		kl_vlog(level, line, ap);                                           \
		va_end(ap);                                                         \
	}

KL_LOG_FN(kl_err, KL_LOG_ERR, "")
KL_LOG_FN(kl_warn, KL_LOG_WARN, "warning: ")
KL_LOG_FN(kl_info, KL_LOG_INFO, "")
KL_LOG_FN(kl_debug, KL_LOG_DEBUG, "")

static void log_line(enum kl_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kl_vlog(level, fmt, ap);
	va_end(ap);
}

static void log_at(enum kl_level level, const char *what, const char *file, unsigned int line,
		   unsigned int col, const char *fmt, va_list ap)
{
	char msg[1500];

	vsnprintf(msg, sizeof(msg), fmt, ap);
	if (line && col)
		log_line(level, "%s:%u:%u: %s: %s", file, line, col, what, msg);
	else if (line)
		log_line(level, "%s:%u: %s: %s", file, line, what, msg);
	else
		log_line(level, "%s: %s: %s", file, what, msg);
}

void kl_err_at(const char *file, unsigned int line, unsigned int col, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_at(KL_LOG_ERR, "error", file, line, col, fmt, ap);
	va_end(ap);
}

void kl_warn_at(const char *file, unsigned int line, unsigned int col, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_at(KL_LOG_WARN, "warning", file, line, col, fmt, ap);
	va_end(ap);
}

/* Copy @n bytes of @line to @text, with spaces for control characters, and add a NUL. */
static void printable(char *text, const char *line, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const unsigned char c = line[i];

		text[i] = c < ' ' || c == 0x7f ? ' ' : c;
	}
	text[n] = 0;
}

void kl_err_lines(const char *text, size_t len, unsigned int n)
{
	const char *end = text + len, *nl;
	char shown[SHOWN + 1];

	for (; n && text < end; n--, text = nl + 1) {
		nl = memchr(text, '\n', end - text);
		nl = nl ? nl : end;
		printable(shown, text, nl - text < SHOWN ? nl - text : SHOWN);
		log_line(KL_LOG_ERR, "  %s", shown);
	}
}

void kl_err_source(const char *line, size_t len, size_t col)
{
	const size_t at = col - 1 < len ? col - 1 : len;
	const size_t from = at > SHOWN / 2 && len > SHOWN ? at - SHOWN / 2 : 0;
	const size_t n = len - from < SHOWN ? len - from : SHOWN;
	char text[SHOWN + 1], *caret;
	size_t i, width = 0;

	for (i = 0; i < n; i++) {
		const unsigned char c = line[from + i];

		/* Continuation bytes of UTF-8 have no width of their own. */
		width += from + i < at && (c & 0xc0) != 0x80;
	}
	printable(text, line + from, n);
	caret = memset((char[SHOWN + 1]){ 0 }, ' ', width);
	log_line(KL_LOG_ERR, "  %s", text);
	log_line(KL_LOG_ERR, "  %s^", caret);
}
