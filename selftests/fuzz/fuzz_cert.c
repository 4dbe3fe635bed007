// SPDX-License-Identifier: GPL-2.0
/*
 * Certificates, the reader and the replayer.  The input is a specification, a history in
 * the text form and a certificate, with a line "%%" between them.
 */
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "selftests/fuzz/fuzz.h"
#include "spec/spec.h"
#include "tso/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kl_limits lim = { .work = 100000 };
	struct kl_history *h = NULL;
	struct kl_spec *s = NULL;
	struct kl_replay r;
	const char *cert;
	char *text, *name;

	fuzz_silence();
	text = fuzz_part(&data, &size);
	if (kl_spec_parse("fuzz", text, strlen(text), &s))
		s = NULL;
	free(text);
	text = fuzz_part(&data, &size);
	if (kl_text_read("fuzz", text, strlen(text), &h))
		h = NULL;
	free(text);
	cert = fuzz_file(data, size);
	if (!kl_cert_history(cert, &name))
		free(name);
	if (s && h)
		kl_cert_replay(cert, s, h, &lim, &r);
	kl_history_free(h);
	kl_spec_free(s);
	return 0;
}
