/* SPDX-License-Identifier: GPL-2.0 */
/* The version of klin and klind, which their results name, too. */
#ifndef KL_BASE_VERSION_H
#define KL_BASE_VERSION_H

#define KLIN_VERSION "0.1"

#endif
