/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The decision whether a vector of two is a [KEY VALUE] of independent keys, or a value itself.
 * `:f :write, :value [7 3]' may be either.  Other operations decide: a read that is invoked with
 * [7 nil] has a key, with nil it has none; a cas of [7 [1 2]] has a key, a cas of [1 2] has none.
 */
#ifndef KL_HISTORY_FORMATS_EDN_KEYS_H
#define KL_HISTORY_FORMATS_EDN_KEYS_H

#include "history/formats/edn.h"
#include "history/history.h"

struct kl_edn_keys {
	enum kl_independent wanted;	/* the option --independent */
	bool told;	/* the decision is known, from an operation or the option */
	bool independent;
	bool pairs;		/* there were vectors of two in operations that do not decide */
	unsigned int line;	/* line of the operation that decided */
};

/*
 * Decide by an operation, if it can decide.  @type is an enum kl_jepsen_type, or -1.
 * Return: 0, or -EINVAL after a message if the operation contradicts an earlier one.
 */
int kl_edn_keys_look(struct kl_edn_keys *keys, struct kl_edn *e, int type,
		     const struct kl_edn_val *f, const struct kl_edn_val *v);

/*
 * Complete the decision after the last operation.  Return: 0, or -EINVAL after a message if a
 * decision is needed but neither an operation nor the option gave it.
 */
int kl_edn_keys_decide(struct kl_edn_keys *keys, struct kl_scan *scan);

#endif
