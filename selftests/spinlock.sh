#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# One spin lock of klin.ko recorded by probes on the kernel's own spin lock
# functions, with a filter by address.
#
# All CPUs run these functions all the time, and QEMU before 8.1 can run a stale
# breakpoint for ever when such code is patched: with TCG this test wants -accel
# tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

ops=${KLIN_LOCK_OPS:-50000}

test_kernel_spinlock()
{
	name="spin through _raw_spin_lock, _raw_spin_trylock and _raw_spin_unlock"
	if ! record "$work/spin.klh" --load "subject=spin,ops=$ops" \
	     "$KLIN_SPECS/spinlock_kernel.lin"; then
		ktap_fail "$name" "$(cat "$work/record")"
	else
		verdict "$name" "$work/spin.klh" "$ops"
	fi
}

test_kprobe()
{
	name="kprobes where they are asked for, and said to drain the store buffer"
	if record "$work/p.klh" --attach=kprobe --load subject=spin,ops=20000 \
	   "$KLIN_SPECS/spinlock_kernel.lin" && grep -q DRAINS "$work/record" &&
	   check "$work/p.klh"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check")"
	fi
}

ktap_header
need_klin
need_btf
need_module
ktap_plan 2
test_kernel_spinlock
test_kprobe
ktap_finish
