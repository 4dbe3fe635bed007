#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin monitor records and checks at once.  Correct subjects and the unmodified kernel pass.
# Mutants are caught while they run, and `klin replay' accepts the certificates.  Losses make the verdict UNKNOWN, without a false
# alarm.  An interrupt ends the monitor with a verdict.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

# monitor SPEC ARGUMENT...: sets $status; the output is in $work/out.
monitor()
{
	# shellcheck disable=SC2086 # maybe no word at all
	"$KLIN" monitor $clock_error "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

passes()
{
	name=$1
	shift
	monitor --json "$@"
	if [ $status -eq 0 ] && grep -q '"verdict":"LINEARIZABLE","whole":true' "$work/out"; then
		ktap_pass "$name"
	elif [ -n "${KLIN_MISSES:-}" ] && [ $status -eq 3 ] &&
	     grep -q '"reason":"operations were lost","whole":true.*"violations":0' "$work/out"; then
		ktap_pass "$name" "operations were lost, so the verdict is UNKNOWN"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/out" "$work/err")"
	fi
}

test_mutant()
{
	tries
	while again; do
		monitor --full --certificate="$work/certificate" "$(spec_of "$1")" --load \
			"subject=$1,ops=10000,drain=16,seed=$try,delay=$try_delay"
		if [ $status -eq 1 ] && grep -q "oracle finds no order either" "$work/out" &&
		   "$KLIN" replay "$work/certificate" >>"$work/err" 2>&1; then
			ktap_pass "$1 is caught while it runs" "try $try"
			return
		fi
	done
	ktap_fail "$1 is caught while it runs" "$(tail -n 20 "$work/out" "$work/err")"
}

# The screen shows a violation, and its story on a key; both are printed after the end, too.
test_screen()
{
	name="klin monitor --top shows a violation and its story"
	tries
	while again; do
		load=rate=4000,duration=4000,drain=16,seed=$try,delay=$try_delay
		# shellcheck disable=SC2086 # maybe no word at all
		TERM=vt100 "$here/keys" VIOLATION '^' 'What is wrong' qq -- "$KLIN" monitor --top $clock_error \
			"$(spec_of seqlock.no_retry)" --load "subject=seqlock.no_retry,$load" \
			>"$work/out"
		status=$?
		[ $status -eq 1 ] && [ "$(grep -c 'What is wrong: ' "$work/out")" -ge 2 ] && break
	done
	[ $status -eq 1 ] && [ "$(grep -c 'What is wrong: ' "$work/out")" -ge 2 ] &&
		grep -q 'klin monitor' "$work/out"
	ktap_result $? "$name" "status $status, try $try" "$(cat -v "$work/out")"
}

test_losses()
{
	name="losses are reported as gaps, and raise no false alarm"
	monitor --json --buffer=1 "$(spec_of tas)" --load subject=tas,ops=200000,lossless=0
	gaps=$(sed -n 's/.*"gaps":\([0-9]*\).*/\1/p' "$work/out" | tail -n 1)
	if [ $status -eq 3 ] && [ "${gaps:-0}" -gt 0 ]; then
		ktap_pass "$name" "$gaps gaps"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/out" "$work/err")"
	fi
}

test_signal()
{
	name="an interrupt ends klin monitor with a verdict"
	# shellcheck disable=SC2086 # maybe no word at all
	"$KLIN" monitor $clock_error --json --load subject=seqlock,rate=2000 \
		"$(spec_of seqlock)" >"$work/out" 2>"$work/err" </dev/null &
	wait_for state_is running
	wait_for ops_done 500
	kill -TERM $!
	wait $!
	status=$?
	if [ $status -eq 0 ] && grep -q '"whole":true' "$work/out"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/out" "$work/err")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_function inet_get_local_port_range
need_module
ktap_plan 8
passes "a correct seqlock is linearizable" "$(spec_of seqlock)" --load subject=seqlock,ops=50000
passes "a correct lock is linearizable" "$(spec_of tas)" --load subject=tas,ops=50000
# This load does not wait for the reader, which may have to wait for a CPU.
passes "the kernel's range of local ports is linearizable" "$KLIN_SPECS/port_range.lin" --buffer=4096 \
	--load user:port_range,ops=5000,seconds=3600
test_mutant seqlock.no_retry
test_mutant tas.plain
test_screen
test_losses
test_signal
ktap_finish
