#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The explorer.  The answer is the same with every reduction turned off, and mistakes in a
# model are reported before the search.  models.sh has the shipped models and mutants.

. "$(dirname "$0")/common.sh"
models=$specs/explore

# right NAME OPTION... FILE: klin explore finds the model linearizable.
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
# Without a reduction there may be a thousand times as many states, so use the smallest
# clients.
for file in "$models"/*.lin; do
	model=$(basename "$file" .lin)
	sed 's/^thread \([a-z]*\).*repeat(.*) {/thread \1[2] repeat(1) {/
	     s/^client general(.*/client general(2) ops(1);/; s/ ops(.*);/ ops(1);/
	     s/roles(\([^,]*\), [^,]*, \([^,]*\))/roles(\1, \2)/' "$file" >small.lin
	for what in merge dead canon hidden symmetry facts cover known all; do
		right "$model is LINEARIZABLE with --no-reduce=$what" --no-reduce=$what small.lin
	done
done

# Cached steps lead to the same states as the machine's steps, one by one.  (With symmetric
# threads there may be several ways to order them.)
for what in chaselev dcl_whole seqlock_t treiber "treiber --threads=3" twolock "msqueue --ops=3"; do
	# shellcheck disable=SC2086 # a model and its options
	set -- $what
	file=$models/$1.lin
	shift
	for known in "" --no-reduce=known; do
		# shellcheck disable=SC2086 # an option or nothing
		run explore --stats --no-reduce=symmetry $known "$@" "$file"
		sed -n 's/^\([0-9]* states, [0-9]* transitions\),.*/\1/p' out >"counts$known"
	done
	ktap_result "$([ -s counts ] && cmp -s counts counts--no-reduce=known; echo $?)" \
		"$what: as many states with steps that are known" "$(cat counts*)"
done

for what in seqlock treiber mcs "seqcount --no-reduce=known" "twolock --memory-model=sc"; do
	# shellcheck disable=SC2086 # a model and its options
	set -- $what
	file=$models/$1.lin
	shift
	run explore --stats "$@" "$file"
	sed -n 's/^\([0-9]* states, [0-9]* transitions\),.*/\1/p' out >exact
	run explore --hash-compact --stats "$@" "$file"
	sed -n 's/^\([0-9]* states, [0-9]* transitions\),.*/\1/p' out >compact
	ktap_result "$([ -s exact ] && cmp -s exact compact &&
		       grep -q 'the same hash: a probability below [0-9]e-' out; echo $?)" \
		"$what: hashes in place of states" "$(cat out err)"
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
broken "a method that can never end" "broken.lin:2:[0-9]*: error: 'm' never ends" <<'E2'
shared word x = 0; method m() -> word { while (true) { x = 1; } } client general(2);
E2
broken "a method that can never end, whatever stands behind its loop" \
	"broken.lin:2:[0-9]*: error: 'm' never ends" <<'E2'
shared word x = 0; method m() -> word { while (true) { x = 1; } return x; } client general(2);
E2
broken "a variable that is read before it is set" "broken.lin:2:[0-9]*: error: 'a' has no value" <<'E2'
shared word x = 0; method m() -> word { word a; x = 1; return a; } client general(2);
E2
broken "the same in one of a thread's rounds" "broken.lin:3:[0-9]*: error: 'a' has no value" <<'E2'
shared word x = 0; method m() -> word { return x; }
thread t[2] repeat(3) { word a, b; either { b = a; } or { b = 1; } a = call m(); }
E2
cat >two.lin <<'E2'
spec s { word x = 0; method m() -> word { atomic { return x; } } }
shared word x = 0; method m() -> word { return x; }
thread t[2] repeat(3) { word a; a = call m(1); }
thread u { call n(); }
E2
run explore two.lin
[ $status -eq 2 ] && [ "$(wc -l <err)" -eq 6 ] && grep -q "^two.lin:3:[0-9]*: error: 'm' has" err &&
	grep -q "^two.lin:4:[0-9]*: error: no method 'n'" err
ktap_result $? "mistakes in two threads are each reported once" "$(cat out err)"
broken "never initialised" "broken.lin:2:[0-9]*: error: 'x' has no initial value" <<'E2'
shared word x; method m() -> word { return x; } client general(2);
E2

