/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fuzz targets: one file each, with fuzz_one().  `make SAN=fuzz' links them with libFuzzer,
 * everything else with driver.c, which runs a corpus and seeded mutations of it.
 */
#ifndef KL_FUZZ_H
#define KL_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A target: read one input.  Messages are dropped meanwhile. */
void fuzz_one(const uint8_t *data, size_t size);

/*
 * libFuzzer's entry, in common.c: one input.  One that takes more than FUZZ_SECONDS of the
 * processor's time, which do not depend on what else runs, is a finding.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZ_SECONDS
#define FUZZ_SECONDS	10
#endif

/* A promise does not hold: say which, and abort. */
void fuzz_broken(const char *what) __attribute__((noreturn));

/* A copy ended by a NUL, in memory of exactly that size; free() it. */
char *fuzz_text(const uint8_t *data, size_t size);

#define FUZZ_FILES	2

/*
 * The input as a file that is seen by nobody else: its path, valid until the FUZZ_FILES-th
 * call from here.
 */
const char *fuzz_file(const void *data, size_t size);

/*
 * The input read as a stream, in pieces.  Return: is it a whole history?  @nops: how many
 * operations came.
 */
bool fuzz_stream(const uint8_t *data, size_t size, size_t *nops);

/* The part of *@data before a line "%%", as text; *@data and *@size become the rest. */
char *fuzz_part(const uint8_t **data, size_t *size);

#endif
