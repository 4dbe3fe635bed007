#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The clocks of klin record.  With each clock a correct subject passes without a gap.  A
# mutant that returns wrong results is caught even with coarse times.  The file names the
# clock and its error.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

ops=${KLIN_OPS:-$(amount 3000 10000)}

test_correct()
{
	name="clock $1: $2 is linearizable"
	if ! record "$work/c.klh" --clock="$1" --load "subject=$2,ops=$ops" "$(spec_of "$2")"; then
		ktap_fail "$name" "$(cat "$work/record")"
	else
		ktap_note "$(grep '^clock:' "$work/record")"
		verdict "$name" "$work/c.klh" "$ops"
	fi
}

test_mutant()
{
	show=$([ "$1" = seq ] && echo 1 || echo 0)
	tries
	while again; do
		if ! record "$work/c.klh" --clock="$1" \
		     --load "subject=$2,ops=$ops,drain=16,seed=$try,delay=$try_delay" \
		     "$(spec_of "$2")"; then
			ktap_fail "clock $1: $2 is caught" "$(cat "$work/record")"
			return
		fi
		# In an epoch too many operations may overlap for shrinking and for the oracle.
		# The checks of klin.ko's threads confirm the violation instead.
		check --work=50000000 --show="$show" "$work/c.klh"
		status=$?
		if [ $status -eq 1 ] && [ "$(status_of truth)" -gt 0 ]; then
			ktap_pass "clock $1: $2 is caught" "recording $try"
			return
		fi
	done
	ktap_fail "clock $1: $2 is caught" "$(cat "$work/record" "$work/check")"
}

# The header names the clock, its error, and how it was attached.
test_header()
{
	"$KLIN" convert --to=text "$work/c.klh" - >"$work/c.txt"
	if grep -q "^# clock $1 error $2\$" "$work/c.txt" &&
	   grep -q "^# attached clock: " "$work/c.txt"; then
		ktap_pass "clock $1: the history names the clock and its error"
	else
		ktap_fail "clock $1: the history names the clock and its error" \
			"$(head -n 20 "$work/c.txt")"
	fi
}

# klin compares the clocks of all CPUs even if it is bound to one CPU.
test_bound()
{
	name="clock mono: klin measures the error of all CPUs, also when bound to one CPU"
	if ! command -v taskset >/dev/null; then
		ktap_skip "$name" "needs taskset"
		return
	fi
	taskset 1 "$KLIN" record --clock=mono -o "$work/c.klh" --load "subject=counter,ops=1000" \
		"$(spec_of counter)" >"$work/record" 2>&1 </dev/null
	"$KLIN" convert --to=text "$work/c.klh" - >"$work/c.txt"
	if grep -q '^# clock mono error [1-9]' "$work/c.txt"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record")" "$(head -n 20 "$work/c.txt")"
	fi
}

# The kernel switches away from a clock that it no longer trusts.
test_changed()
{
	name="clock mono: a change of the clock source makes the whole recording a gap"
	dir=/sys/devices/system/clocksource/clocksource0
	was=$(cat $dir/current_clocksource)
	for other in $(cat $dir/available_clocksource); do
		[ "$other" = "$was" ] || break
	done
	if [ "$other" = "$was" ]; then
		ktap_skip "$name" "the machine has $was alone"
		return
	fi
	"$KLIN" record --clock=mono -o "$work/c.klh" \
		--load "subject=counter,duration=2000,rate=1000" "$(spec_of counter)" \
		>"$work/record" 2>&1 </dev/null &
	wait_for state_is running
	echo "$other" >$dir/current_clocksource
	wait $!
	echo "$was" >$dir/current_clocksource
	"$KLIN" convert --to=text "$work/c.klh" - >"$work/c.txt"
	if grep -q '^# gap ' "$work/c.txt" &&
	   grep -q "clock source changed from '$was' to '$other'" "$work/record"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record")" "$(head -n 20 "$work/c.txt")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_module
[ "$(nproc)" -ge 2 ] || ktap_skip_all "needs two CPUs"
ktap_plan 15
for clock in seq tick epoch; do
	test_correct $clock counter
	test_correct $clock counter_moving
	test_mutant $clock counter.plain
	test_header $clock "$([ $clock = seq ] && echo 0 || echo 65535)"
done
test_bound
test_changed
"$KLIN" monitor --clock=seq "$KLIN_SPECS/seqlock.lin" --duration=1 >"$work/out" 2>&1
ktap_result "$([ $? -eq 2 ] && grep -q "clock" "$work/out"; echo $?)" \
	"klin monitor refuses clocks other than mono" "$(cat "$work/out")"
ktap_finish
