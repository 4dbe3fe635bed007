// SPDX-License-Identifier: GPL-2.0
/*
 * The form of LiMo and Violin, for stacks, queues, deques and sets: a line for each event.
 *
 *	# @object atomic-stack
 *	[1] call push(a)
 *	[2] call pop		# a comment
 *	[1] return
 *	[2] return a
 *
 * The number in brackets is a thread or an operation.  Values are numbers or words, and equal if
 * they are written alike: 01 and 1 differ.
 *
 * A removal that returns `empty' or nothing found nothing.  A removal that is called with a
 * value, as in pop(a), returns that value; the result of pop(?) is unknown.  A set's methods
 * return true or false; in Violin's set they return the value if it was in the set, else `empty'.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "history/formats/form.h"
#include "history/formats/pair_events.h"
#include "history/spell.h"
#include "history/string_pool.h"

#define METHODS	4 /* maximal number of methods of a type */

/* The arguments and results of a method. */
enum shape {
	GIVE,		/* argument: a value; no result, or `true' */
	TAKE,		/* no argument; the result is a value */
	ADD,		/* argument: a value; the result is true if it was not in the set */
	TELL,		/* argument: a value; the result is true if it was in the set */
};

/* Violin's own objects, LiMo and java.util.concurrent have different names for the same method. */
static const struct limo_type {
	const char *name, *spec;
	const char *expected;	/* list of the methods for messages */
	struct {
		const char *ours, *theirs;
		enum shape shape;
	} methods[METHODS];
} types[] = {
	{ "stack", "stack", "push and pop, add and rem or remove, put and get, offer and poll, or peek",
	  { { "push", "push add put offer insert", GIVE },
	    { "pop", "pop rem remove get poll take", TAKE }, { "peek", "peek top", TAKE } } },
	{ "queue", "queue", "enq and deq, enqueue and dequeue, add and rem or remove, put and get or "
	  "take, push and pop, offer and poll, or peek",
	  { { "enq", "enq enqueue add put push offer insert", GIVE },
	    { "deq", "deq dequeue rem remove get pop poll take", TAKE },
	    { "peek", "peek front element", TAKE } } },
	{ "deque", "deque", "push_front, push_back, pop_front or pop_back, addFirst, addLast, "
	  "removeFirst or removeLast, offerFirst, offerLast, pollFirst or pollLast",
	  { { "push_front", "push_front pushFront addFirst offerFirst putFirst insertFirst", GIVE },
	    { "push_back", "push_back pushBack addLast offerLast putLast insertLast", GIVE },
	    { "pop_front", "pop_front popFront removeFirst pollFirst takeFirst", TAKE },
	    { "pop_back", "pop_back popBack removeLast pollLast takeLast", TAKE } } },
	{ "set", "set", "insert or add, remove, contains or has",
	  { { "add", "insert add", ADD }, { "remove", "remove rem delete", TELL },
	    { "has", "contains has member", TELL } } },
};

struct reader {
	struct kl_scan scan;
	struct kl_pairs pairs;
	struct kl_words words;
	const struct limo_type *type;
	uint16_t method[METHODS];	/* for each method of the type: index in the history */
	bool said[METHODS]; /* the file's name of the method is known */
};

/* Return: true if the word at @p is one of @names, which are separated by blanks. */
static bool is_named(const char *p, size_t n, const char *names)
{
	size_t len;

	for (; *names; names += len + strspn(names + len, " ")) {
		len = strcspn(names, " ");
		if (len == n && !memcmp(p, names, n))
			return true;
	}
	return false;
}

static bool is_limo(const struct kl_head *head)
{
	const char *p = head->data;
	size_t n;

	/* A comment with `@object TYPE' suffices, also in a file without events. */
	for (n = 0; head->first + n < head->data; n++)
		if (head->first[n] == '@' && head->data - head->first - n > 8 &&
		    !memcmp(head->first + n, "@object ", 8))
			return true;
	n = kl_head_word(head, &p);
	if (n < 3 || *p != '[' || !kl_scan_digit(p[1]) || p[n - 1] != ']')
		return false;
	p += n;
	return kl_head_is(head, &p, "call") || kl_head_is(head, &p, "return");
}

