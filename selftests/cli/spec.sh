#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Specifications: the shipped ones are accepted, broken and hostile ones are refused with a
# line that gives the place and the reason.

. "$(dirname "$0")/common.sh"

broken()
{
	name=$1 pattern=$2
	cat >broken.lin
	refuse "$name" "$pattern" spec broken.lin
}

# Any input ends soon, without a crash, and with a message for each fault.
survive()
{
	run spec hostile.lin
	if [ $status -eq 2 ] && [ -s err ] && [ "$(grep -cvE '^(klin: )?hostile\.lin|^  ' err)" -eq 0 ]; then
		ktap_pass "hostile: $1"
	else
		ktap_fail "hostile: $1" "status $status" "$(head -n 5 err | cut -c1-300)"
	fi
}

ktap_header
for file in "$specs"/*.lin; do
	expect 0 "shipped: ${file##*/}" spec "$file"
done
expect 0 "klin spec --dump" spec --dump "$specs/seqlock.lin"
run spec --list
if [ $status -eq 0 ] && [ "$(wc -l <out)" -eq "$(ls "$specs"/*.lin "$specs"/*/*.lin | wc -l)" ] &&
   grep -q '^set  *A set: .*\.$' out && grep -q '^explore/treiber  *[A-Z].*\.$' out; then
	ktap_pass "klin spec --list has all shipped specifications"
else
	ktap_fail "klin spec --list has all shipped specifications" "status $status" "$(cat out err)"
fi
expect 0 "a shipped specification by its name" spec set
expect 0 "a shipped model by its name" spec explore/treiber

# A name that is nearly right.
hint()
{
	want=$1
	shift
	run "$@"
	if [ $status -eq 2 ] && grep -qF "$want" err; then
		ktap_pass "klin $*: $want"
	else
		ktap_fail "klin $*: $want" "status $status" "$(cat err)"
	fi
}

hint "did you mean the shipped queue?" spec quue
hint "did you mean the shipped explore/treiber?" check treiber empty.txt
hint "did you mean the shipped stack?" gen --type=stakc
hint "did you mean check?" chexk
hint "did you mean list?" help lisst
hint "did you mean \`--engine'?" check --enigne=wgl
hint "did you mean \`--duration'?" record -o --out --duratoin 5 set
hint "did you mean \`--no-run'?" explore --memory-model sc --norun seqlock
hint "\`klin spec --list' lists the shipped ones" spec nothing_like_it

# Partitions that the specification does not justify.
cat >doubt.lin <<'END'
spec s { set<word> s = empty;
	method add(word k) -> bool { atomic_flush { return s.add(k); } }
	method both(word k) -> bool { atomic { return s.has(k) && s.has(k + 1); } }
	partition by k; }
END
echo "# klin history 1" >empty.txt
# A word behind `//' is part of the warning of its line; lines without one have no warning.
cat >unmeant.lin <<'END'
spec unmeant {
	const NONE = 0;
	const BITS = 65;
	word x = 0, _y = 0;
	word n = 0;			// no method reads 'n'
	queue<word> log = empty;	// no method reads 'log'
	queue<word> q = empty;
	bool was[4] = false;
	partition by key;

	method set(word key, word v, word _cpu) { atomic { x = 1; } }	// its parameter 'v'
	method get(word key, word k) -> word { atomic { return x; } }	// its parameter 'k'
	method count(word key) { atomic { n += 1; log.push(key); _y += 1; } }
	method self(word key) { atomic { was[key] = was[key]; was[1] = was[2]; } }	// assigned to itself
	method half(word key) -> word { atomic { return x / NONE; } }	// divides by 0
	method rest(word key) { atomic { x %= 0; x /= 2; } }		// divides by 0
	method high(word key) -> word { atomic { return x >> BITS | x << 63; } }	// 64 or more
	method gone(word key) -> word { atomic { return x >> -1; } }	// 64 or more
	method debt(word key) -> bool { atomic { return x - key < 0; } }	// never true
	method paid(word key) -> bool { atomic { return 0 <= x && x > 0; } }	// always true
	method low(word key) { atomic { x <<= 64; x >>= 1; } }		// 64 or more
	method same(word key) -> bool { atomic { return x + 1 != x + 1 || x == key; } }	// both sides
	method twice(word key) -> bool { atomic { return q.pop() == q.pop(); } }
	method lost(word key) { word old = 3, _new = 4; atomic { x = key; } }	// variable 'old'
	method zero(word key) -> bool { bool no; word left; left = 1; atomic { return no && x == left; } }	// nothing sets the local variable 'no'
	method todo(word key, word v) -> word { atomic { choose any; return any; } }
}
END
run spec unmeant.lin
awk -F '\t+// ' 'NF > 1 { print NR ": " $2 }' unmeant.lin | sort >want
grep 'warning: ' err | grep -v 'specification is partitioned' >got
while IFS=' ' read -r line part; do
	grep -q "^unmeant.lin:$line[0-9]*: warning: .*$part" got || echo "line $line no warning: $part"
