#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Difficulties of recording, one by one: interrupts that use the object while a task is
# inside an operation, and that hit running probes; nested operations; tasks that move to
# another CPU inside an operation; CPUs that go offline and come back.  foreign_probes.sh
# has other probes on the same functions.
#
# There is no false alarm, and recorded, lost and missed operations add up to klin.ko's own
# count.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
. "$here/lib_counts.sh"

ops=${KLIN_OPS:-$(amount 20000 60000)}
# Many pending operations, whose returns were missed, make a check slow.
few=$((ops / 10))
cpu1=/sys/devices/system/cpu/cpu1/online

# test_load NAME WHOLE SUBJECT ARGUMENT...: record a load, and judge the recording, see judge().
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

# Print the time of the last operation on CPU 1, in thousandths of the recording's duration.
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

# test_cpu NAME FUNCTION: FUNCTION makes CPU 1 go offline or come back during the load.
# Threads move inside operations, so some soon run on CPU 1 again.
test_cpu()
{
	if ! record_while counter_moving ops=8000,rate=5000 "$KLIN_SPECS/counter.lin" "$2"; then
		not_recorded "$1"
		ktap_fail "$1: later operations on CPU 1 are recorded"
	elif [ $meanwhile -ne 0 ]; then
		ktap_skip "$1: no false alarm" "CPU 1 cannot be switched off"
		ktap_skip "$1: recorded, lost and missed operations add up" \
			"CPU 1 cannot be switched off"
		ktap_skip "$1: later operations on CPU 1 are recorded" \
			"CPU 1 cannot be switched off"
	else
		judge "$1" false
		last=$(last_on_cpu1)
		ktap_result "$([ "$last" -gt 700 ]; echo $?)" "$1: later operations on CPU 1 are recorded" \
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
test_load "operations in interrupts" true "counter_irq,ops=$ops" "$KLIN_SPECS/counter.lin"
test_load "operations in interrupts, fentry" true "counter_irq,ops=$ops" "$functions"
test_load "interrupts hit running probes" false "counter_timer,ops=$few" "$KLIN_SPECS/counter.lin"
test_load "interrupts hit running probes, fentry" false "counter_timer,ops=$few" "$functions"
# This load runs on one CPU, because on several CPUs the kernel's count of missed kprobes is not
# exact.
test_load "interrupts hit running probes, kprobes" false "counter_timer,ops=$few,cpus=0,threads=2" \
	--attach=kprobe "$functions"
test_load "nested operations" true "counter_nested,ops=$ops" "$KLIN_SPECS/counter.lin"
test_load "nested operations, fentry" true "counter_nested,ops=$ops" "$functions"
test_load "tasks move to another CPU" true "counter_moving,ops=$ops" "$KLIN_SPECS/counter.lin"
test_load "tasks move to another CPU, fentry" true "counter_moving,ops=$ops" "$functions"
test_load "one of two clauses applies, operations in interrupts" true "counter_irq,ops=$ops" \
	"$either"
test_load "one of two clauses applies, nested operations" true "counter_nested,ops=$ops" "$either"
each=2
test_load "two clauses, interrupts hit running probes" false "counter_timer,ops=$few" "$both"
test_load "two clauses, interrupts hit running probes, kprobes" false \
	"counter_timer,ops=$few,cpus=0,threads=2" --attach=kprobe "$both"
test_load "two clauses, tasks move to another CPU" true "counter_moving,ops=$few" "$both"
each=1
test_cpu "a CPU goes offline and comes back" cpu1_goes
if echo 0 2>/dev/null >$cpu1; then
	test_cpu "a CPU comes online" cpu1_comes
else
	test_cpu "a CPU comes online" false
fi
ktap_finish