static int scan_header(struct reader *r, const char *p)
{
	static const char prefix[] = "atomic-";
	const struct limo_type *type;
	int64_t index;
	size_t n, i;

	p = kl_scan_skip(p + 1);
	n = kl_scan_word(p);
	if (!kl_scan_is(p, n, "@object"))
		return 0;
	p = kl_scan_skip(p + n);
	n = kl_scan_word(p);
	if (n > sizeof(prefix) - 1 && !memcmp(p, prefix, sizeof(prefix) - 1)) {
		p += sizeof(prefix) - 1;
		n -= sizeof(prefix) - 1;
	}
	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (kl_scan_is(p, n, types[i].name))
			break;
	if (i == sizeof(types) / sizeof(*types))
		return kl_scan_stop(&r->scan, p,
				    "atomic-stack, atomic-queue, atomic-deque or atomic-set");
	type = &types[i];
	if (r->type && r->type != type)
		return kl_scan_stop(&r->scan, p,
				    "the object of the first line: a file has one object");
	if (r->type)
		return 0;
	r->type = type;
	r->pairs.h->declared = true;
	for (i = 0; i < METHODS && type->methods[i].ours; i++) {
		index = kl_history_method(r->pairs.h, type->methods[i].ours,
					  strlen(type->methods[i].ours));
		if (index < 0)
			return index;
		r->method[i] = index;
	}
	r->pairs.h->spec_path = strdup(r->type->spec);
	return r->pairs.h->spec_path ? 0 : -ENOMEM;
}

/* Read a value that is a number, as most are; with @in, in parentheses.  Return: false if not. */
static bool scan_number(const char **pp, bool in, struct kl_val *v)
{
	const char *p = *pp + in;
	const bool minus = *p == '-';
	uint64_t word = 0;
	size_t n = kl_words_number(p + minus, SIZE_MAX, &word);

	p += minus + n;
	if (!n || (minus && !word) || (in && *p++ != ')') || !kl_scan_end(*p))
		return false;
	*v = kl_word(minus ? -word : word);
	*pp = p;
	return true;
}

/* Get the word of a value, and make the value's text the spelling of the word. */
static int word_of(struct reader *r, const char *p, size_t n, uint64_t *word)
{
	const size_t before = r->words.n;
	const int ret = kl_words_get(&r->words, p, n, word);
	size_t i;

	if (ret || r->words.n == before)
		return ret;
	for (i = 0; i < n; i++)
		if ((unsigned char)p[i] < ' ' || p[i] == 0x7f)
			return 0;
	return kl_history_spell(r->pairs.h, *word, p, n);
}

/*
 * Read a value, with or without parentheses, and move *pp behind it.  `empty' and Java's null are
 * absent, and `?' is unknown.  Return: 0, 1 if there is no value, -EINVAL, or -ENOMEM.
 */
static int scan_value(struct reader *r, const char **pp, struct kl_val *v)
{
	const char *p = kl_scan_skip(*pp);
	bool in = *p == '(';
	size_t n;

	*pp = p;
	if (scan_number(pp, in, v)) {
		n = *pp - p - 2 * in;
		return kl_is_plain(p + in, n) ? 0 :
		       kl_history_spell_number(r->pairs.h, v->v, p + in, n);
	}
	n = kl_scan_word(p);
	*pp = p + n;
	if (in && n > 1 && p[n - 1] == ')') {
		p++;
		n -= 2;
	} else if (in) {
		return kl_scan_bad(&r->scan, p, "a value in parentheses, without blanks");
	}
	if (!n)
		return 1;
	if (*p == '#') {
		*pp = p;
		return 1;
	}
	*v = (struct kl_val){ 0 };
	if (is_named(p, n, "empty Empty null"))
		*v = kl_special(KL_EMPTY);
	else if (*p == '?')
		*v = kl_special(KL_ANY);
	else
		return word_of(r, p, n, &v->v);
	return 0;
}

/* Move *pp over a comment to the end of the line.  Return: 0, or -EINVAL if something is left. */
static int scan_end(struct reader *r, const char **pp)
{
	const char *p = kl_scan_skip(*pp);

	if (*p == '#')
		p += strcspn(p, "\n");
	*pp = p;
	return kl_scan_eol(&r->scan, pp);
}