done <want >said
[ $status -eq 0 ] && [ ! -s said ] && [ "$(wc -l <got)" -eq "$(wc -l <want)" ]
ktap_result $? "klin spec warns of what hardly is meant, and of nothing else" "$(cat said got)"
# The threads release what pass() takes, so its end with a lock is meant.
cat >held.lin <<'END'
spec held {
	word x = 0;
	method put(word v) { atomic { x = v; } }
	method get() -> word { atomic { return x; } }
	method pass() { fence; }
}
shared lock l, m, n, h, j, k, all[2];
shared word x = 0;
method put(word v) {			// 'put' ends with the lock 'n' of line 18
	lock(l);
	while (x != v) {
		if (x == 1) {
			lock(m);
			return;		// 'put' ends with the lock 'l' of line 10
		}
		break;
	}
	lock(n);
	unlock(l);
}
method get() -> word {
	lock(l);
	do {
		if (x == 1)
			continue;
		either { unlock(l); } or { unlock(l); lock(l); }
		return x;
	} while (x == 2);
	return x;			// 'get' ends with the lock 'l' of line 26
}
method pass() {
	lock(m);
	lock(all[0]);
	if (x == 1)
		lock(k);
	if (x == 1)
		unlock(k);
	lock(h);
	unlock(h);
	unlock(h);				// nothing holds the lock 'h' here
	if (x == 1)
		lock(j);
	unlock(j);
}
thread one { call pass(); unlock(m); }
END
run spec held.lin
awk -F '\t+// ' 'NF > 1 { print NR ": " $2 }' held.lin >want
grep -v '^  ' err | grep -v "warning: no method reads" |
	sed -n 's/, and no other .*//; s/^held.lin:\([0-9]*\):.*: warning: /\1: /p' |
	sort >got
[ $status -eq 0 ] && sort want | cmp -s - got
ktap_result $? "klin spec warns of locks that are never unlocked, or not held" "$(diff want got)" \
	"$(cat err)"
for cmd in spec check; do
	case $cmd in
	spec)	run spec doubt.lin ;;
	check)	run check doubt.lin empty.txt ;;
	esac
	if [ $status -eq 0 ] && [ "$(sed -n '3s/^ *\^$/&/p' err | wc -c)" -eq 63 ] &&
	   grep -q "doubt.lin:3:60: warning: 's' is accessed at a key other than 'k'" err; then
		ktap_pass "klin $cmd warns of a partition that the specification does not justify"
	else
		ktap_fail "klin $cmd warns of a partition that the specification does not justify" "status $status" "$(cat err)"
	fi
done

broken "a variable that is not there" "^broken.lin:3:24: error: .*'y'" <<'END'
spec s {
	word x = 0;
	method m() { atomic { y = 1; } }
}
END
broken "a type that does not fit" "^broken.lin:2:[0-9]+: error: .*bool" <<'END'
spec s { bool b = false;
	method m() -> word v { atomic { return b; } } }
