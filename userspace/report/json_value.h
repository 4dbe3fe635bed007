/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers to make JSON.  Code that makes a value need not check for missing memory: kl_json_put()
 * detects that a part of the value is missing.
 */
#ifndef KL_REPORT_JSON_VALUE_H
#define KL_REPORT_JSON_VALUE_H

#include <jansson.h>
#include <stdint.h>

/**
 * kl_json_put() - print a value and a newline
 * @f: the stream to print to
 * @j: the value; the function gives up its reference
 * @flags: flags of json_dumpf()
 *
 * The function prints nothing if memory was missing while this thread made the value.
 *
 * Return: 0 or -ENOMEM.  A write error is not reported here; ferror(@f) shows it.
 */
int kl_json_put(FILE *f, json_t *j, size_t flags);

/* Return: @j, or NULL if memory was missing since this thread's last value; then @j is freed. */
json_t *kl_json_whole(json_t *j);

/* Note that memory was missing for a part of this thread's value. */
void kl_json_no_memory(void);

/* A number: an integer below 2^63, since integers are signed here; otherwise a string. */
json_t *kl_json_number(uint64_t v);
/* A text that may not be UTF-8, such as a file name.  U+FFFD replaces each wrong byte. */
json_t *kl_json_text(const char *s);
/* The same of @len bytes, which may be zero. */
json_t *kl_json_bytes(const char *s, size_t len);

#endif
