// SPDX-License-Identifier: GPL-2.0
/*
 * Control by files under debugfs klin/.
 *
 *	subjects	lists the structures that a load can work on
 *	methods		numbers and names of the registered methods
 *	load		settings start a load; "start", "stop"
 *	rounds		settings start litmus rounds; "stop"
 *	status		lines key=value
 *	ack		total number of operations that the reader has processed (lossless=)
 *	drain		a list of CPUs, such as 0-3,6: drains their store buffers
 *	addresses	lines key=value: the object under load and its lock
 *	error		why the last settings were refused; empty if they were accepted
 *	rounds_result	the results, one line per round
 *	probes		probes for BPF programs, see module_kprobes.c
 *	plain		recording without BPF, see plain.c
 *
 * At most one load or run of rounds exists at a time.  The results of a finished run remain
 * readable until the next run begins.  Refused settings change nothing.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "control.h"
#include "load.h"
#include "method.h"
#include "option.h"
#include "plain.h"
#include "module_kprobes.h"
#include "litmus_run.h"
#include "subject.h"
#include "team.h"

#define SETTINGS_MAX 1024	/* bytes of one write */

static DEFINE_MUTEX(lock);	/* guards all variables below */
static struct klin_load *load;
static struct klin_rounds *rounds;
static struct klin_complaint complaint;
static bool interrupted;	/* the run was stopped before its end */

static struct dentry *dir;

static struct klin_team *team(void)
{
	if (load)
		return klin_load_team(load);
	return rounds ? klin_rounds_team(rounds) : NULL;
}

static bool busy(void)
{
	return team() && !klin_team_done(team());
}

static void discard(void)
{
	if (load)
		klin_load_destroy(load);
	load = NULL;
	if (rounds) {
		klin_team_stop(klin_rounds_team(rounds));
		klin_rounds_put(rounds);
	}
	rounds = NULL;
	interrupted = false;
}

static int stop(void)
{
	if (!team())
		return 0;
	interrupted |= busy();
	klin_team_stop(team());
	return 0;
}

static int refuse_busy(void)
{
	klin_complain(&complaint, "a load or rounds are running: stop them first");
	return -EBUSY;
}

static int write_load(char *text)
{
	struct klin_load *new;

	if (!strcmp(text, "stop"))
		return stop();
	if (!strcmp(text, "start")) {
		if (!load || strcmp(klin_team_state(team()), "ready"))
			return klin_complain(&complaint, "start: there is no paused load: "
					     "write settings with paused=1 first");
		klin_load_start(load);
		return 0;
	}
	if (busy())
		return refuse_busy();
	new = klin_load_create(text, &complaint);
	if (IS_ERR(new))
		return PTR_ERR(new);
	discard();
	load = new;
	if (!klin_load_paused(load))
		klin_load_start(load);
	return 0;
}

static int write_rounds(char *text)
{
	struct klin_rounds *new;

	if (!strcmp(text, "stop"))
		return stop();
	if (busy())
		return refuse_busy();
	new = klin_rounds_create(text, &complaint);
	if (IS_ERR(new))
		return PTR_ERR(new);
	discard();
	rounds = new;
	klin_rounds_start(rounds);
	return 0;
}

static int write_ack(char *text)
{
	u64 ops;

	if (kstrtou64(text, 10, &ops))
		return klin_complain(&complaint, "ack: '%.40s': expected a number", text);
	if (!load)
		return klin_complain(&complaint, "ack: no load exists");
	klin_load_ack(load, ops);
	return 0;
}

/* Copy one write and pass the text to @todo under the lock. */
static ssize_t take_write(const char __user *from, size_t len, int (*todo)(char *text))
{
	char *text;
	int err;

	if (len > SETTINGS_MAX)
		return -E2BIG;
	text = memdup_user_nul(from, len);
	if (IS_ERR(text))
		return PTR_ERR(text);

	mutex_lock(&lock);
	complaint.text[0] = '\0';
	if (strlen(text) != len)
		err = klin_complain(&complaint, "the settings contain a NUL byte: expected text");
	else
		err = todo(strim(text));
	mutex_unlock(&lock);
	kfree(text);
	return err ?: len;
}

static ssize_t load_write(struct file *f, const char __user *from, size_t len, loff_t *pos)
{
	return take_write(from, len, write_load);
}

static ssize_t rounds_write(struct file *f, const char __user *from, size_t len, loff_t *pos)
{
	return take_write(from, len, write_rounds);
}

static ssize_t ack_write(struct file *f, const char __user *from, size_t len, loff_t *pos)
{
	return take_write(from, len, write_ack);
}

static void drain_cpu(void *unused)
{
	smp_mb();	/* drains the store buffer; no order is needed */
	klin_drain(smp_processor_id());
}

/* Drain the listed CPUs that are online.  Each has drained when the write returns. */
static ssize_t drain_write(struct file *f, const char __user *from, size_t len, loff_t *pos)
{
	cpumask_var_t cpus;
	int err;

	if (len > SETTINGS_MAX)
		return -E2BIG;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	err = cpumask_parselist_user(from, len, cpus);
	if (!err)
		on_each_cpu_mask(cpus, drain_cpu, NULL, true);
	free_cpumask_var(cpus);
	return err ?: len;
}

