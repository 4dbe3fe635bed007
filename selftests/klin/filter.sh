#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Filters by process, CPU and object.  All selected operations are recorded, and no others.
# Operations of other tasks and CPUs on the same objects cause no false alarm.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

range=/proc/sys/net/ipv4/ip_local_port_range

# run_load SETTINGS OPTION...: record klin.ko's threads, which exist already; PID in an
# option is replaced by the first thread's.
run_load()
{
	settings=$1
	shift
	echo "$settings seed=1 ops=4000 paused=1" >"$ctl/load" || return
	pid=$(grep -lx klin/0 /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3)
	for option; do
		set -- "$@" "$(echo "$option" | sed "s/PID/$pid/")"
		shift
	done
	record "$work/f.txt" "$@" "$KLIN_SPECS/seqlock.lin" -- sh -c \
		"echo start >$ctl/load; while ! grep -q state=done $ctl/status; do sleep 0.1; done"
}

recorded() { grep -cE '^t[0-9]+ @' "$work/f.txt"; }

# whole NAME OPERATIONS: the recording has this number of operations, and is linearizable.
whole()
{
	if check "$work/f.txt" && [ "$(recorded)" -eq "$2" ] && ! grep -q gap "$work/check"; then
		ktap_pass "$1"
	else
		ktap_fail "$1" "expected $2 operations without a gap" \
			"$(cat "$work/record" "$work/check")"
	fi
}

# in_part NAME MOST: the verdict is UNKNOWN, because other tasks or CPUs use the object, too; at
# most MOST operations are recorded.
in_part()
{
	check "$work/f.txt"
	status=$?
	n=$(recorded)
	if [ $status -eq 3 ] && [ "$n" -gt 0 ] && [ "$n" -le "$2" ] &&
	   grep -q "^1 of 1 objects were also used by others" "$work/record"; then
		ktap_pass "$1" "$n operations"
	else
		ktap_fail "$1" "status $status, expected UNKNOWN; $n operations" \
			"$(cat "$work/record" "$work/check")"
	fi
}

test_module()
{
	run_load "subject=seqlock threads=1 cpus=0" --pid=PID
	whole "tracepoints, --pid: all operations of that thread are recorded" 4000
	run_load "subject=seqlock threads=2" --pid=PID
	in_part "tracepoints, --pid: another thread on the same object raises no false alarm" 2000
	run_load "subject=seqlock threads=1 cpus=0" --cpu=0
	whole "tracepoints, --cpu: all operations on that CPU are recorded" 4000
	run_load "subject=seqlock threads=2" --cpu=1
	in_part "tracepoints, --cpu: another CPU on the same object raises no false alarm" 2000
}

# Start a process that writes numbers from $1 on to the range and reads it, while $work/go
# exists.  (QEMU before 8.1 can hang if the functions are patched meanwhile.) $work/busy.$1
# exists while it does so, and $work/wrote.$1 after its hundredth write.
start_writer()
{
	(
		i=$1 turn=0
		while [ ! -e "$work/stop" ]; do
			if [ ! -e "$work/go" ]; then
				rm -f "$work/busy.$1"
				turn=0
				sleep 0.05
				continue
			fi
			case $turn in
			0) : >"$work/busy.$1" ;;
			100) : >"$work/wrote.$1" ;;
			esac
			turn=$((turn + 1))
			i=$((i + 1))
			echo "$i $((i + 20000))" >$range
			read -r _ <$range
			read -r _ <$range
		done
	) &
}

# record_writers WRITERS OPTION...: record a hundred writes of each writer.  All writers
# have seen the removal of $work/go before klin detaches.
record_writers()
{
	writers=$1
	shift
	rm -f "$work"/wrote.*
	record "$work/f.txt" "$@" "$KLIN_SPECS/port_range.lin" -- \
		sh -c "touch '$work/go'
			until [ \$(ls '$work' | grep -c '^wrote') -eq $writers ]; do sleep 0.1; done
			rm '$work/go'
			while ls '$work' | grep -q '^busy'; do sleep 0.1; done"
}

test_functions()
{
	old=$(cat $range)
	rm -f "$work/stop"
	start_writer 10000
	one=$!
	record_writers 1 --pid=$one
	n=$(recorded)
	if check "$work/f.txt" && [ "$n" -gt 50 ]; then
		ktap_pass "fentry, --pid: the operations of the only process are linearizable" \
			"$n operations"
	else
		ktap_fail "fentry, --pid: the operations of the only process are linearizable" \
			"$n operations" \
			"$(cat "$work/record" "$work/check")"
	fi
	start_writer 30000
	record_writers 2 --pid=$one
	in_part "fentry, --pid: another process on the same object raises no false alarm" 1000000000
	touch "$work/stop"
	wait
	echo "$old" >$range
}

