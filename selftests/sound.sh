#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What makes recording hard, each made to happen: interrupts that work on the object
# while a task is inside an operation, and that hit probes at work; operations inside
# each other; tasks that go on to another CPU inside an operation; CPUs that come and
# go; other probes on the same functions that come and go.
#
# Nobody is accused, and what klin.ko counted is what was recorded, in whole or in
# part, and what was lost and missed.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

ops=${KLIN_OPS:-60000}
# What is pending since its return was missed makes a check long.
few=$((ops / 10))
cpu1=/sys/devices/system/cpu/cpu1/online

# The same counter by its functions.
functions="$work/counter.lin"
cat >"$functions" <<'END'
spec counter {
	word n = 0;
	method inc() -> word old { atomic_flush { n += 1; return n - 1; } }
	method get() -> word v { atomic { return n; } }
}
probe inc on klin_counter_inc(counter) { object counter; result old = return; }
probe get on klin_counter_get(counter) { object counter; result v = return; }
END

# said WORD: the number behind it in what klin record said.
said()
{
	sed -n "s/^\(.*, \)\{0,1\}$1 \([0-9]*\).*/\2/p" "$work/record"
}

# What klin.ko began.
began()
{
	echo $(($(status_of ops) + $(status_of pending)))
}

# The calls that klin tells of.
told()
{
	echo $(($(checked_ops) - $(said "without a call") + $(said lost) +
		$(said "calls missed")))
}

# judge NAME WHOLE: of $work/s.klh, and what klin record said of it.  WHOLE: nothing may
# be missing.
judge()
{
	check --time-limit=5 --show=1 "$work/s.klh"
	status=$?
	if [ "$(status_of truth)" -ne 0 ]; then
		ktap_fail "$1: no false alarm" "klin.ko's threads saw violations"
	elif [ $status -eq 0 ] || { [ $status -eq 3 ] && ! "$2"; }; then
		ktap_pass "$1: no false alarm, $(said lost) lost, $(said missed) missed," \
			"$(sed -n 2p "$work/check")"
	else
		ktap_fail "$1: no false alarm" "status $status" "$(cat "$work/record" "$work/check")"
	fi
	if [ "$(told)" -eq "$(began)" ]; then
		ktap_pass "$1: recorded, lost and missed make $(began)"
	else
		ktap_fail "$1: recorded, lost and missed make $(began)" "but $(told)" \
			"$(cat "$work/record" "$work/check")"
	fi
}

not_recorded()
{
	ktap_fail "$1: no false alarm" "$(cat "$work/record")"
	ktap_fail "$1: recorded, lost and missed add up"
}

# test_load NAME WHOLE SUBJECT ARGUMENT...
test_load()
{
	name=$1 whole=$2 subject=$3
	shift 3
	if record "$work/s.klh" --load "subject=$subject" "$@"; then
		judge "$name" "$whole"
	else
		not_recorded "$name"
	fi
}

# Record $3 for two seconds; the function $4 runs meanwhile.  Sets $meanwhile to its status.
record_while()
{
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record $clock_error -v -o "$work/s.klh" --load "subject=$1,lossless=0,$2" "$3" \
		>"$work/record" 2>&1 </dev/null &
	recorder=$!
	for _ in $(seq 200); do
		[ "$(status_of state)" != running ] || break
		sleep 0.05
	done
	sleep 0.3
	"$4"
	meanwhile=$?
	wait $recorder
}

cpu1_goes()
{
	echo 0 >$cpu1 && sleep 0.5 && echo 1 >$cpu1
}

cpu1_comes()
{
	echo 1 >$cpu1
}

# When the last operation on CPU 1 was, in parts of a thousand of all the time.
last_on_cpu1()
{
	"$KLIN" convert --to=text "$work/s.klh" - | awk '
	/^t/ {
		for (i = 6; i <= NF; i++)
			if ($i == "cpu=1" && $4 != "-")
				last = $4
		if (first == "")
			first = $3
		if ($4 != "-" && $4 > end)
			end = $4
	}
	END { print int((last - first) * 1000 / (end - first)) }'
}

# test_cpu NAME FUNCTION: while CPU 1 goes and comes, as FUNCTION does it.  Threads move
# inside operations, so some are soon on CPU 1 again.
test_cpu()
{
	if ! record_while counter_moving duration=2500,rate=5000 "$KLIN_SPECS/counter.lin" "$2"; then
		not_recorded "$1"
		ktap_fail "$1: CPU 1 is read again"
	elif [ $meanwhile -ne 0 ]; then
		ktap_skip "$1: no false alarm" "CPU 1 cannot be switched off"
		ktap_skip "$1: recorded and lost add up" "CPU 1 cannot be switched off"
		ktap_skip "$1: CPU 1 is read again" "CPU 1 cannot be switched off"
	else
		judge "$1" false
		last=$(last_on_cpu1)
		ktap_result "$([ "$last" -gt 700 ]; echo $?)" "$1: CPU 1 is read again" \
			"its last operation ends at $last of 1000" "$(cat "$work/record")"
	fi
	echo 1 >$cpu1 2>/dev/null
}

# Other probes on the same functions come and go, which makes calls under way skip
# what waits for their return.
others()
{
	for _ in 1 2 3; do
		"$KLIN" record --clock-error=200 -o "$work/other.klh" --duration=0.1 "$functions" \
			>"$work/other" 2>&1 </dev/null || return
	done
}

test_others()
{
	name="other probes come and go"
	if ! record_while counter_nested duration=6000,rate=5000 "$functions" others; then
		not_recorded "$name"
	elif [ $meanwhile -ne 0 ]; then
		ktap_fail "$name: no false alarm" "$(cat "$work/other")"
		ktap_fail "$name: recorded, lost and missed add up"
	else
		judge "$name" false
	fi
}

ktap_header
need_klin
need_btf
need_module
ktap_plan 26
test_load "in interrupts" true "counter_irq,ops=$ops" "$KLIN_SPECS/counter.lin"
test_load "in interrupts, by fentry" true "counter_irq,ops=$ops" "$functions"
test_load "probes interrupted" false "counter_timer,ops=$few" "$KLIN_SPECS/counter.lin"
test_load "probes interrupted, by fentry" false "counter_timer,ops=$few" "$functions"
# On one CPU, since the kernel's count of a kprobe's misses is not exact on several.
test_load "probes interrupted, by kprobes" false "counter_timer,ops=$few,cpus=0,threads=2" \
	--attach=kprobe "$functions"
test_load "inside each other" true "counter_nested,ops=$ops" "$KLIN_SPECS/counter.lin"
test_load "inside each other, by fentry" true "counter_nested,ops=$ops" "$functions"
test_load "on another CPU" true "counter_moving,ops=$ops" "$KLIN_SPECS/counter.lin"
test_load "on another CPU, by fentry" true "counter_moving,ops=$ops" "$functions"
test_cpu "a CPU goes and comes back" cpu1_goes
if echo 0 2>/dev/null >$cpu1; then
	test_cpu "a CPU comes" cpu1_comes
else
	test_cpu "a CPU comes" false
fi
test_others
ktap_finish
