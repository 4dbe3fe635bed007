/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages for people: one line each, on stderr, through one place so that
 * tests can look at them and a progress line is not broken by them.
 */
#ifndef KL_BASE_ERR_H
#define KL_BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

enum kl_level { KL_LOG_ERR, KL_LOG_WARN, KL_LOG_INFO, KL_LOG_DEBUG };

/* Messages above this level are dropped; KL_LOG_WARN by default. */
extern enum kl_level kl_log_level;

/* Called instead of printing when set; @line has no newline. */
extern void (*kl_log_sink)(enum kl_level level, const char *line);

void kl_vlog(enum kl_level level, const char *fmt, va_list ap);
void kl_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kl_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kl_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kl_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * kl_err_at() - an error in a text that a person wrote
 *
 * Prints "FILE:LINE:COL: error: MESSAGE"; LINE and COL count from 1, 0 leaves
 * them out.
 */
void kl_err_at(const char *file, unsigned int line, unsigned int col, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void kl_warn_at(const char *file, unsigned int line, unsigned int col, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * kl_err_source() - show the place that a message was about
 * @line: the line of the text
 * @len: its length
 * @col: the column, which counts bytes from 1
 *
 * A long line is cut to what is around the column.
 */
void kl_err_source(const char *line, size_t len, size_t col);

/* Show the first lines of a text that a message was about, at most @n; long ones are cut. */
void kl_err_lines(const char *text, size_t len, unsigned int n);

#endif
