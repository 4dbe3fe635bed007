// SPDX-License-Identifier: GPL-2.0
/*
 * Certificates: the reader and the replayer.  The input has three parts, with a line "%%"
 * between them: a specification, a history in the text form, and a certificate's lines from
 * "history" on.  The target adds the first lines of the certificate, with the hash of the
 * specification.  It also reads the whole input as a certificate.  The engines must not
 * contradict a certificate that the replayer accepts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "check/check.h"
#include "history/history.h"
#include "selftests/fuzz/fuzz.h"
#include "spec/spec.h"
#include "trusted/replay.h"

/* Return: the certificate of @s with the given lines. */
static char *whole(const struct kl_spec *s, const uint8_t *lines, size_t n, size_t *len)
{
	const char *text = kl_spec_text(s), *c;
	char sha256[KL_SHA256_HEX], *cert;
	FILE *f = open_memstream(&cert, len);
	size_t ntext = 1;

	if (!f)
		fuzz_broken("out of memory");
	kl_sha256(text, strlen(text), sha256);
	fprintf(f, "klin-certificate 3\nspec %s sha256 %s\n", kl_spec_name(s), sha256);
	fwrite(lines, 1, n, f);
	for (c = text; *c; c++)
		ntext += *c == '\n';
	fprintf(f, "text %zu\n\t", ntext);
	for (c = text; *c; c++)
		fprintf(f, *c == '\n' ? "\n\t" : "%c", *c);
	fputs("\nend\n", f);
	if (fclose(f))
		fuzz_broken("out of memory");
	return cert;
}

/* Ask the engines about the history of a certificate that the replayer accepted. */
static void ask_engines(const struct kl_spec *s, const struct kl_history *h, bool classical,
			const struct kl_replay *accepted)
{
	const struct kl_options opt = {
		.classical = classical, .no_witness = true, .threads = 1, .work = 100000,
	};
	struct kl_report *r;

	if (kl_check(s, h, &opt, &r))
		return;
	if (accepted->refuted && r->verdict == KL_LINEARIZABLE)
		fuzz_broken("the replayer accepts a violation of a linearizable history");
	if (!accepted->refuted && !accepted->open && !accepted->unknown &&
	    r->verdict == KL_VIOLATION)
		fuzz_broken("the replayer accepts an order of a violation");
	kl_report_free(r);
}

static void replay(const struct kl_spec *s, const struct kl_history *h, const uint8_t *lines,
		   size_t n)
{
	const struct kl_limits lim = { .work = 100000 };
	struct kl_cert *c;
	struct kl_replay r;
	size_t len;
	char *cert = whole(s, lines, n, &len);

	if (!kl_cert_open(fuzz_file(cert, len), &c)) {
		if (!kl_cert_replay(c, s, h, &lim, &r))
			ask_engines(s, h, c->classical, &r);
		kl_cert_close(c);
	}
	free(cert);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct kl_history *h;
	struct kl_spec *s;
	struct kl_cert *c;

	if (!kl_cert_open(fuzz_file(data, size), &c))
		kl_cert_close(c);
	if (fuzz_spec_and_history(&data, &size, &s, &h))
		replay(s, h, data, size);
	kl_history_free(h);
	kl_spec_free(s);
}