END
broken "the end missing" "^broken.lin:[0-9]+:[0-9]+: error: .*expected" <<'END'
spec s { word x; method m() { atomic { x = 1; }
END
broken "a number too large" "^broken.lin:1:[0-9]+: error: .*18446744073709551616" <<'END'
spec s { word x = 18446744073709551616; method m() { atomic { x = 1; } } }
END
broken "a comment without its end" "^broken.lin:2:1: error: .*comment" <<'END'
spec s { word x; method m() { atomic { x = 1; } } }
/* no end
END
broken "a second method of a name" "^broken.lin:3:[0-9]+: error: .*'m'" <<'END'
spec s { word x;
	method m() { atomic { x = 1; } }
	method m() { atomic { x = 2; } } }
END
broken "a key that not all methods have" "^broken.lin:1:[0-9]+: error: .*'k'" <<'END'
spec s { set<word> s; partition by k;
	method add(word k) -> bool { atomic { return s.add(k); } }
	method any(word l) -> bool { atomic { return s.has(l); } } }
END
broken "a probe of no method" "^broken.lin:2:7: error: .*'gte'.*'get'" <<'END'
spec s { word x; method get() -> word v { atomic { return x; } } }
probe gte on f(a) { result v = a; }
END
broken "a probe that lacks a result" "^broken.lin:2:7: error: .*result v" <<'END'
spec s { word x; method get() -> word v { atomic { return x; } } }
probe get on f(a);
END
broken "an empty file" "^broken.lin: error: .*expected 'spec" </dev/null

# advise COMMAND <TABLE: in each row a change of the file base, as a script of sed, and a pattern of
# the only message on it, which ends with advice.
advise()
{
	while IFS='|' read -r change pattern; do
		sed "$change" base >broken.lin
		run "$1" broken.lin
		[ $status -eq 2 ] && [ "$(grep -c 'error: ' err)" -eq 1 ] &&
			grep -q "^broken.lin:$pattern" err
		ktap_result $? "advice: $pattern" "status $status" "$(cat err)"
	done
}
cat >base <<'END'
spec box {
	word x = 0;
	method put(word v) { atomic { x = v; } }
	method get() -> word v { atomic { return x; } }
}
probe get on get_box(p, w) {
	object p;
	when w != 0;
	result v = p->x;
}
history {
	process .process;
	call when .type == "invoke";
	return when .type == "ok";
	method put when .f == "put" { argument v = .value; }
	method get when .f == "get" { result v = .value; }
}
END
advise spec <<'END'
s/"invoke"/'invoke'/|13:21: error: .*texts stand in double quotes
s/"invoke"/“invoke”/|13:21: error: unexpected '“'; write '"'
s/return x/return ‘x’/|4:43: error: unexpected '‘'; write '"'
s/put(word v)/put(v)/|3:13: error: .* found 'v'; write the type before the name, as in 'word v'
s/put(word v)/put(v: word)/|3:13: error: .* found 'v'; write the type before the name, as in 'word v'
s/x = v/x := v/|3:34: error: .* found ':'; write '='
s/x = v/x <- v/|3:34: error: .* found '<'; write '='
s/-> word v/-> bool v/;s/return x/return x = 1/|4:45: error: .* found '='; write '==' to compare
s/-> word v/-> bool v/;s/return x/return x === 1/|4:47: error: .* found '='; write '=='
s/-> word v/-> bool v/;s/return x/return x <> 1/|4:46: error: .* found '>'; write '!='
s/x = v/if (v == 1) then x = v/|3:49: error: .* found 'x'; leave 'then' out
s/put(word v)/put(word)/|3:17: error: expected a name, found ')'; write its name after the type
s/-> word v/-> word, word/|4:22: error: .* found ','; several results need parentheses
s/x = v/x =+ v/|3:35: error: .* found '+'; write '+=' to add
s/spec box {/spec box { const A = 1, B = 2;/|1:23: error: .* found ','; write 'const' before each
s/word x = 0;/queue<word> x; bool b;/;s/return x/return x.empty()/|4:45: error: .* 'empty'; write 'size() == 0'
s/put(word v)/put(word v; word w)/|3:19: error: .* found ';'; write ','
s/= p->x/= (struct box *p)->x/|9:26: error: .* found 'p'; it closes the '(' in column 13 of line 9
s/= p->x/= (u32 p)->x/|9:18: error: expected ')' after the type, found 'p'; it closes the '('
s/= p->x/= (u32/|9:14: error: 'u32' is a type: write '(u32)' before what is cast
s/return x/return (x/|4:45: error: expected ')', found ';'; it closes the '(' in column 43 of line 4
s/word x = 0/word x: 0/|2:8: error: .* found ':'; write '='
s/x = v;/assumed(x == v);/|3:32: error: 'assumed(': no such function; did you mean 'assume'?
s/result v = p/return v = p/|9:2: error: .* found 'return'; write 'result'
s/when w/if w/|8:2: error: .* found 'if'; write 'when'
s/w != 0/w is 0/|8:9: error: .* found 'is'; write '=='
s/w != 0/IS_ERR(w)/|8:7: error: a probe clause cannot call functions; write 'P >= (unsigned long)-4095'
s/p->x/p->*x/|9:16: error: expected a member's name, found '\*'$
s/w != 0/w = 0/|8:9: error: .* found '='; write '==' to compare
s/w != 0/w != MOST/|8:12: error: .* no parameter 'MOST'; write 'enumerator(MOST)'
s/p->x/retval/|9:13: error: .* no parameter 'retval'; its result is 'return'
s/p->x/$retval/|9:13: error: unexpected '\$'.*'return' is its result
s/on get_box/on inline get_box/|6:21: error: .* found 'get_box'; write 'inlined'
s/p->x;/p->x; w = 3;/|9:19: error: .* found 'w'; write ',' between values
s/process .p/process: .p/|12:9: error: no ':' stands here
s/argument v = .value;/argument v = number(.value, 0);/|15:45: error: the only function here is bits(...)
s/{ argument v/{ arg v/|15:32: error: .* found 'arg'; write 'argument'
s/argument v/argument value/|15:41: error: method 'put' has no parameter 'value'; did you mean 'v'?
END
cat >base <<'END'
spec box {
	word x = 0;
	method put(word v) { atomic { x = v; } }
	method get() -> word v { atomic { return x; } }
}
struct node { word val; node *next; }
shared word x = 0;
shared node *head = null;
shared lock l;
method put(word v) { lock(l); x = v; unlock(l); }
method get() -> word v {
	node *n = new node;
	word r = x;
	n->val = r;
	return n->val;
}
client roles(put, get) ops(1);
memory tso;
END
run explore base
ktap_result $status "the model that is changed has no mistake" "$(cat err)"
advise explore <<'END'
s/word val; node/word val node/|6:24: error: expected ';' or ',' after a field, found 'node'
s/\*next; }/*next }/|6:36: error: expected ';' or ',' after a field, found '}'
s/n->val = r/*n.val = r/|14:2: error: .* found '\*'; write 'NAME->FIELD'
s/word r = x;/word r = x; if (!n) r = 1;/|13:19: error: .* a pointer to node; compare it with null
s/word r = x;/word r = x; if (r) r = 1;/|13:18: error: .* found a word; compare it, for example with '!= 0'
s/ops(1)/ops(1) ops(2)/|17:31: error: a second 'ops' of this client
s/word r = x;/choose r;/|13:9: error: a range is needed: 'choose x in 0..3;'
s/word r = x;/word r = x; break;/|13:14: error: 'break' outside a loop
s/^shared lock l;/shared lock l; shared word a[0];/|9:28: error: 'a' must have 1 to 256 elements
s/lock(l); x/lock(l); l = 1; x/|10:31: error: a lock is taken with lock()
s/= null/= NULL/|8:21: error: expected a constant; write 'null'
s/lock l;/lock l/|10:1: error: .* found 'method'; a ';' is missing before it
s/lock(l); x/lock l; x/|10:27: error: .* found 'l'; write 'lock(NAME);' or 'unlock(NAME);'
s/n->val = r/n.val = r/|14:3: error: .* found '.'; write '->'
s/new node/new node()/|12:20: error: .* found '('; write 'new STRUCT' without parentheses
s/node \*n = new node/node n/|12:7: error: .* found 'n'; if 'node' is a struct, write 'node \*n'
s/r = x/r = x lin/|13:13: error: .* found 'lin'; write '@lin'
s/(put,/(putt,/|17:14: error: no method 'putt'; did you mean 'put'?
s/^shared word/word/|7:1: error: .* found 'word'; write 'shared word NAME' for a variable
s/^client .*/thread a { word t = call get(); }/|17:26: error: .* found 'get'; declare the variable first
s/tso/x86/|18:8: error: .* found 'x86'; x86 has 'tso'
s/shared word/shared volatile word/|7:17: error: .* found 'word'; leave 'volatile' out
END
refuse "a missing file" "nothing.lin: No such file" spec nothing.lin
refuse "a directory" "/: Is a directory" spec /

head -c 5000 /dev/zero >hostile.lin
survive "zeros"
head -c 20000 "$KLIN" >hostile.lin
survive "a program"
{
	printf 'spec s { word x; method m() { atomic { x = '
	head -c 200000 /dev/zero | tr '\0' '('
} >hostile.lin
survive "200,000 open parentheses"
{
	printf 'spec s { word x; method m() { '
	yes 'if (x == 1) {' | head -n 50000
} >hostile.lin
survive "50,000 open blocks"
{
	printf 'spec s { word '
	head -c 1000000 /dev/zero | tr '\0' 'a'
} >hostile.lin
survive "a name of a million letters"
echo 'spec s { word a[18446744073709551615]; method m() { atomic { a[0] = 1; } } }' >hostile.lin
survive "an array of all memory"
echo 'spec s { word x = 1 / 0; method m() { atomic { x = 1; } } }' >hostile.lin
survive "a division by zero"
ktap_finish
