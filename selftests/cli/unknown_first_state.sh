#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Histories from any first state.  Information about the first state that an operation
# reveals applies to all later ones.  If klin cannot keep the information, it says so.

. "$(dirname "$0")/common.sh"

# history LINE...: write the operations of one thread, one after the other, to h.txt.
history()
{
	echo "# klin history 1" >h.txt
	at=10
	for op in "$@"; do
		echo "t1 @0 $at $((at + 5)) $op" >>h.txt
		at=$((at + 10))
	done
}

# first STATUS SPEC OPERATION...: every engine has this verdict, also on a growing history.
first()
{
	want=$1 spec=$2
	shift 2
	history "$@"
	case $spec in
	*.lin) ;;
	*) spec=$specs/$spec.lin ;;
	esac
	for engine in "" --engine=frontier --engine=dfs --engine=wgl --engine=oracle; do
		run check --memory-model=sc --show=0 $engine "$spec" h.txt
		[ $status -eq "$want" ] || break
	done
	if [ $status -eq "$want" ]; then
		cat h.txt | "$KLIN" check --follow --memory-model=sc --show=0 "$spec" \
			- >out 2>err
		status=$? engine=--follow
	fi
	ktap_result "$([ $status -eq "$want" ]; echo $?)" "$(basename "$spec" .lin): $* ($want)" \
		"${engine:-all engines}: status $status" "$(head -n 3 out err)"
}

ktap_header
first 1 register "cas 5 6 -> 0" "read -> 5"
first 0 register "cas 5 6 -> 0" "read -> 4"
first 1 map "cas 1 2 1 -> 0" "get 1 -> 2"
first 1 eventfd "write 1 -> 0" "read 0 -> 5"
first 0 eventfd "write 1 -> 0" "read 0 -> 18446744073709551614"
first 1 bounded_queue "enq 8 -> full" "enq 8 -> 0"
first 0 bounded_queue "enq 8 -> full" "deq -> 3" "enq 8 -> 0" "enq 8 -> full"
first 1 bounded_queue "enq 8 -> full" "deq -> 3" "enq 8 -> 0" "enq 8 -> 0"
first 1 semaphore "down" "up" "try_down -> 0"
first 0 semaphore "down" "try_down -> 0"
first 1 refsum "put -> 0" "get" "put -> 1"
first 1 stack_height "pop -> empty 3"
first 1 multiset "count 2 -> 2" "count 2 -> 1"
first 1 pqueue "pop -> 6" "pop -> 5"
first 0 pqueue "pop -> 5" "pop -> 6"
first 1 clock "read -> 7" "read -> ?" "read -> 3"
first 0 clock "read -> 7" "read -> ?" "read -> 9"
first 1 idr "alloc -> 3" "alloc -> 2"
first 0 idr "alloc -> 3" "remove 1" "alloc -> 1" "alloc -> 9"
first 1 idr "remove 1" "remove 1"
first 0 idr "remove 1" "remove 2"
first 1 fd_table "alloc 5 -> 7" "close 6" "alloc 5 -> 8"
first 0 fd_table "alloc 5 -> 7" "close 6" "alloc 3 -> 4" "alloc 5 -> 6"
first 1 mqueue "send 1 2 4 -> full" "receive -> 5" "send 1 0 4 -> 0" "send 1 0 4 -> 0"
first 0 mqueue "send 1 0 4 -> 0" "receive -> 9" "receive -> 1" "receive -> empty"
first 1 mqueue "send 1 0 4 -> 0" "receive -> 9" "receive -> empty" "send 1 0 4 -> full"

# klin does not keep everything that results show about the bits of an unknown word.
bits=$here/bits.lin
first 3 "$bits" "remove 1" "remove 1"
ktap_result "$(grep -q "could not keep all" out; echo $?)" "bits: the report says that not all was kept" "$(cat out)"
first 3 "$bits" "remove 1" "remove 2"

# The first state is known, but not what an operation chose.
cat >pick.lin <<'END'
spec pick {
	word x = 0;
	method pick() { choose t; atomic_flush { x = t; } }
	method remove(word i) { atomic_flush { assume((x >> i & 1) == 1); x &= ~(1 << i); } }
}
END
history "pick" "remove 1" "remove 1"
sed -i '1a # first init' h.txt
run check --show=0 pick.lin h.txt
tr -s '\n ' '  ' <out >flat
[ $status -eq 3 ] && ! grep -q "first state" flat &&
	grep -q 'Advice: Give the choice in line 3 of pick.lin the range .* `choose t in 0..60' flat
ktap_result $? "a choice without a range: the report names it" "status $status" "$(cat out)"
"$KLIN" check --follow pick.lin - <h.txt >out 2>err
grep -q 'Advice: Give the choice in line 3 of pick.lin' out && ! grep -q "first state" out
ktap_result $? "a choice without a range: --follow names it" "$(cat out err)"
sed 's/choose t/& in 0..60/' pick.lin >ranged.lin
run check --show=0 ranged.lin h.txt
ktap_result "$([ $status -eq 1 ]; echo $?)" "a choice with a range is decided" "$(cat out err)"

# A certificate must not claim an order for which no first state is known.
history "remove 1" "remove 2"
run check --certificate=c.cert "$bits" h.txt
sed 's/^part UNKNOWN.*/part LINEARIZABLE 2 dfs\norder 0 1/' c.cert >claim.cert
run replay --spec="$bits" claim.cert
ktap_result "$([ $status -eq 3 ] && grep -q "unknown whether a first state exists" err; echo $?)" \
	"replay: an order without a known first state is left open" "status $status" "$(cat out err)"

# After klin has lost information about the state of a long history, its search for an order that is
# certain is bounded.
"$KLIN" gen --type="$bits" --any --ops=3000 --threads=4 >long.txt
for engine in "" --engine=dfs --engine=wgl --engine=frontier; do
	run check --memory-model=sc --show=0 $engine "$bits" long.txt
	ktap_result "$([ $status -eq 3 ] && grep -q "could not keep all" out; echo $?)" \
		"bits: 3,000 operations${engine:+, $engine}" "status $status" "$(cat out err)"
done

# Methods without arguments and results, for containers that have a log-linear monitor.
for type in queue stack deque pqueue; do
	case $type in
	deque) push=push_back ;;
	*) push=push ;;
	esac
	cat >own.lin <<END
spec own {
	$type<word> _c = empty;

	method nop() { atomic_flush { return; } }
	method push(word v) { atomic_flush { _c.$push(v); } }
}
END
	history nop nop
	expect 0 "$type: methods without values" check --memory-model=sc own.lin h.txt
done
ktap_finish
