#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The verifier: each model is verified, for one and two threads and for any number,
# with every reduction turned off too; no mutant is; what is wrong with a model is
# shown by a concrete run; variants that are right under garbage collection are
# verified; mistakes in a model are told.

. "$(dirname "$0")/common.sh"
at=$specs/explore

# right NAME MODEL OPTION...
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

# mutant NAME STATUS MODEL SED: 1: a concrete run is found; 3: there is none.
mutant()
{
	name="$(basename "$3"): $1" want=$2 wrong=
	change "$3" "$4" || return
	for threads in ${5:-any 2}; do
		# That there is no run takes long to find out: it is asked of one mutant.
		more=
		[ "$want" -eq 1 ] || [ "$1" = "a linearization point too many" ] || more=--no-confirm
		run verify --threads=$threads $more mutant.lin
		[ $status -eq "$want" ] && [ ! -s err ] && grep -q "^The abstract run to it" out ||
			wrong="$wrong --threads=$threads: status $status: $(head -n 1 out err)"
		[ "$want" -ne 1 ] || grep -q '^A concrete run that goes wrong' out || wrong="$wrong no run"
	done
	if [ -z "$wrong" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$wrong"
	fi
}

# variant NAME MODEL SED: another implementation that is right.
variant()
{
	name="$(basename "$2"): $1"
	change "$2" "$3" || return
	right "$name" mutant.lin
}

ktap_header
treiber=$at/treiber.lin msqueue=$at/msqueue.lin dglm=$at/dglm.lin
at=$specs/verify
twolock=$at/twolock.lin pessimistic=$at/pessimistic.lin lazy=$at/lazy.lin llist=$at/llist.lin
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
right "lazy.lin, threads 1" $lazy --threads=1
right "lazy.lin, threads 2" $lazy --threads=2
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
mutant "both ends with the same lock, lost in deq" 1 $twolock 's/lock(hl)/lock(tl)/; s/^	lock(tl);$//'

mutant "the second lock is lost" 1 $pessimistic 's/^\(	*\)lock(c->l);/\1/; s/unlock(c->l);//'
mutant "unlocked before the write of add" 1 $pessimistic 's/p->next = x @lin;/unlock(p->l); p->next = x @lin; lock(p->l);/'
mutant "unlocked before the write of remove" 1 $pessimistic \
	's/n = c->next;/n = c->next; unlock(p->l); unlock(c->l); lock(p->l); lock(c->l);/'
mutant "contains takes effect after its unlocks" 3 $pessimistic \
	's/^	@lin;//; s/return r;/@lin; return r;/'
mutant "add does not look for its key" 1 $pessimistic '0,/if (c->k == k)/s/if (c->k == k)/if (false)/'
mutant "the next pointer is read before the lock is taken" 1 $pessimistic \
	's/^	p = head;/	p = head; c = p->next;/; s/^	c = p->next;//'
mutant "remove takes effect when it begins" 3 $pessimistic \
	'/^method remove/,$ s/p = head;/p = head @lin;/; s/p->next = n @lin;/p->next = n;/'

mutant "add does not look at the marks" 1 $lazy '0,/if (!p->marked/s/if (!p->marked \&\& !c->marked \&\& /if (/' 2
mutant "contains does not look at the mark" 3 $lazy 's/ \&\& !m;/;/' 2
mutant "a plain store for the exchange of del_all" 1 $llist \
	's/node \*e = xchg(&first, null) @lin;/node *e = first; first = null @lin;/'
mutant "a plain store for the compare-and-swap of add" 1 $llist \
	's/} while (!cas(&first, f, x) @lin);/} while (first != f); first = x @lin;/'
mutant "add says the contrary" 1 $llist 's/return f == null;/return f != null;/'
mutant "del_all takes effect too late" 3 $llist 's/null) @lin;/null);/; s/if (e == null)$/@lin; if (e == null)/'
mutant "peek takes effect too late" 3 $peek 's/node \*t = top @lin;/node *t = top;/; s/^	return t->val;/	@lin; return t->val;/'

variant "the tail is not looked at again" $msqueue 's/if (t != tail)/if (false)/'
variant "the head is not looked at again" $msqueue 's/if (h != head)/if (false)/'
variant "the tail is left behind" $msqueue 's/^	cas(&tail, t, x);//'
variant "deq takes effect when it moves the head" $twolock \
	's/n = h->next @lin;/n = h->next @lin if (n == null);/; s/head = n;/head = n @lin;/'
variant "the tail moves before the link" $twolock 's/^	tail = x;/	LINK/; s/t->next = x @lin;/tail = x;/; s/LINK/t->next = x @lin;/'
variant "del_first without the lock" $llist 's/^.*lock(m);//'
