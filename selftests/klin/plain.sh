#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin.ko's own recording by plain stores: without BPF it records the same, says what it
# has lost, catches a mutant and accuses no correct structure, also in interrupts; it is
# gone with who had it open.  And what the recording's header says of the store buffer.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

plain()
{
	plain_to=$1
	shift
	record "$plain_to" --attach=plain "$@"
}

# What klin.ko began: those that the end of the load interrupted are recorded, too.
began()
{
	echo "$(($(status_of ops) + $(status_of pending)))"
}

# test_all NAME FILE: each operation of klin.ko is in it, and it is linearizable.
test_all()
{
	if ! check "$2"; then
		ktap_fail "$1" "$(cat "$work/check" "$work/record")"
	elif [ "$(checked_ops)" -ne "$(began)" ] || [ "$(($(lost_ops)))" -ne 0 ]; then
		ktap_fail "$1" "$(began) operations" "$(cat "$work/check" "$work/record")"
	else
		ktap_pass "$1 ($(checked_ops) operations)"
	fi
}

test_twins()
{
	for load in seqlock:drain=16 spin:drain=16 llist:drain=0 counter_irq:drain=0; do
		subject=${load%:*}
		name="$subject: all is recorded, and right"
		if plain "$work/right.klh" --load "subject=$subject,ops=8000,${load#*:}" \
		   "$(spec_of "$subject")"; then
			test_all "$name" "$work/right.klh"
		else
			ktap_fail "$name" "$(cat "$work/record")"
		fi
	done
	# In an epoch much overlaps: a few operations in each.
	for clock in tick epoch; do
		name="seqlock by $clock: all is recorded, and right"
		if plain "$work/right.klh" --clock=$clock "$KLIN_SPECS/seqlock.lin" \
		   --load "subject=seqlock,ops=500,rate=500,drain=16"; then
			test_all "$name" "$work/right.klh"
		else
			ktap_fail "$name" "$(cat "$work/record")"
		fi
	done
}

test_mutant()
{
	name="a mutant is caught"
	for seed in 1 2 3 4 5 6; do
		plain "$work/wrong.klh" "$KLIN_SPECS/seqlock.lin" --load \
			"subject=seqlock.no_retry,ops=10000,drain=16,seed=$seed,delay=$((seed * 1000))" ||
			break
		check --certificate="$work/certificate" "$work/wrong.klh"
		[ $? -ne 1 ] || break
	done
	if [ -s "$work/certificate" ] && "$KLIN" replay "$work/certificate" >"$work/replay" 2>&1 &&
	   grep -q " 1 violations confirmed" "$work/replay"; then
		ktap_pass "$name, and the replayer agrees"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check" "$work/replay")"
	fi
}