/* Return: the index in the type of the method named at @p, -EINVAL after a message, or -ENOMEM. */
static int scan_method(struct reader *r, const char *p, size_t n)
{
	int i;

	for (i = 0; i < METHODS && r->type->methods[i].ours; i++)
		if (is_named(p, n, r->type->methods[i].theirs))
			break;
	if (i == METHODS || !r->type->methods[i].ours)
		return kl_scan_bad(&r->scan, p, r->type->expected);
	/* Reports show the first name of a method that has several names in one file. */
	if (!r->said[i] && kl_history_spell_method(r->pairs.h, r->type->methods[i].ours, p, n))
		return -ENOMEM;
	r->said[i] = true;
	return i;
}

/* Return: true if `true' or `false' is at @p, with or without parentheses. */
static bool is_truth(const char *p)
{
	size_t n;

	p += *p == '(';
	n = kl_scan_word(p);
	n -= n && p[n - 1] == ')';
	return is_named(p, n, "true false");
}

static int scan_call(struct reader *r, const char **pp, const char *tok, uint64_t id)
{
	const char *p = kl_scan_skip(*pp), *arg;
	struct kl_process *process;
	struct kl_opsig s = { 0 };
	enum shape shape;
	struct kl_val v;
	size_t n = 0;
	bool told;
	int ret;

	if (!r->type)
		return kl_scan_stop(&r->scan, tok,
				    "a line `# @object atomic-stack' (or -queue) before the "
				    "operations");
	while (!kl_scan_end(p[n]) && p[n] != '(')
		n++;
	ret = scan_method(r, p, n);
	if (ret < 0)
		return ret;
	shape = r->type->methods[ret].shape;
	s.method = r->method[ret];
	s.nargs = shape != TAKE;
	s.nres = shape != GIVE;
	p += n;
	arg = kl_scan_skip(p);
	ret = scan_value(r, &p, &v);
	if (ret < 0)
		return ret;
	if (ret == 1 && s.nargs)
		return kl_scan_bad(&r->scan, p, "a value");
	if (s.nargs && (v.tag != KL_WORD || (shape != GIVE && is_truth(arg))))
		return kl_scan_bad(&r->scan, arg,
				   "a value that differs from the words that methods return");
	told = ret == 0 && shape == TAKE;
	if (scan_end(r, &p))
		return -EINVAL;
	*pp = p;
	ret = kl_pairs_process(&r->pairs, id, &process);
	if (ret)
		return ret;
	ret = kl_pairs_call(&r->pairs, tok, process, &s, &v);
	/* The call of a removal may have the value that the removal returns. */
	if (!ret && shape == TAKE)
		process->vals[0] = told ? v : kl_special(KL_ABSENT);
	return ret;
}

/*
 * Read the result of a set's method: true, false, the value, or `empty'.  Return: 1 for true or the
 * value, 0 for false or `empty', or -EINVAL after a message.
 */
static int scan_told(struct reader *r, const char *p, enum shape shape, struct kl_val arg,
		     const struct kl_val *v)
{
	if (kl_scan_past(p, "true"))
		return 1;
	if (kl_scan_past(p, "false"))
		return 0;
	if (v && v->tag == KL_EMPTY)
		return shape == ADD;
	if (v && kl_val_eq(*v, arg))
		return shape != ADD;
	return kl_scan_bad(&r->scan, p, "true or false, the value, or empty");
}

/* Reports show a truth value as the first line with this result has it: true, the value, ... */
static int spell_told(struct reader *r, unsigned int method, uint64_t told, const char *p)
{
	return is_truth(p) ? kl_history_spell_result(r->pairs.h, r->pairs.h->methods[method], 0,
						     told, p, kl_scan_word(p)) :
			     0;
}

/*
 * Compare the result @v of a removal with the value @told that its call has, if any.  With
 * @bare the return has no result, and @v is set.  Return: 0, or -EINVAL after a message.
 */
