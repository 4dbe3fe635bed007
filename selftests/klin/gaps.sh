#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A recording must report its losses: a reader that was stopped for a while, and too few
# buffers and slots.  No correct subject is rejected, and recorded and lost operations add
# up to klin.ko's own count.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

# Stop the recorder while its load runs more operations than its buffers can hold.
stop_for_a_while()
{
	wait_for state_is running
	wait_for ops_done_or_over 500
	kill -STOP "$1" && wait_for ops_done_or_over $(($(status_of ops) + 15000))
	kill -CONT "$1"
}

# judge NAME COUNT: check $work/gap.klh and the report of klin record.
judge()
{
	lost=$(($(lost_ops)))
	if [ "$lost" -eq 0 ]; then
		ktap_fail "$1: losses are reported" "$(cat "$work/record")"
	else
		ktap_pass "$1: losses are reported" "$lost lost"
	fi
	check --show=1 "$work/gap.klh"
	status=$?
	if ! grep -q ', [1-9][0-9]* gaps\{0,1\}$' "$work/check"; then
		ktap_fail "$1: no false alarm" "no gaps in the history" "$(cat "$work/check")"
	elif [ $status -eq 0 ] || [ $status -eq 3 ]; then
		ktap_pass "$1: no false alarm" "$(sed -n 2p "$work/check")"
	else
		ktap_fail "$1: no false alarm" "status $status" "$(cat "$work/check")"
	fi
	# An operation whose call had no slot is missing, or has only its return if that found a
	# slot.
	unseen=$(sed -n 's/^lost 0, .*, without a call \([0-9]*\), calls missed \([0-9]*\)$/\2 - \1/p' \
		"$work/record")
	if [ "$(($(checked_ops) + ${unseen:-lost}))" -eq "$2" ]; then
		ktap_pass "$1: recorded and lost operations add up" "$2 operations in all"
	else
		ktap_fail "$1: recorded and lost operations add up" \
			"$(checked_ops) and $lost, but klin.ko began $2" "$(cat "$work/record")"
	fi
}

not_recorded()
{
	ktap_fail "$1: losses are reported" "$(cat "$work/record")"
	ktap_fail "$1: no false alarm"
	ktap_fail "$1: recorded and lost operations add up"
}

# A load that does not wait for its reader.  klin attaches before it begins, and detaches
# after its end.
test_stopped()
{
	name="$1, reader stopped"
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record $clock_error -o "$work/gap.klh" --buffer=16 \
		--load "subject=$1,lossless=0,duration=2500,rate=20000,delay=500" \
		"$(spec_of "$1")" >"$work/record" 2>&1 </dev/null &
	stop_for_a_while $!
	if wait $!; then
		judge "$name" "$(began)"
	else
		not_recorded "$name"
	fi
}

# test_small NAME SUBJECT OPTION SETTING: repeat until something is lost.  Threads that
# share one processor seldom need two slots at the same time.
test_small()
{
	tries
	while again; do
		if ! record "$work/gap.klh" "$3" --load \
		     "subject=$2,lossless=0,duration=600,delay=$try_delay,$4" "$(spec_of "$2")"; then
			not_recorded "$1"
			return
		fi
		[ "$(($(lost_ops)))" -eq 0 ] || break
	done
	judge "$1" "$(began)"
}

range_is_other()
{
	[ "$(cat /proc/sys/net/ipv4/ip_local_port_range)" != "$range" ]
}

# Print the processor time of a load's processes, in hundredths of a second.
children_time()
{
	cat /proc/[0-9]*/stat 2>/dev/null | sed 's/(.*) //' |
		awk -v parent="$1" '$3 == parent { n += $13 + $14 } END { print n + 0 }'
}

# shellcheck disable=SC2317 # called by wait_for
children_reach()
{
	[ "$(children_time "$1")" -ge "$2" ]
}

# Stop the reader while a function of the unmodified kernel is recorded.  The load counts only its
# own calls, but the kernel and other processes may read the range, too.  The load has started
# when the range has changed.
test_port_range()
{
	name="port range, reader stopped"
	range=$(cat /proc/sys/net/ipv4/ip_local_port_range)
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record $clock_error -o "$work/gap.klh" --buffer=16 \
		--load user:port_range,ops=30000,seconds=3600 "$KLIN_SPECS/port_range.lin" \
		>"$work/record" 2>&1 </dev/null &
	wait_for range_is_other
	kill -STOP $! && wait_for children_reach $! $(($(children_time $!) + 100))
	kill -CONT $!
	if ! wait $!; then
		ktap_fail "$name" "$(cat "$work/record")"
		return
	fi
	check "$work/gap.klh"
	status=$?
	if [ "$(($(lost_ops)))" -gt 0 ] && { [ $status -eq 0 ] || [ $status -eq 3 ]; }; then
		ktap_pass "$name: losses are reported, and raise no false alarm"
	else
		ktap_fail "$name: losses are reported, and raise no false alarm" "status $status" \
			"$(cat "$work/record" "$work/check")"
	fi
}

# A task closes its files after its end was reported.  It must not keep a slot forever.
# Some calls may be missed, since a slot is freed a grace period later.
test_ended_tasks()
{
	name="tasks that have ended do not keep their slots"
	cat >"$work/release.lin" <<-END
	spec release {
		word n;
		method release() { atomic_flush { } }
	}
	probe release on pipe_release(inode, file) { object file; }
	END
	if ! record "$work/gap.klh" --slots=256 "$work/release.lin" -- sh -c \
	     'i=0; while [ $i -lt 400 ]; do : | :; i=$((i + 1)); done'; then
		ktap_fail "$name" "$(cat "$work/record")"
		return
	fi
	check "$work/gap.klh"
	if [ "$(checked_ops)" -ge 400 ] && [ "$(($(lost_ops)))" -lt 20 ]; then
		ktap_pass "$name" "$(checked_ops) operations"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_module
ktap_plan 17
for subject in seqlock spin ticket; do
	test_stopped "$subject"
done
test_small "a buffer of one page" seqlock --buffer=1 threads=2
test_small "one slot for four threads" tas --slots=1 threads=4,rate=2000
test_port_range
test_ended_tasks
ktap_finish
