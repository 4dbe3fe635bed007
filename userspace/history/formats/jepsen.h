/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jepsen's operations, however they are written down: a register (read, write,
 * cas), a queue (enqueue, dequeue) and a mutex (acquire, release).
 *
 * :info leaves it unknown whether an operation took effect, now or later; :fail
 * says that it did not happen.  In Jepsen's own log of etcd a cas that :fails with
 * its arguments found another value, as Horn & Kroening and Porcupine read it.
 *
 * Both may have a remark in place of the value, as :timed-out or the text of an error: what is
 * no number and not the value of the :invoke either.
 *
 * A read that is :ok with nil saw any value, as in Knossos' models; in a log it saw nil.
 *
 * A register begins as nil: a write of KL_JEPSEN_NIL goes before all.
 *
 * Where keys are independent, values are [KEY VALUE], and each key has a structure, and an
 * object, of its own.
 */
#ifndef KL_HISTORY_FORMATS_JEPSEN_H
#define KL_HISTORY_FORMATS_JEPSEN_H

#include "history/formats/form.h"
#include "history/pair_events.h"
#include "history/string_pool.h"

/* No number of EDN's is this word, nor is any word of a string. */
#define KL_JEPSEN_NIL	((uint64_t)1 << 63)

enum kl_jepsen_type { KL_JEPSEN_INVOKE, KL_JEPSEN_OK, KL_JEPSEN_FAIL, KL_JEPSEN_INFO };

struct kl_jepsen_value {
	enum {
		KL_JEPSEN_NONE,		/* nil */
		KL_JEPSEN_WORD,
		KL_JEPSEN_PAIR,		/* [a b] */
		KL_JEPSEN_OTHER,	/* :timed-out and the like: a remark */
	} kind;
	uint64_t v[2];
	bool text;		/* it is not made of numbers and nil alone */
	bool keyed;
	uint64_t key;		/* of independent ones */
};

#define KL_JEPSEN_METHODS	7

struct kl_jepsen {
	struct kl_scan scan;
	struct kl_pairs pairs;
	struct kl_words words;
	bool whole;		/* it stands in brackets: there may be none */
	bool log;		/* :fail of cas, and nil read, are results */
	int method[KL_JEPSEN_METHODS];	/* ours, by index in the table; -1 */
	const char *spec;	/* of the first operation */
	uint64_t largest;	/* process */
	enum kl_jepsen_type ending;	/* of the operation that ends */
};

int kl_jepsen_begin(struct kl_jepsen *j, const char *name, bool log);
/* The type that is written as this keyword, -1 if none. */
int kl_jepsen_type(const char *p, size_t len);
/**
 * kl_jepsen_event() - the next event
 * @j: the reader
 * @tok: the event, for messages
 * @number: of the process
 * @type: and its type
 * @f: the name of the operation, without the colon
 * @len: of @f
 * @v: its value
 *
 * Return: 0, -EINVAL after a message, another negative errno.
 */
int kl_jepsen_event(struct kl_jepsen *j, const char *tok, uint64_t number,
		    enum kl_jepsen_type type, const char *f, size_t len,
		    const struct kl_jepsen_value *v);
/* The word of a value that is no number: equal ones have equal @text.  0 or a negative errno. */
int kl_jepsen_word(struct kl_jepsen *j, const char *text, size_t len, const char *spelling,
		   size_t nspelling, uint64_t *word);
/* Hand the history over, or free it after an error @ret; returns @ret or a new one. */
int kl_jepsen_end(struct kl_jepsen *j, int ret, struct kl_history **out);

/* The writers of the forms jepsen and edn. */
int kl_jepsen_write_log(const struct kl_history *h, FILE *f);
int kl_jepsen_write_edn(const struct kl_history *h, FILE *f);

#endif
