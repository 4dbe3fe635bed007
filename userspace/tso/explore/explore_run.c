// SPDX-License-Identifier: GPL-2.0
/* The explorer: a run as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "tso/explore/explore_internal.h"

#define LOG_MAX		8192	/* accesses of a step, with those of all threads along with it */
#define SHOWN_MAX	64	/* accesses that are printed */

int kl_vm_value(char *buf, size_t size, uint64_t v)
{
	static const char *const special[] = { "?", "any", "empty", "full", "absent" };

	if (v > KL_VM_SPECIAL && v < KL_VM_SPECIAL + 5)
		return snprintf(buf, size, "%s", special[v - KL_VM_SPECIAL]);
	/* A, B, ... stand for any value. */
	if (kl_vm_is_data(v) && v - KL_VM_DATA <= 26)
		return snprintf(buf, size, "%c", (int)('A' + v - KL_VM_DATA - 1));
	if (kl_vm_is_data(v))
		return snprintf(buf, size, "A%llu", (unsigned long long)(v - KL_VM_DATA));
	if ((int64_t)v < 0 && v >> 62 == 3)
		return snprintf(buf, size, "%lld", (long long)v);
	return snprintf(buf, size, "%llu", (unsigned long long)v);
}

static int print_results(char *buf, size_t size, const uint64_t *val, unsigned int n)
{
	unsigned int i;
	int used;

	if (!n)
		return snprintf(buf, size, "return");
	used = snprintf(buf, size, "%s", n > 1 ? "(" : "");
	for (i = 0; i < n; i++) {
		used += snprintf(buf + used, size - used, "%s", i ? ", " : "");
		used += kl_vm_value(buf + used, size - used, val[i]);
	}
	return used + snprintf(buf + used, size - used, "%s", n > 1 ? ")" : "");
}

/* bytes of the longest text of print_results(), and of " or " */
#define RESULT_TEXT	(KL_MAX_ARGS * 24 + 8)

int kl_ex_allowed(const struct kl_explorer *x, uint32_t set, unsigned int t, char *buf, size_t size)
{
	uint64_t seen[16][KL_MAX_ARGS];
	size_t at = 0, used = 0;
	int n, k, nseen = 0;

	buf[0] = 0;
	while (nseen < 16 && used + RESULT_TEXT < size) {
		n = kl_abstract_result(x->abs, set, t, &at, seen[nseen]);
		if (n < 0)
			break;
		for (k = 0; k < nseen && memcmp(seen[k], seen[nseen], n * sizeof(**seen)); k++)
			;
		if (k < nseen)
			continue;
		used += snprintf(buf + used, size - used, "%s", nseen++ ? " or " : "");
		used += print_results(buf + used, size - used, seen[k], n);
	}
	return nseen;
}

/* Print the name of a word of memory; objects are #1, #2, ... */
void kl_ex_print_place(const struct kl_explorer *x, const struct kl_vm *vm, uint32_t addr,
		       FILE *f)
{
	const struct kl_impl *im = x->spec->impl;
	unsigned int i, obj, field;

	for (i = 0; i < im->nvars; i++) {
		const struct kl_shared *v = &im->vars[i];

		if (addr < v->slot || addr >= v->slot + v->len)
			continue;
		fputs(v->f.name, f);
		if (v->is_array)
			fprintf(f, "[%u]", addr - v->slot);
		return;
	}
	obj = (addr - im->nslots) / x->prog.stride;
	field = (addr - im->nslots) % x->prog.stride;
	fprintf(f, "#%u->%s", obj + 1, obj < vm->nobj ?
		im->structs[vm->type[obj] & KL_VM_STRUCT].fields[field].name : "?");
}

void kl_ex_print_value(const struct kl_explorer *x, uint64_t v, FILE *f)
{
	char buf[32];
	uint32_t at = v - KL_VM_PTR;

	if (kl_vm_is_ptr(v)) {
		fprintf(f, "#%u", (at - x->prog.nslots) / x->prog.stride + 1);
		return;
	}
	kl_vm_value(buf, sizeof(buf), v);
	fputs(buf, f);
}

/*
 * Print the store in another thread's buffer that makes the read @a stale.  Accesses of the thread
 * @step, which makes the step, are made in the state x->shown before the step.  Accesses of other
 * threads along with the step come after it, in x->vm.
 */
