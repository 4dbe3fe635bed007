/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Are values [KEY VALUE] of independent keys, or are vectors of two values of their own?
 * Both look alike in `:f :write, :value [7 3]'.  What has no value of its own when it is
 * invoked tells: a read of [7 nil] reads a key, one of nil does not; and a cas of [7 [1 2]]
 * has a key, one of [1 2] has not.
 */
#ifndef KL_HISTORY_FORMATS_EDN_KEYS_H
#define KL_HISTORY_FORMATS_EDN_KEYS_H

#include "history/formats/edn.h"
#include "history/history.h"

struct kl_edn_keys {
	enum kl_independent wanted;
	bool told;		/* by an operation, or by who reads */
	bool independent;
	bool pairs;		/* values that may have keys were seen */
	unsigned int line;	/* of the operation that told */
};

/*
 * What an operation of type @type (enum kl_jepsen_type, or -1) tells.  0; -EINVAL after a
 * message when it contradicts the one that told.
 */
int kl_edn_keys_look(struct kl_edn_keys *keys, struct kl_edn *e, int type,
		     const struct kl_edn_val *f, const struct kl_edn_val *v);

/* All operations were looked at, or one told; the same when nothing tells. */
int kl_edn_keys_decide(struct kl_edn_keys *keys, struct kl_scan *scan);

#endif
