/* SPDX-License-Identifier: GPL-2.0 */
/*
 * klind's configuration: a file of sections, in the syntax of systemd's files.
 *
 *	[klind]
 *	reports = /var/lib/klin
 *
 *	[spec port_range]
 *	memory = 64M
 *
 * Each line is a section name, KEY = VALUE, or a comment that begins with # or ;.
 */
#ifndef KLIND_CONF_H
#define KLIND_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The recorder: BPF programs on functions, or klin.ko without BPF (plain). */
enum klind_attach { KLIND_FENTRY, KLIND_KPROBE, KLIND_AUTO, KLIND_PLAIN };

/* A section [spec NAME]: one structure to watch. */
struct klind_watch_conf {
	char *name;		/* NAME: letters, digits, - _ and . */
	unsigned int line;	/* line where the section begins */
	unsigned int file_line; /* line that names the specification */
	char *file;		/* name or path of the specification; by default @name */
	/* file with debugging information, or NULL: find an installed one */
	char *debug;
	bool one_object, clock_known, report_unknown, classical;
	bool stacks;		/* keep the kernel stack of each call */
	enum klind_attach attach;
	/* address of the only object, if @one_object; error of the clock in ns, if @clock_known */
	uint64_t object, clock_error;
	uint64_t pages, slots;	/* as in struct kl_record_opts */
	uint64_t memory;	/* bound on the check's memory, in bytes */
	uint64_t flight;	/* bound on the flight recorder's memory, in bytes */
	uint64_t flight_ns; /* maximal age of recorded operations, in ns; 0: no bound */
};

struct klind_conf {
	char *path;
	char *reports;		/* directory for reports, or NULL: write no reports */
	uint64_t keep, keep_bytes;	/* maximal number of reports, and their total size */
	uint64_t report_ns;	/* minimal time between reports of one structure and kind, in ns */
	bool drop;		/* drop privileges once everything is attached */
	char *metrics;		/* file for metrics, or NULL */
	char *socket;		/* path of a socket that serves metrics, or NULL */
	uint64_t metrics_ns;	/* time between two writes of @metrics, in ns */
	struct klind_watch_conf *watch;
	size_t nwatch, nleft_out;	/* @nleft_out follow @nwatch in @watch */
};

/**
 * klind_conf_read() - read a configuration
 * @path: path of the file
 * @out: gets the configuration; the caller frees it by klind_conf_free()
 *
 * Return: 0; -EINVAL after a message for each mistake, with its file and line; another negative
 * errno after a message if the file cannot be read; -ENOMEM without a message.
 */
int klind_conf_read(const char *path, struct klind_conf **out);
/* Parse a configuration from memory; messages name it @name.  Return: as klind_conf_read(). */
int klind_conf_parse(const char *name, const char *text, struct klind_conf **out);
void klind_conf_free(struct klind_conf *c);

/* Move the structure @i behind those to watch: klind does not watch it, but tells of it. */
void klind_conf_leave_out(struct klind_conf *c, size_t i);

/* Return: true if both sections watch the same structure in the same way; lines may differ. */
bool klind_watch_conf_equal(const struct klind_watch_conf *a, const struct klind_watch_conf *b);

#endif
