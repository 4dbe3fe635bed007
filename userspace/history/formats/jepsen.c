// SPDX-License-Identifier: GPL-2.0
/* Jepsen's operations, see jepsen.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "history/formats/jepsen.h"
#include "history/source.h"
#include "history/spell.h"

enum { READ, WRITE, CAS, ENQUEUE, DEQUEUE, ACQUIRE, RELEASE };

static const struct {
	const char *ours, *spec;
	uint8_t nargs, nres;
} methods[KL_JEPSEN_METHODS] = {
	[READ] = { "read", "register", 0, 1 },
	[WRITE] = { "write", "register", 1, 0 },
	[CAS] = { "cas", "register", 2, 1 },
	[ENQUEUE] = { "enq", "queue", 1, 0 },
	[DEQUEUE] = { "deq", "queue", 0, 1 },
	[ACQUIRE] = { "lock", "lock", 0, 0 },
	[RELEASE] = { "unlock", "lock", 0, 0 },
};

int kl_jepsen_type(const char *p, size_t len)
{
	if (kl_scan_is(p, len, ":invoke"))
		return KL_JEPSEN_INVOKE;
	if (kl_scan_is(p, len, ":ok"))
		return KL_JEPSEN_OK;
	if (kl_scan_is(p, len, ":fail"))
		return KL_JEPSEN_FAIL;
	return kl_scan_is(p, len, ":info") ? KL_JEPSEN_INFO : -1;
}

int kl_jepsen_begin(struct kl_jepsen *j, const char *name, bool log)
{
	unsigned int i;

	*j = (struct kl_jepsen){ .scan.name = name, .log = log };
	for (i = 0; i < KL_JEPSEN_METHODS; i++)
		j->method[i] = -1;
	j->pairs.scan = &j->scan;
	j->scan.h = j->pairs.h = kl_history_new();
	return j->pairs.h ? 0 : -ENOMEM;
}

int kl_jepsen_word(struct kl_jepsen *j, const char *text, size_t len, const char *spelling,
		   size_t nspelling, uint64_t *word)
{
	int ret = kl_words_get(&j->words, text, len, word);

	return ret ?: kl_history_spell(j->pairs.h, *word, spelling, nspelling);
}

/* Return: the method named at @f.  The compiler compares names with literals as numbers. */
static inline unsigned int which_method(const char *f, size_t len)
{
	if (kl_scan_is(f, len, "read"))
		return READ;
	if (kl_scan_is(f, len, "write"))
		return WRITE;
	if (kl_scan_is(f, len, "cas"))
		return CAS;
	if (kl_scan_is(f, len, "enqueue"))
		return ENQUEUE;
	if (kl_scan_is(f, len, "dequeue"))
		return DEQUEUE;
	if (kl_scan_is(f, len, "acquire"))
		return ACQUIRE;
	return kl_scan_is(f, len, "release") ? RELEASE : KL_JEPSEN_METHODS;
}

/* The results of a cas are the types of its last event. */
static int spell_cas(struct kl_history *h)
{
	const char *const name = methods[CAS].ours;

	return kl_history_spell_result(h, name, 0, 1, ":ok", 3) ?:
		       kl_history_spell_result(h, name, 0, 0, ":fail", 5);
}

static int find_method(struct kl_jepsen *j, const char *tok, const char *f, size_t len)
{
	const unsigned int i = which_method(f, len);
	int64_t index;

	if (i == KL_JEPSEN_METHODS)
		return kl_scan_stop(&j->scan, tok,
				    "read, write or cas, enqueue or dequeue, acquire or release"
				    KL_JEPSEN_OTHERS);
	if (!j->spec)
		j->spec = methods[i].spec;
	if (j->spec != methods[i].spec && strcmp(j->spec, methods[i].spec))
		return kl_scan_bad(&j->scan, tok, "a method of the same structure as before");
	if (j->method[i] < 0) {
		index = kl_history_method(j->pairs.h, methods[i].ours, strlen(methods[i].ours));
		if (index < 0)
			return index;
		if (kl_history_spell_method(j->pairs.h, methods[i].ours, f, len) ||
		    (i == CAS && spell_cas(j->pairs.h)))
			return -ENOMEM;
		j->method[i] = index;
	}
	return i;
}

/* Add a first write of nil to a register; kl_jepsen_end() gives it a thread of its own. */
static int write_nil(struct kl_jepsen *j, uint64_t process, uint32_t object)
{
	struct kl_op op = {
		.object = object, .cpu = KL_NO_CPU, .flags = KL_OP_DRAINED,
	};
	struct kl_opsig s = { .nargs = 1 };
	struct kl_val nil = kl_word(KL_JEPSEN_NIL);
	int64_t thread = kl_history_thread(j->pairs.h, process), method;

	if (thread < 0)
		return thread;
	method = find_method(j, "write", "write", 5);
	if (method < 0)
		return method;
	if (kl_history_spell(j->pairs.h, KL_JEPSEN_NIL, "nil", 3))
		return -ENOMEM;
	op.thread = thread;
	s.method = j->method[method];
	return kl_source_place(j->pairs.h, KL_FIRST_PLACE) ?:
	       kl_history_add(j->pairs.h, &op, &s, &nil, NULL);
}

