#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A module with kprobes on it is unloaded and loaded again during a recording.  Its counter
# starts at 0 again, at the same address or elsewhere.  There is no false alarm, and the
# later state counts as unknown.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
. "$here/lib_counts.sh"

run_load()
{
	echo "subject=counter ops=1000" >"$ctl/load" && wait_done
}

attached()
{
	grep -qs '^preemption: ' "$work/record"
}

# while_reloaded SUBCOMMAND OPTION...: sets $status.  Removes the old messages first, since
# `attached' searches them.
while_reloaded()
{
	rm -f "$work/record"
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" "$@" $clock_error --attach=kprobe "$functions" >"$work/record" 2>&1 </dev/null &
	recorder=$!
	reloaded=false
	if wait_for attached && run_load && unload && load && run_load; then
		reloaded=true
	fi
	kill -TERM $recorder
	wait $recorder
	status=$?
}

test_record()
{
	name="klin record: reloading the module causes a gap, and no false alarm"
	while_reloaded record -o "$work/r.klh"
	check "$work/r.klh"
	checked=$?
	if $reloaded && [ $status -eq 0 ] && [ $checked -eq 3 ] &&
	   grep -q "module 'klin' was unloaded" "$work/record"; then
		ktap_pass "$name" "$(checked_ops) operations"
	else
		ktap_fail "$name" "reloaded: $reloaded, record $status, check $checked" \
			"$(cat "$work/record" "$work/check")"
	fi
}

test_monitor()
{
	name="klin monitor: reloading the module causes a gap, and no false alarm"
	while_reloaded monitor
	if $reloaded && [ $status -eq 3 ] && grep -q "module 'klin' was unloaded" "$work/record"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "reloaded: $reloaded, status $status" "$(cat "$work/record")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_module
ktap_plan 2
test_record
test_monitor
ktap_finish
