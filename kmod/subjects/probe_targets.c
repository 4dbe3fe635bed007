// SPDX-License-Identifier: GPL-2.0
/*
 * A store and a load in functions of their own, to which probes attach.  A recorder that works
 * between a round's store and its load (litmus_round.c) thereby shows its effect on the store
 * buffer.  Each function exists twice: once for fentry, kprobes and klin.ko's tracepoints, and
 * once hidden from ftrace, for klin.ko's own kprobes.
 */
#include <linux/compiler.h>

#include "litmus_round.h"
#include "subject.h"

static KLIN_METHOD(method_store, "round.store");
static KLIN_METHOD(method_load, "round.load");

static struct klin_method *const methods[] = { &method_store, &method_load };

/**
 * klin_round_store() - store 1
 * @word: where
 */
noinline void klin_round_store(u64 *word)
{
	klin_call(word, &method_store, 0, 0, 0);
	WRITE_ONCE(*word, 1);
	klin_return(word, &method_store, 0, 0, 0);
}

/**
 * klin_round_load() - load a word
 * @word: the word
 *
 * Return: its value.
 */
noinline u64 klin_round_load(const u64 *word)
{
	u64 v;

	klin_call(word, &method_load, 0, 0, 0);
	v = READ_ONCE(*word);
	klin_return(word, &method_load, v, 0, 0);
	return v;
}

/**
 * klin_round_store_hidden() - klin_round_store() without tracepoints, hidden from ftrace
 * @word: where
 */
noinline notrace void klin_round_store_hidden(u64 *word)
{
	WRITE_ONCE(*word, 1);
}

/**
 * klin_round_load_hidden() - klin_round_load() without tracepoints, hidden from ftrace
 * @word: the word
 *
 * Return: its value.
 */
noinline notrace u64 klin_round_load_hidden(const u64 *word)
{
	return READ_ONCE(*word);
}

/* The group only registers methods: no load can run it. */
KLIN_GROUP(klin_round_group) = {
	.name = "round",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
};