test_lost()
{
	name="a page of buffer: recorded and lost make all, nobody is accused"
	if ! plain "$work/lost.klh" --buffer=1 --load "subject=seqlock,lossless=0,duration=300" \
	     "$KLIN_SPECS/seqlock.lin"; then
		ktap_fail "$name" "$(cat "$work/record")"
		return
	fi
	check --show=1 "$work/lost.klh"
	status=$?
	lost=$(($(lost_ops)))
	if [ $((status == 0 || status == 3)) -eq 1 ] && [ $lost -gt 0 ] &&
	   [ $(($(checked_ops) + lost)) -eq "$(began)" ]; then
		ktap_pass "$name ($(checked_ops) and $lost)"
	else
		ktap_fail "$name" "status $status, $lost lost of $(began)" "$(cat "$work/check")"
	fi
	name="no slots for all tasks: counted, nobody is accused"
	# One thread keeps the slot, and two at a time want the one that is lent.
	if plain "$work/lost.klh" --slots=1 "$KLIN_SPECS/seqlock.lin" --load \
	   "subject=seqlock,lossless=0,threads=16,delay=2000,duration=300"; then
		check --show=1 "$work/lost.klh"
		status=$?
		ktap_result $((status != 0 && status != 3 || $(lost_ops) == 0)) "$name" \
			"$(cat "$work/record" "$work/check")"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# attach.sh attaches and detaches under load.
test_one_at_a_time()
{
	name="one recording at a time, and killed it is gone"
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record $clock_error --attach=plain --duration=60 -o "$work/killed.klh" \
		"$KLIN_SPECS/seqlock.lin" >"$work/killed" 2>&1 </dev/null &
	for _ in $(seq 100); do
		[ ! -s "$work/killed" ] || break
		sleep 0.1
	done
	plain "$work/some.klh" --duration=1 "$KLIN_SPECS/seqlock.lin"
	status=$?
	kill -KILL $!
	wait $! 2>/dev/null
	if [ $status -ne 0 ] && grep -q "another recording has" "$work/record" &&
	   plain "$work/some.klh" --load "subject=seqlock,ops=1000" "$KLIN_SPECS/seqlock.lin"; then
		test_all "$name" "$work/some.klh"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/killed" "$work/record")"
	fi
}

# Checked while it is recorded.
test_monitor()
{
	name="klin monitor reads it, too"
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" monitor $clock_error --json --attach=plain \
		--load subject=seqlock,ops=5000,rate=5000,drain=16 "$KLIN_SPECS/seqlock.lin" \
		>"$work/out" 2>"$work/err" </dev/null
	ktap_result "$(grep -q '"verdict":"LINEARIZABLE","whole":true' "$work/out"; echo $?)" \
		"$name" "$(tail -n 3 "$work/out" "$work/err")"
}

# Each load has threads of its own.  Some may be lent a slot: one that is kept is given back
# a grace period after the end of its task.
test_ended_tasks()
{
	name="tasks that have ended keep no slots"
	if plain "$work/ended.klh" --slots=32 "$KLIN_SPECS/seqlock.lin" -- sh -c "
	     for _ in \$(seq 40); do
		     echo 'subject=seqlock threads=2 ops=200' >$ctl/load || exit
		     while ! grep -q state=done $ctl/status; do sleep 0.02; done
	     done" && [ "$(($(lost_ops) + $(lent)))" -lt 800 ]; then
		ktap_pass "$name ($(lent) lent)"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# refused NAME WORDS ARGUMENT...
refused()
{
	name="refused: $1" words=$2
	shift 2
	plain "$work/no.klh" --load "subject=seqlock,ops=100" "$@"
	if [ $? -eq 2 ] && grep -q "$words" "$work/record" && [ ! -e "$work/no.klh" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# says WORDS ARGUMENT...: the header of a recording that was made so.
says()
{
	words=$1
	shift
	if record "$work/says.klh" --load "subject=seqlock,ops=100" "$@" &&
	   "$KLIN" convert "$work/says.klh" - 2>&1 | grep -q "^# attached write .*$words"; then
		ktap_pass "the header says: $words"
	else
		ktap_fail "the header says: $words" "$(cat "$work/record")"
	fi
}

ktap_header
need_root
need_klin
need_module
ktap_plan 19
warned=$(warnings)
test_twins
test_mutant
test_lost
test_one_at_a_time
test_monitor
test_ended_tasks
refused "a function" "does not announce itself" "$KLIN_SPECS/port_range.lin"
refused "the clock seq" "has no clock .seq" --clock=seq "$KLIN_SPECS/seqlock.lin"
refused "a sample" "leaves no operations out" --sample=1/2 "$KLIN_SPECS/seqlock.lin"
says "klin.ko's own recording by plain stores, store buffer not drained" --attach=plain \
	"$KLIN_SPECS/seqlock.lin"
says "tracepoints, store buffer not drained" "$KLIN_SPECS/seqlock.lin"
says "tracepoints, DRAINS the store buffer, by its clock" --clock=seq "$KLIN_SPECS/seqlock.lin"
ktap_result $(($(warnings) - warned)) "the kernel has no complaints"
ktap_finish
