#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The explorer: each shipped model is accepted, each of its mutants is caught, with
# every reduction turned off the answer is the same, and mistakes in a model are
# told before the search.

. "$(dirname "$0")/common.sh"
models=$specs/explore

# right NAME MODEL OPTION...
right()
{
	name=$1 model=$2
	shift 2
	run explore "$@" "$models/$model.lin"
	if [ $status -eq 0 ] && [ ! -s err ] && grep -q ': LINEARIZABLE: .* all [0-9]* states$' out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin explore $* $model: status $status" "$(head -n 5 out err)"
	fi
}

# mutant NAME MODEL WHAT SED OPTION...: what sed makes of it is caught, WHAT is said.
mutant()
{
	name="$2: $1" model=$2 what=$3 sed=$4
	shift 4
	sed "$sed" "$models/$model.lin" >mutant.lin
	if cmp -s mutant.lin "$models/$model.lin"; then
		ktap_fail "$name" "the mutant is the original"
		return
	fi
	run explore "$@" mutant.lin
	if [ $status -eq 1 ] && [ ! -s err ] && grep -q "^mutant.lin: VIOLATION: $what" out &&
	   grep -q '^The shortest run, [0-9]* steps' out &&
	   [ "$(grep -cE '^ +[0-9]+  ' out)" -gt 1 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin explore $*: status $status" "$(head -n 5 out err)"
	fi
}

ktap_header
for model in seqlock spinlock ticketlock treiber msqueue; do
	right "$model on TSO" $model
	right "$model on SC" $model --memory=sc
	for what in merge dead canon hidden all; do
		case $model in
		seqlock|spinlock|ticketlock)
			[ $what = all ] || [ $what = merge ] ||
				right "$model without $what" $model --no-reduce=$what ;;
		*)	right "$model without $what" $model --threads=2 --ops=1 --no-reduce=$what ;;
		esac
	done
done

lin="not linearizable"
mutant "the counter is raised once" seqlock "$lin" '0,/c += 1;/s///'
mutant "the counter is raised too early" seqlock "$lin" 's/d1 = a;/d1 = a; c += 1;/; s/d2 = b;/d2 = b; c += 1;/'
mutant "no retry" seqlock "$lin" 's/while (c != c0)/while (false)/'
mutant "odd counters are not waited for" seqlock "$lin" 's/while (c0 % 2 != 0)/while (false)/'
mutant "the write is specified with a barrier" seqlock "$lin" \
	's/write(word a, word b) { atomic {/write(word a, word b) { atomic_flush {/'
mutant "two plain steps instead of a locked one" spinlock "$lin" \
	's/while (fadd(&l, 0 - 1) != 1 @lin if (true)) {/word v; while (true) { v = l; l = v - 1; if (v == 1) break;/'
mutant "the release is specified with a barrier" spinlock "$lin" \
	's/release() { atomic { held/release() { atomic_flush { held/'
mutant "never released" spinlock "a deadlock" 's/l = 1 @lin;/fence;/; s/while (l != 1) { }/{ atomic_flush { assume(l == 1); } }/'
mutant "a plain increment for the locked one" ticketlock "$lin" \
	's/word me = fadd(&next, 1);/word me = next; next = me + 1;/'
mutant "released twice" ticketlock "$lin" 's/owner += 1;/owner += 2;/; s/owner != me/owner < me/'
mutant "a plain store for the compare-and-swap of pop" treiber "$lin" \
	's/} while (!cas(&top, t, s) @lin);/} while (top != t); top = s;/' --threads=2
mutant "a plain store for the compare-and-swap of push" treiber "$lin" \
	's/} while (!cas(&top, t, x) @lin);/} while (top != t); top = x;/' --threads=2
mutant "published before it is linked" treiber "" \
	's/x->next = t;//; s/} while (!cas(&top, t, x) @lin);/} while (!cas(\&top, t, x)); x->next = t;/' --threads=2
mutant "a plain store for the compare-and-swap of enq" msqueue "$lin" \
	's/if (cas(&t->next, null, x) @lin)/t->next = x;/'
mutant "an empty queue is not looked for" msqueue "" 's/if (h == t) {/if (false) {/'
mutant "the value is written after the node is published" msqueue "$lin" \
	's/x->val = v;//; s/	cas(&tail, t, x);/	x->val = v; cas(\&tail, t, x);/'

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
