// SPDX-License-Identifier: GPL-2.0
/* Histories, see klin/klin.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "libklin/internal.h"
#include "records/records.h"

static const enum kl_tag tags[] = {
	[KLIN_KIND_WORD] = KL_WORD, [KLIN_KIND_UNKNOWN] = KL_ANY,   [KLIN_KIND_EMPTY] = KL_EMPTY,
	[KLIN_KIND_FULL] = KL_FULL, [KLIN_KIND_ABSENT] = KL_ABSENT,
};

struct klin_history *lib_history(struct kl_history *h)
{
	struct klin_history *history = calloc(1, sizeof(*history));

	if (history) {
		history->users = 1;
		history->h = h;
		pthread_mutex_init(&history->lock, NULL);
	}
	return history;
}

int klin_history_new(struct klin_history **h)
{
	struct kl_history *new = kl_history_new();

	lib_begin();
	*h = new ? lib_history(new) : NULL;
	if (!*h) {
		kl_history_free(new);
		return lib_end(-ENOMEM, "history");
	}
	new->fresh = true;
	/* The unit of the times is the caller's. */
	new->clock = KL_CLOCK_SEQ;
	new->memory = (struct kl_memory){ .sc = true, .told = true };
	return 0;
}

/* Make the object of a history that was read.  Return: 0 or a negative errno. */
static int finish_read(int err, const char *name, const char *path, struct kl_history *new,
		       struct klin_history **h)
{
	if (!err) {
		*h = lib_history(new);
		err = *h ? 0 : -ENOMEM;
	}
	if (err) {
		kl_history_free(new);
		return lib_end(err, name);
	}
	(*h)->whole = true;
	if (!path)
		return 0;
	(*h)->path = strdup(path);
	if ((*h)->path)
		return 0;
	klin_history_free(*h);
	*h = NULL;
	return lib_end(-ENOMEM, name);
}

int klin_history_read(const char *path, struct klin_history **h)
{
	struct kl_history *new = NULL;
	int err;

	lib_begin();
	*h = NULL;
	err = kl_history_read_hashed(path, &new);
	return finish_read(err, path, path, new, h);
}

int klin_history_read_by(struct klin_spec *spec, const char *path, struct klin_history **h)
{
	const struct kl_read_opts opts = { .form = KL_FORM_AUTO, .hashed = true };
	struct kl_history *new = NULL;
	int err;

	lib_begin();
	*h = NULL;
	err = kl_spec_maps(spec->s) ? kl_records_open(path, &opts, spec->s, &new) :
				      kl_history_read_hashed(path, &new);
	return finish_read(err, path, path, new, h);
}

int klin_history_parse_by(struct klin_spec *spec, const char *name, const char *data, size_t len,
			  struct klin_history **h)
{
	struct kl_history *new = NULL;
	int err;

	lib_begin();
	*h = NULL;
	err = kl_spec_maps(spec->s) ? kl_records_parse(name, data, len, spec->s, &new) :
				      kl_history_parse(name, data, len, KL_FORM_AUTO, &new);
	return finish_read(err, name, NULL, new, h);
}

int klin_history_parse(const char *name, const char *data, size_t len, struct klin_history **h)
{
	struct kl_history *new = NULL;
	int err;

	lib_begin();
	*h = NULL;
	err = kl_history_parse(name, data, len, KL_FORM_AUTO, &new);
	return finish_read(err, name, NULL, new, h);
}

void klin_history_free(struct klin_history *h)
{
	if (!h || !lib_put(&h->users))
		return;
	kl_history_free(h->h);
	pthread_mutex_destroy(&h->lock);
	free(h->path);
	free(h);
}

/* Begin to change a history: take its lock.  Return: 0 or -EBUSY. */
static int begin_change(struct klin_history *h)
{
	lib_begin();
	pthread_mutex_lock(&h->lock);
	if (!h->whole)
		return 0;
	kl_err("the history was read, written or checked, so it cannot be changed");
	return -EBUSY;
}

static int end_change(struct klin_history *h, int err)
{
	pthread_mutex_unlock(&h->lock);
	return lib_end(err, "history");
}