# A method may begin with a jump or a condition.
{
	echo 'spec s { word x = 0; method m(bool b) -> word { atomic { return x; } } }'
	echo 'shared word x = 0; client general(2);'
	echo 'method m(bool b) -> word { while (b) { b = false; } return x; }'
} >first.lin
run explore first.lin
ktap_result $status "a method that begins with a condition" "$(cat out err)"
sed 's/while (b) .*}/while (true) { break; x = 1; } return x; }/' first.lin >second.lin
run explore second.lin
ktap_result "$([ $status -eq 0 ] && grep -q '3:[0-9]*: warning: this statement is never reached' err; echo $?)" \
	"a method that begins with a jump: a warning for unreachable code" "$(cat out err)"

# klin warns of a variable that may be read without a value, and of a field that is never set.  A
# line begins with the name that the warning must have, or with `-' if there must be none.
while read -r warns text; do
	{
		echo 'spec s { word x = 0; method m() -> word { atomic { return x; } } }'
		echo 'struct node { word v; node *next; } shared word x = 0; client general(1);'
		echo "method m() -> word { $text }"
	} >set.lin
	run explore set.lin
	[ "$warns" = - ] && [ ! -s err ] ||
		{ [ "$warns" != - ] && [ "$(wc -l <err)" -eq 3 ] &&
		  grep -q "^set.lin:3:[0-9]*: warning: '$warns'" err; }
	ktap_result $? "a warning for a variable without a value, or none: $text" "$(cat out err)"
done <<'E2'
a word a; if (x == 1) a = 1; return a;
a word a, i = 0; while (i == 0) { a = x; i = 1; } return a;
a word a, i = 0; do { if (i == 1) i = a; a = 0; i += 1; } while (i == 1); return x;
a word a; while (true) { if (x == 1) break; a = 1; if (x == 0) break; } return a;
a word a; either { a = x; } or { } return a;
v node *n = new node; n->next = null; return n->v;
- word a; if (x == 1) a = 1; else a = 0; return a;
- word a; if (x == 1) return 0; else a = 0; return a;
- word a; do { a = x; } while (a == 1); return a;
- word a; while (true) { a = x; if (a == 0) break; } return a;
- word a; either { a = x; } or { return 0; } return a;
- word a; do { if (x == 1) continue; a = 1; break; } while (true); return a - 1;
- word a; atomic { a = x; } return a;
- node *n = new node, *k = n->next; n->next = k; return x;
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
fault "a deadlock" "a deadlock: all threads that have not ended are waiting: thread 0 (line 2)" <<'E2'
shared lock l; method m() -> word { lock(l); lock(l); return 0; } client general(1);
E2
fault "a run without end" "a run without end: .* thread 0 (line 2)" <<'E2'
shared word x = 0; method m() -> word { while (x == 0) { } return x; } client general(1);
E2
fault "an index out of bounds" "a fault: .*index is out of bounds of its array" <<'E2'
shared word a[2] = 0; method m() -> word { return a[2]; } client general(1);
E2
fault "an endless loop" "a fault: .*endless loop" <<'E2'
shared word x = 0; method m() -> word { word i = 1; while (i == 1) { } return x; } client general(1);
E2
fault "a final condition" "a false final condition: .*line 3" <<'E2'
shared word x = 0; method m() -> word { return 0; } thread t[2] { word v = x; x = v + 1; }
final { assert(x == 2); }
E2
# Figure 5: on TSO both threads may miss the other's write, on SC they may not.  The outcomes of the
# implementation are those of the specification.
fig5=$models/fig5.lin
run explore --outcomes "$fig5"
if [ $status -eq 0 ] && [ ! -s err ] && [ "$(wc -l <out)" -eq 5 ] &&
   grep -qx 'y=1; left.b=0; right.a1=0; right.a2=0; with both, not on SC' out &&
   [ "$(grep -c 'with both$' out)" -eq 3 ] && grep -q ': CONTAINED: ' out; then
	ktap_pass "outcomes of Figure 5's client on TSO"
