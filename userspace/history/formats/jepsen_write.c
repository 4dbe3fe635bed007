// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the forms jepsen and edn, see jepsen.h and kv.h: registers, queues and mutexes, and in EDN
 * also maps with put and get.
 *
 * A word that is no number is written as its spelling.  The spelling must be an EDN value, and no
 * other word may have an equal spelling.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "history/formats/edn.h"
#include "history/formats/jepsen.h"
#include "history/formats/order.h"
#include "history/spell.h"

enum { READ, WRITE, CAS, ENQ, DEQ, LOCK, UNLOCK, GET, PUT, METHODS };

static const struct {
	const char *ours, *theirs;
	uint8_t nargs, nres;
} methods[METHODS] = {
	[READ] = { "read", "read", 0, 1 }, [WRITE] = { "write", "write", 1, 0 },
	[CAS] = { "cas", "cas", 2, 1 },
	[ENQ] = { "enq", "enqueue", 1, 0 }, [DEQ] = { "deq", "dequeue", 0, 1 },
	[LOCK] = { "lock", "acquire", 0, 0 }, [UNLOCK] = { "unlock", "release", 0, 0 },
	[GET] = { "get", "get", 1, 1 }, [PUT] = { "put", "put", 2, 0 },
};

struct writer {
	const struct kl_history *h;
	FILE *f;
	const char *form;
	bool log;
	struct kl_words spelled; /* canonical texts of the values that are no numbers */
	uint64_t *word; /* the history's word of each of these texts */
	size_t nword, cword;
	bool pairs; /* a reader could take some value for a [KEY VALUE] */
};

static int cannot(const struct writer *w, const struct kl_op *op, const char *why)
{
	char text[256];

	kl_op_print(text, sizeof(text), w->h, op);
	kl_err("%s: the form %s %s", text, w->form, why);
	return -EINVAL;
}

/*
 * Parse the spelling @text, which ends with a newline.
 * Return: 0, or -EINVAL if it is no value, nil, or a number.
 */
static int parse(struct kl_edn *e, const char *text, struct kl_edn_val *v)
{
	*e = (struct kl_edn){ .scan.quiet = true, .p = text, .end = strchr(text, '\n') + 1 };
	return kl_edn_value(e, v) ?: e->p != e->end - 1 || v->kind == KL_EDN_NIL ||
	       v->kind == KL_EDN_INT ? -EINVAL : 0;
}

/* Return: 1 if @word can be written as @spelling, 0 if not, or a negative errno. */
static int check_spelling(struct writer *w, uint64_t word, const char *spelling)
{
	struct kl_edn e = { 0 };
	struct kl_edn_val v;
	const char *canon;
	uint64_t id = 0;
	size_t len;
	char *text;
	int ret;

	/* The blanks are needed because the reader loads eight characters at a time. */
	ret = asprintf(&text, "%s\n%8s", spelling, "") < 0 ? -ENOMEM : parse(&e, text, &v);
	if (!ret) {
		canon = kl_edn_canon(&e, &v, &len);
		ret = kl_words_get(&w->spelled, canon, len, &id);
		id -= KL_WORDS_FIRST;
	}
	if (!ret && id == w->nword) {
		ret = kl_grow(w->word, w->cword, w->nword + 1);
		if (!ret)
			w->word[w->nword++] = word;
	}
	if (!ret && w->word[id] != word)
		ret = -EINVAL;
	w->pairs |= !ret && v.kind == KL_EDN_PAIR;
	kl_edn_free(&e);
	free(text);
	return ret == -EINVAL ? 0 : ret ?: 1;
}

/* Return: 1 if the form can write @n values, 0 if not, or a negative errno. */
static int plain(struct writer *w, const struct kl_val *v, unsigned int n)
{
	const char *spelling;
	int ret = 1;

	for (; n && ret > 0; n--, v++) {
		if (v->tag != KL_WORD)
			return 0;
		if (v->v < KL_WORDS_FIRST || v->v >= -KL_WORDS_FIRST || v->v == KL_JEPSEN_NIL)
			continue;
		spelling = kl_history_spelling(w->h, v->v);
		ret = spelling ? check_spelling(w, v->v, spelling) : 0;
	}
	return ret;
}

/*
 * Return: true if a reader would get other values than @v: of nil or, in the strings of PUT and
 * GET, of a number with a sign.  Callers do not ask where a register may have nil.
 */
