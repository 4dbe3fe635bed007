/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jepsen's operations, in maps or in log lines: a register (read, write, cas), a queue (enqueue,
 * dequeue) and a mutex (acquire, release).
 *
 * After :info it is unknown whether the operation took effect, or will take effect; after :fail it
 * did not.  But in Jepsen's log of etcd, a cas that fails with its arguments is an operation that
 * found another value.  Horn & Kroening and Porcupine read it so, too.
 *
 * :info and :fail may have a remark instead of the value, such as :timed-out or an error text: any
 * text that is no number and not the value of the :invoke.
 *
 * A read that is :ok with nil may have seen any value, as in Knossos' models; in a log it saw nil.
 *
 * A register begins as nil: the history begins with a write of KL_JEPSEN_NIL.
 *
 * With independent keys, values are [KEY VALUE], and each key has a structure and an object of its
 * own.
 */
#ifndef KL_HISTORY_FORMATS_JEPSEN_H
#define KL_HISTORY_FORMATS_JEPSEN_H

#include "history/formats/form.h"
#include "history/formats/pair_events.h"
#include "history/string_pool.h"

/* The word of nil, which no number and no string has. */
#define KL_JEPSEN_NIL	((uint64_t)1 << 63)

enum kl_jepsen_type { KL_JEPSEN_INVOKE, KL_JEPSEN_OK, KL_JEPSEN_FAIL, KL_JEPSEN_INFO };

struct kl_jepsen_value {
	enum {
		KL_JEPSEN_NONE,		/* nil */
		KL_JEPSEN_WORD,
		KL_JEPSEN_PAIR,		/* [a b] */
		KL_JEPSEN_OTHER, /* a remark, such as :timed-out */
	} kind;
	uint64_t v[2];
	bool missing; /* the event has no value, not even nil */
	bool text; /* something in the value is neither a number nor nil */
	bool keyed; /* keys are independent, so the value has a key */
	uint64_t key;
};

#define KL_JEPSEN_METHODS	7
/* the advice about operations that have no meaning here */
#define KL_JEPSEN_OTHERS \
	"; klin reads other logs by a spec with a history block, as in logs/tally: see `Histories " \
	"of other programs' in klin-spec(5)"

struct kl_jepsen {
	struct kl_scan scan;
	struct kl_pairs pairs;
	struct kl_words words;
	bool whole; /* the events are in brackets, so there may be none */
	bool log; /* a log: :fail of a cas and a read of nil are results */
	/* for each method of the table: index in the history, or -1 */
	int method[KL_JEPSEN_METHODS];
	const char *spec; /* the spec of the first operation */
	uint64_t largest; /* the largest number of a process */
	enum kl_jepsen_type ending; /* the type of the event that ends an operation */
};

int kl_jepsen_begin(struct kl_jepsen *j, const char *name, bool log);
/* Return: the type with this keyword, or -1 if there is none. */
int kl_jepsen_type(const char *p, size_t len);
/**
 * kl_jepsen_event() - process the next event
 * @j: the reader
 * @tok: the event, for messages
 * @number: number of the process
 * @type: type of the event
 * @f: name of the operation, without the colon
 * @len: length of @f
 * @v: value of the operation
 *
 * Return: 0, -EINVAL after a message, or another negative errno.
 */
int kl_jepsen_event(struct kl_jepsen *j, const char *tok, uint64_t number,
		    enum kl_jepsen_type type, const char *f, size_t len,
		    const struct kl_jepsen_value *v);
/*
 * Get the word of a value that is no number.  Equal values have equal @text; reports show
 * @spelling.  Return: 0 or a negative errno.
 */
int kl_jepsen_word(struct kl_jepsen *j, const char *text, size_t len, const char *spelling,
		   size_t nspelling, uint64_t *word);
/* Finish the history, or free it if @ret is an error.  Return: @ret, or a new error. */
int kl_jepsen_end(struct kl_jepsen *j, int ret, struct kl_history **out);

/* The writers of the forms jepsen and edn. */
int kl_jepsen_write_log(const struct kl_history *h, FILE *f);
int kl_jepsen_write_edn(const struct kl_history *h, FILE *f);

#endif
