// SPDX-License-Identifier: GPL-2.0
/* Histories in a form that keeps only the order that matters, see histories.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "tso/explore/explore.h"
#include "tso/explore/histories.h"

/*
 * A history is a stream for each thread's calls and returns, and then a stream for each thread's
 * flushes.  A stream is its number of words, and its events.  An event has these words:
 *	- kind | n << 8 | method << 16;
 *	- for a call or flush(call): the number of earlier returns of each thread, a byte for each,
 *	  and in a second word the number of earlier flush(ret)s of each thread;
 *	- n values.
 */
#define STREAMS		(2 * KL_VM_THREADS)
#define WORDS_MAX	2048
#define LINE_MAX_	16384

struct kl_histories {
	const struct kl_vm_prog *prog;
	struct kl_intern all;
	bool *ended;
	size_t cended;
};

static bool is_call(uint64_t head)
{
	return (head & 0xff) == KL_VM_EVENT_CALL || (head & 0xff) == KL_VM_EVENT_FLUSH_CALL;
}

static unsigned int nvalues(uint64_t head)
{
	return head >> 8 & 0xff;
}

static size_t event_words(uint64_t head)
{
	return 1 + 2 * is_call(head) + nvalues(head);
}

int kl_histories_new(const struct kl_vm_prog *prog, struct kl_histories **out)
{
	struct kl_histories *h = calloc(1, sizeof(*h));

	*out = h;
	if (!h)
		return -ENOMEM;
	h->prog = prog;
	return 0;
}

void kl_histories_free(struct kl_histories *h)
{
	if (!h)
		return;
	kl_intern_free(&h->all);
	free(h->ended);
	free(h);
}

int64_t kl_histories_first(struct kl_histories *h)
{
	const uint64_t none[STREAMS] = { 0 };
	int64_t id = kl_intern(&h->all, none, 0);	/* number 0 stands for no history */

	return id < 0 ? id : kl_intern(&h->all, none, 2 * h->prog->nthreads);
}

/* Set @at to the first event of each stream. */
static void find(const struct kl_histories *h, const uint64_t *w, const uint64_t **at)
{
	unsigned int t;

	for (t = 0; t < 2 * h->prog->nthreads; t++) {
		at[t] = w + 1;
		w += 1 + *w;
	}
}

/* Return: the number of returns, or flush(ret)s, of each thread so far, a byte for each. */
static uint64_t returns(const struct kl_histories *h, const uint64_t *const *stream)
{
	uint64_t sum = 0;
	unsigned int t;
	size_t i;

	for (t = 0; t < h->prog->nthreads; t++)
		for (i = 0; i < stream[t][-1]; i += event_words(stream[t][i]))
			sum += (uint64_t)!is_call(stream[t][i]) << (8 * t);
	return sum;
}

int64_t kl_histories_step(struct kl_histories *h, uint32_t id, const struct kl_vm_event *e)
{
	const uint64_t head = e->kind | (uint64_t)e->n << 8 | (uint64_t)e->method << 16;
	const bool flush = e->kind == KL_VM_EVENT_FLUSH_CALL || e->kind == KL_VM_EVENT_FLUSH_RET;
	const unsigned int stream = e->thread + (flush ? h->prog->nthreads : 0);
	const size_t more = event_words(head);
	const uint64_t *w, *at[STREAMS];
	uint64_t words[WORDS_MAX];
	size_t n, first;

	w = kl_intern_get(&h->all, id, &n);
	if (n + more > WORDS_MAX)
		return -E2BIG;
	find(h, w, at);
	first = at[stream] - w + at[stream][-1];
	memcpy(words, w, first * sizeof(*w));
	words[at[stream] - w - 1] += more;
	words[first] = head;
	if (is_call(head)) {
		words[first + 1] = returns(h, at);
		words[first + 2] = returns(h, at + h->prog->nthreads);
	}
	memcpy(words + first + more - e->n, e->val, e->n * sizeof(*words));
	memcpy(words + first + more, w + first, (n - first) * sizeof(*w));
	return kl_intern(&h->all, words, n + more);
}

/* Permute the counts of threads. */
static uint64_t rename_counts(const struct kl_histories *h, uint64_t counts, const uint8_t *thread)
{
	uint64_t out = 0;
	unsigned int t;

	for (t = 0; t < h->prog->nthreads; t++)
		out |= (counts >> (8 * thread[t]) & 0xff) << (8 * t);
	return out;
}