# Write and read the range in each of 24 network namespaces, which exist at the same time.
# They wait at a FIFO, since polling by 24 shells would keep a slow kernel busy.
test_sample()
{
	rm -f "$work"/made.* "$work/all"
	mkfifo "$work/all"
	record "$work/f.txt" "$@" "$KLIN_SPECS/port_range.lin" -- sh -c "
		for i in \$(seq 24); do
			unshare -n sh -c 'echo 20000 30000 >$range; read -r a <$range
				touch $work/made.\$0; : <$work/all' \$i &
		done
		until [ \$(ls $work/made.* 2>/dev/null | wc -l) -eq 24 ]; do sleep 0.3; done
		exec 3>$work/all
		wait"
	check "$work/f.txt"
	status=$?
	awk '/^t[0-9]+ @/ { n[$2] += $5 == "set" ? 100 : 1 }
		END { for (o in n) { all++; each = n[o] } for (o in n) odd += n[o] != each
		      print all + 0, odd + 0, each + 0 }' "$work/f.txt" >"$work/objects"
	read -r all odd each <"$work/objects"
}

test_namespaces()
{
	if [ ! -e /proc/self/ns/net ]; then
		ktap_skip "without --sample: all 24 objects are recorded" "no network namespaces"
		ktap_skip "--sample=1/4: some objects are recorded, each with all its operations" \
			"no network namespaces"
		return
	fi
	test_sample
	whole=$each
	ktap_result "$([ "$all $odd $status" = "24 0 0" ]; echo $?)" \
		"without --sample: all 24 objects are recorded" "$all objects, $odd in part" \
		"$(cat "$work/record" "$work/check")"
	test_sample --sample=1/4
	if [ "$all" -ge 1 ] && [ "$all" -lt 24 ] && [ "$odd $each $status" = "0 $whole 0" ]; then
		ktap_pass "--sample=1/4: some objects are recorded, each with all its operations" \
			"$all objects"
	else
		ktap_fail "--sample=1/4: some objects are recorded, each with all its operations" \
			"$all objects, $odd in part, status $status" "$(cat "$work/record" "$work/check")"
	fi
}

test_no_object()
{
	cat >"$work/none.lin" <<-'END'
	spec s { word x; method get() -> word v { atomic { return x; } } }
	probe get on ktime_get() { result v = return; }
	END
	record "$work/no.klh" --sample=1/2 --duration=1 "$work/none.lin"
	status=$?
	ktap_result "$([ $status -eq 2 ] && grep -q 'no object' "$work/record"; echo $?)" \
		"--sample is refused for methods without an object" "$(cat "$work/record")"
}

# When klin attaches to objects in use, it waits until the CPUs have drained.  It visits the
# CPUs that it may disturb.
test_off_cpus()
{
	name="--cpu=0: klin itself does not run on CPU 1"
	tracing=/sys/kernel/debug/tracing
	switches=$tracing/events/sched/sched_switch
	if ! echo 'next_comm == "klin"' >$switches/filter || ! echo >$tracing/trace; then
		ktap_skip "$name" "no tracing"
		return
	fi
	echo 1 >$switches/enable
	taskset 1 "$KLIN" record --clock-error=200 --cpu=0 --duration=0.1 -o "$work/o.klh" \
		"$KLIN_SPECS/spinlock.lin" >"$work/record" 2>&1 </dev/null
	status=$?
	echo 0 >$switches/enable
	echo 0 >$switches/filter
	on0=$(grep -c sched_switch $tracing/per_cpu/cpu0/trace)
	on1=$(grep -c sched_switch $tracing/per_cpu/cpu1/trace)
	if [ $status -eq 0 ] && [ "$on0" -gt 0 ] && [ "$on1" -eq 0 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, switches to klin: $on0 on CPU 0, $on1 on CPU 1" \
			"$(cat "$work/record")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_function inet_get_local_port_range
need_module
[ "$(nproc)" -ge 2 ] || ktap_skip_all "needs two CPUs"
ktap_plan 10
test_module
test_functions
test_namespaces
test_no_object
test_off_cpus
ktap_finish
