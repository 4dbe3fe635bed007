#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The explorer's reductions.  The set of histories of each shipped model is the same without each
# reduction.  Waiting forever, looping forever, and invalid accesses are reported as such.  The
# run of --shortest has no more steps than the run of any other search.

. "$(dirname "$0")/common.sh"
models=$specs/explore

# histories FILE OPTION...: write the histories of the model to lines.
histories()
{
	file=$1
	shift
	run explore --histories "$@" "$file"
	[ $status -eq 0 ] && [ ! -s err ] && grep -q ': HISTORIES: [1-9]' out || return 1
	grep -v ': HISTORIES: ' out >lines
}

same_histories()
{
	model=$1 memory=$2
	if ! histories small.lin "--memory-model=$memory"; then
		ktap_fail "histories of $model on $memory" "status $status" "$(head -n 3 out err)"
		return
	fi
	mv lines want
	for what in merge dead canon hidden symmetry facts cover; do
		if histories small.lin "--memory-model=$memory" --no-reduce=$what && cmp -s want lines; then
			ktap_pass "histories of $model on $memory without $what"
		else
			ktap_fail "histories of $model on $memory without $what" \
				"status $status" "$(diff want lines | head -n 5)"
		fi
	done
}

ktap_header
for file in "$models"/*.lin; do
	sed 's/^thread \([a-z]*\).*repeat(.*) {/thread \1[2] repeat(1) {/
	     s/^client general(.*/client general(2) ops(1);/; s/ ops(.*);/ ops(1);/
	     s/roles(\([^,]*\), [^,]*, \([^,]*\))/roles(\1, \2)/' "$file" >small.lin
	same_histories "$(basename "$file" .lin)" tso
	same_histories "$(basename "$file" .lin)" sc
done
# An example of the paper: a write that has returned but is still in the buffer.
if histories "$models/seqlock.lin" --ops=1 && grep -q 'return 0 0' lines &&
   [ "$(wc -l <lines)" -gt "$({ histories "$models/seqlock.lin" --ops=1 --memory-model=sc; wc -l <lines; })" ]; then
	ktap_pass "TSO has histories that SC lacks"
else
	ktap_fail "TSO has histories that SC lacks" "$(head -n 3 out err)"
fi

# found NAME PATTERN: klin explore reports the fault in the implementation on stdin.
found()
{
	name=$1 pattern=$2
	{
		echo 'spec s { word x = 0; method m() -> word { atomic { return x; } } }'
		cat
	} >found.lin
	for what in '' --no-reduce=all --shortest; do
		# shellcheck disable=SC2086 # an option or none
		run explore $what found.lin
		if [ $status -eq 1 ] && [ ! -s err ] && grep -q "VIOLATION: $pattern" out; then
			ktap_pass "$name $what"
		else
			ktap_fail "$name $what" "status $status" "$(head -n 3 out err)"
		fi
	done
}

found "a lock that is never released" "a deadlock: " <<'E2'
shared lock l; method m() -> word { lock(l); return 0; } client general(2) ops(1);
E2
found "a lock taken in two orders" "a deadlock: " <<'E2'
shared lock k, l; method m() -> word { return 0; }
thread a { word v; lock(k); lock(l); v = call m(); unlock(l); unlock(k); }
thread b { word v; lock(l); lock(k); v = call m(); unlock(k); unlock(l); }
E2
found "a flag that no thread sets" "a run without end: " <<'E2'
shared word flag = 0; method m() -> word { while (flag == 0) { } return 0; } client general(2) ops(1);
E2
found "a flag that is cleared again" "a run without end: " <<'E2'
shared word flag = 0; method m() -> word { return 0; }
thread up { word v; flag = 1; v = call m(); flag = 0; }
thread wait { word f; do { f = flag; } while (f == 0); }
E2
found "two threads that wait for each other" "a run without end: .* thread 0 (line 3), thread 1 (line 4)" <<'E2'
shared word a = 0, b = 0; method m() -> word { return 0; }
thread one { word v; while (b == 0) { } a = 1; v = call m(); }
thread two { word v; while (a == 0) { } b = 1; v = call m(); }
E2
found "an access through a null pointer" "a fault: thread [01]: .*null pointer" <<'E2'
struct node { word v; }
shared node *p = null; method m() -> word { node *n = p; n->v = 1; return 0; } client general(2) ops(1);
E2
found "an assertion" "a fault: thread [01]: .*assertion" <<'E2'
shared word x = 0; method m() -> word { word v = x; x = v + 1; assert(x == v + 1); v = x; assert(v < 2); return 0; }
client general(2) ops(1);
E2

# The loops of these models end: a flag is set, a lock is released, or the first thread wins.
cat >ends.lin <<'E2'
spec s { word x = 0; method m() -> word { atomic { return x; } } }
shared word flag = 0; shared lock l; method m() -> word { return 0; }
thread up { word v; lock(l); flag = 1; unlock(l); v = call m(); }
thread wait { word f; do { f = flag; } while (f == 0); lock(l); unlock(l); }
E2
expect 0 "a loop that ends" explore ends.lin

# The run of --shortest has no more steps than the run of any other search.
sed 's/while (c != c0)/while (false)/' "$models/seqlock.lin" >mutant.lin
steps()
{
	run explore --full "$@" mutant.lin
	sed -n 's/^\(The shortest\|A\) run, \([0-9]*\) steps.*/\2/p' out
}
shortest=$(steps --shortest) first=$(steps)
if [ -n "$shortest" ] && [ "$shortest" -le "$first" ] &&
   [ "$shortest" -eq "$(steps --shortest --no-reduce=cover)" ]; then
	ktap_pass "--shortest finds a run of the fewest steps"
else
	ktap_fail "--shortest finds a run of the fewest steps" "$shortest steps, without --shortest $first" "$(head -n 3 out err)"
fi
ktap_finish