/* Rename the threads and the data of a history. */
static size_t rename_words(const struct kl_histories *h, const uint64_t *w, const uint8_t *thread,
			   const uint8_t *data, uint64_t *out)
{
	const unsigned int nthreads = h->prog->nthreads;
	const uint64_t *at[STREAMS];
	unsigned int t;
	size_t n = 0, i, k;

	find(h, w, at);
	for (t = 0; t < 2 * nthreads; t++) {
		const uint64_t *from = at[t < nthreads ? thread[t] :
					  nthreads + thread[t - nthreads]];

		out[n++] = from[-1];
		for (i = 0; i < from[-1]; i += event_words(from[i])) {
			const uint64_t *v = from + i + event_words(from[i]) - nvalues(from[i]);

			out[n++] = from[i];
			if (is_call(from[i])) {
				out[n++] = rename_counts(h, from[i + 1], thread);
				out[n++] = rename_counts(h, from[i + 2], thread);
			}
			for (k = 0; k < nvalues(from[i]); k++)
				out[n++] = kl_vm_is_data(v[k]) ?
					   KL_VM_DATA + data[v[k] - KL_VM_DATA] : v[k];
		}
	}
	return n;
}

int64_t kl_histories_rename(struct kl_histories *h, uint32_t id, const struct kl_vm_names *names)
{
	uint64_t words[WORDS_MAX];
	const uint64_t *w;
	size_t n;

	w = kl_intern_get(&h->all, id, &n);
	n = rename_words(h, w, names->thread, names->data, words);
	return kl_intern(&h->all, words, n);
}

uint64_t kl_histories_data(const struct kl_histories *h, uint32_t id)
{
	uint64_t mask = 0;
	const uint64_t *w;
	size_t n, i;

	w = kl_intern_get(&h->all, id, &n);
	for (i = 0; i < n; i++)
		if (kl_vm_is_data(w[i]))
			mask |= 1ULL << (w[i] - KL_VM_DATA);
	return mask;
}

static bool at_least(uint64_t a, uint64_t b)
{
	for (; b; a >>= 8, b >>= 8)
		if ((a & 0xff) < (b & 0xff))
			return false;
	return true;
}

/*
 * Return: true if two histories have the same operations, and @a is at least as hard to explain as
 * @b.
 */
static bool harder(const struct kl_histories *h, const uint64_t *a, size_t na, const uint64_t *b,
		   size_t nb)
{
	size_t i = 0, end;
	unsigned int t;

	if (na != nb)
		return false;
	for (t = 0; t < 2 * h->prog->nthreads; t++) {
		if (a[i] != b[i])
			return false;
		for (end = i + 1 + a[i], i++; i < end; i += event_words(a[i])) {
			const size_t n = nvalues(a[i]), v = i + event_words(a[i]) - n;

			if (a[i] != b[i] || memcmp(a + v, b + v, n * sizeof(*a)) ||
			    (is_call(a[i]) && (!at_least(a[i + 1], b[i + 1]) ||
					       !at_least(a[i + 2], b[i + 2]))))
				return false;
		}
	}
	return true;
}

bool kl_histories_harder(const struct kl_histories *h, uint32_t a, uint32_t b)
{
	const uint64_t *x, *y;
	size_t n, m;

	x = kl_intern_get(&h->all, a, &n);
	y = kl_intern_get(&h->all, b, &m);
	return harder(h, x, n, y, m);
}

size_t kl_histories_bytes(const struct kl_histories *h)
{
	return kl_intern_bytes(&h->all) + h->cended * sizeof(*h->ended);
}

int kl_histories_end(struct kl_histories *h, uint32_t id)
{
	const size_t old = h->cended;
	int ret = kl_grow(h->ended, h->cended, id + 1);

	if (ret)
		return ret;
	memset(h->ended + old, 0, (h->cended - old) * sizeof(*h->ended));
	h->ended[id] = true;
	return 0;
}

/* ---- printing ------------------------------------------------------------------------- */

/* The forms of histories: all ways to name their threads, with data by first occurrence. */
struct forms {
	struct kl_intern in;
	uint32_t *first;	/* index of each history's first form, and the end */
	size_t n, cfirst;
};

static void name_data(const struct kl_histories *h, uint64_t *w, size_t n)
{
	uint8_t name[KL_VM_DATA_MAX] = { 0 }, last = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!kl_vm_is_data(w[i]))
			continue;
		if (!name[w[i] - KL_VM_DATA])
			name[w[i] - KL_VM_DATA] = ++last;
		w[i] = KL_VM_DATA + name[w[i] - KL_VM_DATA];
	}
}

/*
 * Set @thread to the next permutation that keeps each thread in its group.
 * Return: false if there is none.
 */
static bool next_order(const struct kl_vm_prog *p, uint8_t *thread)
{
	const unsigned int n = p->nthreads;
	unsigned int i, j, k;
	uint8_t v;

	do {
		for (i = n - 1; i && thread[i - 1] >= thread[i]; i--)
			;
		if (!i)
			return false;
		for (j = n - 1; thread[j] <= thread[i - 1]; j--)
			;
		v = thread[i - 1];
		thread[i - 1] = thread[j];
		thread[j] = v;
		for (j = i, k = n - 1; j < k; j++, k--) {
			v = thread[j];
			thread[j] = thread[k];
			thread[k] = v;
		}
		for (i = 0; i < n && p->group[i] >> thread[i] & 1; i++)
			;
	} while (i < n);
	return true;
}

