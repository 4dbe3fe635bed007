/* SPDX-License-Identifier: GPL-2.0 */
/* The version of klin: of its programs, results and packages.  CHANGES says what it has. */
#ifndef KL_BASE_VERSION_H
#define KL_BASE_VERSION_H

#define KLIN_VERSION "0.2"

#endif
