#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Other probes that come and go on functions that are recorded, under load: nobody is
# accused, and what klin.ko counted is what was recorded, in whole or in part, and what
# was lost and missed.  In its long form, also a million operations with all that makes
# recording hard at once, see sound.sh and gaps.sh.
#
# QEMU before 8.1 can run a stale breakpoint for ever when code is patched that another
# CPU is executing: with TCG this test wants -accel tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
. "$here/sums.sh"

cpu1=/sys/devices/system/cpu/cpu1/online

# Probes on the same functions come and go, which makes calls under way skip what waits
# for their return.
other()
{
	"$KLIN" record --clock-error=200 -o "$work/other.klh" --duration=0.1 "$functions" \
		>"$work/other" 2>&1 </dev/null
}

others()
{
	for _ in 1 2 3; do
		other || return
	done
	echo stop >"$ctl/load"
}

# test_others NAME SPEC
test_others()
{
	name=$1
	if ! record_while counter_nested duration=60000,rate=5000 "$2" others; then
		not_recorded "$name"
	elif [ $meanwhile -ne 0 ]; then
		ktap_fail "$name: no false alarm" "$(cat "$work/other")"
		ktap_fail "$name: recorded, lost and missed add up"
	else
		judge "$name" false
	fi
}

# All of it at once, until the load is over: the reader is stopped for thousands of
# operations while a CPU goes and comes, and other probes come and go.
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

# Interrupts hit probes at work, buffers of a page.
test_everything()
{
	name="a million operations, everything at once"
	if ! record_while counter_timer ops=1000000 "$functions" everything --buffer=1; then
		not_recorded "$name"
	elif [ $meanwhile -ne 0 ]; then
		ktap_fail "$name: no false alarm" "$(cat "$work/other")"
		ktap_fail "$name: recorded, lost and missed add up"
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
test_others "other probes come and go" "$functions"
each=2
test_others "the same by two clauses" "$both"
each=1
[ -z "${KLIN_LONG:-}" ] || test_everything
ktap_finish
