// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobes that run BPF programs on functions that ftrace does not manage, such as all of lib/.
 *
 * The kernel allows such kprobes to register_kprobe(), but not to tracefs, since tracers
 * themselves call some of these functions.  A probe may therefore hit while another probe of
 * this file runs on the same CPU.  Such hits are counted as missed, and so are hits that
 * kprobes themselves skip.
 *
 * Each open file of debugfs klin/probes is one probe.  A line written to the file creates it:
 *
 *	return FD SYMBOL		at the return of a function
 *	call FD SYMBOL RETURN		at its call; RETURN is the FD of the program at its return
 *	call FD SYMBOL+OFFSET		at each execution of an instruction
 *
 * FD is a loaded program of type kprobe; SYMBOL may be MODULE:NAME.  Reading the file gives
 * "hits misses".  Closing the file removes the probe.
 *
 * The restrictions of BPF and tracing apply here, too: the kernel's list of functions that no
 * kprobe may touch, no sleepable programs, none that override a return, and lockdown.  Maps
 * must be arrays: other maps take locks, and a probe in their code would wait for its own CPU.
 * Two rules cannot be kept by a module: bpf(2) disables the programs of tracers while it
 * changes some maps (bpf_prog_active), and tracefs refuses functions that ftrace does not
 * manage, which are the purpose of this file.
 */
#include <linux/bpf.h>
#include <linux/debugfs.h>
#include <linux/filter.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "control.h"
#include "module_kprobes.h"

#define PROBE_LINE	(KSYM_NAME_LEN + MODULE_NAME_LEN + 64)	/* bytes of a line */
#define INSTANCES	4096	/* concurrent calls of a function whose returns can be seen */

struct counts {
	u64 hits, missed;
};

struct probe {
	struct mutex lock;	/* guards the creation of the probe */
	struct list_head node;	/* entry in returns if the probe is at a return, else empty */
	const void *hook;	/* identifies the probe at the function's return; only compared */
	bool made, at_return;
	char symbol[PROBE_LINE];
	struct bpf_prog *prog;
	struct counts __percpu *counts;
	union {
		struct kprobe kp;
		struct kretprobe rp;
	};
};

/* Probes at returns, which new probes at calls look up. */
static LIST_HEAD(returns);
static DEFINE_MUTEX(returns_lock);

/* Number of nested programs of this file on this CPU. */
static DEFINE_PER_CPU(int, running);

static void run(struct probe *p, struct pt_regs *regs)
{
	/* bpf_get_attach_cookie() reads this context; without one it reads near address 0. */
	struct bpf_trace_run_ctx ctx = {};
	struct bpf_run_ctx *before;

	/* Not all kernels disable preemption for all kinds of kprobes. */
	preempt_disable();
	this_cpu_inc(p->counts->hits);
	if (__this_cpu_inc_return(running) == 1) {
		before = bpf_set_run_ctx(&ctx.run_ctx);
		rcu_read_lock();
		bpf_prog_run(p->prog, regs);
		rcu_read_unlock();
		bpf_reset_run_ctx(before);
	} else {
		this_cpu_inc(p->counts->missed);
	}
	__this_cpu_dec(running);
	preempt_enable();
}
NOKPROBE_SYMBOL(run);

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
static const void *hook_of(const struct kretprobe *rp)
{
	return rp->rh;
}

/* Return: true if @hook has hooked the return of the call that has this frame. */
static bool is_hooked(const struct pt_regs *regs, const void *hook)
{
	const struct llist_node *n;

	for (n = current->rethooks.first; n; n = n->next) {
		const struct rethook_node *h = container_of(n, struct rethook_node, llist);

		if (h->frame != regs->sp)
			break;
		if (h->rethook == hook)
			return true;
	}
	return false;
}
NOKPROBE_SYMBOL(is_hooked);
#else
/* Kernels before 5.19 have no rethooks to look for, so every hit counts as a call. */
static const void *hook_of(const struct kretprobe *rp)
{
	return NULL;
}

static bool is_hooked(const struct pt_regs *regs, const void *hook)
{
	return false;
}
#endif

