/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The spec of a key-value log with appends that have more steps than specs/kv.lin takes as
 * arguments.  It is specs/kv.lin with one more method, which has the steps in its text.  The
 * history and its certificates carry the spec, so that every reader knows the steps.
 *
 *	method append_any(word k, word s) {
 *		atomic_flush {
 *			word v = 0, to = s;
 *			if (m.has(k)) v = m.get(k);
 *			word first = 0, n = 0, bits = 0, far = 0;
 *			...
 *			if (s == 17) {
 *				if (v < 40) { first = 3; far = 2; n = 9; }
 *				else { first = 40; far = 2; bits = 0x8421; }
 *			} ...
 *			if (v - first < n || (bits >> (v - first) & 1) == 1) to = v + far;
 *			m.put(k, to);
 */
#ifndef KL_HISTORY_FORMATS_KV_SPEC_H
#define KL_HISTORY_FORMATS_KV_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A step: an append of @s turns @from into @to.  All are words of nodes, except 0 for "". */
struct kl_kv_rule {
	uint64_t s, from, to;
};

/**
 * kl_kv_spec() - write the spec
 * @rules: the steps; the function sorts them
 * @n: number of steps
 * @text: gets the spec, to be freed by free()
 *
 * Return: 0, -E2BIG if there are too many steps, or -ENOMEM.
 */
int kl_kv_spec(struct kl_kv_rule *rules, size_t n, char **text);

/*
 * Return: true if @text is the spec @base with a method append_any that kl_kv_spec() wrote.  Then
 * everything that @base says holds for @text, too.
 */
bool kl_kv_spec_extends(const char *base, const char *text);

/*
 * Return: the note for a summary ", with the appends of the history" if @text is a spec that
 * kl_kv_spec() wrote, else "".
 */
const char *kl_kv_spec_note(const char *text);

#endif
