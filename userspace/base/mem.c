// SPDX-License-Identifier: GPL-2.0
/* Growable arrays and arenas, see mem.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

#define CHUNK_SIZE	(64u << 10)

struct kl_arena_chunk {
	struct kl_arena_chunk *next;
	size_t used, size;
	_Alignas(max_align_t) char data[];
};

#define HUGE	((size_t)2 << 20)
/* Huge pages are asked for from this size on: most of the first huge page is then used. */
#define LARGE	(HUGE - HUGE / 4)
#define LINE	((size_t)64)
#define PAGE	((size_t)4096)

void kl_big_hint(void *p, size_t bytes)
{
	/* Advise whole pages: realloc() cannot extend a mapping in place after it was split. */
	const uintptr_t from = (uintptr_t)p & ~(PAGE - 1);
	const uintptr_t to = ((uintptr_t)p + bytes + PAGE - 1) & ~(PAGE - 1);

	/* The result does not matter: this is only advice. */
	if (p && bytes >= LARGE)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* Return: the size rounded up to whole huge pages. */
static size_t whole(size_t bytes)
{
	return (bytes + HUGE - 1) & ~(HUGE - 1);
}

/*
 * Ask for huge pages for @bytes of memory that was allocated in whole huge pages.  The last page,
 * which is partly used, is included if most of it is used.
 */
static void hint(void *p, size_t bytes)
{
	kl_big_hint(p, whole(bytes) - bytes <= HUGE - LARGE ? whole(bytes) : bytes);
}

void *kl_big_alloc(size_t bytes)
{
	void *p;

	if (bytes < LARGE)
		return aligned_alloc(LINE, (bytes / LINE + 1) * LINE);
	p = aligned_alloc(HUGE, whole(bytes));
	hint(p, bytes);
	return p;
}

void *kl_zero_map(size_t bytes, size_t touched)
{
	const size_t size = whole(bytes);
	size_t before;
	char *p;

	if (bytes < LARGE)
		return calloc(bytes ? bytes : 1, 1);
	if (size < bytes || size > PTRDIFF_MAX - HUGE)
		return NULL;
	p = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	before = whole((uintptr_t)p) - (uintptr_t)p;
	if (before)
		munmap(p, before);
	munmap(p + before + size, HUGE - before);
	if (touched >= LARGE)
		hint(p + before, bytes);
	return p + before;
}

void kl_zero_unmap(void *p, size_t bytes)
{
	if (bytes < LARGE)
		free(p);
	else if (p)
		munmap(p, whole(bytes));
}

int kl_grow_(void **p, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap < 16 ? 16 : *cap + *cap / 2, bytes;
	void *q;

	if (want < need)
		want = need;
	if (__builtin_mul_overflow(want, size, &bytes) || bytes > PTRDIFF_MAX)
		return -EOVERFLOW;
	q = realloc(*p, bytes);
	if (!q)
		return -ENOMEM;
	kl_big_hint(q, bytes);
	*p = q;
	*cap = want;
	return 0;
}

void kl_expect_(void **p, size_t *cap, size_t n, size_t need, size_t size)
{
	size_t bytes;
	void *q;

	if (need <= *cap || __builtin_mul_overflow(need, size, &bytes) || bytes < LARGE ||
	    bytes > PTRDIFF_MAX - HUGE)
		return;
	q = kl_big_alloc(bytes);
	if (!q)
		return;
	if (n)
		memcpy(q, *p, n * size);
	free(*p);
	*p = q;
	*cap = need;
}

void *kl_arena_alloc(struct kl_arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct kl_arena_chunk *c = a->chunk;
	void *p;

	if (size > PTRDIFF_MAX - CHUNK_SIZE)
		return NULL;
	size = (size + align - 1) & ~(align - 1);
	if (!c || c->size - c->used < size) {
		size_t n = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		c = malloc(sizeof(*c) + n);
		if (!c)
			return NULL;
		c->next = a->chunk;
		c->used = 0;
		c->size = n;
		a->chunk = c;
	}
	p = c->data + c->used;
	c->used += size;
	a->used += size;
	return memset(p, 0, size);
}

char *kl_arena_strndup(struct kl_arena *a, const char *s, size_t len)
{
	char *p = kl_arena_alloc(a, len + 1);

	if (p)
		memcpy(p, s, len);
	return p;
}

void kl_arena_free(struct kl_arena *a)
{
	struct kl_arena_chunk *c = a->chunk, *next;

	for (; c; c = next) {
		next = c->next;
		free(c);
	}
	a->chunk = NULL;
	a->used = 0;
}
