// SPDX-License-Identifier: GPL-2.0
/* The reader of litmus tests: every accepted test runs to its end, or to a message. */
#include <errno.h>
#include <stdlib.h>

#include "selftests/fuzz/fuzz.h"
#include "tso/litmus/litmus_story.h"

/* Tell the story of a test that was run to its end. */
static void tell(const char *text, const struct kl_litmus_result *r,
		 const struct kl_litmus_options *o)
{
	struct kl_lit_story *s;
	int ret = kl_litmus_tell("fuzz", text, NULL, o, &s);

	if (ret && ret != -ENOSPC && ret != -E2BIG)
		fuzz_broken("a litmus test that was run has no story");
	if (!ret && s->reached != (s->holds ? r->positive > 0 : r->negative > 0))
		fuzz_broken("a litmus test's story differs from its result");
	if (!ret && s->reached && !s->sc && !s->ncycle)
		fuzz_broken("a run that needs store buffers has no cycle");
	kl_lit_story_free(s);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct kl_litmus_options o = { .memory = 1u << 20 };
	struct kl_litmus_result r = { 0 };
	struct kl_litmus *l = NULL;
	char *text, buf[32];
	unsigned int i, k;
	int ret;

	text = fuzz_text(data, size);
	ret = kl_litmus_parse("fuzz", text, &l);
	if (ret && ret != -EINVAL)
		fuzz_broken("a litmus test is refused without a message");
	if (!ret) {
		ret = kl_litmus_run(l, &o, &r);
		for (i = 0; !ret && i < r.nstates; i++)
			for (k = 0; k < l->nitems; k++)
				kl_litmus_value(l, k, r.states[i * l->nitems + k], buf);
		if (!ret)
			tell(text, &r, &o);
		kl_litmus_result_free(&r);
		kl_litmus_free(l);
	}
	free(text);
}
