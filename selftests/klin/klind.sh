#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klind: two structures at once, under load.  A mutant is reported within seconds, with
# a report that klin check and klin replay agree with, and its correct twin is not; too
# much load drops whole objects and accuses nobody; what it counts adds up to what
# klin.ko counted; it reads its configuration again, and ends cleanly, also when killed.
#
# It is killed and begun again under load.  QEMU before 8.1 can run a stale breakpoint for
# ever when code is patched that another CPU is executing: with TCG this test wants -accel
# tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

KLIND=${KLIND:-$(dirname "$(command -v "$KLIN")")/klind}
range=/proc/sys/net/ipv4/ip_local_port_range
reports=$work/reports
metrics=$work/klin.prom
range_was=$(cat $range)
klind=

klind_cleanup()
{
	[ -z "$klind" ] || kill -9 "$klind" 2>/dev/null
	[ -z "${sysctl:-}" ] || kill "$sysctl" 2>/dev/null
	echo "$range_was" >$range
	klin_cleanup
}
trap klind_cleanup EXIT

# configure SPEC-LINE...: of the section of klin.ko's seqlock; a second one is beside it.
configure()
{
	cat >"$work/klind.conf" <<-END
	[klind]
	reports = $reports
	report-interval = 1s
	metrics = $metrics
	metrics-interval = 200ms
	metrics-socket = $work/socket

	[spec range]
	file = $KLIN_SPECS/port_range.lin
	${KLIN_CLOCK_ERROR:+clock-error = ${KLIN_CLOCK_ERROR}ns}

	[spec seqlock]
	file = $KLIN_SPECS/seqlock.lin
	${KLIN_CLOCK_ERROR:+clock-error = ${KLIN_CLOCK_ERROR}ns}
	END
	printf '%s\n' "$@" >>"$work/klind.conf"
}

# Wait until it watches, which its log must not have from before.
begin()
{
	rm -f "$work/log"
	"$KLIND" --config "$work/klind.conf" >"$work/log" 2>&1 </dev/null &
	klind=$!
	wait_for grep -qs "seqlock: watched" "$work/log"
}

start()
{
	rm -rf "$reports" "$metrics"
	begin
}

# End it; its status is in $ended.
finish()
{
	kill -TERM "$klind"
	wait "$klind"
	ended=$?
	klind=
}

# value NAME SPEC: of a metric.
value()
{
	sed -n "s/^klin_$1{spec=\"$2\"} //p" "$metrics" 2>/dev/null
}

# more_than N NAME SPEC: a metric.
more_than()
{
	[ "$(value "$2" "$3" | grep . || echo 0)" -gt "$1" ]
}

verdict_is()
{
	grep -q "^klin_verdict{spec=\"$1\",verdict=\"$2\"} 1" "$metrics"
}

# Without a gap it is linearizable; what a slow machine has lost makes it unknown.
right()
{
	if [ "$(value gaps_total "$1")" = 0 ]; then
		verdict_is "$1" linearizable
	else
		ktap_note "$1: $(value gaps_total "$1") gaps"
		verdict_is "$1" unknown
	fi
}

a_report()
{
	report=$(find "$reports" -maxdepth 1 -name "*-$1-$2" 2>/dev/null | sort | head -n 1)
	[ -n "$report" ]
}

load_klin_ko()
{
	echo "$1" >"$ctl/load" || ktap_note "load: $(cat "$ctl/error")"
}

# A writer and reader of the kernel's own seqlock, until $sysctl is killed.
load_range()
{
	while :; do
		echo "20000 60999" >$range
		read -r _ <$range
		echo "20001 60998" >$range
		read -r _ <$range
	done >/dev/null 2>&1 &
	sysctl=$!
}