/*
 * A loop may begin at the first instruction of a function (llist_add_batch()).  One call then
 * executes this instruction several times, and later its arguments may have changed and its
 * effect may have happened.  So only the first execution counts.  The probe that was created
 * last runs first: at the begin of a new call, this probe finds the return not hooked yet.
 */
static int at_call(struct kprobe *kp, struct pt_regs *regs)
{
	struct probe *p = container_of(kp, struct probe, kp);

	if (!p->hook || !is_hooked(regs, p->hook))
		run(p, regs);
	return 0;
}
NOKPROBE_SYMBOL(at_call);

/* Hook only one return for each call, see at_call(). */
static int before_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return is_hooked(regs, hook_of(get_kretprobe(ri)));
}
NOKPROBE_SYMBOL(before_return);

static int at_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	/* The probe is being unregistered on another CPU, see kretprobe_dispatcher(). */
	if (!rp)
		return 0;
	run(container_of(rp, struct probe, rp), regs);
	return 0;
}
NOKPROBE_SYMBOL(at_return);

/*
 * These maps need no lock: array elements are at fixed places, and perf event rings are
 * lock-free.
 */
static bool has_arrays_only(const struct bpf_prog *prog)
{
	bool ok = true;
	u32 i;

	mutex_lock(&prog->aux->used_maps_mutex);
	for (i = 0; i < prog->aux->used_map_cnt; i++) {
		enum bpf_map_type type = prog->aux->used_maps[i]->map_type;

		ok &= type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
		      type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	}
	mutex_unlock(&prog->aux->used_maps_mutex);
	return ok;
}

static bool may_run(const struct bpf_prog *prog)
{
	/* Programs for multi-probes expect a different context. */
	if (prog->expected_attach_type)
		return false;
	return !klin_prog_sleepable(prog) && !prog->kprobe_override && has_arrays_only(prog);
}

/*
 * register_kprobe() accepts an offset beyond the end of the function: it then probes the function
 * that follows.
 */
static int check_offset(const struct probe *p, unsigned long offset)
{
	char place[KSYM_SYMBOL_LEN];	/* NAME+0xOFFSET/0xSIZE [MODULE] */
	unsigned long at;
	const char *plus;

	sprint_symbol(place, (unsigned long)p->kp.addr);
	plus = strrchr(place, '+');
	if (!plus || sscanf(plus, "+0x%lx/", &at) != 1 || at != offset)
		return -ERANGE;
	return 0;
}

static int attach(struct probe *p, unsigned long offset)
{
	int err;

	if (p->at_return) {
		p->rp.kp.symbol_name = p->symbol;
		p->rp.entry_handler = before_return;
		p->rp.handler = at_return;
		p->rp.maxactive = INSTANCES;
		return register_kretprobe(&p->rp);
	}
	p->kp.symbol_name = p->symbol;
	p->kp.offset = offset;
	p->kp.pre_handler = at_call;
	if (!offset)
		return register_kprobe(&p->kp);
	/* Keep the probe disabled until its position is checked. */
	p->kp.flags = KPROBE_FLAG_DISABLED;
	err = register_kprobe(&p->kp);
	if (err)
		return err;
	err = check_offset(p, offset);
	if (!err)
		err = enable_kprobe(&p->kp);
	if (err)
		unregister_kprobe(&p->kp);
	return err;
}

static struct bpf_prog *get_prog(const char *fd)
{
	u32 n;

	if (!fd || kstrtou32(fd, 10, &n))
		return ERR_PTR(-EINVAL);
	return bpf_prog_get_type_dev(n, BPF_PROG_TYPE_KPROBE, false);
}

/* Set @p->hook to the hook of the probe at returns that runs the program @fd, if there is one. */
static int find_hook(struct probe *p, const char *fd)
{
	struct bpf_prog *prog = get_prog(fd);
	const struct probe *r;

	if (IS_ERR(prog))
		return PTR_ERR(prog);
	mutex_lock(&returns_lock);
	list_for_each_entry(r, &returns, node)
		if (r->prog == prog)
			p->hook = hook_of(&r->rp);
	mutex_unlock(&returns_lock);
	bpf_prog_put(prog);
	return 0;
}