static bool others(int m, const struct kl_val *v, unsigned int n)
{
	for (; n; n--, v++)
		if (v->tag == KL_WORD && (m < GET ? v->v == KL_JEPSEN_NIL :
					  v->v >= KL_WORDS_FIRST))
			return true;
	return false;
}

/* Return: the operation's method in this form, or -EINVAL after a message if there is none. */
static int find_method(struct writer *w, const struct kl_op *op)
{
	const struct kl_val *args = kl_op_args(w->h, op), *res = kl_op_res(w->h, op);
	const struct kl_opsig *s = kl_op_sig(w->h, op);
	bool pending = op->flags & KL_OP_PENDING;
	int m, ret;

	for (m = 0; m < METHODS; m++)
		if (!strcmp(methods[m].ours, w->h->methods[s->method]) &&
		    methods[m].nargs == s->nargs && (pending || methods[m].nres == s->nres))
			break;
	if (m == METHODS || (w->log && m >= GET))
		return cannot(w, op, w->log ? "has only read, write and cas, enq and deq, lock and "
			      "unlock" : "has only read, write and cas, enq and deq, lock and "
			      "unlock, get and put");
	ret = plain(w, args, s->nargs);
	if (ret < 0)
		return ret;
	if (!ret || (m != WRITE && m != CAS && others(m, args, s->nargs)))
		return cannot(w, op, "has only numbers below 2^62");
	if (pending || !s->nres)
		return m;
	if (m == GET && res->tag == KL_ABSENT)
		return m;
	ret = plain(w, res, 1);
	if (ret < 0)
		return ret;
	if (!ret || ((m != READ || !w->log) && others(m, res, 1)))
		return cannot(w, op, m == DEQ ? "has only removals that returned a number" :
			      "has only numbers below 2^62");
	if (m == CAS && !res->v && !w->log)
		return cannot(w, op, "has no failed comparisons (:fail means that the operation "
				     "had no effect); use the form jepsen");
	return m;
}

static void put_num(const struct writer *w, struct kl_val v)
{
	/* A number may have a spelling, too, which need not be EDN. */
	const char *spelling = v.tag == KL_WORD && v.v >= KL_WORDS_FIRST &&
		v.v < -KL_WORDS_FIRST ? kl_history_spelling(w->h, v.v) : NULL;

	if (v.tag != KL_WORD || v.v == KL_JEPSEN_NIL)
		fputs("nil", w->f);
	else if (spelling)
		fputs(spelling, w->f);
	else
		fprintf(w->f, "%" PRId64, (int64_t)v.v);
}

/* Write the :value of an event. */
static void put_value(const struct writer *w, const struct kl_op *op, int m, const char *type)
{
	const struct kl_val *args = kl_op_args(w->h, op), *res = kl_op_res(w->h, op);
	const struct kl_opsig *s = kl_op_sig(w->h, op);
	bool ok = !strcmp(type, "ok");

	switch (m) {
	case CAS:
		fputc('[', w->f);
		put_num(w, args[0]);
		fputc(' ', w->f);
		put_num(w, args[1]);
		fputc(']', w->f);
		break;
	case PUT:
		fprintf(w->f, "\"%" PRId64 "\"", (int64_t)args[1].v);
		break;
	case GET:
		if (!ok)
			fputs("nil", w->f);
		else if (res->tag == KL_ABSENT)
			fputs("\"\"", w->f);
		else
			fprintf(w->f, "\"%" PRId64 "\"", (int64_t)res->v);
		break;
	default:
		put_num(w, s->nargs ? args[0] : ok && s->nres ? res[0] :
			kl_special(KL_ABSENT));
	}
}

/* Return: true if the thread with this number has a name in the file. */
static bool is_named(const struct kl_history *h, uint64_t thread)
{
	return thread >= KL_WORDS_FIRST && kl_history_spelling(h, thread);
}

static void put_event(const struct writer *w, uint64_t process, const struct kl_op *op, int m,
		      const char *type)
{
	if (w->log) {
		fprintf(w->f, "INFO  jepsen.util - %" PRIu64 "\t:%s\t:%s\t", process, type,
			methods[m].theirs);
		if (!strcmp(type, "info"))
			fputs(":timed-out", w->f);
		else
			put_value(w, op, m, type);
		fputc('\n', w->f);
		return;
	}
	if (is_named(w->h, process))
		fprintf(w->f, "{:process %s", kl_history_spelling(w->h, process));
	else
		fprintf(w->f, "{:process %" PRIu64, process);
	fprintf(w->f, ", :type :%s, :f :%s, ", type, methods[m].theirs);
	if (m >= GET)
		fprintf(w->f, ":key \"%" PRId64 "\", ", (int64_t)kl_op_args(w->h, op)->v);
	fputs(":value ", w->f);
	put_value(w, op, m, type);
	fputs("}\n", w->f);
}