else
	ktap_fail "outcomes of Figure 5's client on TSO" "status $status" "$(cat out err)"
fi
run explore --outcomes --memory-model=sc "$fig5"
if [ $status -eq 0 ] && [ "$(grep -c 'with both$' out)" -eq 3 ] && [ "$(wc -l <out)" -eq 4 ]; then
	ktap_pass "outcomes of Figure 5's client on SC"
else
	ktap_fail "outcomes of Figure 5's client on SC" "status $status" "$(cat out err)"
fi
sed 's/while (c != c0)/while (false)/' "$fig5" >wrong.lin
run explore --outcomes wrong.lin
if [ $status -eq 1 ] && [ "$(grep -c 'with the implementation only' out)" -eq 4 ] &&
   grep -q 'VIOLATION: .*; 4 of the implementation.s are not in the specification$' out; then
	ktap_pass "outcomes that the specification does not allow"
else
	ktap_fail "outcomes that the specification does not allow" "status $status" "$(cat out err)"
fi
refuse "outcomes of a general client" "--outcomes needs threads" \
	explore --outcomes "$models/treiber.lin"
refuse "a number of threads for roles" "--threads requires .*'roles" explore --threads=2 "$models/seqlock.lin"
refuse "a number of threads for threads" "the file has threads, such as 'left'" \
	explore --threads=2 "$fig5"
refuse "a number of operations for threads" "--ops requires .* 'worker'" \
	explore --ops=2 "$models/mcs.lin"
sed 's/	call write(1, 1);/	c = 0; call write(1, 1);/' "$fig5" >touch.lin
refuse "outcomes of a variable that methods use, too" "'c' is used by methods and by the client" \
	explore --outcomes touch.lin

run explore --full wrong.lin
again=$(sed -n 's/^Again: klin //p' out)
cp out first
# shellcheck disable=SC2086 # several arguments
if [ -n "$again" ] && grep -q '^On SC the same client: not linearizable' out &&
   grep -q "stale: T0's buffer has" out && run $again && cmp -s out first; then
	ktap_pass "a run has the verdict under SC, the stale values, and a command to repeat it"
else
	ktap_fail "a run has the verdict under SC, the stale values, and a command to repeat it" \
		"$(cat first out err)"
fi
run explore --json wrong.lin
if [ $status -eq 1 ] && grep -q '"verdict": "VIOLATION"' out && grep -q '"on_sc": "VIOLATION"' out &&
   grep -q '"flush": true' out; then
	ktap_pass "a run as JSON"
else
	ktap_fail "a run as JSON" "status $status" "$(cat out err)"
fi
run explore --json --outcomes "$fig5"
if [ $status -eq 0 ] && grep -q '"verdict": "CONTAINED"' out &&
   [ "$(grep -c '"specification": true' out)" -eq 4 ] && [ "$(grep -c '"sc": false' out)" -eq 1 ]; then
	ktap_pass "outcomes as JSON"
else
	ktap_fail "outcomes as JSON" "status $status" "$(cat out err)"
fi
run explore --memory-limit=1 --threads=3 --ops=3 "$models/treiber.lin"
if [ $status -eq 3 ] && grep -q 'UNKNOWN: the bound on memory.* [1-9][0-9]* levels' out; then
	ktap_pass "UNKNOWN at the memory limit"
else
	ktap_fail "UNKNOWN at the memory limit" "status $status" "$(cat out err)"
fi
grep -q '^Advice: Allow more memory by --memory-limit=MIB, ' out
ktap_result $? "UNKNOWN at the memory limit comes with advice" "$(cat out)"
run explore --json --memory-limit=1 --threads=3 --ops=3 "$models/treiber.lin"
if [ $status -eq 3 ] && grep -q '"not_followed": [1-9]' out && ! grep -q '"open"' out; then
	ktap_pass "the number of states that were not followed as JSON"
else
	ktap_fail "the number of states that were not followed as JSON" "status $status" \
		"$(cat out err)"
