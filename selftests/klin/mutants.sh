#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Record and check each subject.  Each mutant is caught, with a counterexample that the brute-force
# oracle confirms.  Each correct seqlock and spin lock passes with KLIN_OPS operations, the other
# correct subjects with a tenth of them.  The unmodified kernel's range of local ports passes, too,
# with concurrent writers and readers.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

ops=${KLIN_OPS:-$(amount 50000 500000)}
port_ops=${KLIN_PORT_OPS:-$(amount 10000 100000)}

# Frequent drains bound the stores that may still be buffered, so that a short recording is
# conclusive.
test_mutant()
{
	spec=$(spec_of "$1")
	tries
	while again; do
		load="subject=$1,ops=10000,drain=$((16 >> try % 8 / 2)),seed=$try,delay=$try_delay"
		if ! record "$work/mutant.klh" --load "$load" "$spec"; then
			ktap_fail "$1 is caught" "$(cat "$work/record")"
			return
		fi
		check --work=50000000 "$work/mutant.klh"
		status=$?
		if [ $status -eq 1 ] && grep -q "oracle finds no order either" "$work/check"; then
			# Its threads have ended, so BPF has kept their names.
			if ! grep -q 'klin/[0-9]*, CPU [0-9]' "$work/check"; then
				ktap_fail "$1 is caught" "no thread has a name" "$(cat "$work/check")"
				return
			fi
			ktap_pass "$1 is caught" "recording $try, after $(($(seconds) - start)) s"
			return
		fi
		# Otherwise the fault did not show this time, or shrinking took too much work.
	done
	ktap_fail "$1 is caught" "not in $((try - 1)) recordings, the last:" "$(cat "$work/record" \
		"$work/check")"
}

test_correct()
{
	name="$1 is linearizable"
	n=$((ops / 10))
	case $(spec_of "$1") in
	*/seqlock.lin|*/spinlock.lin) n=$ops ;;
	esac
	if ! record "$work/correct.klh" --load "subject=$1,ops=$n" "$(spec_of "$1")"; then
		ktap_fail "$name" "$(cat "$work/record")"
	elif [ "$(status_of truth)" -ne 0 ]; then
		ktap_fail "$name" "its threads saw violations" "$(cat "$ctl/status")"
	else
		verdict "$name" "$work/correct.klh" "$n"
	fi
}

test_port_range()
{
	name="the kernel's range of local ports is linearizable"
	if ! grep -q ' [tT] inet_get_local_port_range$' /proc/kallsyms; then
		ktap_skip "$name" "no function inet_get_local_port_range in $(uname -r)"
		return
	fi
	if ! record "$work/port.klh" --load "user:port_range,ops=$((port_ops / 2))" \
	     "$KLIN_SPECS/port_range.lin"; then
		ktap_fail "$name" "$(cat "$work/record")"
		return
	fi
	if uname -v | grep -q ' PREEMPT ' && [ $(($(lost_ops))) -gt 0 ]; then
		# While a BPF program is preempted, the kernel does not run it for other tasks.
		check "$work/port.klh"
		status=$?
		ktap_note "operations were missed, so the verdict must be UNKNOWN"
		ktap_result "$([ $status -eq 3 ]; echo $?)" "$name" \
			"$(cat "$work/record" "$work/check")"
	else
		verdict "$name" "$work/port.klh" "$port_ops"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_module
# counter_timer always has a gap: see irq_hotplug.sh.  locks.sh tests mutex and rwsem, because
# their specs have probes on functions that all CPUs run.
correct=$(subjects_of correct | grep -vxE 'counter_timer|mutex|rwsem')
mutants=$(subjects_of mutant)
# shellcheck disable=SC2086 # words
ktap_plan $((1 + $(echo $correct $mutants | wc -w)))

start=$(seconds)
for subject in $mutants; do
	test_mutant "$subject"
done
for subject in $correct; do
	test_correct "$subject"
done
test_port_range
ktap_note "all of it took $(($(seconds) - start)) s"
ktap_finish