test_twin()
{
	name="a correct seqlock and the kernel's range: no report"
	configure
	# A machine that stood still for a while had it dropped for load: then once more.
	for try in 1 2 3; do
		start
		load_range
		load_klin_ko "subject=seqlock rate=4000 ops=5000 drain=16 delay=3000"
		wait_done
		wait_for more_than 50 operations_checked_total range
		kill "$sysctl"
		wait "$sysctl" 2>/dev/null
		sysctl=
		finish
		if [ $ended -ne 0 ] || [ -n "$(ls -A "$reports")" ] ||
		   [ "$(value object_drops_total seqlock)" = 0 ]; then
			break
		fi
		ktap_note "try $try: dropped, $(value operations_checked_total seqlock) were checked"
	done
	if [ $ended -eq 0 ] && [ -z "$(ls -A "$reports")" ] && right seqlock && right range &&
	   [ "$(value operations_checked_total range)" -gt 50 ] &&
	   [ "$(value operations_checked_total seqlock)" -gt 1000 ]; then
		ktap_pass "$name ($(value operations_checked_total seqlock) and" \
			"$(value operations_checked_total range) operations)"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log" "$metrics")" "$(ls "$reports")"
	fi
	name="what is recorded and lost is what klin.ko counted"
	all=$(($(status_of ops) + $(status_of pending)))
	recorded=$(value operations_recorded_total seqlock)
	lost=$(value operations_lost_total seqlock)
	sum=$((${recorded:-0} + ${lost:-0}))
	if [ "$all" -eq "$sum" ] && [ "$all" -gt 1000 ]; then
		ktap_pass "$name ($all)"
	else
		ktap_fail "$name" "$all, but $sum" "$(cat "$metrics")"
	fi
}

# shellcheck disable=SC2317 # called by wait_for
reported_or_over()
{
	a_report seqlock violation || ! state_is running
}

