// SPDX-License-Identifier: GPL-2.0
/*
 * One mistake of each kind that the kernels of tools/debug-kernel must report.  The absence of
 * reports for klin.ko means something only if these mistakes are reported.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(one);
static DEFINE_SPINLOCK(two);
static u64 raced;

static noinline void klin_wrong_sleep(void)
{
	spin_lock(&one);
	might_sleep();
	spin_unlock(&one);
}

static noinline u64 klin_wrong_use_after_free(void)
{
	u64 *p = kzalloc(sizeof(*p), GFP_KERNEL), v;

	if (!p)
		return 0;
	kfree(p);
	v = READ_ONCE(*p);
	return v;
}

static noinline void klin_wrong_order(void)
{
	spin_lock(&one);
	spin_lock(&two);
	spin_unlock(&two);
	spin_unlock(&one);
	spin_lock(&two);
	spin_lock(&one);
	spin_unlock(&one);
	spin_unlock(&two);
}

static noinline void klin_wrong_add(void)
{
	raced++;
	barrier();
}

static int racer(void *unused)
{
	while (!kthread_should_stop()) {
		klin_wrong_add();
		cond_resched();
	}
	return 0;
}

static int race(void)
{
	struct task_struct *task = kthread_run(racer, NULL, "klin_wrong");
	unsigned long until = jiffies + 3 * HZ;

	if (IS_ERR(task))
		return PTR_ERR(task);
	while (time_before(jiffies, until)) {
		klin_wrong_add();
		cond_resched();
	}
	kthread_stop(task);
	return 0;
}

static int __init klin_wrong_init(void)
{
	klin_wrong_sleep();
	/*
	 * Lockdep disables itself after this report.  A report of KASAN disables lockdep, too, so
	 * it comes later.
	 */
	klin_wrong_order();
	pr_info("klin_wrong: %llu\n", klin_wrong_use_after_free());
	return race();
}

static void __exit klin_wrong_exit(void)
{
}

module_init(klin_wrong_init);
module_exit(klin_wrong_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Mistakes that debugging kernels must report");
