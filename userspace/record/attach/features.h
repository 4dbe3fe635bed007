/* SPDX-License-Identifier: GPL-2.0 */
/* Features that the running kernel offers to a recording, for --version. */
#ifndef KL_RECORD_ATTACH_FEATURES_H
#define KL_RECORD_ATTACH_FEATURES_H

#include <stdio.h>

/**
 * kl_put_features() - write the release of the running kernel, and what klin can use of it
 * @f: the stream to write to
 *
 * A feature that is missing comes with the reason.  Nothing is loaded or attached.
 */
void kl_put_features(FILE *f);

#endif
