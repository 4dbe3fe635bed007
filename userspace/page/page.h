/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page: a result of klin and its history as one HTML file, which any browser shows without
 * a network.
 *
 * The scripts and styles are the files *.js and *.css of this folder, see README.  The data stands
 * in the page as JSON: the result as klin prints it, and the history in columns, see columns.h.
 */
#ifndef KL_PAGE_PAGE_H
#define KL_PAGE_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "check/check.h"

/* Operations that a page holds if nothing else is asked for. */
#define KL_PAGE_OPERATIONS	200000
/* Bytes of the file's own text that it holds then. */
#define KL_PAGE_TEXTS 500000

/**
 * struct kl_page - what a page shows; all members but @title may be missing
 * @title: the name of the input
 * @result: the result as klin prints it as JSON, or NULL
 * @found: violations that a check printed while it ran along, as an array; @result is its summary
 * @h: the history
 * @r: the report on @h
 * @source: text of the model that was explored or verified
 * @sources: texts of litmus tests, by their names of files
 * @command: the command line that makes the result again
 * @note: a sentence about something that the page lacks
 * @most: number of operations that the page may hold, see kl_page_choose(); 0: all
 * @texts: bytes of their entries in the file that it may hold; 0: all
 */
struct kl_page {
	const char *title;
	json_t *result, *found, *sources;
	const struct kl_history *h;
	const struct kl_report *r;
	const char *source, *command, *note;
	size_t most, texts;
};

/**
 * kl_page_write() - write a page
 * @f: the stream to write to
 * @p: what the page shows
 *
 * Return: 0 or -ENOMEM.  A write error is not reported here; ferror(@f) shows it.
 */
int kl_page_write(FILE *f, const struct kl_page *p);

/* The parts of the page, which tools/embed-page makes from the files of this folder. */
extern const char kl_page_html[], kl_page_style[], kl_page_script[];

#endif
