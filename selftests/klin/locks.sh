#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin.ko's subjects that are the kernel's own locks, recorded by probes on the kernel's
# functions, with a filter by address.
#
# All CPUs run these functions all the time.  QEMU before 8.1 can execute a stale breakpoint
# forever if code is patched while another CPU runs it.  With TCG this test needs -accel
# tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

ops=${KLIN_OPS:-$(amount 20000 50000)}

# test_lock SUBJECT SPEC: a recording of this subject of klin.ko is linearizable.
test_lock()
{
	name="$1, recorded by the kernel functions of $2.lin, is linearizable"
	if ! record "$work/lock.klh" --load "subject=$1,ops=$ops" "$KLIN_SPECS/$2.lin"; then
		ktap_fail "$name" "$(cat "$work/record")"
	else
		verdict "$name" "$work/lock.klh" "$ops"
	fi
}

test_kprobe()
{
	name="--attach=kprobe uses kprobes, and klin reports that they drain the store buffer"
	if record "$work/p.klh" --attach=kprobe --load subject=spin,ops=20000 \
	   "$KLIN_SPECS/spinlock_kernel.lin" && grep -q DRAINS "$work/record"; then
		verdict "$name" "$work/p.klh" 20000
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_module
ktap_plan 4
test_lock spin spinlock_kernel
test_lock mutex mutex
test_lock rwsem rwsem
test_kprobe
ktap_finish
