// SPDX-License-Identifier: GPL-2.0
/* The proof of a violation that the online check found, see proof.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "base/sha256.h"
#include "check/certificate.h"
#include "watch/proof.h"

#define CHECK_WORK 4000000000ull /* looks of one check (see check.h), about half a minute */
#define CHECK_BYTES	(256ull << 20)

struct flight_shot *proof_window(const struct kl_spec *spec, const struct kl_history *h)
{
	struct flight_shot *shot = NULL;
	struct kl_history head = *h;
	struct flight *f;

	head.spec_path = (char *)kl_spec_path(spec);
	head.spec_text = (char *)kl_spec_text(spec);
	f = flight_new(spec, &head, UINT64_MAX, 0);
	if (f && !flight_add(f, h))
		shot = flight_take(f, KL_TIME_MAX);
	flight_free(f);
	return shot;
}

int proof_check(struct kl_proof *p, const struct kl_spec *spec, const struct flight_shot *shot,
		const uint64_t *object, bool classical)
{
	const struct kl_options opt = {
		.threads = 1, .classical = classical, .max_shrink = 1,
		.bytes = CHECK_BYTES, .work = CHECK_WORK,
	};
	int ret;

	proof_free(p);
	ret = flight_shot_history(shot, object, &p->h);
	/* Record the memory model, so that `klin check' decides the written history as here. */
	if (!ret)
		p->h->memory = (struct kl_memory){ .sc = classical, .told = true };
	if (!ret)
		ret = kl_check(spec, p->h, &opt, &p->r);
	return ret ? ret : p->r->verdict == KL_VIOLATION || p->r->suspected ? 0 : -ENODATA;
}

/* The certificate identifies its history by the hash of the file. */
static int hash_history(struct kl_history *h, const char *path)
{
	char *data;
	size_t len;
	int ret = kl_read_file(path, &data, &len);

	if (ret)
		return ret;
	kl_sha256(data, len, h->sha256);
	free(data);
	return 0;
}

int proof_certify(struct kl_proof *p, bool classical, const char *history, const char *path)
{
	int ret = hash_history(p->h, history);

	return ret ?: kl_cert_write(p->r, classical, kl_last_part(history), path);
}

void proof_free(struct kl_proof *p)
{
	kl_report_free(p->r);
	kl_history_free(p->h);
	*p = (struct kl_proof){ 0 };
}
