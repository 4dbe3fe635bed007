/* SPDX-License-Identifier: GPL-2.0 */
/* Patterns of methods at the ends of queues, stacks and deques, for files of this folder. */
#ifndef KL_SPEC_ENDS_MATCH_H
#define KL_SPEC_ENDS_MATCH_H

#include "spec/classify/ends.h"
#include "spec/lang/ast.h"

/*
 * Match a return of constants, which go to @v.  If @at is not NULL, one of the results must be a
 * call, and *@at becomes its index.  Return: NULL if @st does not match; else the call, if any.
 */
const struct kl_ast_expr *kl_ends_results(const struct kl_spec *s, const struct kl_stmt *st,
					  struct kl_val *v, unsigned int *at);

/* Match a push that begins at @st.  Return: true, and what it is in @e; or false. */
bool kl_ends_push(const struct kl_spec *s, const struct kl_method_def *m, const struct kl_stmt *st,
		  struct kl_end_method *e);

/* Return: the first statement of a method that is one atomic block, or NULL. */
const struct kl_stmt *kl_ends_first(const struct kl_method_def *m);

#endif