test_mutant()
{
	name="a mutant is reported while it runs"
	configure "flight-memory = 64M"
	start
	from=$(seconds)
	tries
	while again; do
		load_klin_ko "subject=seqlock.no_retry rate=4000 duration=3000 drain=16 \
			seed=$try delay=$try_delay"
		wait_for reported_or_over && a_report seqlock violation && break
	done
	if a_report seqlock violation; then
		ktap_pass "$name, after $(($(seconds) - from)) s"
	else
		ktap_fail "$name" "$(cat "$work/log" "$metrics")"
		finish
		return
	fi
	echo stop >"$ctl/load"
	finish
	check "$report/history.klh"
	status=$?
	check "$report/flight.klh"
	ktap_result $((status * 10 + $? - 11)) "klin check finds it in the report's histories" \
		"$(cat "$work/check")" "$(ls -l "$report")"
	name="klin replay accepts the report's certificate"
	if "$KLIN" replay "$report/certificate" >"$work/replay" 2>&1 &&
	   grep -q " 1 violations confirmed" "$work/replay" &&
	   grep -q "oracle finds no order either" "$report/counterexample.txt" &&
	   grep -q '"shown_by_history": true' "$report/report.json"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/replay" "$report/report.json" \
			"$report/counterexample.txt")"
	fi
	name="its neighbour is not accused, and nothing is left unfinished"
	if [ $ended -eq 0 ] && ! a_report range violation && verdict_is seqlock violation &&
	   ! verdict_is range violation && [ -z "$(find "$reports" -name '.unfinished*')" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log")" "$(ls -A "$reports")"
	fi
}

# As fast as it goes, into small buffers.
test_overload()
{
	name="too much load: whole objects are dropped, nobody is accused"
	configure "buffer = 64" "memory = 1M" "report-unknown = yes"
	start
	load_klin_ko "subject=seqlock duration=2500"
	wait_done
	finish
	if [ $ended -eq 0 ] && [ "$(value violations_total seqlock)" = 0 ] &&
	   [ "$(value object_drops_total seqlock)" -gt 0 ] &&
	   [ "$(value operations_skipped_total seqlock)" -gt 0 ] &&
	   verdict_is seqlock unknown && a_report seqlock unknown &&
	   check "$report/flight.klh"; [ $? -ne 1 ]; then
		ktap_pass "$name ($(value operations_checked_total seqlock) checked," \
			"$(value operations_skipped_total seqlock) not)"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log" "$metrics" "$work/check")"
	fi
}

# said WORDS: as a new line of the log.
said()
{
	wait_for grep -q "$1" "$work/log"
}

# While it watches.
test_socket()
{
	name="the socket tells what the file does, also by HTTP"
	ask=$here/ask
	wait_for grep -q '^klin_up{spec="seqlock"} 1$' "$metrics"
	wait_for grep -q '^klin_up{spec="range"} 1$' "$metrics"
	"$ask" "$work/socket" >"$work/asked"
	"$ask" "$work/socket" "GET / HTTP/1.1

" >"$work/answered"
	if [ "$(stat -c %a "$work/socket")" = 660 ] &&
	   grep -q '^klin_up{spec="seqlock"} 1$' "$work/asked" &&
	   [ "$(grep -c '^# HELP' "$work/asked")" = "$(grep -c '^# HELP' "$metrics")" ] &&
	   head -n 1 "$work/answered" | grep -q "^HTTP/1.0 200 OK" &&
	   grep -q '^klin_up{spec="range"} 1$' "$work/answered"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/asked" "$work/answered")"
	fi
}

# By klin.ko's own recording: the others have tracepoints.
test_signals()
{
	configure "attach = plain"
	start
	test_socket
	name="SIGUSR1 has what is kept written"
	load_klin_ko "subject=seqlock rate=2000 duration=100000"
	wait_for more_than 1000 operations_recorded_total seqlock
	kill -USR1 "$klind"
	if wait_for a_report seqlock request && check "$report/flight.klh" &&
	   [ "$(checked_ops)" -gt 500 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log" "$work/check")"
	fi

	name="SIGHUP: a mistake is refused, and nothing changes"
	printf 'flight-time = 10\n' >>"$work/klind.conf"
	kill -HUP "$klind"
	if said "klind.conf:[0-9]*: error: flight-time = 10: expected" && said "refused" &&
	   kill -0 "$klind"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log")"
	fi

	name="SIGHUP: what is the same goes on, what is not or is gone begins anew"
	before=$(value operations_recorded_total seqlock)
	rm "$work/socket"
	sed -i '/flight-time/d; s/^\[spec range\]/[spec ports]/' "$work/klind.conf"
	kill -HUP "$klind"
	if said "read again" && grep -q "ports: watched" "$work/log" &&
	   grep -q "range: ended" "$work/log" && ! grep -q "seqlock: ended" "$work/log" &&
	   wait_for grep -q 'up{spec="ports"} 1' "$metrics" &&
	   "$ask" "$work/socket" | grep -q 'up{spec="ports"} 1' &&
	   [ "$(value operations_recorded_total seqlock)" -ge "$before" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log" "$metrics")"
	fi

	name="killed, it leaves nothing in the kernel"
	mkdir -p "$reports/.unfinished-abcdef"
	kill -KILL "$klind"
	wait "$klind" 2>/dev/null
	klind=
	test_no_bpf_left "$name"

	name="begun again, it cleans up and ends cleanly"
	begin
	finish
	if [ $ended -eq 0 ] && [ -z "$(find "$reports" -name '.unfinished*')" ] &&
	   [ ! -e "$work/socket" ] && grep -q "seqlock: ended: " "$work/log"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log")" "$(ls -A "$reports")"
	fi
	echo stop >"$ctl/load"
}

test_refusal()
{
	name="a mistake in the configuration: status 2, a line that names it"
	configure "memory = much"
	"$KLIND" --check-config --config "$work/klind.conf" >"$work/log" 2>&1
	if [ $? -eq 2 ] && grep -q "klind.conf:[0-9]*: error: memory = much: expected bytes" \
	   "$work/log"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log")"
	fi
}

ktap_header
need_root
need_klin
need_command "$KLIND" "set KLIND to the daemon's path"
need_btf
need_function inet_get_local_port_range
need_module
ktap_plan 16
bpf_ids >"$work/bpf"
warned=$(warnings)
test_refusal
test_twin
test_mutant
test_overload
test_signals
test_no_bpf_left "nothing is left in the kernel"
ktap_result $(($(warnings) - warned)) "the kernel has no complaints"
ktap_finish