static int check_args(struct kl_jepsen *j, const char *tok, unsigned int nargs,
		      const struct kl_jepsen_value *v)
{
	if (nargs == 1 && v->kind != KL_JEPSEN_WORD)
		return kl_scan_bad(&j->scan, tok, "a :value that is a number or a word");
	if (nargs == 2 && v->kind != KL_JEPSEN_PAIR)
		return kl_scan_bad(&j->scan, tok, "a :value as in [1 2]");
	return 0;
}

/* Return: the object of a key, or the only object.  A new register gets its write of nil. */
static int64_t find_object(struct kl_jepsen *j, uint64_t number, int m,
			   const struct kl_jepsen_value *v)
{
	const size_t n = j->pairs.h->nobjects;
	const int64_t object = kl_history_object(j->pairs.h, v->keyed ? v->key : 0);
	int ret = 0;

	if (object >= 0 && (size_t)object == n && m <= CAS)
		ret = write_nil(j, number, object);
	return ret ? ret : object;
}

static int invoke(struct kl_jepsen *j, const char *tok, uint64_t number,
		  struct kl_process *process, int m, const struct kl_jepsen_value *v)
{
	const struct kl_opsig s = {
		.method = j->method[m],
		.nargs = methods[m].nargs,
		.nres = methods[m].nres,
	};
	struct kl_val args[2] = { kl_word(v->v[0]), kl_word(v->v[1]) };
	int64_t object;
	int ret;

	/* Jepsen writes nil into a log.  In a map, a key that is missing is nil. */
	if (s.nargs && v->missing && j->log)
		return kl_scan_bad(&j->scan, tok, "a value behind it, as in `:write 4'");
	if (m == WRITE && v->kind == KL_JEPSEN_NONE)
		args[0] = kl_word(KL_JEPSEN_NIL);
	else if (v->kind == KL_JEPSEN_NONE)
		args[0] = args[1] = kl_special(KL_ANY);
	else if (check_args(j, tok, s.nargs, v))
		return -EINVAL;
	object = find_object(j, number, m, v);
	if (object < 0)
		return object;
	if (number > j->largest)
		j->largest = number;
	ret = kl_pairs_call(&j->pairs, tok, process, &s, args);
	if (ret)
		return ret;
	j->pairs.h->ops[process->op - 1].object = object;
	/* In a history that Knossos completed, the call has the value that is returned. */
	if (s.nres && !s.nargs)
		process->vals[0] = v->kind == KL_JEPSEN_WORD ? args[0] : kl_special(KL_ANY);
	return 0;
}

/*
 * Compare the value of the event that ends an operation with the value of its :invoke.  An :invoke
 * with nil gets the value of its :ok, as in Knossos.
 */
static int complete(struct kl_jepsen *j, const char *tok, struct kl_process *process,
		    const struct kl_jepsen_value *v)
{
	static const char expected[] = "the :value that its :invoke has, or nil there";
	const struct kl_val args[2] = { kl_word(v->v[0]), kl_word(v->v[1]) };
	const unsigned int n = process->sig.nargs;
	const struct kl_val *had = process->vals;
	const bool open = n && had[0].tag == KL_ANY;
	unsigned int i;

	if (v->keyed && j->pairs.h->objects[j->pairs.h->ops[process->op - 1].object] != v->key)
		return kl_scan_bad(&j->scan, tok, "the key that its :invoke has");
	if (!n && process->sig.nres && v->kind == KL_JEPSEN_WORD && had[0].tag == KL_WORD &&
	    !kl_val_eq(had[0], args[0]))
		return kl_scan_bad(&j->scan, tok, expected);
	if (!n || v->kind == KL_JEPSEN_OTHER || (v->kind == KL_JEPSEN_NONE && !open))
		return 0;
	if (v->kind == KL_JEPSEN_NONE && j->ending != KL_JEPSEN_OK)
		return 0;
	if (check_args(j, tok, n, v))
		return -EINVAL;
	if (open || (n == 1 && had[0].v == KL_JEPSEN_NIL))
		return kl_pairs_fill(&j->pairs, process, args);
	for (i = 0; i < n; i++)
		if (!kl_val_eq(args[i], had[i]))
			return kl_scan_bad(&j->scan, tok, expected);
	return 0;
}

