/* SPDX-License-Identifier: GPL-2.0 */
/* What is asked of the compiler for single functions, where it can do it. */
#ifndef KL_BASE_COMPILER_H
#define KL_BASE_COMPILER_H

/*
 * KL_VECTORIZED: compiled a second time for AVX2; the processor chooses.  clang 14 calls
 * an external function with clones by a name that it does not define, so there are
 * clones only where gcc's optimize() is known.
 *
 * KL_NOT_VECTORIZED: vectors that are read where numbers were just written have to wait.
 */
#if __has_attribute(optimize) && __has_attribute(target_clones)
#define KL_VECTORIZED \
	__attribute__((target_clones("avx2", "default"), optimize("O3")))
#define KL_NOT_VECTORIZED	__attribute__((optimize("no-tree-vectorize")))
#else
#define KL_VECTORIZED
#define KL_NOT_VECTORIZED
#endif

#endif
