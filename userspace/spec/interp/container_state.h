/* SPDX-License-Identifier: GPL-2.0 */
/* Containers from within, see container_state.c. */
#ifndef KL_SPEC_INTERP_CONTAINER_STATE_H
#define KL_SPEC_INTERP_CONTAINER_STATE_H

#include "spec/interp/run.h"

int kl_cont_append(struct kl_run *r, struct kl_cont *c, struct kl_val v);
void kl_cont_delete(struct kl_cont *c, size_t at, size_t n);
/* Is the unknown rest empty?  If so the container is known now. */
int kl_cont_rest(struct kl_run *r, struct kl_cont *c, bool *empty);
/* So many entries of the unknown rest are listed now, or not there any more. */
int kl_cont_rest_less(struct kl_run *r, struct kl_cont *c, uint64_t n);
/* How many entries there are, of which so many are listed, to @v. */
int kl_cont_size(struct kl_run *r, struct kl_cont *c, uint64_t listed, struct kl_val *v);

/* container_keys.c: methods of a map (or a set), and of a bag; arguments in @v, the result, too. */
int kl_cont_map_call(struct kl_run *r, struct kl_cont *c, bool map, enum kl_cont_op op,
		     struct kl_val *v);
int kl_cont_bag_call(struct kl_run *r, struct kl_cont *c, enum kl_cont_op op, struct kl_val *v);

#endif
