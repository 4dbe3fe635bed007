// SPDX-License-Identifier: GPL-2.0
/* Why a verdict can be believed, see trust.h. */
#include <string.h>

#include "report/json.h"
#include "report/trust.h"
#include "report/words.h"

/* Write the sentence about engine and oracle, without the full stop. */
static void make_sentence(char *buf, size_t size, const struct kl_part_result *p)
{
	const char *engine = p->answer.engine ?: "no engine";
	const size_t n = p->cex ? p->cex->h->nops : 0;

	if (!p->cex)
		snprintf(buf, size, "%s decided", engine);
	else if (p->cex->oracle == KL_VIOLATION)
		snprintf(buf, size,
			 "%s decided, and the brute-force oracle agrees on the proof of %zu "
			 "operation%s", engine, n, n == 1 ? "" : "s");
	else
		snprintf(buf, size,
			 "%s decided; the proof of %zu operations is too large for the brute-force "
			 "oracle",
			 engine, n);
}

void kl_print_trust(FILE *f, const struct kl_history *h, const struct kl_part_result *p,
		    const char *replay)
{
	char text[512];

	make_sentence(text, sizeof(text), p);
	kl_put_sentence(f, "  ", text);
	/* A command stays in one line, so that it can be copied. */
	if (replay)
		fprintf(f, "  Check it again: %s\n", replay);
}

json_t *kl_trust_json(const struct kl_history *h, const struct kl_part_result *p,
		      const char *replay)
{
	json_t *j = json_object();
	char text[512];

	make_sentence(text, sizeof(text), p);
	json_object_set_new(j, "engine", p->answer.engine ? json_string(p->answer.engine) :
							    json_null());
	json_object_set_new(j, "oracle_agrees",
			    json_boolean(p->cex && p->cex->oracle == KL_VIOLATION));
	json_object_set_new(j, "operations", json_integer(p->cex ? p->cex->h->nops : 0));
	json_object_set_new(j, "sentence", kl_json_text(text));
	if (replay)
		json_object_set_new(j, "replay", kl_json_text(replay));
	return j;
}
