#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The story of an explorer's run and of a verifier's alarm.  run_story.py replays the steps of the
# run, and checks that the store that is named was in the buffer.

. "$(dirname "$0")/common.sh"
models=$specs/explore

# told NAME SENTENCE...: the text has each sentence, when its lines are joined.
told()
{
	name=$1 missing=
	shift
	tr '\n' ' ' <out | tr -s ' ' >joined
	for sentence; do
		grep -qF "$sentence" joined || missing="$missing '$sentence'"
	done
	[ $status -eq 1 ] && [ ! -s err ] && [ -z "$missing" ]
	ktap_result $? "$name" "status $status, missing:$missing" "$(cat out err)"
}

# replayed NAME HAS ARGUMENT...: the story in JSON holds in the steps of the run.
replayed()
{
	name=$1 has=$2
	shift 2
	run "$@"
	python3 "$here/run_story.py" out >said 2>&1
	[ "$(cat said)" = "$has" ]
	ktap_result $? "$name: the story holds in the run's steps" "$(cat said)"
}

ktap_header
sed '0,/c += 1;/s///' "$models/seqlock.lin" >seqlock.lin
run explore seqlock.lin
told "a torn read" "What is wrong: seqlock @0: t1's read() -> (A, 0) is torn: " \
	"t1 read() -> (A, 0) saw words of different writes 3-6" \
	"T0's store c = 1 at step 1 was still in T0's buffer when T1 loaded c at step 6; it had not left by the end of the run." \
	"Times are numbers of the run's steps."
[ "$(sed '/^A run/,$d' out | wc -l)" -le 25 ]
ktap_result $? "the story has at most 25 lines" "$(cat out)"
replayed "a torn read" "True True" explore --json seqlock.lin

sed 's/while (c != c0)/while (false)/' "$models/seqlock.lin" >retry.lin
replayed "no retry" "True True" explore --json retry.lin

sed "s/^			fence;//" "$models/dekker.lin" >dekker.lin
run explore dekker.lin
told "a lock without a fence" "3 operations changed held = false, which can have been" \
	"T1's store flag[1] = 1 at step 15 was still in T1's buffer when T0 loaded flag[1] at step 19"
replayed "a lock without a fence" "True True" explore --json dekker.lin
replayed "a lock without a fence, with hashes" "True True" explore --json --hash-compact dekker.lin

run explore --no-run seqlock.lin
! grep -q 'What is wrong' out
ktap_result $? "without the run there is no story of its steps" "$(cat out)"

sed 's/} while (!cas(&top, t, x) @lin);/} while (top != t); top = x @lin;/' \
	"$models/treiber.lin" >treiber.lin
run verify --no-trail treiber.lin
told "an alarm with a concrete run" "This is a definite failure: " \
	"treiber @0: t1's pop() -> empty cannot follow t0's push(A)" \
	"t1's pop() could only have returned A, with s = [A] before it."
replayed "an alarm with a concrete run" "True False" verify --json treiber.lin
run verify --no-trail --no-confirm treiber.lin
[ $status -eq 3 ] && grep -q "^This may be the abstraction's imprecision: " out
ktap_result $? "an alarm without a concrete run may be imprecision" "$(cat out)"

for verdict in Ok No ERROR; do
	case $verdict in
	Ok)	set -- "$here/../litmus/SB.litmus" ;;
	No)	set -- --memory-model=sc "$here/../litmus/SB.litmus" ;;
	ERROR)	set -- "$here/../litmus/SB.litmus" missing.litmus ;;
	esac
	run litmus --json "$@"
	[ "$(python3 -c 'import json; print(json.load(open("out"))["verdict"])')" = $verdict ]
	ktap_result $? "litmus: the verdict on all tests is $verdict" "$(head -n 20 out)"
done
ktap_finish