fi
# Reaching a limit of the explorer is not a fault of the model.
cat >limit.lin <<'END'
spec s { word x = 0; method w(word v) { atomic { x = v; } } method r() -> word { atomic { return x; } } }
shared word x = 0;
method w(word v) { word h; choose h in 0..300; x = v; }
method r() -> word { return x; }
client roles(w, r) ops(1);
END
run explore limit.lin
if [ $status -eq 3 ] && grep -q 'UNKNOWN: a bound of the explorer was reached.*thread 0: line 3: too many choices' out &&
   grep -q '^Advice: Take a smaller client' out; then
	ktap_pass "UNKNOWN at a limit of the explorer"
else
	ktap_fail "UNKNOWN at a limit of the explorer" "status $status" "$(cat out err)"
fi
run explore --json limit.lin
if [ $status -eq 3 ] && grep -q '"verdict": "UNKNOWN"' out &&
   grep -q '"message": "thread 0: line 3: too many choices' out; then
	ktap_pass "UNKNOWN at a limit of the explorer, as JSON"
else
	ktap_fail "UNKNOWN at a limit of the explorer, as JSON" "status $status" "$(cat out err)"
fi
sed 's/^client.*/thread a { call w(1); } thread b { word v; v = call r(); }/' limit.lin >outcomes.lin
run explore --outcomes outcomes.lin
if [ $status -eq 3 ] && grep -q 'UNKNOWN: a bound of the explorer was reached.*thread 0: line 3: too many choices' out; then
	ktap_pass "outcomes: UNKNOWN at a limit of the explorer"
else
	ktap_fail "outcomes: UNKNOWN at a limit of the explorer" "status $status" \
		"$(cat out err)"
fi
# Data of two calls may be equal, which matters only if it is compared.
cat >equal.lin <<'END'
spec equal {
	word x = 0;
	method put(word v) -> bool same { atomic_flush { word o = x; x = v; return o == v; } }
}
shared data a = 0;
method put(data v) -> bool { data o = xchg(&a, v); return false; }
client general(2) ops(1);
END
run explore equal.lin
ktap_result "$([ $status -eq 1 ] && grep -q 'returns 0; the specification allows 1' out; echo $?)" \
	"equal data" "$(cat out err)"
sed 's/return false;/return o == v;/' equal.lin >compared.lin
run explore compared.lin
ktap_result $status "equal data in a comparison" "$(cat out err)"
sed '/^method enq/,/^}/s/cas(&tail, t, n);//' "$models/msqueue.lin" >nohelp.lin
for cover in "" --no-reduce=cover; do
	# shellcheck disable=SC2086 # an option or nothing
	run explore --memory-model=sc --threads=3 --ops=2 $cover nohelp.lin
	ktap_result $status "an ending model has no endless run $cover" "$(cat out err)"
done
# told NAME OPTION...  FILE: klin explore reports a violation, and shows the whole run.
told()
{
	name=$1
	shift
	run explore "$@"
	ktap_result "$([ $status -eq 1 ] && [ ! -s err ] && grep -q '^Again: ' out; echo $?)" \
		"$name" "status $status: $(head -n 1 out err)"
}

# In refuted.lin the step at fault refutes an assumed invariant.
sed 's/return n->val/return h->val/' "$models/msqueue.lin" >refuted.lin
# In nothing.lin a thread's call has an effect in one state, and none in another.
sed '/tail = d;/d' "$models/twolock.lin" >nothing.lin
for what in "" merge dead canon hidden symmetry facts cover known all; do
	told "a violation that refutes an assumed invariant, without ${what:-nothing}" --memory-model=sc --threads=2 \
		--ops=1 ${what:+--no-reduce=$what} refuted.lin
	told "a fault, without ${what:-nothing}" --memory-model=sc --threads=2 --ops=1 \
		${what:+--no-reduce=$what} nothing.lin