static int take_told(struct reader *r, const char *p, struct kl_val told, bool bare,
		     struct kl_val *v)
{
	if (bare)
		*v = told.tag == KL_ABSENT ? kl_special(KL_EMPTY) : told;
	if (told.tag == KL_ABSENT || told.tag == KL_ANY || kl_val_eq(*v, told))
		return 0;
	return kl_scan_bad(&r->scan, p, "the value of its call");
}

static enum shape shape_of(const struct reader *r, unsigned int method)
{
	unsigned int i = 0;

	while (r->method[i] != method)
		i++;
	return r->type->methods[i].shape;
}

static int scan_return(struct reader *r, const char **pp, const char *tok, uint64_t id)
{
	const char *p = kl_scan_skip(*pp), *value = p;
	struct kl_process *process;
	enum shape shape;
	struct kl_val v;
	int ret, told;

	ret = kl_pairs_process(&r->pairs, id, &process);
	if (ret)
		return ret;
	/* After an error this is most often the return of the call in error. */
	if (!process->op && r->scan.errors)
		return -EINVAL;
	if (!process->op)
		return kl_scan_bad(&r->scan, tok, "a call before the return");
	shape = shape_of(r, process->sig.method);
	if (shape != TAKE && is_truth(p)) {
		/* In Violin's sets `empty' is a truth value, so it gets no word. */
		v = kl_special(KL_ABSENT);
		p += kl_scan_word(p);
		ret = 0;
	} else {
		ret = scan_value(r, &p, &v);
	}
	if (ret < 0)
		return ret;
	if (ret == 0 && shape == GIVE && !kl_scan_past(value, "true"))
		return kl_scan_bad(&r->scan, value,
				   "the end of the line: an operation that adds a value has no "
				   "result");
	if (scan_end(r, &p))
		return -EINVAL;
	*pp = p;
	if (shape == TAKE && take_told(r, value, process->vals[0], ret == 1, &v))
		return -EINVAL;
	if (shape == ADD || shape == TELL) {
		told = scan_told(r, value, shape, process->vals[0], ret ? NULL : &v);
		if (told < 0)
			return told;
		v = kl_word(told);
		ret = spell_told(r, process->sig.method, told, value);
		if (ret)
			return ret;
	}
	return kl_pairs_return(&r->pairs, process, &v);
}

static int scan_line(void *ctx, const char **pp)
{
	struct reader *r = ctx;
	const char *p = *pp, *tok = p, *rest;
	uint64_t id = 0;

	if (*p == '#')
		return scan_header(r, p);
	if (*p == '[')
		for (p++; kl_scan_digit(*p); p++)
			id = id * 10 + (*p - '0');
	if (*p != ']' || (size_t)(p - tok) - 2 >= 18 || !kl_scan_end(p[1]))
		return kl_scan_bad(&r->scan, tok, "a thread as in `[3]', or `#'");
	p = kl_scan_skip(p + 1);
	rest = kl_scan_past(p, "call");
	if (rest) {
		*pp = rest;
		return scan_call(r, pp, tok, id);
	}
	rest = kl_scan_past(p, "return") ?: kl_scan_past(p, "ret");
	if (rest) {
		*pp = rest;
		return scan_return(r, pp, tok, id);
	}
	return kl_scan_bad(&r->scan, p, "call or return");
}

static int read_limo(struct kl_input *in, struct kl_history **out)
{
	struct reader r = { .scan.name = in->name };
	struct kl_history *h = kl_history_new();
	int64_t index;
	int ret;

	if (!h)
		return -ENOMEM;
	r.pairs.h = h;
	r.pairs.scan = &r.scan;
	r.scan.h = h;
	index = kl_history_object(h, 0);
	ret = index < 0 ? index : kl_scan_lines(&r.scan, in, scan_line, &r);
	if (!ret)
		ret = kl_pairs_end(&r.pairs);
	kl_pairs_free(&r.pairs);
	kl_words_free(&r.words);
	if (ret)
		kl_history_free(h);
	else
		*out = h;
	return ret;
}

const struct kl_form kl_form_limo = {
	.name = "limo", .rank = 50,
	.help = "LiMo's and Violin's stacks, queues, deques and sets",
	.header = true, .example = "# @object atomic-stack",
	.is = is_limo, .places = KL_PLACES_LINES, .read = read_limo,
};
KL_FORM(kl_form_limo);
