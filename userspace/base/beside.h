/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that are installed in one directory. */
#ifndef KL_BASE_BESIDE_H
#define KL_BASE_BESIDE_H

/**
 * kl_beside() - compute the path of a program in the directory of the running program
 * @program: name of the program, without a directory
 *
 * Return: a text to free(), or NULL after a message.
 */
char *kl_beside(const char *program);

#endif
