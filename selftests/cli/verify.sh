#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The verifier.  Each model is verified, for one and two threads and for any number, and
# with every reduction turned off.  No mutant is verified.  A concrete run shows a fault of
# a model.  Variants that are right under garbage collection are verified.  Mistakes in a
# model are reported.

. "$(dirname "$0")/common.sh"
at=$specs/explore

# right NAME MODEL OPTION...: klin verify verifies the model.
right()
{
	name=$1 model=$2
	shift 2
	run verify "$@" "$model"
	if [ $status -eq 0 ] && [ ! -s err ] && grep -q ': VERIFIED: .* abstract states$' out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin verify $* $model: status $status" "$(head -n 3 out err)"
	fi
}

change()
{
	sed "$2" "$1" >mutant.lin
	if cmp -s mutant.lin "$1"; then
		ktap_fail "$name" "the mutant is the original"
		return 1
	fi
}

# mutant NAME STATUS MODEL SED: status 1 means that a concrete run is found, 3 that none is.
mutant()
{
	name="$(basename "$3"): $1" want=$2 wrong=
	change "$3" "$4" || return
	for threads in ${5:-any 2}; do
		# The proof that there is no run takes long, so it is tested with one mutant.
		more=
		[ "$want" -eq 1 ] || [ "$1" = "a linearization point too many" ] || more=--no-confirm
		run verify --full --threads=$threads $more mutant.lin
		[ $status -eq "$want" ] && ! grep -qvE ": warning: |^  " err && grep -q "^The abstract run to it" out ||
			wrong="$wrong --threads=$threads: status $status: $(head -n 1 out err)"
		[ "$want" -ne 1 ] || grep -q '^A concrete wrong run' out || wrong="$wrong no run"
	done
	if [ -z "$wrong" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$wrong"
	fi
}

# variant NAME MODEL SED: another correct implementation.
variant()
{
	name="$(basename "$2"): $1"
	change "$2" "$3" || return
	right "$name" mutant.lin
}

ktap_header
treiber=$at/treiber.lin msqueue=$at/msqueue.lin dglm=$at/dglm.lin
at=$specs/verify
twolock=$at/twolock.lin pessimistic=$at/pessimistic.lin lazy=$at/lazy.lin
optimistic=$at/optimistic.lin llist=$at/llist.lin harris=$at/harris.lin
peek=$at/treiber_peek.lin

for model in $treiber $msqueue $dglm $twolock $pessimistic $llist $peek; do
	for threads in 1 2 3 any; do
		right "$(basename $model), threads $threads" $model --threads=$threads
	done
	for what in merge por symmetry all; do
		right "$(basename $model) without $what" $model --threads=2 --no-reduce=$what
	done
	right "$(basename $model) without all, any threads" $model --no-reduce=all
done
for threads in 1 2 3 any; do
	right "lazy.lin, threads $threads" $lazy --threads=$threads
done
for threads in 1 2 any; do
	right "optimistic.lin, threads $threads" $optimistic --threads=$threads
done
# Verifying harris.lin for any number of threads takes 10 s; the unit test does so.
right "harris.lin, threads 1" $harris --threads=1
for what in merge por symmetry all; do
	right "harris.lin without $what, threads 1" $harris --threads=1 --no-reduce=$what
done
for what in merge por symmetry; do
	right "lazy.lin without $what, any threads" $lazy --no-reduce=$what
	right "optimistic.lin without $what, any threads" $optimistic --no-reduce=$what
done
run verify --roles=enq:3,deq:3 $msqueue
if [ $status -eq 0 ] && grep -q 'VERIFIED: 6 threads, as any number of threads, ' out; then
	ktap_pass "two threads exceed the memory limit, any number does not"
else
	ktap_fail "two threads exceed the memory limit, any number does not" "status $status" \
		"$(head -n 3 out err)"
fi
right "producers and consumers of a stack" $treiber --roles=push:2,pop:2
right "producers and consumers of a queue" $msqueue --roles=enq:1,deq:1
right "producers and consumers of the optimised queue" $dglm --roles=enq:1,deq:1
right "producers and consumers of the queue with locks" $twolock --roles=enq:3,deq:3
right "producers and consumers of a set" $pessimistic --roles=add,remove

mutant "a plain store for the compare-and-swap of push" 1 $treiber \
	's/} while (!cas(&top, t, x) @lin);/} while (top != t); top = x @lin;/'
mutant "a plain store for the compare-and-swap of pop" 1 $treiber \
	's/} while (!cas(&top, t, s) @lin);/} while (top != t); top = s @lin;/'
mutant "published before it is linked" 1 $treiber \
	's/x->next = t;//; s/} while (!cas(&top, t, x) @lin);/} while (!cas(\&top, t, x) @lin); x->next = t;/'
mutant "the value is written after the node is published" 1 $treiber \
	's/x->val = v;//; s/} while (!cas(&top, t, x) @lin);/} while (!cas(\&top, t, x) @lin); x->val = v;/'
mutant "the next pointer is read from another top" 1 $treiber \
	's/s = t->next;/s = t->next; t = top @lin if (t == null); if (t == null) return empty;/'
mutant "push takes effect when it reads the top" 3 $treiber \
	's/x->next = t;/x->next = t; @lin;/; s/cas(&top, t, x) @lin/cas(\&top, t, x)/'
mutant "pop takes effect when it reads the next pointer" 3 $treiber \
	's/s = t->next;/s = t->next @lin;/; s/cas(&top, t, s) @lin/cas(\&top, t, s)/'
mutant "an empty pop without a linearization point" 3 $treiber 's/t = top @lin if (t == null);/t = top;/'
mutant "a linearization point too many" 3 $treiber 's/return t->val;/@lin; return t->val;/'

mutant "linked to nothing" 1 $treiber 's/x->next = t;/x->next = null;/'
mutant "the value of the next node" 1 $treiber 's/return t->val;/return s->val;/'
mutant "an empty stack is not looked for" 1 $treiber 's/if (t == null)/if (false)/'
mutant "pop gives up" 1 $treiber \
	's/} while (!cas(&top, t, s) @lin);/} while (false); if (!cas(\&top, t, s) @lin) return empty;/'

mutant "the value of the dummy node" 1 $msqueue 's/return n->val;/return h->val;/'
mutant "the tail is read before the head" 1 $msqueue \
	'/^method deq/,/^}/ { s/h = head;/H/; s/t = tail;/h = head;/; s/H/t = tail;/ }'
mutant "a plain store for the compare-and-swap of enq" 1 $msqueue \
	's/if (cas(&t->next, null, x) @lin)/t->next = x @lin; if (true)/'
mutant "a plain store for the compare-and-swap of deq" 1 $msqueue \
	's/if (cas(&head, h, n) @lin)/head = n @lin; if (true)/'
mutant "an empty queue is not looked for" 1 $msqueue 's/if (h == t) {/if (false) {/'
mutant "the value is written after the node is published" 1 $msqueue \
	's/x->val = v;//; s/	cas(&tail, t, x);/	x->val = v; cas(\&tail, t, x);/'
mutant "enq takes effect when the tail moves" 3 $msqueue \
	's/cas(&t->next, null, x) @lin/cas(\&t->next, null, x)/; s/	cas(&tail, t, x);/	cas(\&tail, t, x); @lin;/'
mutant "an empty deq without a linearization point" 3 $msqueue 's/ @lin if (n == null)//'
mutant "the next pointer is read before the head" 1 $msqueue \
	's/^		h = head;/		h = head; n = h->next; h = head;/; s/^		n = h->next @lin if (n == null);/		@lin if (n == null);/'

mutant "a plain store for the compare-and-swap of enq" 1 $dglm \
	's/if (cas(&t->next, null, x) @lin)/t->next = x @lin; if (true)/'
mutant "a plain store for the compare-and-swap of deq" 1 $dglm \
	's/if (cas(&head, h, n) @lin) {/head = n @lin; if (true) {/'
mutant "an empty deq without a linearization point" 3 $dglm 's/ @lin if (n == null)//'
mutant "the value is written after the node is published" 1 $dglm \
	's/x->val = v;//; s/	cas(&tail, t, x);/	x->val = v; cas(\&tail, t, x);/'

mutant "enq without its lock" 1 $twolock 's/^.*lock(tl);//'
mutant "deq without its lock" 1 $twolock 's/^.*lock(hl);//'
mutant "the lock is released between link and tail" 1 $twolock \
	's/t->next = x @lin;/t->next = x @lin; unlock(tl); lock(tl);/'
mutant "the lock is released between next pointer and head" 1 $twolock \
	's/r = n->val;/r = n->val; unlock(hl); lock(hl);/'
mutant "enq takes effect before the link" 3 $twolock \
	's/t = tail;/t = tail @lin;/; s/t->next = x @lin;/t->next = x;/'
mutant "deq takes effect before it reads" 3 $twolock \
	's/h = head;/h = head @lin;/; s/n = h->next @lin;/n = h->next;/'
mutant "the tail is read before the lock is taken" 1 $twolock \
	's/^	lock(tl);/	t = tail; lock(tl);/; s/^	t = tail;$//'
mutant "unlocked twice" 1 $twolock 's/^	unlock(tl);/	unlock(tl); unlock(tl);/'
mutant "never unlocked" 1 $twolock 's/^	unlock(tl);//'
mutant "the other lock is released" 1 $twolock 's/^	unlock(tl);/	unlock(hl);/'
mutant "both ends with the same lock, lost in deq" 1 $twolock 's/lock(hl)/lock(tl)/; s/^	lock(tl);$//'

mutant "the second lock is lost" 1 $pessimistic 's/^\(	*\)lock(c->l);/\1/; s/unlock(c->l);//'
mutant "unlocked before the write of add" 1 $pessimistic 's/p->next = x @lin;/unlock(p->l); p->next = x @lin; lock(p->l);/'
mutant "unlocked before the write of remove" 1 $pessimistic \
	's/n = c->next;/n = c->next; unlock(p->l); unlock(c->l); lock(p->l); lock(c->l);/'
mutant "contains takes effect after its unlocks" 3 $pessimistic \
	's/^	@lin;//; s/return r;/@lin; return r;/'
mutant "add does not search for its key" 1 $pessimistic '0,/if (c->k == k)/s/if (c->k == k)/if (false)/'
mutant "the next pointer is read before the lock is taken" 1 $pessimistic \
	's/^	p = head;/	p = head; c = p->next;/; s/^	c = p->next;//'
mutant "remove takes effect when it begins" 3 $pessimistic \
	'/^method remove/,$ s/p = head;/p = head @lin;/; s/p->next = n @lin;/p->next = n;/'

mutant "add does not set its key" 1 $pessimistic 's/x->k = k;//'
mutant "a node is linked before its next pointer is set" 3 $pessimistic \
	's/x->next = c;//; s/p->next = x @lin;/p->next = x @lin; x->next = c;/'
mutant "the wrong node is marked" 1 $lazy 's/c->marked = true/p->marked = true/'
mutant "nothing is marked" 1 $lazy 's/c->marked = true @lin;/@lin;/'
mutant "remove does not compare the next pointer" 1 $lazy \
	'/^method remove/,/^}/ s/ \&\& p->next == c//'
mutant "contains takes effect when it reads the mark" 3 $lazy \
	's/@lin other;//; s/m = c->marked;/m = c->marked @lin;/'
mutant "add ignores the marks" 1 $lazy '0,/if (!p->marked/s/if (!p->marked \&\& !c->marked \&\& /if (/'
mutant "contains ignores the mark" 3 $lazy 's/ \&\& !m;/;/'
mutant "nothing is validated" 1 $optimistic 's/if (v == p \&\& /if (/' any
mutant "the next pointer is not validated" 1 $optimistic 's/ \&\& p->next == c)/)/' any
mutant "remove does not lock the removed node" 1 $optimistic \
	'/^method remove/,/^}/ { s/^\(	*\)lock(c->l);/\1/; s/unlock(c->l);// }' any
mutant "nothing is marked" 1 $harris 's/^\(	*\)c->marked = true;/\1/' any
mutant "marked twice" 1 $harris 's/ok = !c->marked;/ok = true;/' any
mutant "the mark of the previous node is ignored" 1 $harris 's/!p->marked \&\& //' any
mutant "contains ignores the mark" 1 $harris 's/c->k == k \&\& !m/c->k == k/' any
mutant "a plain store for the compare-and-swap of add" 1 $harris \
	's/if (!p->marked \&\& p->next == c) {$/{/' any
mutant "a plain store for the exchange of del_all" 1 $llist \
	's/node \*e = xchg(&first, null) @lin;/node *e = first; first = null @lin;/'
mutant "a plain store for the compare-and-swap of add" 1 $llist \
	's/} while (!cas(&first, f, x) @lin);/} while (first != f); first = x @lin;/'
mutant "add returns the opposite" 1 $llist 's/return f == null;/return f != null;/'
mutant "del_all takes effect too late" 3 $llist 's/null) @lin;/null);/; s/if (e == null)$/@lin; if (e == null)/'
mutant "peek takes effect too late" 3 $peek 's/node \*t = top @lin;/node *t = top;/; s/^	return t->val;/	@lin; return t->val;/'

variant "the tail is not read again" $msqueue 's/if (t != tail)/if (false)/'
variant "the head is not read again" $msqueue 's/if (h != head)/if (false)/'
variant "the tail is left behind" $msqueue 's/^	cas(&tail, t, x);//'
variant "deq takes effect when it moves the head" $twolock \
	's/n = h->next @lin;/n = h->next @lin if (n == null);/; s/head = n;/head = n @lin;/'
variant "the tail moves before the link" $twolock 's/^	tail = x;/	LINK/; s/t->next = x @lin;/tail = x;/; s/LINK/t->next = x @lin;/'
variant "the value is read before the compare-and-swap" $treiber \
	's/node \*t, \*s;/node *t, *s; data r;/; s/s = t->next;/s = t->next; r = t->val;/; s/return t->val;/return r;/'
variant "peek by compare-and-swap" $peek \
	's/node \*t = top @lin;/node *t; do { t = top; } while (!cas(\&top, t, t) @lin);/'
variant "one lock for both ends" $twolock 's/lock(hl)/lock(tl)/'
variant "enq takes both locks" $twolock '/^method enq/,/^}/ {
	s/^	lock(tl);/	lock(hl); lock(tl);/
	s/unlock(tl);/unlock(tl); unlock(hl);/
}'
variant "add makes its node first" $pessimistic '/^method add/,/^}/ {
	s/x = new node;//; s/x->k = k;//
	s/^	p = head;/	x = new node; x->k = k; p = head;/
}'
variant "add releases the second lock before the write" $pessimistic '/^method add/,/^}/ {
	/p->next = x @lin;/ { N; N; s/.*/	unlock(c->l); p->next = x @lin; unlock(p->l);/; }
}'
variant "remove releases the second lock before the write" $pessimistic '/^method remove/,/^}/ {
	/p->next = n @lin;/ { N; N; s/.*/	unlock(c->l); p->next = n @lin; unlock(p->l);/; }
}'
variant "contains without a lock" $pessimistic '/^method contains/,/^}/ c \
method contains(key k) -> bool {\
	node *c; @lin other; c = head; while (c->k < k) c = c->next; return c->k == k;\
}'
variant "push makes two nodes and links the first" $treiber \
	's/^	node \*t, \*x = new node;/	node *t, *x = new node, *y = new node; y->val = v;/'
