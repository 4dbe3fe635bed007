/* SPDX-License-Identifier: GPL-2.0 */
/* The parser of probe clauses: what its files share. */
#ifndef KL_SPEC_PROBE_PARSE_PROBE_H
#define KL_SPEC_PROBE_PARSE_PROBE_H

#include "spec/lang/parse.h"
#include "spec/probe/probe.h"

/*
 * Parse a C expression in a probe clause of @target.  @has_return is set if it has `return`.  With
 * @special it may be `empty`, `full` or `absent`.
 */
const struct kl_expr *kl_p_probe_expr(struct kl_parser *p, const struct kl_probe_target *target,
				      bool special, bool *has_return);

#endif
