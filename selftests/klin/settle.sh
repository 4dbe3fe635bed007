#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin attaches while tasks are inside the probed function.  Some sleep where their stacks
# do not show it: /proc/PID/stack omits mutex_lock() and all of .sched.text, and
# unix_dgram_recvmsg() ends in a tail call.  One runs on a CPU in get_random_bytes_user().
# klin names these tasks and raises no false alarm.  Without such tasks the recording has no
# gap.  With fentry the kernel itself waits for the running task, which klin reports, too.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

# shellcheck disable=SC2317 # called by wait_for
said()
{
	grep -q "$1" "$work/said" "$work/record" 2>/dev/null
}

# run KIND SPEC asleep|awake [OPTION]: record into $work/s.klh
run()
{
	rm -f "$work/go" "$work/said" "$work/record"
	"$here/sleeper" "$1" "$3" "$work/go" >"$work/said" 2>&1 </dev/null &
	sleeper=$!
	wait_for said '^ready' || return
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record -v $clock_error -o "$work/s.klh" --pid=$sleeper ${4:-} "$2" \
		>"$work/record" 2>&1 </dev/null &
	recorder=$!
	if [ "${4:-}" = --attach=fentry ]; then
		wait_for said 'attaching takes long\|searched all tasks'
		said 'searched all tasks' || touch "$work/go"
	fi
	wait_for said 'searched all tasks'
	# klin repeatedly checks the tasks that were inside.
	if [ "$3" = asleep ] && [ ! -e "$work/go" ]; then
		wait_for said '[1-9][0-9]* tasks are still inside'
	fi
	touch "$work/go"
	wait_for said '^left'
	if [ "$3" = asleep ] && said 'tasks are inside'; then
		wait_for said ' 0 tasks are still inside'
	fi
	rm "$work/go"
	wait $sleeper || return
	kill -INT $recorder 2>/dev/null
	wait $recorder
}

# right NAME: the verdict on $work/s.klh is LINEARIZABLE or UNKNOWN.
right()
{
	check "$work/s.klh"
	status=$?
	if [ "$(checked_ops)" -ge 2 ] && { [ $status -eq 0 ] || [ $status -eq 3 ]; }; then
		ktap_pass "$1"
	else
		ktap_fail "$1" "status $status" "$(cat "$work/record" "$work/check")"
	fi
}

# Print the file of a spec: one of the work directory, or a shipped one.
spec()
{
	if [ -e "$work/$1.lin" ]; then
		echo "$work/$1.lin"
	else
		echo "$KLIN_SPECS/$1.lin"
	fi
}

# test_asleep KIND SPEC WHERE [OPTION]
test_asleep()
{
	name="klin attaches while a task is $3 $2: it names the task, and raises no false alarm"
	if run "$1" "$(spec "$2")" asleep "${4:-}" &&
	   grep -q 'warning: [0-9]* tasks are inside a probed function' "$work/record" &&
	   grep -q 'task [0-9]* (sleeper) is inside' "$work/record" &&
	   said ' 0 tasks are still inside'; then
		right "$name"
	else
		ktap_fail "$name" "$(cat "$work/said" "$work/record")"
	fi
}

# test_awake KIND SPEC WHERE [OPTION]: klin takes no thread of the sleeper for a task inside the
# function.  klin may name another task: one that makes such a call just then, or one whose stack
# is incomplete.  With --pid the state of mutexes that other tasks use, too, is not known; see
# locks.sh.
test_awake()
{
	name="klin attaches while no task is $3 $2: it names no task"
	if ! run "$1" "$(spec "$2")" awake "${4:-}" ||
	   grep -q 'task [0-9]* (sleeper) is inside' "$work/record"; then
		ktap_fail "$name" "$(cat "$work/said" "$work/record")"
	elif [ "$1" = unix ] && ! grep -q 'inside a probed function' "$work/record"; then
		verdict "$name" "$work/s.klh" 5
	else
		right "$name"
	fi
}

# With fentry, on kernels that wait for tasks to leave patched code.
test_waits()
{
	name="fentry waits for a running task, and klin reports that task"
	if ! run random "$work/random.lin" asleep --attach=fentry; then
		ktap_fail "$name" "$(cat "$work/said" "$work/record")"
	elif said "attaching takes long: task [0-9]* (sleeper) runs in $function()" ||
	     said 'tasks are inside'; then
		right "$name"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

function=get_random_bytes_user
ktap_header
need_root
need_klin
need_btf
need_function mutex_lock
need_function unix_dgram_recvmsg
need_function $function
cat >"$work/random.lin" <<-END
	spec random {
		word n;
		method read() { atomic_flush { } }
	}
	probe read on $function(iter) {
		coverage asserted "no operation of this test needs another";
		object iter;
	}
END
ktap_plan 7
test_asleep mutex mutex "asleep in"
test_awake mutex mutex "asleep in"
test_asleep unix unix_dgram "asleep in"
test_awake unix unix_dgram "asleep in"
test_asleep random random "on a CPU in" --attach=kprobe
test_awake random random "on a CPU in" --attach=kprobe
test_waits
ktap_finish
