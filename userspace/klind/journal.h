/* SPDX-License-Identifier: GPL-2.0 */
/*
 * klind's messages in systemd's journal, with fields that programs can read.
 *
 *	klind_log(KL_LOG_WARN, &(struct klind_entry){ .event = KLIND_LOST, .spec = "queue" },
 *		  "%s: lost %d operations", "queue", 3);
 *
 * Without the journal this prints the same line as kl_warn().
 */
#ifndef KLIND_JOURNAL_H
#define KLIND_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define KLIND_JOURNAL	"/run/systemd/journal/socket"

/* The kinds of messages that have a MESSAGE_ID; klind.catalog explains each. */
enum klind_event {
	KLIND_NO_EVENT, KLIND_START, KLIND_STOP, KLIND_VIOLATION, KLIND_UNKNOWN, KLIND_LOST,
	KLIND_OVERLOAD, KLIND_REPORT, KLIND_END,
};

/* The fields of a message; a member that is NULL or false makes no field. */
struct klind_entry {
	enum klind_event event;
	const char *spec;		/* name of the configuration's section */
	const char *verdict, *reason, *engine;
	const char *report;		/* path of the report's directory */
	bool has_object, has_key;
	uint64_t object, key;
};

/**
 * klind_journal_open() - send all messages to the journal, if standard error is connected to it
 * @path: path of the journal's socket, KLIND_JOURNAL
 *
 * The environment variable JOURNAL_STREAM names the file of the journal, see sd-daemon(3).  If the
 * socket does not take a message, the message is printed to standard error with its level.
 *
 * Return: true if standard error is the journal.
 */
bool klind_journal_open(const char *path);
void klind_journal_close(void);

/* Print a message with its fields; the text begins with klind's name, as that of kl_warn(). */
void klind_log(enum kl_level level, const struct klind_entry *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
