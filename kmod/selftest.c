// SPDX-License-Identifier: GPL-2.0
/*
 * Self-tests of debug builds: settings are parsed correctly, and each subject, mutants
 * included, works when only one thread uses it.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "option.h"
#include "rng.h"
#include "selftest.h"
#include "subject.h"

struct sample {
	const char *word;
	u64 number;
};

static const struct klin_option sample_options[] = {
	{ .name = "word", .word = true, .offset = offsetof(struct sample, word) },
	{ .name = "number", .offset = offsetof(struct sample, number), .min = 1, .max = 9 },
};

static int parse(const char *text, struct sample *into)
{
	struct klin_complaint c = { "" };
	char copy[64];
	int err;

	strscpy(copy, text, sizeof(copy));
	err = klin_options_parse(copy, sample_options, ARRAY_SIZE(sample_options), into, &c);
	/* A complaint comes with each refusal, and only then. */
	return !err == !c.text[0] ? err : -EIO;
}

static bool options_work(void)
{
	static const char *const bad[] = {
		"number", "number=", "number=0", "number=10", "number=-1", "number=+1", "number=1x",
		"number=0x1", "number=99999999999999999999999", "number=1 number=2", "word=",
		"=1", "other=1", "number=1 2",
	};
	struct sample s = { NULL, 5 };
	unsigned int i;

	if (parse("", &s) || s.word || s.number != 5)
		return false;
	if (parse(" number=9\tword=1", &s) || s.number != 9 || !s.word)
		return false;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (parse(bad[i], &s) != -EINVAL) {
			pr_err("klin: self-test: wrong settings \"%s\" were accepted\n", bad[i]);
			return false;
		}
	}
	return true;
}

static bool subject_works(const struct klin_group *g, const struct klin_subject *subject)
{
	struct klin_worker w = { .rng = klin_rng_seed(1, 0), .workers = 1, .mix = 50 };
	struct klin_object *o = g->create(subject);
	const bool stop = false;
	int i;

	if (!o)
		return false;
	o->subject = subject;
	o->stop = &stop;
	for (i = 0; i < 1000; i++)
		g->step(o, &w);
	/* Timers and tasklets that the steps started may still use the object. */
	if (g->quiesce)
		g->quiesce(o);
	g->destroy(o);
	return w.ops >= 1000 && !w.truth && !w.pending;
}

/**
 * klin_selftest() - run all self-tests
 *
 * Return: 0, or -ENOTRECOVERABLE after naming the failed test in the kernel's log.
 */
int klin_selftest(void)
{
	const struct klin_group *g;
	unsigned int i;

	if (!options_work()) {
		pr_err("klin: self-test of the settings failed\n");
		return -ENOTRECOVERABLE;
	}
	for (g = klin_group_next(NULL); g; g = klin_group_next(g)) {
		for (i = 0; i < g->nsubjects; i++) {
			if (!subject_works(g, &g->subjects[i])) {
				pr_err("klin: self-test of %s failed\n", g->subjects[i].name);
				return -ENOTRECOVERABLE;
			}
		}
	}
	pr_info("klin: self-tests passed\n");
	return 0;
}
