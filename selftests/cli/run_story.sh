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
	"t1 read() -> (A, 0) saw values of different writes 3-6" \
	"T0's store c = 1 at step 1 was still in T0's buffer when T1 loaded c at step 6; it had not left by the end of the run." \
	"Times are numbers of the run's steps."
[ "$(wc -l <out)" -le 25 ] && grep -q "^  More: --full, klin report" out && ! grep -q "T1  *call" out
ktap_result $? "the story and the last steps have at most 25 lines" "$(cat out)"
cp out brief
run explore --full seqlock.lin
told "the whole run with --full" "What is wrong: seqlock @0: t1's read() -> (A, 0) is torn: " "the first state"
[ "$(wc -l <out)" -gt "$(wc -l <brief)" ] && ! grep -q "More: --full" out
ktap_result $? "--full shows all steps" "$(cat out)"
replayed "a torn read" "True True" explore --json seqlock.lin

sed 's/while (c != c0)/while (false)/' "$models/seqlock.lin" >retry.lin
replayed "no retry" "True True" explore --json retry.lin

sed "s/^			fence;//" "$models/dekker.lin" >dekker.lin
run explore dekker.lin
told "a lock without a fence" "3 operations changed held = false, which can have been" \
	"T1's store flag[1] = 1 at step 15 was still in T1's buffer when T0 loaded flag[1] at step 19"
replayed "a lock without a fence" "True True" explore --json dekker.lin
replayed "a lock without a fence, with hashes" "True True" explore --json --hash-compact dekker.lin

# A run whose calls and returns have an order: only the store buffer excludes it.
cat >late.lin <<E2
spec late {
	word v = 0;
	method put(word n) { atomic_flush { v = n; } }
	method peek() -> word n { atomic_flush { return v; } }
}
shared word x = 0;
method put(word n) { x = n; fence; }
method peek() -> word { word n = x; fence; return n; }
client roles(put, peek) ops(1) values(7);
E2
run explore late.lin
told "a run that only store buffers exclude" \
	"Only with store buffers: the calls and returns alone have an order: peek() -> 0, put(7); " \
	"; but the call of t1's peek() was in T1's store buffer from step 2 to step 4, and a step of"
! grep -q "^Hint" out
ktap_result $? "no hint at a store that its operation drained" "$(cat out)"
sed -i 's/word n = x; fence; return n;/word n; fence; n = x; return n;/' late.lin
run explore late.lin
[ $status -eq 0 ]
ktap_result $? "its correct twin is accepted" "$(cat out)"

run explore --no-run seqlock.lin
! grep -q 'What is wrong' out
ktap_result $? "without the run there is no story of its steps" "$(cat out)"

sed 's/} while (!cas(&top, t, x) @lin);/} while (top != t); top = x @lin;/' \
	"$models/treiber.lin" >treiber.lin
run verify --no-trail treiber.lin
told "an alarm with a concrete run" "This is a definite failure: " \
	"treiber @0: t1's pop() -> empty is not possible after t0's push(A)" \
	"t1's pop() could only have returned A, with s = [A] before it."
replayed "an alarm with a concrete run" "True False" verify --json treiber.lin
run verify --no-trail --no-confirm treiber.lin
[ $status -eq 3 ] && grep -q "^This may be the abstraction's imprecision: " out
ktap_result $? "an alarm without a concrete run may be imprecision" "$(cat out)"
tr '\n' ' ' <out | tr -s ' ' >joined
grep -q "What may be wrong: line [0-9]*, in '[a-z]*': .*, if a run has a state such as this: T0 [a-z]* at line" joined &&
	grep -q "for this one it is not known\. " joined
ktap_result $? "an alarm without a concrete run names the abstract state that shows it" "$(cat out)"
run verify --json --no-confirm treiber.lin
[ $status -eq 3 ] && python3 "$here/run_story.py" out >said 2>&1 && grep -q "^alarm" said
ktap_result $? "the story of an alarm holds in the abstract run" "$(cat said)"

# Runs that end badly.
# bad NAME VALUES HAS SENTENCE OPTION... <<MODEL: the story names so many values, with the sentence.
bad()
{
	name=$1 has=$2 sentence=$3
	shift 3
	{
		echo 'spec s { word x = 0; method m() -> word { atomic { return x; } } }'
		cat
	} >bad.lin
	run explore "$@" bad.lin
	told "$name" "What is wrong: $sentence"
	replayed "$name" "$has" explore --json "$@" bad.lin
}

