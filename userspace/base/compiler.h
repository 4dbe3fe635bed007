/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes that ask the compiler to optimize single functions in a special way. */
#ifndef KL_BASE_COMPILER_H
#define KL_BASE_COMPILER_H

/*
 * KL_VECTORIZED compiles a function a second time for AVX2; the processor's kind decides at
 * run time which one runs.  clang 14 calls an external function with clones by a name that it
 * does not define, so only compilers with gcc's optimize() get clones.
 *
 * KL_NOT_VECTORIZED forbids vectors: a vector load that follows scalar stores to the same
 * memory stalls.
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
