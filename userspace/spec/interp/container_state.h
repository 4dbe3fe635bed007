/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interface of the containers (container_state.c, container_keys.c). */
#ifndef KL_SPEC_INTERP_CONTAINER_STATE_H
#define KL_SPEC_INTERP_CONTAINER_STATE_H

#include "spec/interp/run.h"

int kl_cont_append(struct kl_run *r, struct kl_cont *c, struct kl_val v);
/* Delete @n values from index @at on. */
void kl_cont_delete(struct kl_cont *c, size_t at, size_t n);
/* Decide whether an unknown container has no unlisted entry; then it is known from here on. */
int kl_cont_rest(struct kl_run *r, struct kl_cont *c, bool *empty);
/* Subtract @n from the number of unlisted entries, because they were listed or removed. */
int kl_cont_rest_less(struct kl_run *r, struct kl_cont *c, uint64_t n);
/* Set @v to the number of entries, of which @listed are listed. */
int kl_cont_size(struct kl_run *r, struct kl_cont *c, uint64_t listed, struct kl_val *v);

/*
 * Call a method of a map or set, or of a bag (container_keys.c).  Arguments are in @v[0..1]; the
 * result is put to @v[0].
 */
int kl_cont_map_call(struct kl_run *r, struct kl_cont *c, bool map, enum kl_cont_op op,
		     struct kl_val *v);
int kl_cont_bag_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v);

#endif
