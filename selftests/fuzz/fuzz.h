/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fuzz targets: one file each, with fuzz_one().  `make SAN=1' links them with libFuzzer.
 * Other builds link them with driver.c, which runs the corpus and seeded mutations of it.
 */
#ifndef KL_FUZZ_H
#define KL_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kl_history;
struct kl_spec;

/* The target: process one input.  Messages of klin are dropped meanwhile. */
void fuzz_one(const uint8_t *data, size_t size);

/*
 * libFuzzer's entry, in common.c: process one input.  More than FUZZ_SECONDS of CPU time is a
 * finding.  CPU time does not depend on the load of the machine.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZ_SECONDS
#define FUZZ_SECONDS	10
#endif

/* Report the violated property @what and abort. */
void fuzz_broken(const char *what) __attribute__((noreturn));

/* Return: a copy in memory of exactly this size, where an access beyond the end is caught. */
char *fuzz_copy(const uint8_t *data, size_t size);

/* Return: a copy ended by a NUL, in memory of exactly that size; free() it. */
char *fuzz_text(const uint8_t *data, size_t size);

#define FUZZ_FILES	2

/* Return: the path of an unnamed file with the input, valid until FUZZ_FILES further calls. */
const char *fuzz_file(const void *data, size_t size);

/*
 * Read the input as a stream, in pieces.  Return: true if it is a complete history; @nops
 * receives the number of operations.
 */
bool fuzz_stream(const uint8_t *data, size_t size, size_t *nops);

/* Return: the part of *@data before a line "%%", as text. *@data and *@size become the rest. */
char *fuzz_part(const uint8_t **data, size_t *size);

/*
 * Take two parts off the input: a specification, and a history in the text form.  Return: true if
 * klin accepts both; the pointer of a refused one becomes NULL.
 */
bool fuzz_spec_and_history(const uint8_t **data, size_t *size, struct kl_spec **s,
			   struct kl_history **h);

/* Return: the history in the text form, which the caller frees; @len gets its length. */
char *fuzz_history_text(const struct kl_history *h, size_t *len);

#endif
