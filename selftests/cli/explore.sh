#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The explorer: with every reduction turned off the answer is the same, and mistakes in
# a model are told before the search.  models.sh has the shipped models and mutants.

. "$(dirname "$0")/common.sh"
models=$specs/explore

# right NAME OPTION... FILE
right()
{
	name=$1
	shift
	run explore "$@"
	if [ $status -eq 0 ] && [ ! -s err ] && grep -q ': LINEARIZABLE: .* all [0-9]* states$' out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin explore $*: status $status" "$(head -n 5 out err)"
	fi
}

ktap_header
# Without a reduction there may be a thousand times as many states: the smallest clients.
for file in "$models"/*.lin; do
	model=$(basename "$file" .lin)
	sed 's/^thread \([a-z]*\).*repeat(.*) {/thread \1[2] repeat(1) {/
	     s/^client general(.*/client general(2) ops(1);/; s/ ops(.*);/ ops(1);/
	     s/roles(\([^,]*\), [^,]*, \([^,]*\))/roles(\1, \2)/' "$file" >small.lin
	for what in merge dead canon hidden all; do
		right "$model without $what" --no-reduce=$what small.lin
	done
done

broken()
{
	name=$1 pattern=$2
	{
		echo 'spec s { word x = 0; method m() -> word { atomic { return x; } } }'
		cat
	} >broken.lin
	refuse "$name" "$pattern" explore broken.lin
}

broken "no implementation" "no implementation" </dev/null
broken "no client" "broken.lin:2:.*client" <<'E2'
shared word x = 0; method m() -> word { return x; }
E2
broken "a variable that is not there" "broken.lin:2:[0-9]*: error: .*'y'" <<'E2'
shared word x = 0; method m() -> word { return y; } client general(2);
E2
broken "a method that the specification lacks" "broken.lin:2:[0-9]*: error: .*'n'" <<'E2'
shared word x = 0; method m() -> word { return x; } method n() { x = 1; } client general(2);
E2
broken "a pointer where a word belongs" "broken.lin:3:[0-9]*: error: .*pointer to node" <<'E2'
struct node { word v; }
shared node *p = null; method m() -> word { return p; } client general(2);
E2
broken "a field that is not there" "broken.lin:3:[0-9]*: error: .*'w'" <<'E2'
struct node { word v; }
shared node *p = null; method m() -> word { return p->w; } client general(2);
E2
broken "a method that can never end" "broken.lin:2:[0-9]*: error: 'm' can never end" <<'E2'
shared word x = 0; method m() -> word { while (true) { x = 1; } } client general(2);
E2
broken "never initialised" "broken.lin:2:[0-9]*: error: 'x' is never initialised" <<'E2'
shared word x; method m() -> word { return x; } client general(2);
E2

fault()
{
	name=$1 pattern=$2
	{
		echo 'spec s { word x = 0; method m() -> word { atomic { return x; } } }'
		cat
	} >fault.lin
	run explore fault.lin
	if [ $status -eq 1 ] && grep -q "VIOLATION: $pattern" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(head -n 3 out err)"
	fi
}

fault "a null pointer" "a fault: thread 0: line 3: access through a null pointer" <<'E2'
struct node { word v; }
shared node *p = null; method m() -> word { return p->v; } client general(1);
E2
fault "an index outside" "a fault: .*index outside" <<'E2'
shared word a[2] = 0; method m() -> word { return a[2]; } client general(1);
E2
fault "a loop without end" "a fault: .*loop without end" <<'E2'
shared word x = 0; method m() -> word { word i = 1; while (i == 1) { } return x; } client general(1);
E2
fault "a final condition" "a false final condition: .*line 3" <<'E2'
shared word x = 0; method m() -> word { return 0; } thread t[2] { word v = x; x = v + 1; }
final { assert(x == 2); }
E2
# Figure 5: on TSO both may miss the other's write, on SC not.
cat >fig5.lin <<'E2'
spec s { word x = 0; method set(word v) { atomic { x = v; } }
	method get() -> word { atomic { return x; } } }
shared word x = 0, y = 0, a = 0, b = 0;
method set(word v) { x = v; }
method get() -> word { return x; }
thread one { call set(1); b = y + 1; }
thread two { word r; y = 1; r = call get(); a = r + 1; }
final { assert(a != 1 || b != 1); }
E2
run explore fig5.lin
if [ $status -eq 1 ] && grep -q 'a false final condition' out && grep -q 'reaches memory' out; then
	ktap_pass "store buffering over a library is seen on TSO"
else
	ktap_fail "store buffering over a library is seen on TSO" "status $status" "$(cat out err)"
fi
expect 0 "and not on SC" explore --memory=sc fig5.lin
run explore --memory-limit=1 --threads=3 --ops=3 "$models/treiber.lin"
if [ $status -eq 3 ] && grep -q 'UNKNOWN: the bound on memory' out; then
	ktap_pass "UNKNOWN at the bound on memory"
else
	ktap_fail "UNKNOWN at the bound on memory" "status $status" "$(cat out err)"
fi
ktap_finish
