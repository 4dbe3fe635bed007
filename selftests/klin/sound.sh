#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What makes recording hard, each made to happen: interrupts that work on the object
# while a task is inside an operation, and that hit probes at work; operations inside
# each other; tasks that go on to another CPU inside an operation; CPUs that come and go.
# Other probes that come and go on the same functions are others.sh's.
#
# Nobody is accused, and what klin.ko counted is what was recorded, in whole or in
# part, and what was lost and missed.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
. "$here/sums.sh"

ops=${KLIN_OPS:-$(amount 20000 60000)}
# What is pending since its return was missed makes a check long.
few=$((ops / 10))
cpu1=/sys/devices/system/cpu/cpu1/online

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

cpu1_goes()
{
	echo 0 >$cpu1 && wait_for ops_done_or_over $(($(status_of ops) + 1000)) && echo 1 >$cpu1
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
	if ! record_while counter_moving ops=8000,rate=5000 "$KLIN_SPECS/counter.lin" "$2"; then
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

ktap_header
need_root
need_klin
need_btf
need_module
ktap_plan 34
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
test_load "one of two clauses, in interrupts" true "counter_irq,ops=$ops" "$either"
test_load "one of two clauses, inside each other" true "counter_nested,ops=$ops" "$either"
each=2
test_load "two clauses, probes interrupted" false "counter_timer,ops=$few" "$both"
test_load "two clauses, probes interrupted, by kprobes" false \
	"counter_timer,ops=$few,cpus=0,threads=2" --attach=kprobe "$both"
test_load "two clauses, on another CPU" true "counter_moving,ops=$few" "$both"
each=1
test_cpu "a CPU goes and comes back" cpu1_goes
if echo 0 2>/dev/null >$cpu1; then
	test_cpu "a CPU comes" cpu1_comes
else
	test_cpu "a CPU comes" false
fi
ktap_finish