bad "a null pointer" "1 False False" "T0 fails at line 3: access through a null pointer: the pointer is p, which T0 loaded as 0 at step 1 (line 3), as in the first state." <<'E2'
struct node { word v; } init { node *q = new node; q->v = 1; }
shared node *p = null; method m() -> word { return p->v; } client general(1);
E2
bad "a null pointer from another thread" "1 False False" "T1 fails at line 5: access through a null pointer: the pointer is p, which T1 loaded as 0 at step" <<'E2'
struct node { word v; } init { node *q = new node; q->v = 1; p = q; }
shared node *p = null; method m() -> word { return 0; }
thread t { p = null; }
thread u { word v = 0; if (p != null) { v = p->v; } }
E2
grep -q "as T0 had stored it at step" joined
ktap_result $? "a null pointer: who stored it" "$(cat joined)"
bad "an index out of bounds" "1 False False" "T0 fails at line 3: the index is out of bounds of its array: the index is 3; the index comes from i, which T0 loaded as 2 at step" <<'E2'
shared word a[2] = 0, i = 0; method m() -> word { return 0; }
thread t { i = 2; word v = a[i + 1]; }
E2
bad "an assertion on values of two loads" "2 False False" "T1 fails at line 4: the assertion fails: it rests on " <<'E2'
shared word data = 0, done = 0; method m() -> word { return 0; }
thread t { data = 1; done = 1; }
thread u { word d = done, e = data; assert(d + e != 1); }
E2
bad "a final condition" "1 False False" "the check of the final state fails at line 3: the assertion fails: it rests on x, which is 1, as T" <<'E2'
shared word x = 0; method m() -> word { return 0; } thread t[2] { word v = x; x = v + 1; }
final { assert(x == 2); }
E2
bad "two threads that wait for each other" "2 False False" "deadlock: T0 waits at line 3: b is 1, as T1 had stored it at step 2 (line 4); T1 waits at line 4: a is 1, as T0 had stored it at step 1 (line 3)." <<'E2'
shared lock a, b; method m() -> word { return 0; }
thread t { lock(a); lock(b); unlock(b); unlock(a); }
thread u { lock(b); lock(a); unlock(a); unlock(b); }
E2
bad "a thread that waits for one that has ended" "1 False False" "deadlock: T1 waits at line 4: a is 1, as T0, which has ended, had stored it at step 1 (line 3)." <<'E2'
shared lock a; method m() -> word { return 0; }
thread t { lock(a); }
thread u { lock(a); unlock(a); }
E2
bad "a loop without end" "1 False False" "no run ends from here on: T0 goes on for ever at line 2: x is 0, as in the first state." <<'E2'
shared word x = 0; method m() -> word { while (x == 0) { } return x; } client general(1);
E2
grep -q "No thread stores to x any more: all states from there on were searched, " joined
ktap_result $? "a loop without end: nobody stores to its variable" "$(cat joined)"
bad "loops on a variable that changes" "3 False False" "no run ends from here on: T0 goes on for ever" --memory-model=sc <<'E2'
shared word x = 0, y = 0; method m() -> word { return 0; }
thread t { while (x == 0) { y = 1 - y; } }
thread u { while (y != 5) { } }
E2
grep -q "No thread stores to x any more: " joined && ! grep -qE "stores to (x or )?y " joined
ktap_result $? "a variable that still changes is not said to be dead" "$(cat joined)"

# The verifier's concrete runs have the same stories.
cat >crossed.lin <<'E2'
spec two { word x = 0;
	method a() { atomic_flush { x = 1; } }
	method c() -> word { atomic { return x; } } }
shared word x = 0;
shared lock l1, l2;
method a() { lock(l1); lock(l2); x = 1 @lin; unlock(l2); unlock(l1); }
method c() -> word { word v; lock(l2); lock(l1); v = x @lin; unlock(l1); unlock(l2); return v; }
client general(2);
E2
run verify crossed.lin
told "a deadlock that klin verify finds" "What is wrong: deadlock: T0 waits at line " \
	"l2 is 1, as T1 had stored it at step " "l1 is 1, as T0 had stored it at step "
replayed "a deadlock that klin verify finds" "2 False False" verify --json crossed.lin

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
