// SPDX-License-Identifier: GPL-2.0
/* The list of all subjects. */
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "subject.h"

/* Kbuild generates groups.h, with KLIN_GROUP_IS(group) for each group in subjects/. */
#define KLIN_GROUP_IS(group)	extern const struct klin_group group;
#include "groups.h"

#undef KLIN_GROUP_IS
#define KLIN_GROUP_IS(group)	&group,
static const struct klin_group *const groups[] = {
#include "groups.h"
};

/**
 * klin_group_next() - iterate over all groups
 * @group: a group, or NULL to begin
 *
 * Return: the next group, NULL after the last.
 */
const struct klin_group *klin_group_next(const struct klin_group *group)
{
	unsigned int i = 0;

	while (group && groups[i++] != group)
		;
	return i < ARRAY_SIZE(groups) ? groups[i] : NULL;
}

/**
 * klin_subject_find() - find a subject by name
 * @name: its name
 * @group: receives its group
 *
 * Return: the subject, or NULL if there is none of this name.
 */
const struct klin_subject *klin_subject_find(const char *name, const struct klin_group **group)
{
	const struct klin_group *g;
	unsigned int i;

	for (g = klin_group_next(NULL); g; g = klin_group_next(g)) {
		for (i = 0; i < g->nsubjects; i++) {
			if (!strcmp(g->subjects[i].name, name)) {
				*group = g;
				return &g->subjects[i];
			}
		}
	}
	return NULL;
}

/**
 * klin_subjects_show() - write "NAME KIND METHODS DESCRIPTION", one line a subject
 * @s: the file being read
 * @unused: for single_open()
 *
 * KIND is "correct" or "mutant"; METHODS are separated by commas.
 *
 * Return: 0.
 */
int klin_subjects_show(struct seq_file *s, void *unused)
{
	const struct klin_group *g;
	unsigned int i, m;

	for (g = klin_group_next(NULL); g; g = klin_group_next(g)) {
		for (i = 0; i < g->nsubjects; i++) {
			const struct klin_subject *subject = &g->subjects[i];

			seq_printf(s, "%s %s ", subject->name,
				   subject->twin ? "mutant" : "correct");
			for (m = 0; m < g->nmethods; m++)
				seq_printf(s, "%s%s", m ? "," : "", g->methods[m]->name);
			seq_printf(s, " %s\n", subject->description);
		}
	}
	return 0;
}

static void unregister(const struct klin_group *g, unsigned int nmethods)
{
	while (nmethods--)
		klin_method_unregister(g->methods[nmethods]);
}

/**
 * klin_subjects_init() - register the methods of all groups
 *
 * Return: 0, -EINVAL if a group has too many methods, or an error of klin_method_register() after
 * undoing all registrations.
 */
int klin_subjects_init(void)
{
	unsigned int i, m;
	int err;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		m = 0;
		err = -EINVAL;
		if (WARN_ON(groups[i]->nmethods > KLIN_METHODS_MAX))
			goto err_unregister;
		for (; m < groups[i]->nmethods; m++) {
			err = klin_method_register(groups[i]->methods[m]);
			if (err)
				goto err_unregister;
		}
	}
	return 0;

err_unregister:
	unregister(groups[i], m);
	while (i--)
		unregister(groups[i], groups[i]->nmethods);
	return err;
}

/**
 * klin_subjects_exit() - undo klin_subjects_init()
 */
void klin_subjects_exit(void)
{
	unsigned int i = ARRAY_SIZE(groups);

	while (i--)
		unregister(groups[i], groups[i]->nmethods);
}