static int status_show(struct seq_file *s, void *unused)
{
	const struct klin_team *t;

	mutex_lock(&lock);
	t = team();
	if (!t) {
		seq_puts(s, "state=idle\n");
		goto out;
	}
	seq_printf(s, "state=%s\n", klin_team_state(t));
	seq_printf(s, "kind=%s\n", load ? "load" : "rounds");
	seq_printf(s, "interrupted=%d\n", interrupted);
	seq_printf(s, "ns=%llu\n",
		   t->started ? (READ_ONCE(t->ended) ?: ktime_get_ns()) - t->started : 0);
	if (load)
		klin_load_show(s, load);
	else
		klin_rounds_show(s, rounds);
out:
	mutex_unlock(&lock);
	return 0;
}

static int error_show(struct seq_file *s, void *unused)
{
	mutex_lock(&lock);
	if (complaint.text[0])
		seq_printf(s, "%s\n", complaint.text);
	mutex_unlock(&lock);
	return 0;
}

static int addresses_show(struct seq_file *s, void *unused)
{
	mutex_lock(&lock);
	if (load)
		klin_load_show_addresses(s, load);
	mutex_unlock(&lock);
	return 0;
}

/**
 * klin_may_control() - check whether the task may use klin's files
 *
 * Return: 0, or -EPERM.
 */
int klin_may_control(void)
{
	return capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
}

static int written_open(struct inode *inode, struct file *f)
{
	return klin_may_control() ?: nonseekable_open(inode, f);
}

static int subjects_open(struct inode *inode, struct file *f)
{
	return klin_may_control() ?: single_open(f, klin_subjects_show, NULL);
}

static int methods_open(struct inode *inode, struct file *f)
{
	return klin_may_control() ?: single_open(f, klin_methods_show, NULL);
}

static int status_open(struct inode *inode, struct file *f)
{
	return klin_may_control() ?: single_open(f, status_show, NULL);
}

static int error_open(struct inode *inode, struct file *f)
{
	return klin_may_control() ?: single_open(f, error_show, NULL);
}

/* Kernel addresses are shown only to tasks that may read them in /proc/kallsyms. */
static int addresses_open(struct inode *inode, struct file *f)
{
	int err = klin_may_control();

	if (!err && !capable(CAP_SYSLOG))
		err = -EPERM;
	return err ?: single_open(f, addresses_show, NULL);
}

/* An open result file keeps the results of its run, even if another run starts. */
static int result_open(struct inode *inode, struct file *f)
{
	int err = klin_may_control() ?: seq_open(f, &klin_rounds_seq_ops);

	if (err)
		return err;
	mutex_lock(&lock);
	if (rounds)
		((struct seq_file *)f->private_data)->private = klin_rounds_get(rounds);
	mutex_unlock(&lock);
	return 0;
}

static int result_release(struct inode *inode, struct file *f)
{
	struct klin_rounds *rs = ((struct seq_file *)f->private_data)->private;

	if (rs)
		klin_rounds_put(rs);
	return seq_release(inode, f);
}

#define SHOWN(name) {				\
	.owner = THIS_MODULE,			\
	.open = name##_open,			\
	.read = seq_read,			\
	.llseek = seq_lseek,			\
	.release = single_release,		\
}

#define WRITTEN(name) {				\
	.owner = THIS_MODULE,			\
	.open = written_open,			\
	.write = name##_write,			\
}

static const struct file_operations subjects_fops = SHOWN(subjects);
static const struct file_operations methods_fops = SHOWN(methods);
static const struct file_operations status_fops = SHOWN(status);
static const struct file_operations error_fops = SHOWN(error);
static const struct file_operations addresses_fops = SHOWN(addresses);
static const struct file_operations load_fops = WRITTEN(load);
static const struct file_operations rounds_fops = WRITTEN(rounds);
static const struct file_operations ack_fops = WRITTEN(ack);
static const struct file_operations drain_fops = WRITTEN(drain);
static const struct file_operations result_fops = {
	.owner = THIS_MODULE,
	.open = result_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = result_release,
};

/**
 * klin_control_init() - create the files
 *
 * Return: 0, or an error of debugfs (-ENODEV if the kernel has no debugfs).
 */
int klin_control_init(void)
{
	static const struct {
		const char *name;
		umode_t mode;
		const struct file_operations *fops;
	} files[] = {
		{ "subjects", 0400, &subjects_fops },
		{ "methods", 0400, &methods_fops },
		{ "status", 0400, &status_fops },
		{ "error", 0400, &error_fops },
		{ "addresses", 0400, &addresses_fops },
		{ "load", 0200, &load_fops },
		{ "rounds", 0200, &rounds_fops },
		{ "ack", 0200, &ack_fops },
		{ "drain", 0200, &drain_fops },
		{ "rounds_result", 0400, &result_fops },
		{ "probes", 0600, &klin_probes_fops },
	};
	unsigned int i;

	dir = debugfs_create_dir("klin", NULL);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, files[i].mode, dir, NULL, files[i].fops);
	debugfs_create_file_unsafe("plain", 0600, dir, NULL, &klin_plain_fops);
	return 0;
}

/**
 * klin_control_exit() - remove the files and stop the current load or run
 */
void klin_control_exit(void)
{
	debugfs_remove_recursive(dir);
	discard();
}
