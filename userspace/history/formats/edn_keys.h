/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a vector of two a [KEY VALUE] of independent keys, or a value itself?  `:f :write,
 * :value [7 3]' may be either.  Operations without a value when they are invoked decide: a read of
 * [7 nil] has a key, a read of nil does not; a cas of [7 [1 2]] has a key, a cas of [1 2] does not.
 */
#ifndef KL_HISTORY_FORMATS_EDN_KEYS_H
#define KL_HISTORY_FORMATS_EDN_KEYS_H

#include "history/formats/edn.h"
#include "history/history.h"

struct kl_edn_keys {
	enum kl_independent wanted;
	bool told;	/* the answer is known, from an operation or from the caller */
	bool independent;
	bool pairs;		/* values that may have keys were seen */
	unsigned int line;	/* line of the operation that gave the answer */
};

/*
 * Find out from an operation of type @type (enum kl_jepsen_type, or -1).  Return: 0, or -EINVAL
 * after a message if it contradicts an earlier operation.
 */
int kl_edn_keys_look(struct kl_edn_keys *keys, struct kl_edn *e, int type,
		     const struct kl_edn_val *f, const struct kl_edn_val *v);

/*
 * Decide after the last operation.  Return: 0, or -EINVAL after a message if no operation
 * decides.
 */
int kl_edn_keys_decide(struct kl_edn_keys *keys, struct kl_scan *scan);

#endif
