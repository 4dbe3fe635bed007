#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Other probes attach to the recorded functions and detach again, under load.  There is no
# false alarm, and recorded, lost and missed operations add up to klin.ko's own count.  The
# long form also records a million operations with all difficulties at once, see
# irq_hotplug.sh and gaps.sh.
#
# QEMU before 8.1 can execute a stale breakpoint forever if code is patched while another
# CPU runs it.  With TCG this test needs -accel tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
. "$here/lib_counts.sh"

cpu1=/sys/devices/system/cpu/cpu1/online

# Attach other probes to the same functions and detach them.  Calls in progress then skip
# the probes at their return.
other()
{
	"$KLIN" record --clock-error=200 -o "$work/other.klh" --duration=0.1 "$functions" \
		>"$work/other" 2>&1 </dev/null
}

others()
{
	for _ in 1 2; do
		other || return
	done
	echo stop >"$ctl/load"
}

# test_others NAME SPEC: record by the spec's probes while other probes attach and detach.
test_others()
{
	name=$1
	if ! record_while counter_nested duration=60000,rate=5000 "$2" others; then
		not_recorded "$name"
	elif [ $meanwhile -ne 0 ]; then
		ktap_fail "$name: no false alarm" "$(cat "$work/other")"
		ktap_fail "$name: recorded, lost and missed operations add up"
	else
		judge "$name" false
	fi
}

# All difficulties at once, until the load is over.  The reader is stopped for thousands of
# operations, a CPU goes offline and comes back, and other probes attach and detach.
everything()
{
	turns=0
	while state_is running; do
		kill -STOP $recorder
		ops=$(status_of ops)
		echo 0 >$cpu1
		wait_for ops_done_or_over $((ops + 5000))
		echo 1 >$cpu1
		kill -CONT $recorder
		other || return
		turns=$((turns + 1))
	done
}

# Interrupts hit running probes, and the buffers have one page.
test_everything()
{
	name="a million operations with all difficulties at once"
	if ! record_while counter_timer ops=1000000 "$functions" everything --buffer=1; then
		not_recorded "$name"
	elif [ $meanwhile -ne 0 ]; then
		ktap_fail "$name: no false alarm" "$(cat "$work/other")"
		ktap_fail "$name: recorded, lost and missed operations add up"
	else
		judge "$name" false
		ktap_note "the reader was stopped $turns times"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_module
ktap_plan "$(amount 4 6)"
test_others "other probes attach and detach" "$functions"
each=2
test_others "other probes attach and detach, two clauses" "$both"
each=1
[ -z "${KLIN_LONG:-}" ] || test_everything
ktap_finish
