// SPDX-License-Identifier: GPL-2.0
/* The decision whether keys are independent, see edn_keys.h. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "history/formats/edn_keys.h"
#include "history/formats/jepsen.h"

static int told(struct kl_edn_keys *keys, struct kl_edn *e, const struct kl_edn_val *f,
		bool independent)
{
	char expected[200];

	if (!keys->told) {
		keys->told = true;
		keys->independent = independent;
		keys->line = e->scan.line;
	}
	if (keys->wanted || keys->independent == independent)
		return 0;
	snprintf(expected, sizeof(expected), "%s, as in line %u; --independent=yes or no says "
		 "whether values are [KEY VALUE]", independent ? "an operation without a key" :
		 "an operation with a key", keys->line);
	return kl_scan_bad(&e->scan, f->tok, expected);
}

int kl_edn_keys_look(struct kl_edn_keys *keys, struct kl_edn *e, int type,
		     const struct kl_edn_val *f, const struct kl_edn_val *v)
{
	const bool cas = kl_scan_is(f->s, f->len, ":cas"), pair = v->kind == KL_EDN_PAIR;
	struct kl_edn_val value = { .kind = KL_EDN_NIL };
	int ret = 0;

	if (type != KL_JEPSEN_INVOKE && !(cas && type == KL_JEPSEN_OK))
		return 0;
	if (pair)
		ret = kl_edn_item(e, v, 1, &value);
	if (ret)
		return ret;
	if (cas)
		return pair ? told(keys, e, f, value.kind == KL_EDN_PAIR) : 0;
	if (!kl_scan_is(f->s, f->len, ":read") && !kl_scan_is(f->s, f->len, ":dequeue") &&
	    !kl_scan_is(f->s, f->len, ":acquire") && !kl_scan_is(f->s, f->len, ":release")) {
		keys->pairs |= pair;
		return 0;
	}
	if (v->kind == KL_EDN_NIL || (pair && value.kind == KL_EDN_NIL))
		return told(keys, e, f, pair);
	keys->pairs |= pair;
	return 0;
}

int kl_edn_keys_decide(struct kl_edn_keys *keys, struct kl_scan *scan)
{
	if (keys->wanted) {
		keys->told = true;
		keys->independent = keys->wanted == KL_INDEPENDENT_YES;
	}
	if (keys->told || !keys->pairs)
		return 0;
	scan->errors++;
	kl_err_at(scan->name, 0, 0, "cannot tell whether values like [1 2] are [KEY VALUE] of "
				    "independent keys: expected --independent=yes or "
				    "--independent=no, or a spec with a history block");
	return -EINVAL;
}
