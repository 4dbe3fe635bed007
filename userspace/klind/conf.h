/* SPDX-License-Identifier: GPL-2.0 */
/*
 * klind's configuration: a file of sections, as systemd's are.
 *
 *	[klind]
 *	reports = /var/lib/klin
 *
 *	[spec port_range]
 *	memory = 64M
 *
 * A line is a section's name, KEY = VALUE, or a comment that begins with # or ;.
 */
#ifndef KLIND_CONF_H
#define KLIND_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How it is recorded: by programs on functions, or by klin.ko itself (plain). */
enum klind_attach { KLIND_FENTRY, KLIND_KPROBE, KLIND_AUTO, KLIND_PLAIN };

/* A structure that is watched. */
struct klind_watch_conf {
	char *name;		/* of the section: letters, digits, - _ and . */
	unsigned int line;	/* where the section begins */
	char *file;		/* the specification; by default its name */
	char *debug;		/* debugging information, or NULL: what is installed */
	bool one_object, clock_known, report_unknown, classical;
	enum klind_attach attach;
	uint64_t object, clock_error;
	uint64_t pages, slots;	/* of the recorder */
	uint64_t memory;	/* bound of the check, bytes */
	uint64_t flight;	/* and of the flight recorder, bytes */
	uint64_t flight_ns;	/* 0: as long as it has room */
};

struct klind_conf {
	char *path;
	char *reports;		/* directory, or NULL: none are written */
	uint64_t keep, keep_bytes;	/* reports, and bytes of all of them */
	uint64_t report_ns;	/* between two reports of one structure */
	char *metrics;		/* file, or NULL */
	char *socket;		/* by which they can be had, too, or NULL */
	uint64_t metrics_ns;
	struct klind_watch_conf *watch;
	size_t nwatch;
};

/**
 * klind_conf_read() - read a configuration
 * @path: the file
 * @out: to be given to klind_conf_free()
 *
 * Return: 0; -EINVAL after messages, one for each mistake, with file, line and what was
 * expected; another negative errno after a message if the system did not let it be read.
 */
int klind_conf_read(const char *path, struct klind_conf **out);
/* The same from memory; @name is for messages. */
int klind_conf_parse(const char *name, const char *text, struct klind_conf **out);
void klind_conf_free(struct klind_conf *c);

/* Is the same to be done? */
bool klind_watch_conf_equal(const struct klind_watch_conf *a, const struct klind_watch_conf *b);

#endif
