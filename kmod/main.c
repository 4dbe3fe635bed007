// SPDX-License-Identifier: GPL-2.0
/*
 * klin.ko: structures under test, the load that drives them, and tracepoints.  Its structures,
 * and any code that includes <klin.h>, announce their operations by these tracepoints.  The
 * module judges nothing; userspace does.
 */
#include <linux/module.h>
#include <linux/tracepoint.h>

#include "control.h"
#include "delay.h"
#include "selftest.h"
#include "subject.h"

static int __init klin_init(void)
{
	int err;

	klin_delay_calibrate();
	err = klin_selftest();
	if (err)
		return err;
	err = klin_subjects_init();
	if (err)
		return err;
	err = klin_control_init();
	if (err)
		goto err_subjects;
	return 0;

err_subjects:
	klin_subjects_exit();
	return err;
}

static void __exit klin_exit(void)
{
	klin_control_exit();
	klin_subjects_exit();
	tracepoint_synchronize_unregister();
}

module_init(klin_init);
module_exit(klin_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Structures under test for klin, the linearizability monitor");
