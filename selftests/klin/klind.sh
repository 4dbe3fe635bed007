#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klind: two structures at once, under load.  A mutant is reported within seconds, its
# correct twin is not; klin check and klin replay agree with the report.  Too much load
# drops whole objects without a false alarm.  klind's counters add up to klin.ko's own
# count.  klind reads its configuration again on SIGHUP, and ends cleanly, also after it was
# killed.  It does all this without privileges, but for what attaches a structure later.
#
# klind is killed and restarted under load.  QEMU before 8.1 can execute a stale breakpoint
# forever if code is patched while another CPU runs it.  With TCG this test needs -accel
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
hear=
drop=yes	# drop-privileges of the configuration
socket=/run/systemd/journal/socket

klind_cleanup()
{
	[ -z "$klind" ] || kill -9 "$klind" 2>/dev/null
	[ -z "${sysctl:-}" ] || kill "$sysctl" 2>/dev/null
	[ -z "$hear" ] || { kill "$hear"; rm -f "$socket"; }
	echo "$range_was" >$range
	klin_cleanup
}
trap klind_cleanup EXIT

# configure SPEC-LINE...: write a configuration with these lines for klin.ko's seqlock, and
# a second spec.
configure()
{
	cat >"$work/klind.conf" <<-END
	[klind]
	reports = $reports
	report-interval = 1s
	drop-privileges = $drop
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

# Take the spec range out of the configuration.
without_range()
{
	sed -i '/^\[spec range\]/,/^$/d' "$work/klind.conf"
}

# Start klind and wait until it watches.  The log starts empty.
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

# Stop klind; sets $ended to its status.
finish()
{
	kill -TERM "$klind"
	wait "$klind"
	ended=$?
	klind=
	grep "denied the system call" "$work/log" >>"$work/denied"
}

# True if no thread of klind has a capability or may get one, and all have a filter.
confined()
{
	for task in "/proc/$klind/task"/*; do
		[ "$(grep -cE '^Cap[A-Z][a-z]+:[[:space:]]*0+$' "$task/status")" -eq 5 ] &&
			grep -qE '^NoNewPrivs:[[:space:]]*1$' "$task/status" &&
			grep -qE '^Seccomp:[[:space:]]*2$' "$task/status" || return 1
	done
}

# value NAME SPEC: print the value of a metric.
value()
{
	sed -n "s/^klin_$1{spec=\"$2\"} //p" "$metrics" 2>/dev/null
}

# more_than N NAME SPEC: true if the metric is greater than N.
more_than()
{
	[ "$(value "$2" "$3" | grep . || echo 0)" -gt "$1" ]
}

verdict_is()
{
	grep -q "^klin_verdict{spec=\"$1\",verdict=\"$2\"} 1" "$metrics"
}

# Without a gap the verdict is linearizable; losses of a slow machine make it unknown.
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

# Load a seqlock whose reader does not retry, until klind has reported a violation.
load_until_violation()
{
	tries
	while again; do
		load_klin_ko "subject=seqlock.no_retry rate=4000 duration=3000 drain=16 \
			seed=$try delay=$try_delay"
		wait_for reported_or_over && a_report seqlock violation && break
	done
}

# Write and read the kernel's own seqlock, until $sysctl is killed.
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
	name="a correct seqlock and the kernel's port range cause no report"
	cat >"$work/missing.lin" <<-'END'
	spec missing { word x; method get() -> word v { atomic { return x; } } }
	probe get on no_such_function() { result v = return; }
	END
	configure "[spec missing]" "file = $work/missing.lin"
	# If the machine stood still for a while, klind may have dropped the seqlock for load; then
	# try again.
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
		ktap_pass "$name" "$(value operations_checked_total seqlock) and" \
			"$(value operations_checked_total range) operations"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log" "$metrics")" "$(ls "$reports")"
	fi
	[ "$(value up missing)" = 0 ] && grep -q "klind watches only 2 of 3 structures" "$work/log" &&
		! grep -q "missing: watched" "$work/log"
	ktap_result $? "a structure that this kernel lacks is left out" "$(cat "$work/log" "$metrics")"
	name="recorded and lost operations add up to klin.ko's count"
	all=$(($(status_of ops) + $(status_of pending)))
	recorded=$(value operations_recorded_total seqlock)
	lost=$(value operations_lost_total seqlock)
	sum=$((${recorded:-0} + ${lost:-0}))
	if [ "$all" -eq "$sum" ] && [ "$all" -gt 1000 ]; then
		ktap_pass "$name" "$all operations"
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
	ask=$here/ask
	name="a mutant is reported while it runs"
	configure "flight-memory = 64M" "stacks = yes"
	start
	wait_for confined
	ktap_result $? "every thread drops its capabilities and filters system calls" \
		"$(grep -E '^(Name|Cap|NoNew|Seccomp)' "/proc/$klind/task"/*/status)"
	from=$(seconds)
	load_until_violation
	if a_report seqlock violation; then
		ktap_pass "$name" "after $(($(seconds) - from)) s"
	else
		ktap_fail "$name" "$(cat "$work/log" "$metrics")"
		finish
		return
	fi
	echo stop >"$ctl/load"
	"$KLIN" top --once --socket="$work/socket" >"$work/top" 2>&1
	"$ask" "$work/socket" "GET /top/seqlock HTTP/1.0

" >"$work/story"
	grep -q '^ *range .*LINEARIZABLE\|^ *range .*UNKNOWN' "$work/top" &&
		grep -q '^ *seqlock .*VIOLATION' "$work/top" && grep -q 'What is wrong: ' "$work/story"
	ktap_result $? "klin top shows both structures, and the story of the mutant" \
		"$(cat "$work/top" "$work/story")"
	finish
	check "$report/history.klh"
	status=$?
	check "$report/flight.klh"
	ktap_result $((status * 10 + $? - 11)) "klin check finds the violation in the report's histories" \
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
	grep -q '"comm": "klin/[0-9]*"' "$report/report.json" &&
		grep -q '"stack":' "$report/report.json" &&
		grep -q '"kthread+0x' "$report/report.json"
	ktap_result $? "the report names threads and has the stacks of calls" \
		"$(cat "$report/report.json")"
	name="the other spec has no violation, and no unfinished report is left"
	if [ $ended -eq 0 ] && ! a_report range violation && verdict_is seqlock violation &&
	   ! verdict_is range violation && [ -z "$(find "$reports" -name '.unfinished*')" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log")" "$(ls -A "$reports")"
	fi
}

# A load at full speed, with small buffers.
test_overload()
{
	name="with too much load klind drops whole objects, and raises no false alarm"
	configure "buffer = 64" "memory = 1M" "report-unknown = yes"
	without_range
	start
	load_klin_ko "subject=seqlock duration=2500"
	wait_done
	finish
	if [ $ended -eq 0 ] && [ "$(value violations_total seqlock)" = 0 ] &&
	   [ "$(value object_drops_total seqlock)" -gt 0 ] &&
	   [ "$(value operations_skipped_total seqlock)" -gt 0 ] &&
	   verdict_is seqlock unknown && a_report seqlock unknown &&
	   check "$report/flight.klh"; [ $? -ne 1 ]; then
		ktap_pass "$name" "$(value operations_checked_total seqlock) operations checked," \
			"$(value operations_skipped_total seqlock) not"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log" "$metrics" "$work/check")"
	fi
}

# said WORDS: wait until a line of the log has these words.
said()
{
	wait_for grep -q "$1" "$work/log"
}

# Run this while klind watches.
test_socket()
{
	name="the socket gives the metrics of the file, also by HTTP"
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

# The present report of a request is not $1.
another_report()
{
	a_report range request && [ "$report" != "$1" ]
}

# klind can do some things without privileges, and refuses the others.
test_confined()
{
	configure
	sed -i 's/^report-interval.*/&\nkeep-reports = 2/' "$work/klind.conf"
	start
	wait_for confined
	name="without privileges, SIGUSR1 writes reports, and old ones are removed"
	kill -USR1 "$klind"
	wait_for a_report range request
	first=$report
	kill -USR1 "$klind"
	if wait_for another_report "$first" && wait_for [ ! -d "$first" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log")" "$(ls -A "$reports")"
	fi

	name="without privileges, SIGHUP refuses a new structure, and nothing changes"
	sed 's/^\[spec range\]/[spec ports]/' "$work/klind.conf" >"$work/other"
	cp "$work/klind.conf" "$work/first"
	cp "$work/other" "$work/klind.conf"
	kill -HUP "$klind"
	if said "\[spec ports\]: klind has dropped the privileges" && said "refused" &&
	   ! grep -q "ended" "$work/log" && kill -0 "$klind"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log")"
	fi

	name="without privileges, SIGHUP ends a structure, and klind detaches and ends"
	cp "$work/first" "$work/klind.conf"
	without_range
	kill -HUP "$klind"
	said "read again"
	kill -0 "$klind" && grep -q "range: ended" "$work/log" &&
		! grep -q "seqlock: ended" "$work/log"
	status=$?
	finish
	ktap_result $((status + ended)) "$name" "status $ended" "$(cat "$work/log")"
}

# Run this on CPU 1, which klind does not read.
refused()
{
	taskset 2 sh -c "echo '20000 60999' >$range; read -r low high <$range"
	grep -q "CPU 1 came online, but its events cannot be read" "$work/log"
}

test_hotplug()
{
	name="without privileges, the events of a new CPU are lost, and the verdict is unknown"
	online=/sys/devices/system/cpu/cpu1/online
	if [ ! -e $online ] || ! command -v taskset >/dev/null || ! echo 0 2>/dev/null >$online; then
		ktap_skip "$name" "no CPU 1 that can go offline, or no taskset"
		return
	fi
	configure
	start
	wait_for confined
	echo 1 >$online
	wait_for refused
	wait_for verdict_is range unknown
	finish
	if [ $ended -eq 0 ] && verdict_is range unknown && [ "$(value violations_total range)" = 0 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log" "$metrics")"
	fi
}

# heard WORDS: true if a message of the journal has these words.
heard()
{
	grep -q "$1" "$work/heard"
}

# A program in the journal's place, and a log file that JOURNAL_STREAM names.
test_journal()
{
	name="the journal gets messages with fields"
	if [ -e "$socket" ]; then
		ktap_skip "$name" "$socket is there"
		return
	fi
	mkdir -p "$(dirname "$socket")"
	"$here/hear" "$socket" >"$work/heard" &
	hear=$!
	wait_for [ -S "$socket" ]
	configure
	rm -rf "$reports"
	: >"$work/log"
	JOURNAL_STREAM=$(stat -c %d:%i "$work/log") \
		"$KLIND" --config "$work/klind.conf" >"$work/log" 2>&1 </dev/null &
	klind=$!
	wait_for heard "MESSAGE=watching 2 structures, without privileges"
	load_until_violation
	echo stop >"$ctl/load"
	wait_for heard "^KLIN_REPORT="
	finish
	kill "$hear"
	hear=
	rm -f "$socket"
	if [ $ended -eq 0 ] && [ ! -s "$work/log" ] && heard "^KLIN_VERDICT=VIOLATION$" &&
	   heard "^MESSAGE_ID=5fedbaba673d4eb4a1ed9a9e7447ddd8$" && heard "^KLIN_SPEC=seqlock$" &&
	   heard "^KLIN_OBJECT=0x[0-9a-f]*$" && heard "^KLIN_REPORT=$reports/.*-seqlock-violation$" &&
	   heard "^MESSAGE=ended$"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log" "$work/heard")"
	fi
}

# This test uses klin.ko's own recording; the other tests use tracepoints.  klind keeps its
# privileges here, since it attaches again, until it was killed.
test_signals()
{
	drop=no
	configure "attach = plain"
	start
	test_socket
	name="SIGUSR1: the flight recorder is written as a report"
	load_klin_ko "subject=seqlock rate=2000 duration=100000"
	wait_for more_than 1000 operations_recorded_total seqlock
	kill -USR1 "$klind"
	if wait_for a_report seqlock request && check "$report/flight.klh" &&
	   [ "$(checked_ops)" -gt 500 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log" "$work/check")"
	fi

	name="SIGHUP: a wrong configuration is refused, and nothing changes"
	printf 'flight-time = 10\n' >>"$work/klind.conf"
	kill -HUP "$klind"
	if said "klind.conf:[0-9:]*: error: flight-time = 10: expected" && said "refused" &&
	   kill -0 "$klind"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log")"
	fi

	name="SIGHUP: unchanged specs go on, changed ones start again, removed ones end"
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

	name="killed, klind leaves nothing in the kernel"
	mkdir -p "$reports/.unfinished-abcdef"
	kill -KILL "$klind"
	wait "$klind" 2>/dev/null
	klind=
	test_no_bpf_left "$name"

	# The load goes on, so operations are recorded without privileges.
	name="attach = plain works without privileges"
	drop=yes
	configure "attach = plain"
	rm -f "$metrics"
	begin
	wait_for confined
	ops=$(value operations_checked_total seqlock)
	if confined && wait_for more_than "$((${ops:-0} + 1000))" operations_checked_total seqlock &&
	   [ "$(value violations_total seqlock)" = 0 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log" "$metrics")"
	fi

	name="started after a kill, klind removes unfinished reports and ends cleanly"
	finish
	if [ $ended -eq 0 ] && [ -z "$(find "$reports" -name '.unfinished*')" ] &&
	   [ ! -e "$work/socket" ] && grep -q "seqlock: ended: " "$work/log"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $ended" "$(cat "$work/log")" "$(ls -A "$reports")"
	fi
	echo stop >"$ctl/load"
}

# The directory of the metrics is made only after the start.
test_metrics()
{
	name="klind goes on without a file of metrics, and writes it as soon as it can"
	configure "[spec missing]" "file = $work/missing.lin"
	sed -i "s,^metrics = .*,metrics = $work/gone/klin.prom," "$work/klind.conf"
	begin
	said "cannot write metrics to .*gone/klin.prom: No such file"
	failed=$?
	"$here/ask" "$work/socket" "GET /top HTTP/1.1

" >"$work/answered"
	mkdir "$work/gone"
	if wait_for [ -e "$work/gone/klin.prom" ] && [ $failed -eq 0 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/log")"
	fi
	grep -q '"name":"missing","watched":false,.*could not be attached' "$work/answered"
	ktap_result $? "klin top is told of a structure that is left out" "$(cat "$work/answered")"
	finish

	name="the first file of metrics is of what is watched"
	sed -i 's/^metrics-interval.*/metrics-interval = 1h/' "$work/klind.conf"
	rm "$work/gone/klin.prom"
	begin
	wait_for [ -e "$work/gone/klin.prom" ]
	grep -qx 'klin_up{spec="seqlock"} 1' "$work/gone/klin.prom" &&
		grep -qx 'klin_verdict{spec="seqlock",verdict="unknown"} 1' "$work/gone/klin.prom"
	ktap_result $? "$name" "$(cat "$work/gone/klin.prom")"
	finish
}

test_refusal()
{
	name="a wrong configuration gives status 2, and a line that names the mistake"
	configure "memory = much"
	"$KLIND" --check-config --config "$work/klind.conf" >"$work/log" 2>&1
	if [ $? -eq 2 ] && grep -q "klind.conf:[0-9:]*: error: memory = much: expected bytes" \
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
ktap_plan 30
bpf_ids >"$work/bpf"
warned=$(warnings)
test_refusal
test_twin
test_metrics
test_mutant
test_overload
test_confined
test_hotplug
test_journal
test_signals
[ ! -s "$work/denied" ]
ktap_result $? "the filter denies no system call that klind uses" "$(cat "$work/denied")"
test_no_bpf_left "klind leaves nothing in the kernel"
ktap_result $(($(warnings) - warned)) "no warning in the kernel's log"
ktap_finish
