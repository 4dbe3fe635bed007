// SPDX-License-Identifier: GPL-2.0
/* Spellings of words and names of threads, see spell.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "history/spell.h"
#include "history/string_pool.h"

#define SEED	0x9e3779b97f4a7c15ULL

struct kl_spellings {
	unsigned int users;
	struct spelling {
		uint64_t word;
		enum kl_spelled kind;
		char *text;
	} *spelling;
	size_t n, cap;
	struct kl_table table;
};

static uint32_t hash_of(enum kl_spelled kind, uint64_t word)
{
	return kl_mix(word, SEED + kind);
}

/* Return: the index of the spelling of @word, or KL_TABLE_END. */
static uint32_t find(const struct kl_spellings *s, enum kl_spelled kind, uint64_t word)
{
	const uint32_t hash = hash_of(kind, word);
	uint32_t i;
	size_t at;

	kl_table_for_each(&s->table, hash, at, i)
		if (s->spelling[i].word == word && s->spelling[i].kind == kind)
			break;
	return i;
}

/* Add a spelling of a word that has none. */
static int add(struct kl_spellings *s, enum kl_spelled kind, uint64_t word, const char *text,
	       size_t len)
{
	const int ret = kl_grow(s->spelling, s->cap, s->n + 1) ?: kl_table_reserve(&s->table, 1);
	char *copy = ret ? NULL : strndup(text, len);

	if (!copy)
		return ret ? ret : -ENOMEM;
	s->spelling[s->n] = (struct spelling){ word, kind, copy };
	kl_table_put(&s->table, hash_of(kind, word), s->n++);
	return 0;
}

static void free_table(struct kl_spellings *s)
{
	size_t i;

	for (i = 0; s && i < s->n; i++)
		free(s->spelling[i].text);
	if (s) {
		free(s->spelling);
		kl_table_free(&s->table);
	}
	free(s);
}

/* Give @h a table that it shares with no other history, with its present spellings. */
static int own(struct kl_history *h)
{
	const struct kl_spellings *old = h->spellings;
	struct kl_spellings *s = calloc(1, sizeof(*s));
	int ret = s ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !ret && old && i < old->n; i++)
		ret = add(s, old->spelling[i].kind, old->spelling[i].word, old->spelling[i].text,
			  strlen(old->spelling[i].text));
	if (ret) {
		free_table(s);
		return ret;
	}
	s->users = 1;
	kl_history_free_spellings(h);
	h->spellings = s;
	return 0;
}

int kl_history_spell_kind(struct kl_history *h, enum kl_spelled kind, uint64_t word,
			  const char *text, size_t len)
{
	const char *const had = kl_history_spelled(h, kind, word);
	int ret;

	if (had) {
		h->respelled |= kind == KL_SPELLED_WORD && (strncmp(had, text, len) || had[len]);
		return 0;
	}
	if (!h->spellings || __atomic_load_n(&h->spellings->users, __ATOMIC_ACQUIRE) > 1) {
		ret = own(h);
		if (ret)
			return ret;
	}
	return add(h->spellings, kind, word, text, len);
}

int kl_history_spell_number(struct kl_history *h, uint64_t word, const char *text, size_t len)
{
	char shown[32];

	kl_val_print(shown, sizeof(shown), kl_word(word));
	if (strlen(shown) == len && !memcmp(shown, text, len))
		return 0;
	/* Other operations may have the number as a decimal, which is not looked at here. */
	h->respelled = true;
	return kl_history_spell(h, word, text, len);
}

const char *kl_history_spelled(const struct kl_history *h, enum kl_spelled kind, uint64_t word)
{
	const struct kl_spellings *s = h->spellings;
	const uint32_t i = s ? find(s, kind, word) : KL_TABLE_END;

	return i == KL_TABLE_END ? NULL : s->spelling[i].text;
}

const char *kl_history_result_said(const struct kl_history *h, const char *name, unsigned int i,
				   struct kl_val v)
{
	return v.tag != KL_WORD || !h->spellings ?
		       NULL :
		       kl_history_spelled(h, KL_SPELLED_RESULT, kl_result_word(name, i, v.v));
}

const char *kl_history_method_said(const struct kl_history *h, size_t i)
{
	const char *const name = h->methods[i];
	const uint64_t word = kl_hash_bytes(name, strlen(name));

	return kl_history_spelled(h, KL_SPELLED_METHOD, word) ?: name;
}

size_t kl_history_nspellings(const struct kl_history *h)
{
	return h->spellings ? h->spellings->n : 0;
}

void kl_history_share_spellings(struct kl_history *to, const struct kl_history *from)
{
	to->keyed = from->keyed;
	to->view = from->view;
	to->spellings = from->spellings;
	if (to->spellings)
		__atomic_add_fetch(&to->spellings->users, 1, __ATOMIC_RELAXED);
}

void kl_history_move_spellings(struct kl_history *to, struct kl_history *from)
{
	to->keyed = from->keyed;
	to->view = from->view;
	to->spellings = from->spellings;
	from->spellings = NULL;
}

void kl_history_put_spellings(FILE *f, const struct kl_history *h)
{
	static const char *const formats[] = {
		[KL_SPELLED_WORD] = "# spelling 0x%" PRIx64 " %s\n",
		[KL_SPELLED_THREAD] = "# comm %" PRIu64 " %s\n",
		[KL_SPELLED_STACK] = "# stack %" PRIu64 " %s\n",
		[KL_SPELLED_SLAB] = "# slab 0x%" PRIx64 " %s\n",
	};
	const struct kl_spellings *s = h->spellings;
	const struct spelling *p;

	for (p = s ? s->spelling : NULL; s && p < s->spelling + s->n; p++)
		if (p->kind < KL_SPELLED_METHOD)
			fprintf(f, formats[p->kind], p->word, p->text);
}

void kl_history_free_spellings(struct kl_history *h)
{
	struct kl_spellings *s = h->spellings;

	h->spellings = NULL;
	if (s && !__atomic_sub_fetch(&s->users, 1, __ATOMIC_ACQ_REL))
		free_table(s);
}