/* Copy values.  Return: 0, or -EINVAL after a message. */
static int take_values(struct kl_val *to, const struct klin_value *from, unsigned int n,
		       const char *method)
{
	unsigned int i;

	if (n > KL_MAX_ARGS) {
		kl_err("%s: expected at most %d arguments and as many results, found %u", method,
		       KL_MAX_ARGS, n);
		return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		if (from[i].kind >= sizeof(tags) / sizeof(*tags)) {
			kl_err("%s: value %u has the kind %u: expected one of enum klin_kind",
			       method, i, from[i].kind);
			return -EINVAL;
		}
		to[i] = kl_special(tags[from[i].kind]);
		if (from[i].kind == KLIN_KIND_WORD)
			to[i].v = from[i].word;
	}
	return 0;
}

/* Is @name an identifier, which a method of a specification may be called? */
static bool is_name(const char *name)
{
	const size_t n =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return n && n <= KL_MAX_NAME && !name[n] && (*name < '0' || *name > '9');
}

static int add(struct kl_history *h, const struct klin_operation *op)
{
	struct kl_val args[KL_MAX_ARGS], results[KL_MAX_ARGS];
	const bool pending = op->ret == KLIN_PENDING;
	struct kl_opsig sig = { .nargs = op->nargs, .nres = pending ? 0 : op->nresults };
	struct kl_op new = {
		.call = op->call,
		.ret = op->ret,
		.cpu = KL_NO_CPU,
		.flags = pending ? KL_OP_PENDING : 0,
	};
	int64_t method, thread, object;
	int err;

	if (!is_name(op->method)) {
		kl_err("method '%s': expected an identifier", op->method);
		return -EINVAL;
	}
	if (op->ret < op->call || op->call == KL_TIME_MAX) {
		kl_err("%s: its return (%" PRIu64 ") is before its call (%" PRIu64 ")", op->method,
		       op->ret, op->call);
		return -EINVAL;
	}
	err = take_values(args, op->args, op->nargs, op->method) ?:
		      take_values(results, op->results, sig.nres, op->method);
	if (err)
		return err;
	method = kl_history_method(h, op->method, strlen(op->method));
	thread = kl_history_thread(h, op->thread);
	object = kl_history_object(h, op->object);
	if (method < 0 || thread < 0 || object < 0)
		return method < 0 ? method : thread < 0 ? thread : object;
	sig.method = method;
	new.thread = thread;
	new.object = object;
	return kl_history_add(h, &new, &sig, args, results);
}

int klin_history_add(struct klin_history *h, const struct klin_operation *op)
{
	return end_change(h, begin_change(h) ?: add(h->h, op));
}

int klin_history_add_gap(struct klin_history *h, uint64_t from, uint64_t to)
{
	const struct kl_gap gap = {
		.from = from,
		.to = to,
		.object = KL_ALL_OBJECTS,
		.cpu = KL_NO_CPU,
		.reason = KL_GAP_LOST,
	};
	int err = begin_change(h);

	if (!err && to < from) {
		kl_err("the gap ends at %" PRIu64 ", before it begins at %" PRIu64, to, from);
		err = -EINVAL;
	}
	return end_change(h, err ?: kl_history_add_gap(h->h, &gap));
}

int klin_history_begin_anywhere(struct klin_history *h)
{
	int err = begin_change(h);

	if (!err)
		h->h->fresh = false;
	return end_change(h, err);
}

int klin_history_set_error(struct klin_history *h, uint64_t error)
{
	int err = begin_change(h);

	if (!err)
		h->h->error = error;
	return end_change(h, err);
}

int klin_history_set_memory(struct klin_history *h, enum klin_memory memory)
{
	int err = begin_change(h);

	if (!err)
		h->h->memory.sc = memory != KLIN_MEMORY_TSO;
	return end_change(h, err);
}

int lib_history_finish(struct klin_history *h)
{
	int err = h->whole ? 0 : kl_history_finish(h->h);

	h->whole |= !err;
	return err;
}

int klin_history_write(struct klin_history *h, const char *path)
{
	int err;

	lib_begin();
	pthread_mutex_lock(&h->lock);
	err = lib_history_finish(h) ?: kl_history_write(h->h, path, KL_FORM_AUTO);
	pthread_mutex_unlock(&h->lock);
	return lib_end(err, path);
}
