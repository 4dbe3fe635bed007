#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin.ko's own recording by plain stores.  Without BPF it records all operations, reports its
# losses, catches a mutant and raises no false alarm, also in interrupts.  It ends when its file
# is closed.  The header of a recording says whether the recorder drained the store buffer.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

plain()
{
	plain_to=$1
	shift
	record "$plain_to" --attach=plain "$@"
}

# Print the number of operations that klin.ko began.  Those that the end of the load
# interrupted are recorded, too.
began()
{
	echo "$(($(status_of ops) + $(status_of pending)))"
}

# test_all NAME FILE: each operation of klin.ko's last load is recorded, and the history is
# linearizable.
test_all()
{
	if ! check "$2"; then
		ktap_fail "$1" "$(cat "$work/check" "$work/record")"
	elif [ "$(checked_ops)" -ne "$(began)" ] || [ "$(($(lost_ops)))" -ne 0 ]; then
		ktap_fail "$1" "$(began) operations" "$(cat "$work/check" "$work/record")"
	else
		ktap_pass "$1" "$(checked_ops) operations"
	fi
}

test_twins()
{
	for load in seqlock:drain=16 spin:drain=16 llist:drain=0 counter_irq:drain=0; do
		subject=${load%:*}
		name="$subject: every operation is recorded, and the history is linearizable"
		if plain "$work/right.klh" --load "subject=$subject,ops=8000,${load#*:}" \
		   "$(spec_of "$subject")"; then
			test_all "$name" "$work/right.klh"
		else
			ktap_fail "$name" "$(cat "$work/record")"
		fi
	done
	# Operations of an epoch overlap, so run only a few in each.
	for clock in tick epoch; do
		name="seqlock, clock $clock: every operation is recorded, and the history is linearizable"
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
	name="seqlock.no_retry is caught, and klin replay confirms it"
	for seed in 1 2 3 4 5 6; do
		plain "$work/wrong.klh" "$KLIN_SPECS/seqlock.lin" --load \
			"subject=seqlock.no_retry,ops=10000,drain=16,seed=$seed,delay=$((seed * 1000))" ||
			break
		check --certificate="$work/certificate" "$work/wrong.klh"
		[ $? -ne 1 ] || break
	done
	if [ -s "$work/certificate" ] && "$KLIN" replay "$work/certificate" >"$work/replay" 2>&1 &&
	   grep -q " 1 violations confirmed" "$work/replay"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check" "$work/replay")"
	fi
}

test_lost()
{
	name="a buffer of one page: recorded and lost operations add up, without a false alarm"
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
		ktap_pass "$name" "$(checked_ops) recorded, $lost lost"
	else
		ktap_fail "$name" "status $status, $lost lost of $(began)" "$(cat "$work/check")"
	fi
	name="fewer slots than tasks: missed operations are counted, and raise no false alarm"
	# One thread keeps the slot; sometimes two others need the lent slot at the same time.
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

# A process that is killed while it records leaves klin.ko free for the next recording.
test_one_at_a_time()
{
	name="a second recording is refused until the first is killed"
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
	if [ $status -ne 0 ] && grep -q "another recording uses" "$work/record" &&
	   plain "$work/some.klh" --load "subject=seqlock,ops=1000" "$KLIN_SPECS/seqlock.lin"; then
		test_all "$name" "$work/some.klh"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/killed" "$work/record")"
	fi
}

# klin monitor checks the recording while the load runs.
test_monitor()
{
	name="klin monitor finds the recording of a correct seqlock linearizable"
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" monitor $clock_error --json --attach=plain \
		--load subject=seqlock,ops=5000,rate=5000,drain=16 "$KLIN_SPECS/seqlock.lin" \
		>"$work/out" 2>"$work/err" </dev/null
	ktap_result "$(grep -q '"verdict":"LINEARIZABLE","whole":true' "$work/out"; echo $?)" \
		"$name" "$(tail -n 3 "$work/out" "$work/err")"
}

# Each load has new threads.  Some may borrow a slot, since a kept slot is freed a grace
# period after the end of its task.
test_ended_tasks()
{
	name="tasks that have ended do not keep their slots"
	if plain "$work/ended.klh" --slots=32 "$KLIN_SPECS/seqlock.lin" -- sh -c "
	     for _ in \$(seq 40); do
		     echo 'subject=seqlock threads=2 ops=200' >$ctl/load || exit
		     while ! grep -q state=done $ctl/status; do sleep 0.02; done
	     done" && [ "$(($(lost_ops) + $(lent)))" -lt 800 ]; then
		ktap_pass "$name" "slots were lent $(lent) times"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# refused NAME WORDS ARGUMENT...: klin record --attach=plain refuses the arguments with these words,
# and writes no file.
refused()
{
	name="--attach=plain refuses $1" words=$2
	shift 2
	plain "$work/no.klh" --load "subject=seqlock,ops=100" "$@"
	if [ $? -eq 2 ] && grep -q "$words" "$work/record" && [ ! -e "$work/no.klh" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# says WORDS ARGUMENT...: the header of a recording with these arguments has WORDS.
says()
{
	words=$1
	shift
	if record "$work/says.klh" --load "subject=seqlock,ops=100" "$@" &&
	   "$KLIN" convert "$work/says.klh" - 2>&1 | grep -q "^# attached write .*$words"; then
		ktap_pass "the header of the recording has: $words"
	else
		ktap_fail "the header of the recording has: $words" "$(cat "$work/record")"
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
refused "a probe on a function" "expected a target klin:SUBJECT.METHOD" "$KLIN_SPECS/port_range.lin"
refused "--clock=seq" "excludes --clock=seq" --clock=seq "$KLIN_SPECS/seqlock.lin"
refused "--sample" "excludes --sample" --sample=1/2 "$KLIN_SPECS/seqlock.lin"
says "klin.ko's own recording by plain stores, store buffer not drained" --attach=plain \
	"$KLIN_SPECS/seqlock.lin"
says "tracepoints, store buffer not drained" "$KLIN_SPECS/seqlock.lin"
says "tracepoints, DRAINS the store buffer, by its clock" --clock=seq "$KLIN_SPECS/seqlock.lin"
ktap_result $(($(warnings) - warned)) "no warning in the kernel's log"
ktap_finish