static int add_forms(const struct kl_histories *h, struct forms *f, uint32_t id)
{
	uint8_t thread[KL_VM_THREADS], same[KL_VM_DATA_MAX];
	uint64_t words[WORDS_MAX];
	const uint64_t *w;
	unsigned int i;
	int64_t ret;
	size_t n;

	for (i = 0; i < KL_VM_THREADS; i++)
		thread[i] = i;
	for (i = 0; i < KL_VM_DATA_MAX; i++)
		same[i] = i;
	ret = kl_grow(f->first, f->cfirst, f->n + 2);
	if (ret)
		return ret;
	f->first[f->n] = f->in.n;
	do {
		w = kl_intern_get(&h->all, id, &n);
		n = rename_words(h, w, thread, same, words);
		name_data(h, words, n);
		ret = kl_intern(&f->in, words, n);
		if (ret < 0)
			return ret;
		if (ret < f->first[f->n])
			return 0;	/* another history has the same forms */
	} while (next_order(h->prog, thread));
	f->first[++f->n] = f->in.n;
	return 0;
}

static bool is_hardest(const struct kl_histories *h, const struct forms *f, size_t i)
{
	const uint64_t *a, *b;
	size_t j, k, na, nb;

	b = kl_intern_get(&f->in, f->first[i], &nb);
	for (j = 0; j < f->n; j++) {
		if (j == i)
			continue;
		for (k = f->first[j]; k < f->first[j + 1]; k++) {
			a = kl_intern_get(&f->in, k, &na);
			if (harder(h, a, na, b, nb))
				return false;
		}
	}
	return true;
}

static void line(const struct kl_histories *h, const uint64_t *w, char *buf, size_t size)
{
	static const char *const what[] = {
		[KL_VM_EVENT_CALL] = "call",
		[KL_VM_EVENT_RET] = "return",
		[KL_VM_EVENT_FLUSH_CALL] = "flush(call)",
		[KL_VM_EVENT_FLUSH_RET] = "flush(ret)",
	};
	const unsigned int n = h->prog->nthreads;
	const uint64_t *at[STREAMS];
	unsigned int t, u, k;
	size_t i, used = 0;

	find(h, w, at);
	for (t = 0; t < (h->prog->sc ? n : 2 * n); t++) {
		if (t < n)
			used += snprintf(buf + used, size - used, "%sT%u:", t ? " | " : "", t);
		else
			used += snprintf(buf + used, size - used, " | T%u's buffer:", t - n);
		for (i = 0; i < at[t][-1] && used < size - 400; i += event_words(at[t][i])) {
			const uint64_t head = at[t][i];
			const uint64_t *v = at[t] + i + event_words(head) - nvalues(head);

			used += snprintf(buf + used, size - used, "%s %s", i ? "," : "",
					 what[head & 0xff]);
			if ((head & 0xff) == KL_VM_EVENT_CALL)
				used += snprintf(buf + used, size - used, " %s",
						 h->prog->methods[head >> 16].name);
			for (k = 0; k < nvalues(head); k++) {
				buf[used++] = ' ';
				used += kl_vm_value(buf + used, size - used, v[k]);
			}
			if (!is_call(head))
				continue;
			for (u = 0; u < 2 * n && (u < n || !h->prog->sc); u++)
				used += snprintf(buf + used, size - used, "%s%u",
						 !u ? "[" : u == n ? "; " : " ", (unsigned int)
						 (at[t][i + 1 + u / n] >> (8 * (u % n)) & 0xff));
			buf[used++] = ']';
			buf[used] = 0;
		}
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return: the alphabetically first line of all forms of a history, or NULL without memory. */
static char *first_line(const struct kl_histories *h, const struct forms *f, size_t i)
{
	char *best = NULL, *one;
	size_t k, n;

	for (k = f->first[i]; k < f->first[i + 1]; k++) {
		one = malloc(LINE_MAX_);
		if (!one)
			break;
		line(h, kl_intern_get(&f->in, k, &n), one, LINE_MAX_);
		if (best && strcmp(best, one) <= 0) {
			free(one);
			continue;
		}
		free(best);
		best = realloc(one, strlen(one) + 1);
	}
	return best;
}

int64_t kl_histories_print(struct kl_histories *h, FILE *f)
{
	struct forms forms = { 0 };
	size_t i, n = 0;
	char **lines = NULL;
	int64_t ret = 0;

	for (i = 0; i < h->cended && !ret; i++)
		if (h->ended[i])
			ret = add_forms(h, &forms, i);
	lines = calloc(forms.n + 1, sizeof(*lines));
	if (!lines)
		ret = -ENOMEM;
	for (i = 0; i < forms.n && !ret; i++) {
		if (!is_hardest(h, &forms, i))
			continue;
		lines[n] = first_line(h, &forms, i);
		if (!lines[n])
			ret = -ENOMEM;
		else
			n++;
	}
	if (n)
		qsort(lines, n, sizeof(*lines), by_text);
	for (i = 0; i < n; i++) {
		if (!ret)
			fprintf(f, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	kl_intern_free(&forms.in);
	free(forms.first);
	return ret ? ret : (int64_t)n;
}