/* Write the :invoke and the event @end of an operation that is not in the history. */
static void put_pair(const struct writer *w, uint64_t process, const char *end, const char *f,
		     const char *value)
{
	int i;

	for (i = 0; i < 2; i++) {
		const char *type = i ? end : "invoke";

		if (w->log)
			fprintf(w->f, "INFO  jepsen.util - %" PRIu64 "\t:%s\t:%s\t%s\n", process,
				type, f, value);
		else
			fprintf(w->f, "{:process %" PRIu64 ", :type :%s, :f :%s, :value %s}\n",
				process, type, f, value);
	}
}

/*
 * Write what must precede the events.  A register of these forms begins as nil, so skip a first
 * write of nil.  Without such a write, write the 0 with which klin's register begins.  If the
 * history has nothing but the write of nil, write a read that failed, because an empty file has no
 * form.  Return: the number of events to skip.
 */
static size_t put_first(struct writer *w, const uint64_t *events, size_t n)
{
	const struct kl_history *h = w->h;
	uint64_t largest = 0;
	size_t i;
	int m;

	m = find_method(w, &h->ops[events[0] >> 1]);
	for (i = 0; i < h->nthreads; i++)
		if (h->threads[i] > largest && !is_named(h, h->threads[i]))
			largest = h->threads[i];
	/* A failed read of nil shows readers that values like [1 2] have no keys. */
	if (w->pairs && m < LOCK)
		put_pair(w, largest + 1, "fail", m > CAS ? "dequeue" : "read", "nil");
	if (m > CAS)
		return 0;
	if (m == WRITE && n > 1 && events[1] == (events[0] | 1) &&
	    kl_op_args(h, &h->ops[events[0] >> 1])->v == KL_JEPSEN_NIL) {
		if (h->nops == 1)
			put_pair(w, 0, "fail", "read", "nil");
		return 2;
	}
	put_pair(w, largest + 1, "ok", "write", "0");
	return 0;
}

static int write_events(struct writer *w, const uint64_t *events, size_t n)
{
	const struct kl_history *h = w->h;
	size_t i;
	int m;

	for (i = 0; i < h->nops; i++)
		if ((m = find_method(w, &h->ops[i])) < 0)
			return m;
	for (i = n ? put_first(w, events, n) : 0; i < n; i++) {
		const struct kl_op *op = &h->ops[events[i] >> 1];
		const char *type = "invoke";

		m = find_method(w, op);
		if (events[i] & 1)
			type = m == CAS && !kl_op_res(h, op)->v ? "fail" : "ok";
		put_event(w, h->threads[op->thread], op, m, type);
	}
	for (i = 0; i < h->nops; i++)
		if (h->ops[i].flags & KL_OP_PENDING)
			put_event(w, h->threads[h->ops[i].thread], &h->ops[i],
				  find_method(w, &h->ops[i]), "info");
	return kl_stream_err(w->f);
}

static int write_jepsen(const struct kl_history *h, FILE *f, const char *form, bool log)
{
	struct writer w = { .h = h, .f = f, .form = form, .log = log };
	uint64_t *events;
	size_t n, i;
	int ret;

	if (h->keyed) {
		kl_err("the history has independent keys, which klin does not write in the form %s",
		       form);
		return -EINVAL;
	}
	for (i = 0; i < h->nthreads && log; i++)
		if (is_named(h, h->threads[i])) {
			kl_err("a process is named %s, which the form jepsen cannot express",
			       kl_history_spelling(h, h->threads[i]));
			return -EINVAL;
		}
	ret = kl_history_events(h, form, &events, &n);
	if (ret)
		return ret;
	ret = write_events(&w, events, n);
	kl_words_free(&w.spelled);
	free(w.word);
	free(events);
	return ret;
}

int kl_jepsen_write_log(const struct kl_history *h, FILE *f)
{
	return write_jepsen(h, f, "jepsen", true);
}

int kl_jepsen_write_edn(const struct kl_history *h, FILE *f)
{
	return write_jepsen(h, f, "edn", false);
}
