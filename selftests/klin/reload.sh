#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A module that kprobes are on is unloaded and loaded again while it is recorded.  Its
# counter begins at 0 again, where the old one was or elsewhere: nobody is accused, and
# what comes after is not taken for known.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
. "$here/sums.sh"

run_load()
{
	echo "subject=counter ops=1000" >"$ctl/load" && wait_done
}

attached()
{
	grep -qs '^preemption: ' "$work/record"
}

# while_reloaded SUBCOMMAND OPTION...: sets $status.  What the one before said tells nothing
# of whether this one has attached.
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
	name="klin record, the module loaded again: no false alarm, and a gap"
	while_reloaded record -o "$work/r.klh"
	check "$work/r.klh"
	checked=$?
	if $reloaded && [ $status -eq 0 ] && [ $checked -eq 3 ] &&
	   grep -q 'module klin was unloaded' "$work/record"; then
		ktap_pass "$name ($(checked_ops) operations)"
	else
		ktap_fail "$name" "reloaded: $reloaded, record $status, check $checked" \
			"$(cat "$work/record" "$work/check")"
	fi
}

test_monitor()
{
	name="klin monitor, the module loaded again: no false alarm, and a gap"
	while_reloaded monitor
	if $reloaded && [ $status -eq 3 ] && grep -q 'module klin was unloaded' "$work/record"; then
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