done
# A pointer returns to an object after the search has learnt that the pointer moves.
cat >moved.lin <<'END'
spec msqueue {
	queue<word> q = empty;
	method enq(word v) { atomic_flush { q.push(v); } }
	method deq() -> word v {
		either {
			atomic { word t = q.front(); assume(t == empty); return empty; }
		} or {
			atomic_flush { word t = q.pop(); assume(t != empty); return t; }
		}
	}
}
struct node { data val; node *next; }
shared node *head = null, *tail = null;
init {
	node *d = new node;
	head = d;
	tail = d;
}
method enq(data v) {
	node *t, *n, *x = new node;
	x->val = v;
	while (true) {
		t = tail;
		if (cas(&t->next, null, x))
			break;
	}
}
method deq() -> data {
	node *h, *t, *n;
	while (true) {
		h = head;
		t = tail;
		n = h->next;
		if (h == t) {
			tail = n;
			continue;
		}
		if (cas(&head, h, n))
			return n->val;
	}
}
client general(2) ops(2);
END
for option in "" --shortest --no-reduce=cover --no-reduce=all; do
	# shellcheck disable=SC2086 # an option or nothing
	told "a run in which a pointer returns to an object${option:+, $option}" $option moved.lin
done
# A step that creates many objects: the first and the seventeenth are different.
cat >many.lin <<'END'
spec many {
	word dummy = 0;
	method put() -> bool { atomic_flush { return false; } }
}
struct node { word val; node *next; }
shared word z = 0;
shared word y = 0;
method put() -> bool {
	node *a, *l, *x;
	word i = 0;
	a = new node;
	a->val = 7;
	while (i < 15) {
		l = new node;
		i += 1;
	}
	x = new node;
	x->val = 1;
	z = 1;
	i = y;
	a->val = 3;
	i = z;
	y = 1;
	i = y;
	return x->val == 3;
}
client general(2) ops(1);
END
run explore --no-reduce=hidden many.lin
ktap_result "$([ $status -eq 1 ] && ! grep -q 'returns 1' out; echo $?)" \
	"objects that one step makes are different" "$(head -n 1 out err)"
# A counter without a bound: the report names the variable, whatever limit stops the search.
cat >endless.lin <<'END'
spec endless {
	bool held = false;
	method acquire(word me) { atomic_flush { assume(!held); held = true; } }
	method release(word me) { atomic_flush { held = false; } }
}
shared word other = 0, tries = 0;
method acquire(word me) {
	word c = fadd(&tries, 1);
	while (c != 0)
		c = fadd(&tries, 1);
}
method release(word me) { xchg(&tries, 0); }
thread worker[2] repeat(1) {
	call acquire(self);
	call release(self);
}
END
# stopped NAME WHY OPTION...: UNKNOWN, with the progress and the variable that grew.
stopped()
{
	name=$1 why=$2
	shift 2
	run explore "$@" endless.lin
	[ $status -eq 3 ] && [ ! -s err ] && grep -q "UNKNOWN: $why after [0-9]* states" out &&
		grep -q "^'tries' grew from 0 to [0-9]* .*an 'assume' where the variable changes\.$" out &&
		[ "$(wc -l <out)" -eq 2 ]
	ktap_result $? "$name" "status $status" "$(cat out err)"
}
far="states and [0-9]* transitions, [0-9]* states not yet followed; .* [1-9][0-9]* levels"
stopped "the time limit: UNKNOWN, and the growing variable" "time limit reached" --time-limit=1
grep -q "$far" out
ktap_result $? "the time limit: the report has the progress" "$(cat out)"
stopped "the memory limit: UNKNOWN, and the growing variable" "the bound on memory was reached" --memory-limit=1
stopped "the memory limit with --hash-compact" "the bound on memory was reached" --memory-limit=1 --hash-compact
stopped "the memory limit on SC" "the bound on memory was reached" --memory-limit=1 --memory-model=sc
stopped "the memory limit without reductions" "the bound on memory was reached" --memory-limit=1 \
	--no-reduce=all
stopped "outcomes: the memory limit" "the bound on memory was reached" --memory-limit=1 --outcomes
stopped "outcomes: the time limit" "time limit reached" --time-limit=1 --outcomes
run explore --json --memory-limit=1 endless.lin
[ $status -eq 3 ] && grep -q '"message": "the bound on memory was reached"' out &&
	grep -q '"grown": "'"'tries' grew from 0" out && grep -q '"levels": [1-9]' out
