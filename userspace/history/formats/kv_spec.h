/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The specification of a key-value log with appends that have more steps than specs/kv.lin
 * takes as arguments: specs/kv.lin with a method more, which has them in its text.  The
 * history carries it, and so do certificates, so that every reader of it knows the steps.
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

/* Appending @s makes @to of @from; all are words of nodes but 0, which is "". */
struct kl_kv_rule {
	uint64_t s, from, to;
};

/**
 * kl_kv_spec() - write the specification
 * @rules: the steps, which are sorted
 * @n: how many
 * @text: set; free() it
 *
 * Return: 0; -E2BIG if there are too many; -ENOMEM.
 */
int kl_kv_spec(struct kl_kv_rule *rules, size_t n, char **text);

/*
 * Is @text the specification @base with append_any, as kl_kv_spec() writes it?  All that @base
 * says holds in it, and it knows what the appends of one log do.
 */
bool kl_kv_spec_extends(const char *base, const char *text);

/* For a summary: ", with the appends of the history" if @text is such a one, else "". */
const char *kl_kv_spec_note(const char *text);

#endif
