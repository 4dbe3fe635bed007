/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The forms of a result: text, and JSON, from which KTAP and JUnit are made.  A command makes the
 * JSON object of its result; what it means for a program that runs tests is known here only.
 */
#ifndef KL_REPORT_OUTPUT_H
#define KL_REPORT_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

enum kl_output { KL_OUTPUT_TEXT, KL_OUTPUT_JSON, KL_OUTPUT_KTAP, KL_OUTPUT_JUNIT };

/* Return: the form of this name, or -EINVAL. */
int kl_output_find(const char *name);

/**
 * kl_output_put() - print a result in a form made from JSON
 * @f: the stream to print to
 * @j: a result with envelope, or an array of them; the function gives up its reference
 * @form: the form; not KL_OUTPUT_TEXT
 *
 * The function prints nothing if memory was missing while this thread made the result.
 *
 * Return: 0 or -ENOMEM.  A write error is not reported here; ferror(@f) shows it.
 */
int kl_output_put(FILE *f, json_t *j, enum kl_output form);

/**
 * kl_output_tests() - say what a result means as tests
 * @j: a result with envelope, or an array of them
 *
 * A test is a partition, an outcome, a litmus test or the object of a command:
 *
 *	{ "name": "object 0x1", "end": "fail", "code": "taken_twice",
 *	  "why": "t3's deq() -> 1 took 1 a second time", "lines": "t1  enq(1)  added 1\n..." }
 *
 * The end is "pass", "fail", "skip" (UNKNOWN, for the reason "why") or "error".
 *
 * Return: an array; parts are missing after kl_json_no_memory().
 */
json_t *kl_output_tests(const json_t *j);

/* Print tests as KTAP version 1. */
void kl_output_ktap(FILE *f, const json_t *tests);
/* Print tests as JUnit's XML, with the host and the times of the result @j. */
void kl_output_junit(FILE *f, const json_t *j, const json_t *tests);

#endif
