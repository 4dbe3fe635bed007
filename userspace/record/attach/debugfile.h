/* SPDX-License-Identifier: GPL-2.0 */
/* The debug file of the running kernel, or of one of its modules. */
#ifndef KL_RECORD_ATTACH_DEBUGFILE_H
#define KL_RECORD_ATTACH_DEBUGFILE_H

#include <stddef.h>

/**
 * kl_debug_file() - where distributions put it
 * @release: of the kernel
 * @module: which module, NULL: the kernel itself
 * @path: gets the file
 * @size: room there
 *
 * Return: 0 or -ENOENT.
 */
int kl_debug_file(const char *release, const char *module, char *path, size_t size);

#endif
