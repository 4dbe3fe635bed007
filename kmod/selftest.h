/* SPDX-License-Identifier: GPL-2.0 */
/* Self-tests of debug builds; a module that fails one refuses to load. */
#ifndef KLIN_SELFTEST_H
#define KLIN_SELFTEST_H

#ifdef DEBUG
int klin_selftest(void);
#else
static inline int klin_selftest(void)
{
	return 0;
}
#endif

#endif
