// SPDX-License-Identifier: GPL-2.0
/*
 * Names and numbers of the methods that instrumented code announces.  Numbers are assigned in
 * turn and never reused, so that a late event is never attributed to another method.
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "klin.h"
#include "method.h"

static DEFINE_MUTEX(lock);
static LIST_HEAD(methods);
static u32 last_id;

/*
 * Return: true if @name has the form "subject.method" without spaces, so that a line "ID NAME" in
 * debugfs has two words.
 */
static bool name_ok(const char *name)
{
	const char *p;

	for (p = name; *p; p++)
		if (!isgraph(*p))
			return false;
	p = strchr(name, '.');
	return p && p != name && p[1];
}

/**
 * klin_method_register() - register a method and assign its number
 * @m: defined with KLIN_METHOD()
 *
 * Context: may sleep.  Return: 0, -EINVAL if the name is not of the form "subject.method",
 * -EEXIST if a method of this name is registered, -EBUSY if @m itself is registered, -ENOSPC
 * if all numbers are used up.
 */
int klin_method_register(struct klin_method *m)
{
	struct klin_method *other;
	int err = 0;

	if (!name_ok(m->name))
		return -EINVAL;

	mutex_lock(&lock);
	if (m->id) {
		err = -EBUSY;
		goto out;
	}
	if (last_id == U32_MAX) {
		err = -ENOSPC;
		goto out;
	}
	list_for_each_entry(other, &methods, node) {
		if (!strcmp(other->name, m->name)) {
			err = -EEXIST;
			goto out;
		}
	}
	m->id = ++last_id;
	list_add_tail(&m->node, &methods);
out:
	mutex_unlock(&lock);
	return err;
}
EXPORT_SYMBOL_GPL(klin_method_register);

/**
 * klin_method_unregister() - unregister a method
 * @m: the method; if it is not registered, nothing happens
 *
 * Context: may sleep.
 */
void klin_method_unregister(struct klin_method *m)
{
	mutex_lock(&lock);
	if (m->id) {
		list_del(&m->node);
		m->id = 0;
	}
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(klin_method_unregister);

/**
 * klin_methods_show() - write "ID SUBJECT.METHOD", one line a method
 * @s: the file being read
 * @unused: for single_open()
 *
 * Return: 0.
 */
int klin_methods_show(struct seq_file *s, void *unused)
{
	const struct klin_method *m;

	mutex_lock(&lock);
	list_for_each_entry(m, &methods, node)
		seq_printf(s, "%u %s\n", m->id, m->name);
	mutex_unlock(&lock);
	return 0;
}
