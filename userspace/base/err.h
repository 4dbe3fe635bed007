/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages for people: one line each, on stderr.  They go through one function, so that tests
 * can intercept them and a progress line stays intact.
 */
#ifndef KL_BASE_ERR_H
#define KL_BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

enum kl_level { KL_LOG_ERR, KL_LOG_WARN, KL_LOG_INFO, KL_LOG_DEBUG };

/* Messages above this level are dropped; KL_LOG_WARN by default. */
extern enum kl_level kl_log_level;
extern const char *kl_log_name; /* the program, which messages begin with */

/* If set, this function gets each message instead of stderr; @line has no newline. */
extern void (*kl_log_sink)(enum kl_level level, const char *line);

void kl_vlog(enum kl_level level, const char *fmt, va_list ap);
void kl_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kl_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kl_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kl_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * kl_err_at() - report an error in a text that a person wrote
 *
 * Prints "FILE:LINE:COL: error: MESSAGE".  LINE and COL count from 1; 0 leaves them out.
 */
void kl_err_at(const char *file, unsigned int line, unsigned int col, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void kl_warn_at(const char *file, unsigned int line, unsigned int col, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * kl_err_source() - show the source line of a message, with a caret
 * @line: the line of the text
 * @len: its length in bytes
 * @col: the column in bytes, counted from 1
 *
 * Only the part of a long line around the column is shown.
 */
void kl_err_source(const char *line, size_t len, size_t col);

/* Show the first @n lines of a text of @len bytes, as part of a message; long lines are cut. */
void kl_err_lines(const char *text, size_t len, unsigned int n);

#endif