/* Create the probe from @line, which is changed. */
static int make(struct probe *p, char *line)
{
	const char *kind = strsep(&line, " ");
	const char *fd = strsep(&line, " ");
	char *symbol = strsep(&line, " "), *plus;
	unsigned long offset = 0;
	struct bpf_prog *prog;
	int err;

	if (!symbol || !*symbol)
		return -EINVAL;
	p->at_return = !strcmp(kind, "return");
	if (!p->at_return && strcmp(kind, "call"))
		return -EINVAL;
	plus = strchr(symbol, '+');
	if (plus)
		*plus++ = '\0';
	/* "call FD SYMBOL" needs RETURN; "call FD SYMBOL+OFFSET" and "return" must not have it. */
	if ((plus && (p->at_return || kstrtoul(plus, 0, &offset))) ||
	    !line == !(p->at_return || plus))
		return -EINVAL;
	strscpy(p->symbol, symbol, sizeof(p->symbol));
	err = line ? find_hook(p, line) : 0;
	if (err)
		return err;

	prog = get_prog(fd);
	if (IS_ERR(prog))
		return PTR_ERR(prog);
	if (!may_run(prog)) {
		err = -EPERM;
		goto err_prog;
	}
	p->counts = alloc_percpu(struct counts);
	if (!p->counts) {
		err = -ENOMEM;
		goto err_prog;
	}
	p->prog = prog;
	err = attach(p, offset);
	if (err)
		goto err_counts;
	p->made = true;
	if (p->at_return) {
		mutex_lock(&returns_lock);
		list_add(&p->node, &returns);
		mutex_unlock(&returns_lock);
	}
	return 0;

err_counts:
	free_percpu(p->counts);
	memset(&p->rp, 0, sizeof(p->rp));
err_prog:
	bpf_prog_put(prog);
	return err;
}

static ssize_t probes_write(struct file *f, const char __user *from, size_t len, loff_t *pos)
{
	struct probe *p = ((struct seq_file *)f->private_data)->private;
	char line[PROBE_LINE];
	int err;

	if (len >= sizeof(line))
		return -E2BIG;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = '\0';
	mutex_lock(&p->lock);
	err = p->made ? -EBUSY : make(p, strim(line));
	mutex_unlock(&p->lock);
	return err ?: len;
}

static int probes_show(struct seq_file *s, void *unused)
{
	struct probe *p = s->private;
	u64 hits = 0, missed = 0;
	int cpu;

	mutex_lock(&p->lock);
	if (p->made) {
		for_each_possible_cpu(cpu) {
			hits += READ_ONCE(per_cpu_ptr(p->counts, cpu)->hits);
			missed += READ_ONCE(per_cpu_ptr(p->counts, cpu)->missed);
		}
		if (p->at_return)
			missed += p->rp.nmissed + p->rp.kp.nmissed;
		else
			missed += p->kp.nmissed;
	}
	mutex_unlock(&p->lock);
	seq_printf(s, "%llu %llu\n", hits, missed);
	return 0;
}

static int probes_open(struct inode *inode, struct file *f)
{
	int err = klin_may_control() ?: security_locked_down(LOCKDOWN_KPROBES) ?:
		  security_locked_down(LOCKDOWN_BPF_READ_KERNEL);
	struct probe *p;

	if (err)
		return err;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	mutex_init(&p->lock);
	INIT_LIST_HEAD(&p->node);
	err = single_open(f, probes_show, p);
	if (err)
		kfree(p);
	return err;
}

static int probes_release(struct inode *inode, struct file *f)
{
	struct probe *p = ((struct seq_file *)f->private_data)->private;

	mutex_lock(&returns_lock);
	list_del(&p->node);
	mutex_unlock(&returns_lock);
	if (p->made) {
		/* These functions wait for running handlers. */
		if (p->at_return)
			unregister_kretprobe(&p->rp);
		else
			unregister_kprobe(&p->kp);
		bpf_prog_put(p->prog);
		free_percpu(p->counts);
	}
	kfree(p);
	return single_release(inode, f);
}

const struct file_operations klin_probes_fops = {
	.owner = THIS_MODULE,
	.open = probes_open,
	.read = seq_read,
	.write = probes_write,
	.llseek = seq_lseek,
	.release = probes_release,
};
