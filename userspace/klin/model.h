/* SPDX-License-Identifier: GPL-2.0 */
/* Models for `klin explore' and `klin verify'. */
#ifndef KLIN_MODEL_H
#define KLIN_MODEL_H

/**
 * kl_model_name() - find a shipped model by its short name
 * @file: what the user wrote
 * @folders: folders of specs/ to search, in this order, ending with NULL
 *
 * Return: the name of the shipped model whose last part is @file; or @file, if there is none, or if
 * @file is a file, or names a folder itself.
 */
const char *kl_model_name(const char *file, const char *const *folders);

#endif