static void print_stale(const struct kl_explorer *x, const struct kl_vm_access *a,
			unsigned int step, FILE *f)
{
	const struct kl_vm *vm = a->thread == step ? &x->shown : &x->vm;
	unsigned int t, i;

	for (t = 0; t < x->prog.nthreads; t++) {
		for (i = vm->thread[t].nbuf; i--;) {
			const struct kl_vm_entry *e = &vm->thread[t].buf[i];

			if (t == a->thread || e->kind != KL_VM_WRITE || e->addr != a->addr)
				continue;
			fprintf(f, " (stale: T%u's buffer has ", t);
			kl_ex_print_value(x, e->val, f);
			fputc(')', f);
			break;
		}
	}
}

static bool same_access(const struct kl_vm_access *a, const struct kl_vm_access *b)
{
	return a->addr == b->addr && a->line == b->line && a->val == b->val &&
	       a->thread == b->thread && a->write == b->write && a->buffered == b->buffered &&
	       a->own == b->own;
}

static void print_accesses(const struct kl_explorer *x, const struct kl_vm *vm, unsigned int t,
			   FILE *f)
{
	unsigned int i;

	for (i = 0; i < vm->nlog && i < SHOWN_MAX; i++) {
		const struct kl_vm_access *a = &vm->log[i];

		/* An access that a loop repeats is shown once. */
		if (i && same_access(a, a - 1))
			continue;
		if (i)
			fputs(", ", f);
		if (!a->line)
			fprintf(f, "T%u's buffer: ", a->thread);
		else if (a->thread != t)
			fprintf(f, "T%u: ", a->thread);
		kl_ex_print_place(x, vm, a->addr, f);
		fputs(a->write ? " = " : " is ", f);
		kl_ex_print_value(x, a->val, f);
		fputs(!a->line ? " reaches memory" : a->buffered ? " to the buffer" :
		      a->own ? " (own buffer)" : "", f);
		if (!a->write && !a->own)
			print_stale(x, a, t, f);
		if (a->line)
			fprintf(f, " [%u]", a->line);
	}
}

static void print_args(const struct kl_explorer *x, const struct kl_vm_event *e, FILE *f)
{
	unsigned int i;

	for (i = 0; i < e->n; i++) {
		if (i)
			fputs(", ", f);
		kl_ex_print_value(x, e->val[i], f);
	}
}

static void print_events(const struct kl_explorer *x, const struct kl_vm_event *ev,
			 unsigned int n, unsigned int t, bool calls, FILE *f)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct kl_vm_event *e = &ev[i];

		if (e->kind != (calls ? KL_VM_EVENT_CALL : KL_VM_EVENT_RET))
			continue;
		fputs(calls ? "" : "; ", f);
		if (e->thread != t)
			fprintf(f, "T%u: ", e->thread);
		if (calls)
			fprintf(f, "call %s(", x->methods[e->method].name);
		else
			fprintf(f, "%s returns%s", x->methods[e->method].name, e->n ? " " : "");
		print_args(x, e, f);
		fputs(calls ? "); " : "", f);
	}
}

void kl_ex_print_buffer(const struct kl_explorer *x, const struct kl_vm *vm, unsigned int t,
			FILE *f)
{
	const struct kl_vm_thread *th = &vm->thread[t];
	unsigned int i;

	fprintf(f, "T%u's buffer:", t);
	for (i = 0; i < th->nbuf; i++) {
		if (th->buf[i].kind != KL_VM_WRITE)
			continue;
		fputc(' ', f);
		kl_ex_print_place(x, vm, th->buf[i].addr, f);
		fputc('=', f);
		kl_ex_print_value(x, th->buf[i].val, f);
		fputs(th->buf[i].more ? " +" : "", f);
	}
}

static void print_state(const struct kl_explorer *x, const struct kl_vm *vm, FILE *f)
{
	const struct kl_impl *im = x->spec->impl;
	unsigned int i, j, t;

	fputs("memory:", f);
	for (i = 0; i < im->nslots; i++) {
		fputc(' ', f);
		kl_ex_print_place(x, vm, i, f);
		fputc('=', f);
		kl_ex_print_value(x, vm->mem[i], f);
	}
	for (i = 0; i < vm->nobj; i++) {
		const struct kl_struct *s = &im->structs[vm->type[i] & KL_VM_STRUCT];

		fprintf(f, " #%u={", i + 1);
		for (j = 0; j < s->nfields; j++) {
			fputs(j ? " " : "", f);
			kl_ex_print_value(x, vm->mem[im->nslots + i * x->prog.stride + j], f);
		}
		fputc('}', f);
	}
	for (t = 0; t < x->prog.nthreads; t++) {
		if (!kl_vm_has_writes(&vm->thread[t]))
			continue;
		fputs("; ", f);
		kl_ex_print_buffer(x, vm, t, f);
	}
}

