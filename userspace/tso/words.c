// SPDX-License-Identifier: GPL-2.0
/* Strings of words, each kept once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tso/words.h"

static int rehash(struct kl_words *in)
{
	size_t n = in->nslots ? in->nslots * 2 : 256, i, id, len;
	uint32_t *table = calloc(n, sizeof(*table));
	const uint64_t *w;

	if (!table)
		return -ENOMEM;
	for (id = 0; id < in->n; id++) {
		w = kl_words_get(in, id, &len);
		for (i = kl_hash_words(w, len, 0) & (n - 1); table[i]; i = (i + 1) & (n - 1))
			;
		table[i] = id + 1;
	}
	free(in->table);
	in->table = table;
	in->nslots = n;
	return 0;
}

int64_t kl_words_add(struct kl_words *in, const uint64_t *words, size_t n)
{
	const uint64_t *w;
	size_t i, len;
	int ret;

	if (in->n * 4 >= in->nslots * 3) {
		ret = rehash(in);
		if (ret)
			return ret;
	}
	for (i = kl_hash_words(words, n, 0) & (in->nslots - 1); in->table[i];
	     i = (i + 1) & (in->nslots - 1)) {
		w = kl_words_get(in, in->table[i] - 1, &len);
		if (len == n && !memcmp(w, words, n * sizeof(*w)))
			return in->table[i] - 1;
	}
	if (in->n == UINT32_MAX - 1)
		return -ENOSPC;
	ret = kl_grow(in->words, in->cwords, in->nwords + n + 1);
	if (!ret)
		ret = kl_grow(in->at, in->cat, in->n + 2);
	if (ret)
		return ret;
	if (!in->n)
		in->at[0] = 0;
	memcpy(in->words + in->nwords, words, n * sizeof(*words));
	in->nwords += n;
	in->at[in->n + 1] = in->nwords;
	in->table[i] = in->n + 1;
	return in->n++;
}

void kl_words_free(struct kl_words *in)
{
	free(in->words);
	free(in->at);
	free(in->table);
	memset(in, 0, sizeof(*in));
}
