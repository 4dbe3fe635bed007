#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# On a preemptible kernel fentry programs miss calls.  klin therefore uses kprobes, and six
# threads on two processors lose nothing.  The test changes the kernel's preemption model
# only if KLIN_MAY_CHANGE_PREEMPTION is set, as selftests/check does in its virtual machine.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

model=/sys/kernel/debug/sched/preempt
ops=$(amount 12000 60000)

# shellcheck disable=SC2317 # called by the trap
restore()
{
	[ -z "${before:-}" ] || echo "$before" >$model
	klin_cleanup
}

# test_whole NAME KIND: all operations are recorded, by probes of this kind.
test_whole()
{
	name="preempt=full, $1: no operation is missed"
	if ! record "$work/p.klh" --load "user:eventfd,tasks=6,ops=$ops" \
	     "$KLIN_SPECS/eventfd.lin"; then
		ktap_fail "$name" "$(cat "$work/record")"
	elif ! grep -q "^write .*  $2," "$work/record" || [ "$(($(lost_ops)))" -ne 0 ]; then
		ktap_fail "$name" "expected '$2' and no loss" "$(cat "$work/record")"
	else
		verdict "$name" "$work/p.klh" $((ops / 2))
	fi
}

# With --attach=fentry there is a warning, and no false alarm for missed calls.
test_fentry()
{
	name="preempt=full, --attach=fentry: klin warns, and raises no false alarm"
	if ! record "$work/p.klh" --attach=fentry --load "user:eventfd,tasks=6,ops=$ops" \
	     "$KLIN_SPECS/eventfd.lin" ||
	   ! grep -q "warning: the kernel is preemptible (preempt=full)" "$work/record"; then
		ktap_fail "$name" "$(cat "$work/record")"
		return
	fi
	check "$work/p.klh"
	status=$?
	if [ $status -eq 0 ] || [ $status -eq 3 ]; then
		ktap_pass "$name" "status $status, missed $(($(lost_ops)))"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/check")"
	fi
}

test_coarse()
{
	name="preempt=full: coarse clocks are refused with fentry"
	record "$work/p.klh" --attach=fentry --clock=epoch --duration=1 "$KLIN_SPECS/eventfd.lin"
	status=$?
	if [ $status -eq 2 ] && grep -q "fentry on a preemptible kernel does not work" "$work/record"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/record")"
	fi
}

test_list()
{
	name="preempt=full: klin list warns that fentry misses calls"
	if "$KLIN" list eventfd_write >"$work/out" 2>&1 &&
	   grep -q "fentry would miss calls, since the kernel is preemptible" "$work/out"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/out")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_function eventfd_write
[ -r $model ] || ktap_skip_all "no $model (CONFIG_PREEMPT_DYNAMIC)"
if ! grep -q '(full)' $model; then
	[ -n "${KLIN_MAY_CHANGE_PREEMPTION:-}" ] ||
		ktap_skip_all "not preempt=full, and KLIN_MAY_CHANGE_PREEMPTION is not set"
	before=$(sed 's/.*(\(.*\)).*/\1/' $model)
	trap restore EXIT
	echo full >$model || ktap_skip_all "preempt=full is refused"
fi
ktap_plan 5
[ ! -d "$ctl" ] || unload
test_whole "the kernel's kprobes" "kprobe+kretprobe"
test_fentry
test_coarse
test_list
if have_module && load; then
	test_whole "klin.ko's kprobes" "kprobe+kretprobe of klin.ko"
else
	ktap_skip "preempt=full, klin.ko's kprobes: no operation is missed" "no module klin"
fi
ktap_finish