/* The output of a run, and room for a step's accesses. */
struct show {
	kl_explore_step_fn fn;
	void *ctx;
	struct kl_vm_access log[LOG_MAX];
	struct kl_ex_origins origins;
};

/* Show a step of a run, from x->shown to x->vm; the first state has number 0. */
static int show_one(const struct kl_explorer *x, const struct show *s, unsigned int number,
		    unsigned int t, bool flush)
{
	const struct kl_vm_event *ev = x->shown_ev;
	char *what = NULL, *state = NULL;
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	if (!number) {
		fputs("the first state", m.f);
	} else {
		print_events(x, ev, x->nshown, t, true, m.f);
		if (x->vm.nlog)
			print_accesses(x, &x->vm, t, m.f);
		else
			fputs("goes on", m.f);
		print_events(x, ev, x->nshown, t, false, m.f);
	}
	ret = kl_memstream_close(&m, &what, NULL);
	if (!ret)
		ret = kl_memstream_open(&m);
	if (!ret) {
		print_state(x, &x->vm, m.f);
		ret = kl_memstream_close(&m, &state, NULL);
	}
	if (!ret)
		s->fn(s->ctx, &(struct kl_explore_step){
			.number = number, .thread = t, .flush = flush, .what = what,
			.state = state, .events = ev, .nevents = number ? x->nshown : 0,
			.accesses = x->vm.log, .naccesses = number ? x->vm.nlog : 0,
			.cut = number && x->vm.nlog == LOG_MAX,
		});
	free(what);
	free(state);
	return ret;
}

/*
 * Make the step or flush of @t from x->before.
 * Return: 1 if it leads to the state at @to, 0 if not, or a negative errno.
 */
static int leads_to(struct kl_explorer *x, unsigned int t, bool flush, uint32_t to)
{
	uint64_t hash;
	int64_t len;
	int ret;

	if (flush ? !kl_vm_flush(&x->vm, t) : kl_ex_step(x, t, &x->before) != KL_VM_OK)
		return 0;
	ret = kl_ex_after(x, t, flush);
	if (ret <= 0 || ret == KL_EX_FAULTY)
		return ret < 0 ? ret : 0;
	len = kl_ex_pack(x);
	if (len < 0)
		return len;
	if (x->set != kl_visited_head(&x->visited, to)->tag)
		return 0;
	if (!x->o.compact)
		return len == kl_visited_head(&x->visited, to)->len &&
		       !memcmp(x->packed, kl_visited_state(&x->visited, to), len);
	hash = kl_ex_kept_hash(x, x->hash);
	if (memcmp(&hash, kl_visited_state(&x->visited, to), sizeof(hash)))
		return 0;
	kl_ex_hold(x, to, x->packed, len);
	return 1;
}