variant "push and pop in one step each" $treiber '
/^method push/,/^}/ {
	s/^	do {/	atomic {/; s/x->next = t;/x->next = t; top = x;/
	s/} while.*/} @lin;/
}
/^method pop/,/^}/ {
	/^	do {/,/} while/ c \
	atomic { t = top; if (t != null) top = t->next; } @lin; if (t == null) return empty;
}'
variant "remove takes no lock if the key is absent" $lazy '/^method remove/,/^}/ {
	s/^	while (true) {/	@lin other; while (true) {/
	s/^		lock(p->l);/		if (c->k != k) return false; lock(p->l);/
}'
variant "contains without a lock" $optimistic '/^method contains/,/^}/ c \
method contains(key k) -> bool {\
	node *c; @lin other; c = head; while (c->k < k) c = c->next; return c->k == k;\
}'
variant "del_all by compare-and-swap" $llist \
	's/node \*e = xchg(&first, null) @lin;/node *e; do { e = first; } while (!cas(\&first, e, null) @lin);/'
variant "del_first without the lock" $llist 's/^.*lock(m);//'

sed 's/} while (!cas(&top, t, x) @lin);/} while (top != t); top = x @lin;/' $treiber >wrong.lin
run verify --full --dot=wrong.dot wrong.lin
if [ $status -eq 1 ] && grep -q '^digraph' wrong.dot && grep -q '^}$' wrong.dot &&
   grep -q 'subgraph cluster1 ' wrong.dot && grep -q 'label="T0.x"' wrong.dot &&
   grep -q 'T0 push at line .*, x = n2$' out; then
	ktap_pass "--dot writes the trail for Graphviz"
else
	ktap_fail "--dot writes the trail for Graphviz" "status $status" "$(head -n 3 out err)"
fi
run verify wrong.lin
[ $status -eq 1 ] && [ "$(fold -w 80 out | wc -l)" -le 25 ] && grep -q '^What is wrong: ' out &&
	grep -q 'Not shown: the abstract run to it (--full)' out && ! grep -q 'The abstract run' out
ktap_result $? "an alarm with a concrete run in 25 lines" "$(cat out)"
run verify --no-confirm wrong.lin
[ $status -ne 0 ] && [ "$(fold -w 80 out | wc -l)" -le 25 ] && grep -q '^What may be wrong: ' out &&
	grep -q 'More: --full' out
ktap_result $? "an alarm without a concrete run in 25 lines" "status $status" "$(cat out)"
run verify --json wrong.lin
if [ $status -eq 1 ] && grep -q '"verdict": "VIOLATION"' out && grep -q '"trail": \[$' out &&
   grep -q '"run": \[$' out && [ ! -s err ]; then
	ktap_pass "--json has the verdict, the trail and the run"
else
	ktap_fail "--json has the verdict, the trail and the run" "status $status" "$(head -n 3 out err)"
fi
run verify --time-limit=1 --no-reduce=all --threads=8 $harris
[ $status -eq 3 ] && grep -q 'UNKNOWN: time limit reached after [0-9]* abstract states and' out
ktap_result $? "UNKNOWN at the time limit" "status $status" "$(head -n 3 out err)"
run verify --threads=3 --memory-limit=1 $msqueue
if [ $status -eq 3 ] && grep -q 'UNKNOWN: the bound on memory' out; then
	ktap_pass "UNKNOWN at the memory limit"
else
	ktap_fail "UNKNOWN at the memory limit" "status $status" "$(head -n 3 out err)"
fi

refuse "a number of threads out of range" "threads" verify --threads=9 $treiber
refuse "an unknown reduction" "no-reduce=x" verify --no-reduce=x $treiber
refuse "an unknown method" "no method 'pus'" verify --roles=pus:2,pop $treiber
refuse "too many threads" "1 to 8 threads" verify --roles=push:5,pop:4 $treiber
for number in +2 " 2" -18446744073709551614 ""; do
	refuse "'$number' threads" "1 to 8" verify --roles="push:$number,pop" $treiber
done
refuse "threads and roles" "exclude each other" verify --threads=2 --roles=push,pop $treiber
refuse "a model without an implementation" "no implementation" verify $specs/stack.lin
refuse "a model with threads of its own" "ticketlock.lin:[0-9]*:[0-9]*: error: .*'worker'" verify $specs/explore/ticketlock.lin

broken()
{
	name=$1 pattern=$2
	cat >broken.lin
	refuse "$name" "$pattern" verify broken.lin
}

broken "a container that klin verify does not support" "broken.lin:1:[0-9]*: error: .*'m'" <<'E2'
spec s { map<word, word> m = empty; method put(word k, word v) { atomic { m.put(k, v); } } partition by k; }
shared word x = 0; method put(word k, word v) { x = v; } client general(2);
E2
broken "two structs" "broken.lin:3:[0-9]*: error: .*one struct.*'b'" <<'E2'
spec s { word x = 0; method m() -> word { atomic { return x; } } }
struct a { word v; }
struct b { word v; }
shared a *p = null; shared b *q = null; method m() -> word { return 0 @lin; } client general(2);
E2
broken "a set without a partition" "partition by k" <<'E2'
spec s { set<word> s = empty; method add(word k) -> bool { atomic { return s.add(k); } } }
struct n { key k; n *next; }
shared n *h = null; method add(key k) -> bool { return true; } client general(2);
E2
broken "an unknown initial value" "broken.lin:1:[0-9]*: error: .*initial value.*'x'" <<'E2'
spec s { word x; method m() -> word { atomic { return x; } } }
shared word y = 0; method m() -> word { return y @lin; } client general(2);
E2
broken "a point that its expression may skip" "broken.lin:2:[0-9]*: error: '@lin' marks one access" <<'E2'
spec s { word x = 0; method m() -> word { atomic { return x; } } }
shared word y = 0; method m() -> word { if (y == 0 && cas(&y, 0, 1) @lin) return 1; return 0; } client general(2);
E2
broken "a condition of a point that reads shared variables" "broken.lin:2:[0-9]*: error: .*local variables only" <<'E2'
spec s { word x = 0; method m() -> word { atomic { return x; } } }
shared word y = 0; method m() -> word { word a = y @lin if (y == 0); return a; } client general(2);
E2

# deadlocks NAME PATTERN MODEL OPTION...: the report on deadlocks after a proof.
deadlocks()
{
	name=$1 pattern=$2
	shift 2
	run verify "$@"
	if [ $status -eq 0 ] && grep -q "$pattern" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin verify $*: status $status" "$(head -n 3 out err)"
	fi
}

# Three methods, each with two of three locks; the third takes its locks in the given order.
three_locks()
{
	cat <<E2
spec three { word x = 0;
	method a() { atomic_flush { x = 1; } }
	method b() { atomic_flush { x = 2; } }
	method c() -> word { atomic { return x; } } }
shared word x = 0;
shared lock l1, l2, l3;
method a() { lock(l1); lock(l2); x = 1 @lin; unlock(l2); unlock(l1); }
method b() { lock(l2); lock(l3); x = 2 @lin; unlock(l3); unlock(l2); }
method c() -> word { word v; lock($1); lock($2); v = x @lin; unlock($2); unlock($1); return v; }
client general(2);
E2
}

three_locks l1 l3 >ordered.lin
deadlocks "locks that are always taken in the same order: no deadlock" '^No deadlock: all operations' ordered.lin
three_locks l3 l1 >ring.lin
deadlocks "locks that three threads take in a cycle: no deadlock of two threads" '^Deadlocks: none with 2 threads' ring.lin
three_locks l2 l1 >crossed.lin
run verify crossed.lin
if [ $status -eq 1 ] && grep -q 'VIOLATION: .*linearizable, but a run fails' out; then
	ktap_pass "locks that two threads take in a cycle: a deadlock"
else
	ktap_fail "locks that two threads take in a cycle: a deadlock" "status $status" "$(head -n 3 out err)"
fi
for model in $twolock $pessimistic $lazy $optimistic $llist; do
	deadlocks "$(basename $model): no deadlock" '^No deadlock: all operations' --no-confirm $model
done
sed '/^method remove/,/^}/ { s/lock(p->l);/LOCK(c->l);/; s/lock(c->l);/lock(p->l);/; s/LOCK/lock/ }' \
	$optimistic >crossed.lin
deadlocks "remove takes its locks in the other order" '^Deadlocks: not known: there was no search' --no-confirm crossed.lin


# The report describes the search: its number of threads, and the memory limit.
deadlocks "the report on deadlocks names one thread" '^Deadlocks: none with 1 thread of up to 2 operations; ' \
	--threads=1 crossed.lin
# waits LAST POINT: print a model whose method w() has LAST + 1 choices, and an assume() that always
# holds.
waits()
{
	cat <<E2
spec s { word x = 0;
	method w() { atomic_flush { x = 0; } }
	method r() -> word { atomic { return x; } } }
shared word x = 0, y = 0, z = 0;
method w() { word h; choose h in 0..$1; z = h; assume(x == 0); x = 0 @lin; y = h; }
method r() -> word { word q = x $2; return q; }
client general(2);
E2
}
waits 1 @lin >waits.lin
deadlocks "the report on deadlocks names three threads" '^Deadlocks: none with 3 threads of up to 2 operations; ' \
	--roles=w,w,r waits.lin
waits 50 @lin >waits.lin
deadlocks "deadlocks: unknown at the memory limit" \
	'^Deadlocks: not known: .*memory limit' --memory-limit=1 waits.lin
deadlocks "deadlocks: none among the runs within the memory limit" \
	'^Deadlocks: none with 2 threads of up to 1 operation, then .*memory limit.*; others' waits.lin
waits 50 >waits.lin
run verify --no-trail --memory-limit=1 waits.lin
if [ $status -eq 3 ] && grep -q '^The search for a concrete wrong run was incomplete: .*memory limit' out; then
	ktap_pass "no concrete run within the memory limit: UNKNOWN"
else
	ktap_fail "no concrete run within the memory limit: UNKNOWN" "status $status" "$(cat out err)"
fi
run verify --json --memory-limit=1 waits.lin
if [ $status -eq 3 ] && grep -q '"searched_whole": false' out &&
   grep -q '"not_searched": ".*memory limit' out; then
	ktap_pass "no concrete run within the memory limit, as JSON"
else
	ktap_fail "no concrete run within the memory limit, as JSON" "status $status" "$(cat out err)"
fi
cat >limit.lin <<'E2'
spec s { word x = 0; method w(word v) { atomic_flush { x = 0; } } method r() -> word { atomic { return x; } } }
shared word x = 0, z = 0;
method w(word v) { word h; choose h in 0..300; z = h; x = 0 @lin; }
method r() -> word { word q = x @lin; return q; }
client general(2) ops(1);
E2
deadlocks "a proof, and runs beyond the explorer's limits" \
	'^The search of concrete runs was incomplete: .*too many choices' limit.lin
sed 's/ @lin;/;/' limit.lin >unproved.lin
run verify --no-trail unproved.lin
if [ $status -eq 3 ] && grep -q '^The search for a concrete wrong run was incomplete: .*too many choices' out; then
	ktap_pass "no proof, and runs beyond the explorer's limits"
else
	ktap_fail "no proof, and runs beyond the explorer's limits" "status $status" \
		"$(cat out err)"
fi
deadlocks "a proof names the two keys that it excludes" '^Keys: all but 0 and ~0' $pessimistic
sed 's/^client.*/client general(2) ops(1) values(0);/
	/^method contains/,/^}/s/^	p = head;/	if (k == 0) { @lin; return true; }&/' $pessimistic >keys.lin
run verify keys.lin
if [ $status -eq 1 ] && grep -q "VIOLATION: .*the client's values have the keys 0 or ~0" out; then
	ktap_pass "a violation with a key that a proof excludes"
else
	ktap_fail "a violation with a key that a proof excludes" "status $status" "$(head -n 3 out err)"
fi

# The data structure of this model is a single word, so the only reference is that word.
cat >flag.lin <<'E2'
spec flag { bool f = false;
	method set() -> bool was { atomic_flush { bool was = f; f = true; return was; } }
	method clear() { atomic { f = false; } }
	method get() -> bool is { atomic { return f; } } }
shared word w = 0;
method set() -> bool { word old = xchg(&w, 1) @lin; return old == 1; }
method clear() { w = 0 @lin; }
method get() -> bool { word v = w @lin; return v == 1; }
client general(2);
E2
right "a flag" flag.lin
mutant "set returns the opposite" 1 flag.lin 's/return old == 1;/return old != 1;/'
ktap_finish