/* Return: true if @v has the key of the :invoke, with the arguments of the :invoke or nil. */
static bool repeats(const struct kl_jepsen *j, const struct kl_process *process,
		    const struct kl_jepsen_value *v)
{
	const unsigned int n = process->sig.nargs;
	unsigned int i;

	if (v->keyed && j->pairs.h->objects[j->pairs.h->ops[process->op - 1].object] != v->key)
		return false;
	if (v->kind == KL_JEPSEN_NONE)
		return true;
	if (!n || v->kind != (n == 2 ? KL_JEPSEN_PAIR : KL_JEPSEN_WORD))
		return false;
	for (i = 0; i < n; i++)
		if (!kl_val_eq(process->vals[i], kl_word(v->v[i])))
			return false;
	return true;
}

static int succeed(struct kl_jepsen *j, const char *tok, int m, struct kl_process *process,
		   const struct kl_jepsen_value *v)
{
	struct kl_val res = kl_word(1);

	if (m == READ || m == DEQUEUE) {
		res = kl_word(v->v[0]);
		if (v->kind == KL_JEPSEN_NONE && m == DEQUEUE)
			res = kl_special(KL_EMPTY);
		else if (v->kind == KL_JEPSEN_NONE)
			res = j->log ? kl_word(KL_JEPSEN_NIL) : kl_special(KL_ANY);
		else if (v->kind != KL_JEPSEN_WORD)
			return kl_scan_bad(&j->scan, tok,
					   "a :value that is nil, a number or a word");
	}
	return kl_pairs_return(&j->pairs, process, &res);
}

static int fail(struct kl_jepsen *j, int m, struct kl_process *process,
		const struct kl_jepsen_value *v)
{
	struct kl_val no = kl_word(0);

	if (j->log && m == CAS && v->kind == KL_JEPSEN_PAIR)
		return kl_pairs_return(&j->pairs, process, &no);
	if (j->log && m != READ && v->kind == KL_JEPSEN_OTHER)
		return kl_pairs_lose(&j->pairs, process);
	return kl_pairs_drop(&j->pairs, process);
}

int kl_jepsen_event(struct kl_jepsen *j, const char *tok, uint64_t number,
		    enum kl_jepsen_type type, const char *f, size_t len,
		    const struct kl_jepsen_value *v)
{
	static const struct kl_jepsen_value remark = { .kind = KL_JEPSEN_OTHER };
	struct kl_process *process;
	int m = kl_pairs_process(&j->pairs, number, &process), ret;

	if (m < 0)
		return m;
	/* An :info without an open operation is a remark. */
	if (type == KL_JEPSEN_INFO && !process->op) {
		kl_scan_skipped(&j->scan, KL_SKIP_REMARK, tok);
		return kl_pairs_other(&j->pairs);
	}
	m = find_method(j, tok, f, len);
	if (m < 0)
		return m;
	if (type == KL_JEPSEN_INVOKE)
		return invoke(j, tok, number, process, m, v);
	/* After an error this is most often the end of the operation in error. */
	if (!process->op && j->scan.errors)
		return -EINVAL;
	if (!process->op)
		return kl_scan_bad(&j->scan, tok,
				   "an :invoke of this process before its completion");
	if (process->sig.method != j->method[m])
		return kl_scan_bad(&j->scan, tok,
				   "a completion of this process's pending :invoke first");
	j->ending = type;
	if (type != KL_JEPSEN_OK && v->text && !repeats(j, process, v))
		v = &remark;
	ret = complete(j, tok, process, v);
	if (ret)
		return ret;
	if (type == KL_JEPSEN_OK)
		return succeed(j, tok, m, process, v);
	if (type == KL_JEPSEN_FAIL)
		return fail(j, m, process, v);
	return kl_pairs_lose(&j->pairs, process);
}

int kl_jepsen_end(struct kl_jepsen *j, int ret, struct kl_history **out)
{
	struct kl_history *h = j->pairs.h;
	int64_t thread;
	size_t i;

	if (!ret && h->nops && h->ops[0].call == 0) {
		thread = kl_history_thread(h, j->largest + 1);
		if (thread < 0)
			ret = thread;
		for (i = 0; !ret && i < h->nops; i++)
			if (h->ops[i].call == 0)
				h->ops[i].thread = thread;
	}
	/* A file whose operations all failed is a history, too. */
	if (h)
		h->declared = j->pairs.now || (j->whole && !j->scan.skip_line);
	if (!ret && !h->nobjects && kl_history_object(h, 0) < 0)
		ret = -ENOMEM;
	if (!ret && j->spec) {
		h->spec_path = strdup(j->spec);
		ret = h->spec_path ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = kl_pairs_end(&j->pairs);
	if (!ret)
		kl_scan_note_skipped(&j->scan, h);
	kl_pairs_free(&j->pairs);
	kl_words_free(&j->words);
	if (ret)
		kl_history_free(h);
	else
		*out = h;
	return ret;
}