int kl_ex_find_step(struct kl_explorer *x, uint32_t from, uint32_t to, unsigned int *t,
		    bool *flush)
{
	uint32_t set;
	int ret = kl_ex_load(x, from);

	if (ret)
		return ret;
	set = x->set;
	for (*t = 0; *t < x->prog.nthreads; ++*t) {
		x->vm.nchoice = 0;
		do {
			kl_vm_copy(&x->vm, &x->before);
			x->set = set;
			*flush = false;
			ret = leads_to(x, *t, false, to);
			if (ret)
				return ret < 0 ? ret : 0;
		} while (kl_vm_next_choice(&x->vm));
		kl_vm_copy(&x->vm, &x->before);
		x->set = set;
		*flush = true;
		ret = leads_to(x, *t, true, to);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	return -ESTALE;
}

/*
 * Return: true if a step went as in the search: the last step shows the verdict, and all other
 * steps succeed.
 */
static bool as_found(const struct kl_explorer *x, enum kl_vm_result r, int after, bool last)
{
	if (r != KL_VM_OK && r != KL_VM_FAULT)
		return false;
	if (!after)
		return last && x->verdict == KL_EX_NOT_LINEARIZABLE;
	if (r == KL_VM_FAULT || after == KL_EX_FAULTY)
		return last && x->verdict == (x->vm.limit ? KL_EX_LIMIT : KL_EX_FAULT);
	return !last;
}

/* Note the accesses, and the loads of values, of the steps that follow. */
static void begin_trace(struct kl_explorer *x, struct show *s)
{
	x->vm.log = s->log;
	x->vm.clog = LOG_MAX;
	x->vm.nlog = 0;
	kl_ex_origins_save(&s->origins);
	x->vm.trace = &s->origins.trace;
}

static void end_trace(struct kl_explorer *x)
{
	x->vm.log = NULL;
	x->vm.trace = NULL;
}

/* Make a step with names that do not change, and print it.  @last: the step shows the verdict. */
static int show_step(struct kl_explorer *x, unsigned int number, unsigned int t, bool flush,
		     bool last, struct show *s)
{
	enum kl_vm_result r = KL_VM_OK;
	int ret, failed = -1;

	t = x->shown_thread[t];
	kl_vm_copy(&x->vm, &x->shown);
	x->set = x->shown_set;
	begin_trace(x, s);
	if (flush)
		r = kl_vm_flush(&x->vm, t) ? KL_VM_OK : KL_VM_WAITS;
	else
		r = kl_ex_step(x, t, &x->shown);
	x->nshown = 0;
	ret = kl_ex_after(x, t, flush);
	kl_ex_note_stale(x, t);
	end_trace(x);
	if (ret < 0)
		return ret;
	if (!as_found(x, r, ret, last))
		return -ESTALE;
	/* Make the message again, because the message of the search has other names. */
	if (!ret && x->verdict == KL_EX_NOT_LINEARIZABLE) {
		kl_ex_explain(x);
		ret = kl_ex_find_hint(x);
		if (ret)
			return ret;
	} else if (r == KL_VM_FAULT || ret == KL_EX_FAULTY) {
		snprintf(x->message, sizeof(x->message), "thread %u: %s",
			 r == KL_VM_FAULT ? t : x->faulty, x->vm.error);
		failed = r == KL_VM_FAULT ? (int)t : (int)x->faulty;
	}
	x->vm.log = s->log;
	ret = show_one(x, s, number, t, flush);
	if (ret) {
		x->vm.log = NULL;
		return ret;
	}
	kl_vm_copy(&x->shown, &x->vm);
	if (failed >= 0)
		kl_ex_note_end(x, &s->origins, KL_EX_FAILS, failed);
	s->origins.base += x->vm.nlog;
	x->vm.log = NULL;
	/* A value that occurred once keeps its name. */
	x->shown.taken |= kl_vm_data(&x->vm);
	x->shown_set = x->set;
	return 0;
}

static int show_first(struct kl_explorer *x, const struct show *s)
{
	int ret = kl_ex_first(x);
	int64_t len;

	if (ret)
		return ret;
	len = kl_ex_pack(x);
	if (len < 0)
		return len;
	memcpy(x->shown_thread, x->names.thread, sizeof(x->shown_thread));
	memset(x->stale, 0, sizeof(x->stale));
	x->shown.prog = &x->prog;
	kl_vm_copy(&x->shown, &x->vm);
	x->shown_set = x->set;
	return show_one(x, s, 0, 0, false);
}

/* Try a step of @t after the run, and note what it waits for or, if it goes on, that it loops. */
static enum kl_vm_result show_wait(struct kl_explorer *x, struct show *s, unsigned int t)
{
	enum kl_vm_result r;
	unsigned int i;

	kl_vm_copy(&x->vm, &x->shown);
	x->vm.nchoice = 0;
	begin_trace(x, s);
	r = kl_ex_step(x, t, &x->shown);
	x->vm.trace = NULL;
	if (!x->shown.thread[t].done && (r == KL_VM_WAITS || r == KL_VM_OK)) {
		kl_ex_note_end(x, &s->origins, r == KL_VM_WAITS ? KL_EX_WAITS : KL_EX_LOOPS, t);
		if (r == KL_VM_OK)
			for (i = 0; i < x->vm.nlog; i++)
				kl_ex_note_load(x, &x->vm.log[i], s->origins.base + i);
	}
	x->vm.trace = &s->origins.trace;
	kl_ex_origins_restore(&x->vm);
	end_trace(x);
	return r;
}

/*
 * Check that the verdict holds after the last step.
 * Return: 0, -ESTALE if the verdict does not hold, or another negative errno.
 */
static int show_end(struct kl_explorer *x, struct show *s)
{
	enum kl_vm_result r;
	unsigned int t;
	int ret;

	/* If only hashes were kept, a state with an end may have been taken for one without. */
	if (x->verdict == KL_EX_ENDLESS && x->o.compact) {
		ret = kl_ex_comes_to_end(x, &x->shown);
		if (ret)
			return ret < 0 ? ret : -ESTALE;
	}
	/* The threads have other names in the state of the search. */
	if (x->verdict == KL_EX_ENDLESS)
		kl_ex_tell_endless(x, &x->shown);
	for (t = 0; t < x->prog.nthreads && x->verdict == KL_EX_ENDLESS; t++)
		show_wait(x, s, t);
	if (x->verdict == KL_EX_FINAL) {
		kl_vm_copy(&x->vm, &x->shown);
		memset(s->origins.reg[0], 0, sizeof(s->origins.reg[0]));
		begin_trace(x, s);
		r = kl_ex_run_alone(x, &x->vm, x->spec->impl->final_code);
		if (r == KL_VM_FAULT)
			kl_ex_note_end(x, &s->origins, KL_EX_FAILS, -1);
		end_trace(x);
		if (r != KL_VM_FAULT || x->vm.limit)
			return -ESTALE;
	}
	for (t = 0; t < x->prog.nthreads && x->verdict == KL_EX_DEADLOCK; t++) {
		if (show_wait(x, s, t) != KL_VM_WAITS)
			return -ESTALE;
		kl_vm_copy(&x->vm, &x->shown);
		if (kl_vm_flush(&x->vm, t))
			return -ESTALE;
	}
	if (x->verdict == KL_EX_DEADLOCK)
		kl_ex_tell_waiting(x, &x->shown, "all threads that have not ended are waiting:");
	return 0;
}

int kl_explore_run(struct kl_explorer *x, kl_explore_step_fn fn, void *ctx)
{
	struct show *s = malloc(sizeof(*s));
	uint8_t thread[KL_VM_THREADS];
	uint32_t at, *path = NULL;
	size_t n = 0, i;
	unsigned int t, k;
	bool flush;
	int ret = 0;

	for (at = x->last; at != KL_NO_STATE; at = kl_visited_head(&x->visited, at)->parent)
		n++;
	path = calloc(n + 1, sizeof(*path));
	if (!path || !s) {
		free(path);
		free(s);
		return -ENOMEM;
	}
	s->fn = fn;
	s->ctx = ctx;
	kl_ex_origins_init(&s->origins);
	x->nends = 0;
	for (at = x->last, i = n; i; at = kl_visited_head(&x->visited, at)->parent)
		path[--i] = at;
	if (n)
		ret = show_first(x, s);
	for (i = 1; i < n && !ret; i++) {
		ret = kl_ex_find_step(x, path[i - 1], path[i], &t, &flush);
		if (ret)
			break;
		x->vm.nchoice = x->vm.at_choice;
		for (k = 0; k < x->prog.nthreads; k++)
			thread[k] = x->shown_thread[x->names.thread[k]];
		ret = show_step(x, i, t, flush, false, s);
		memcpy(x->shown_thread, thread, sizeof(thread));
	}
	if (!ret && n && x->thread >= 0) {
		memcpy(x->vm.choice, x->choice, sizeof(x->choice));
		x->vm.nchoice = x->nchoice;
		ret = show_step(x, n, x->thread, x->flush, true, s);
	}
	if (!ret && n)
		ret = show_end(x, s);
	free(path);
	free(s);
	return ret;
}

enum kl_explore_verdict kl_explore_found(const struct kl_explorer *x)
{
	return x->verdict;
}

const struct kl_spec *kl_explore_spec(const struct kl_explorer *x)
{
	return x->spec;
}

const struct kl_vm_method *kl_explore_method(const struct kl_explorer *x, unsigned int method)
{
	return &x->methods[method];
}

const char *kl_explore_message(struct kl_explorer *x)
{
	return x->message;
}

const char *kl_explore_hint(struct kl_explorer *x)
{
	return x->hint ? x->hint : "";
}

unsigned int kl_explore_ends(const struct kl_explorer *x, const struct kl_explore_end **ends)
{
	*ends = x->ends;
	return x->nends;
}

/* Close the stream, and write its text into @buf.  Return: 0 or -ENOMEM. */
static int get_text(struct kl_memstream *m, char *buf, size_t size)
{
	char *text;
	int ret = kl_memstream_close(m, &text, NULL);

	if (ret)
		return ret;
	snprintf(buf, size, "%s", text);
	free(text);
	return 0;
}

bool kl_explore_in_object(const struct kl_explorer *x, uint32_t addr)
{
	return addr >= x->prog.nslots;
}

int kl_explore_place(const struct kl_explorer *x, uint32_t addr, char *buf, size_t size)
{
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	kl_ex_print_place(x, &x->shown, addr, m.f);
	return get_text(&m, buf, size);
}

int kl_explore_value(const struct kl_explorer *x, uint64_t v, char *buf, size_t size)
{
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	kl_ex_print_value(x, v, m.f);
	return get_text(&m, buf, size);
}
