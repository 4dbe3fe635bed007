// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"
#include "replayed.h"

int replay_file(const char *path, const struct kl_spec *spec, const struct kl_history *h,
		const struct kl_limits *lim, struct kl_replay *replay)
{
	struct kl_cert *c;
	int ret = kl_cert_open(path, &c);

	if (ret)
		return ret;
	ret = kl_cert_replay(c, spec, h, lim, replay);
	kl_cert_close(c);
	return ret;
}

void write_certificate(FILE *f, const struct kl_spec *spec, const struct kl_history *h,
		       bool classical, const char *parts)
{
	const char *text = kl_spec_text(spec), *end;
	char sha256[KL_SHA256_HEX];
	size_t lines = 1;

	kl_sha256(text, strlen(text), sha256);
	fprintf(f, "klin-certificate 3\nspec %s sha256 %s\nhistory - sha256 %s\noperations %zu\n"
		"memory %s\nfirst %s\n%s\n", kl_spec_name(spec), sha256,
		*h->sha256 ? h->sha256 : "-",
		h->nops, classical ? "sc" : "tso", h->fresh ? "init" : "any", parts);
	for (end = text; *end; end++)
		lines += *end == '\n';
	fprintf(f, "text %zu\n\t", lines);
	for (; *text; text++)
		fprintf(f, *text == '\n' ? "\n\t" : "%c", *text);
	fputs("\nend\n", f);
}

int replay_report(const struct kl_report *r, bool classical, const struct kl_spec *spec,
		  const struct kl_history *h, struct kl_replay *replay)
{
	char path[64];
	int ret;

	/* Each certificate is synced; in memory this is fast. */
	snprintf(path, sizeof(path), "%s/klin-test-%d.cert",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	assert_int_equal(kl_cert_write(r, classical, "-", path), 0);
	ret = replay_file(path, spec, h, &(struct kl_limits){ 0 }, replay);
	unlink(path);
	return ret;
}