ktap_result $? "the memory limit: JSON names the growing variable" "$(cat out err)"
sed 's/shared word other = 0, tries/struct n { word tries; } shared n *p = null; shared word z/
     s/^method acquire/init { n *q = new n; q->tries = 0; p = q; } method acquire/
     s/fadd(&tries, 1)/fadd(\&p->tries, 1)/; s/xchg(&tries/xchg(\&p->tries/' endless.lin >field.lin
run explore --memory-limit=1 field.lin
[ $status -eq 3 ] && grep -q "^'n->tries' grew from 0" out
ktap_result $? "the memory limit: the report names a growing field" "$(cat out err)"
run explore --threads=3 --ops=3 --memory-limit=1 "$models/treiber.lin"
[ $status -eq 3 ] && ! grep -q grew out
ktap_result $? "the memory limit: no growing variable is named if none grows" "$(cat out err)"
# interrupted SIGNAL: klin explore of an endless model ends as UNKNOWN after the signal.
interrupted()
{
	interrupt "$1" explore endless.lin
	[ $status -eq 3 ] && [ ! -s err ] && grep -q "UNKNOWN: interrupted after " out
	ktap_result $? "interrupted by SIG$1" "status $status" "$(cat out err)"
}
interrupted INT
interrupted TERM

# A state that is too large is named, whichever step of the search reaches it.
cat >large.lin <<'END'
spec large { word x = 0; method m() -> word { word most = 70000; atomic { choose h in 0..most; x = h; return 0; } } }
shared word x = 0;
method m() -> word { x = 1; return 0; }
client general(2) ops(1);
END
for option in "" --no-reduce=known --no-reduce=all --memory-model=sc --hash-compact; do
	# shellcheck disable=SC2086 # an option or nothing
	run explore $option large.lin
	[ $status -eq 3 ] && [ ! -s err ] && grep -q "UNKNOWN: .*'m': 'choose' among more than" out
	ktap_result $? "too many choices of the specification${option:+, $option}" \
		"status $status" "$(cat out err)"
done

# model NAME STATUS PATTERN OPTION...  FILE: the lines of the report match the pattern.
model()
{
	name=$1 want=$2 pattern=$3
	shift 3
	run explore "$@"
	[ $status -eq "$want" ] && [ ! -s err ] && grep -q "$pattern" out
	ktap_result $? "$name" "klin explore $*: status $status, expected $want and '$pattern'" \
		"$(head -n 5 out err)"
}

# A model names its memory model; the command line overrides it, and the report says so.
both=$specs/verify/twolock.lin
model "a model with 'memory sc' is explored on SC" 0 '^Memory model sc, as the model says\.$' "$both"
model "--memory-model overrides 'memory sc'" 1 \
	'^Memory model tso, as the command line says; the model says sc\.$' --memory-model=tso "$both"
sed 's/^memory sc;/memory tso;/' "$both" >on_tso.lin
model "a model with 'memory tso' is explored on TSO" 1 '^Memory model tso, as the model says\.$' on_tso.lin
model "--memory-model overrides 'memory tso'" 0 \
	'^Memory model sc, as the command line says; the model says tso\.$' \
	--memory-model=sc on_tso.lin
{ cat "$fig5"; echo 'memory sc;'; } >outcomes.lin
model "outcomes of a model with 'memory sc'" 0 '^Memory model sc, as the model says\.$' --outcomes outcomes.lin
for want in 'sc model sc' 'tso command_line sc --memory-model=tso' 'sc command_line sc --memory-model=sc'; do
	# shellcheck disable=SC2086 # several words
	set -- $want
	run explore --json ${4-} "$both"
	[ "$(sed -n 's/^  "memory[a-z_]*": "\(.*\)",$/\1/p; s/^  "model_memory": "\(.*\)",$/\1/p' \
		out | tr ' \n' '_ ')" = "$1 $2 $3 " ]
	ktap_result $? "JSON: the memory model ${4-}" "$(head -n 6 out err)"
done
run explore "$models/twolock.lin"
! grep -q '^Memory model' out
ktap_result $? "the report names no memory model if neither model nor command line does" "$(cat out)"
sed 's/^memory sc;/memory pso;/' "$both" >pso.lin
refuse "an unknown memory model" "pso.lin:[0-9]*:8: error: .*'sc' or 'tso'" explore pso.lin
sed 's/^memory sc;/memory sc; memory tso;/' "$both" >two.lin
refuse "two memory models" "two.lin:[0-9]*:12: error: a second 'memory'" explore two.lin
sed 's/^	queue<word>/	memory sc; &/' "$both" >inside.lin
refuse "a memory model in the specification" \
	"inside.lin:[0-9]*:2: error: 'memory' belongs to an implementation" explore inside.lin

# The specification's step drains the store buffer, but the implementation's did not.
cat >hint.lin <<'END'
spec hint {
	word a = 0;
	method up(word v) { atomic_flush { a = v; } }
	method get() -> word x { atomic_flush { return a; } }
}
shared word a = 0;
method up(word v) { xchg(&a, v); }
method get() -> word { return a; }
client general(2) ops(1);
END
sed 's/xchg(&a, v)/a = v/; s/{ return a; }$/{ fence; return a; }/' hint.lin >store.lin
sed '/^method/s/{ return a; }$/{ fence; return a; }/' hint.lin >drained.lin
sed '/^method/s/return a; }$/return a + 1; }/' hint.lin >other.lin

# hint NAME PATTERN FILE: the hint is in the text, also without a run, and in JSON.
hint()
{
	for option in --hash-compact --no-run --json; do
		run explore $option "$3"
		[ $status -eq 1 ] && [ ! -s err ] && grep -qE '^(Hint| *"hint"): .*atomic_flush' out &&
			grep -E '^(Hint| *"hint"): ' out | grep -q "$2"
		ktap_result $? "a hint, $1, $option" "status $status" "$(cat out err)"
	done
}
hint "only a marker is buffered" "step of get() drains .*T[01]'s buffer holds no store" \
	hint.lin
hint "a store is buffered" "step of up() drains .*T\([01]\)'s buffer: a=1;" store.lin
right "no hint is needed" drained.lin
# The thread with the wrong result is correct: another thread's store is still buffered.
sed 's/xchg(&a, v);/lock(m); a = v; unlock(m);/; s/^shared/shared lock m; &/
	/get()/s/atomic_flush/atomic/' hint.lin >stale.lin
hint "another thread's store is buffered" \
	"T1's get() read a (line 8) while T0's buffer held a store of up() to it, the value 1; .* step of up() drains" \
	stale.lin
run explore other.lin
[ $status -eq 1 ] && ! grep -q '^Hint' out
ktap_result $? "no hint for a fault that store buffers do not cause" "status $status" "$(cat out err)"
# A look at an end of a deque changes nothing, so it may be atomic.
cat >ends.lin <<E
spec ends {
	deque<word> d = empty;

	method push(word v) { atomic_flush { d.push_back(v); } }
	method first() -> word v { atomic { return d.front(); } }
	method last() -> word v { atomic { return d.back(); } }
}
shared word a = 0, b = 0;
method push(word v) { atomic { if (a == 0) a = v; b = v; } fence; }
method first() -> word { word v = a; if (v == 0) return empty; return v; }
method last() -> word { word v = b; if (v == 0) return empty; return v; }
client roles(push, first|last) ops(2);
E
right "looks at both ends of a deque change nothing" ends.lin
# A run has a column for each thread, and below each step what it changes.
sed 's/} while (!cas(&top, t, s) @lin);/} while (top != t); top = s;/' "$models/treiber.lin" >racy.lin
run explore --shortest racy.lin
grep -qE '^step  T0 {30,}T1$' out && grep -q '^   0  the first state$' out &&
	grep -qE '^   [0-9]  T0 call push\(A\)' out && grep -qE '^   [0-9] {30,}T1 call pop\(\)' out &&
	grep -q "^      => #1={A 0}$" out && grep -q "^      => T1's buffer: top=0$" out &&
	[ "$(sed -n '/^step/,/^On SC/p' out | sed '$d' | wc -L)" -le 80 ]
ktap_result $? "a run has a column for each thread, and only what changes" "$(cat out)"
run explore --threads=4 --ops=1 racy.lin
grep -q '^step  T0  T1  T2  T3$' out && grep -qE '^   [0-9] {6}T1 call pop\(\)' out
ktap_result $? "more than three threads are indented" "$(cat out)"
ktap_finish
