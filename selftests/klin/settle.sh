#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Attached while tasks are asleep in what is probed, where their stacks do not show it:
# mutex_lock(), as all of .sched.text, is left out of /proc/PID/stack, and
# unix_dgram_recvmsg() ends in a jump to another function.  These are told of, and nobody is
# accused; of the same without them all is known.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

# shellcheck disable=SC2317 # called by wait_for
said()
{
	grep -q "$1" "$work/said" "$work/record" 2>/dev/null
}

# run KIND SPEC asleep|awake: into $work/s.klh
run()
{
	rm -f "$work/go" "$work/said" "$work/record"
	"$here/sleeper" "$1" "$3" "$work/go" >"$work/said" 2>&1 </dev/null &
	sleeper=$!
	wait_for 20 said ready || return
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record -v $clock_error -o "$work/s.klh" --pid=$sleeper "$KLIN_SPECS/$2.lin" \
		>"$work/record" 2>&1 </dev/null &
	recorder=$!
	wait_for 60 said settled
	# Meanwhile it looks again at those that were asleep.
	sleep 0.5
	touch "$work/go"
	wait $sleeper || return
	sleep 0.5
	kill -INT $recorder 2>/dev/null
	wait $recorder
}

# right NAME: what is in $work/s.klh is no false alarm.
right()
{
	check "$work/s.klh"
	status=$?
	if [ "$(checked_ops)" -ge 2 ] && { [ $status -eq 0 ] || [ $status -eq 3 ]; }; then
		ktap_pass "$1 ($(checked_ops) operations, status $status)"
	else
		ktap_fail "$1" "status $status" "$(cat "$work/record" "$work/check")"
	fi
}

# test_asleep KIND SPEC
test_asleep()
{
	name="$2, attached while a task was asleep in it: told, no false alarm"
	if run "$1" "$2" asleep &&
	   grep -q 'warning: [0-9]* tasks are asleep in a probed function' "$work/record"; then
		right "$name"
	else
		ktap_fail "$name" "$(cat "$work/said" "$work/record")"
	fi
}

# test_awake KIND SPEC: mutexes that others use too are not known by --pid, see locks.sh.
test_awake()
{
	name="$2, while none was asleep in it: none is told of"
	if ! run "$1" "$2" awake || grep -q 'asleep in a probed function' "$work/record"; then
		ktap_fail "$name" "$(cat "$work/said" "$work/record")"
	elif [ "$1" = unix ]; then
		verdict "$name" "$work/s.klh" 5
	else
		right "$name"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_function mutex_lock
need_function unix_dgram_recvmsg
ktap_plan 4
test_asleep mutex mutex
test_awake mutex mutex
test_asleep unix unix_dgram
test_awake unix unix_dgram
ktap_finish
