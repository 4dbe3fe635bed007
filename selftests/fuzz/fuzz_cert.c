// SPDX-License-Identifier: GPL-2.0
/*
 * Certificates, the reader and the replayer.  The input is a specification, a history in
 * the text form and a certificate's lines from "history" to the last part, with a line "%%"
 * between them; the rest of the certificate, with its hash of the specification, is made here.
 * The whole input is read as a certificate, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "history/history.h"
#include "selftests/fuzz/fuzz.h"
#include "spec/spec.h"
#include "trusted/replay.h"

/* The certificate of @s with these lines. */
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

static void replay(const struct kl_spec *s, const struct kl_history *h, const uint8_t *lines,
		   size_t n)
{
	const struct kl_limits lim = { .work = 100000 };
	struct kl_cert *c;
	struct kl_replay r;
	size_t len;
	char *cert = whole(s, lines, n, &len);

	if (!kl_cert_open(fuzz_file(cert, len), &c)) {
		kl_cert_replay(c, s, h, &lim, &r);
		kl_cert_close(c);
	}
	free(cert);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct kl_history *h = NULL;
	struct kl_spec *s = NULL;
	struct kl_cert *c;
	char *text;

	if (!kl_cert_open(fuzz_file(data, size), &c))
		kl_cert_close(c);
	text = fuzz_part(&data, &size);
	if (kl_spec_parse("fuzz", text, strlen(text), &s))
		s = NULL;
	free(text);
	text = fuzz_part(&data, &size);
	if (kl_text_read("fuzz", text, strlen(text), &h))
		h = NULL;
	free(text);
	if (s && h)
		replay(s, h, data, size);
	kl_history_free(h);
	kl_spec_free(s);
}
