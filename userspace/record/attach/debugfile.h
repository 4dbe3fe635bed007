/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the debug file of the running kernel or of a module. */
#ifndef KL_RECORD_ATTACH_DEBUGFILE_H
#define KL_RECORD_ATTACH_DEBUGFILE_H

#include <stddef.h>

/**
 * kl_debug_file() - look for a debug file in the usual directories of distributions
 * @release: release of the kernel
 * @module: name of the module; NULL: the kernel itself
 * @path: gets the path of the file
 * @size: bytes at @path
 *
 * Return: 0, or -ENOENT if no readable file is found.
 */
int kl_debug_file(const char *release, const char *module, char *path, size_t size);

#endif
