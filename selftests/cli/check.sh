#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin check: verdicts and their exit codes, limits, the memory models, and the agreement of
# all engines.
#
# KLIN_SEEDS	seeds of the histories that the engines decide
# KLIN_FEW	not empty: only falsified histories without unknown or pending operations

. "$(dirname "$0")/common.sh"
seeds=${KLIN_SEEDS:-1 3}
KLIN_FEW=${KLIN_FEW-}

register=$specs/register.lin

# verdict STATUS NAME WORDS ARGUMENT...: klin check ends with this status, and prints the words.
verdict()
{
	want=$1 name=$2 words=$3
	shift 3
	run check "$@"
	if [ $status -eq "$want" ] && grep -qE -- "$words" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin check $*: status $status, expected $want" \
			"$(head -n 20 out)" "$(head -n 5 err)"
	fi
}

# Ask the engines about the history in h.txt.
agree()
{
	said=
	for engine in frontier wgl; do
		run check --memory-model=sc --engine=$engine --show=0 --work=1000000000 "$1" h.txt
		said="$said $status"
	done
	run check --show=0 --work=1000000000 --memory-model=sc "$1" h.txt
	said="$said $status"
}

test_type()
{
	wrong=0 changed=0 ok=1
	for seed in $seeds; do
		for mutate in 0 1; do
			for more in "" --any --pending=10; do
				[ -z "$KLIN_FEW" ] || [ "$mutate$more" = 1 ] || continue
				# shellcheck disable=SC2086 # maybe no word at all
				"$KLIN" gen --type="$1" --ops=30 --threads=3 --seed=$seed \
					--mutate=$mutate $more >h.txt
				changed=$((changed + mutate))
				agree "$2"
				case $said in
				" 0 0 0") ;;
				" 1 1 1")
					wrong=$((wrong + 1))
					[ $mutate -eq 1 ] || ok=0 ;;
				*)	ok=0 ;;
				esac
				if [ $ok -eq 0 ]; then
					ktap_fail "$1: the engines agree" \
						"seed $seed, mutate $mutate $more:$said"
					return
				fi
			done
		done
	done
	# A wrong history must be among them, so that the engines also agree on violations.
	ktap_note "$wrong of $changed changed histories are wrong"
	# A few histories need not have one; the run with all of them is another one.
	ktap_result "$([ $wrong -ge 1 ] || [ -n "$KLIN_FEW" ]; echo $?)" "$1: the engines agree"
}

ktap_header
cat >right.txt <<'END'
# klin history 1
# clock seq error 0
t0 @1 1 4 write 7
t1 @1 2 3 read -> 7
t1 @1 5 6 read -> 7
END
sed 's/5 6 read -> 7/5 6 read -> 0/' right.txt >late.txt
sed 's/5 6 read -> 7/5 6 read -> 9/' right.txt >wrong.txt
cat >steps.lin <<'END'
spec steps { word a = 0, b = 0;
	method set(word v) { atomic_flush { a = v; } atomic_flush { b = v; } }
	method get() -> (word x, word y) { atomic { return (a, b); } } }
END
printf '# first init\nt1 @0 10 50 set 1\nt2 @0 20 30 get -> 1 0\n' >steps.txt
verdict 1 "a state between two atomic blocks is a violation" "^VIOLATION" steps.lin steps.txt
ktap_result "$(grep -q "warning: spec 'steps': method 'set' has up to 2 atomic blocks" err &&
	[ "$(wc -l <err)" -eq 1 ]; echo $?)" "a spec with several atomic blocks: a warning" "$(cat err)"
verdict 0 "a linearizable history" "^LINEARIZABLE" "$register" right.txt
printf '# klin history 1\nt0 @1 1 - peek\nt1 @1 2 3 enq 1\n' >hang.txt
verdict 0 "a history with a pending operation" "^LINEARIZABLE" "$specs/queue.lin" hang.txt
printf '%s\n' "# first init" "t1 @0 1 2 cas 0 1 -> 1" "t2 @1 1 2 write 5" "t2 @1 3 4 read -> 5" \
	"t2 @1 5 6 write 5" "t2 @1 7 8 read -> 5" >others.txt
verdict 0 "each object is decided by the engine for its own methods" "object 0x1: .* by log-linear" --explain \
	"$register" others.txt
for type in deque bounded_queue kfifo; do
	"$KLIN" gen --type=$type --ops=3000 --threads=4 >ends.txt
	verdict 0 "$type: decided by \`ends'" "object 0x1: .* LINEARIZABLE by ends" --explain \
		"$specs/$type.lin" ends.txt
done
printf '%s\n' "# first init" "t1 @1 1 2 push_back 1" "t1 @1 3 4 push_front 2" \
	"t1 @1 5 6 pop_back -> 2" "t1 @1 7 8 pop_front -> 1" >ends.txt
verdict 1 "deque: a violation, found by \`ends'" "object 0x1: .* VIOLATION by ends" --explain \
	"$specs/deque.lin" ends.txt
verdict 1 "a violation" "^VIOLATION" "$register" wrong.txt
verdict 1 "a violation is confirmed by the oracle" "oracle finds no order either" --full "$register" \
	wrong.txt
"$KLIN" gen --type="$here/bits.lin" --threads=4 --ops=5000 --mutate=1 --where=late --seed=5 >large.txt
verdict 1 "a large violation is confirmed by the oracle" "oracle finds no order either" --full \
	"$here/bits.lin" large.txt
verdict 1 "--show has the last operations of the order, with the state before them" "^    from taken = [0-9]*$" --full \
	"$here/bits.lin" large.txt
verdict 1 "a violation is drawn" "read.*9" "$register" wrong.txt
{
	cat wrong.txt
	sed -n '/^t/s/@1/@2/p' right.txt
} >two.txt
verdict 1 "a violation in one of two objects" "1 of 2 partitions linearizable, 1 violated" "$register" two.txt

# A value that nothing wrote is found among many orders with store buffers, although an earlier
# operation shows that there is no order without.
cat >mask.lin <<'END'
spec mask {
	word mask = 7;

	method set(word m) { atomic { mask = m & 7; } }
	method get() -> word { atomic { return mask; } }
}
END
"$KLIN" gen --type=mask.lin --ops=5000 --threads=8 --keys=64 --memory-model=tso >mask.txt
sed '/get -> /{ x; s/^/x/; /^x\{700\}$/{ x; s/-> .*/-> 9/; b }; x }' mask.txt >unwritten.txt
verdict 1 "a value that nothing wrote" "-> 9 saw mask = 9, which no operation" --work=20000000 \
	mask.lin unwritten.txt
awk '{ print } /^# spec/ { print "t9 @1 1 2 set 5\nt8 @1 10 20 get -> 7" }' unwritten.txt >later.txt
verdict 1 "a value that nothing wrote, after a store that waited" "which no operation" \
	--work=20000000 mask.lin later.txt

# Figure 5 by hand: each thread stores, and then does not see the other's store.
cat >fig5.txt <<'END'
# klin history 1
# clock epoch error 8
# first init
# memory tso
t0 @1 0 1 write 1 1
t0 @1 2 3 get_y -> 0
t1 @1 0 1 set_y 1
t1 @1 2 3 read -> 0 0
END
verdict 0 "Figure 5 needs the store buffer" "1 only because stores may wait" "$specs/fig5.lin" fig5.txt
verdict 0 "Figure 5: the store that waited" "Only the store buffer explains it: in the order that was" \
	--explain "$specs/fig5.lin" fig5.txt
verdict 0 "Figure 5: --full names it, too" "^Only the store buffer explains it: in the order" \
	--full "$specs/fig5.lin" fig5.txt
verdict 1 "Figure 5 is a violation under SC" "^VIOLATION" --memory-model=sc "$specs/fig5.lin" \
	fig5.txt

grep -v "^# memory" fig5.txt >fig5-sc.txt
verdict 1 "a text history is checked under SC unless it has 'memory tso'" "^VIOLATION" "$specs/fig5.lin" fig5-sc.txt
verdict 0 "--memory-model overrides the history's memory model, and the report says so" "memory tso as the command line says \(the history's default is sc\)" \
	--memory-model=tso "$specs/fig5.lin" fig5-sc.txt
sed 's/memory tso/memory x86/' fig5.txt >fig5-x86.txt
refuse "an unknown memory model" "fig5-x86.txt:4:10: error: 'x86': expected tso or sc" \
	check "$specs/fig5.lin" fig5-x86.txt
"$KLIN" convert fig5-sc.txt fig5-sc.klh && "$KLIN" convert fig5-sc.klh fig5-again.txt
verdict 1 "a .klh made from a text is checked under SC, too" "memory sc as the history says" \
	"$specs/fig5.lin" fig5-again.txt

# The addition with an unknown value may have added the value that was removed.
cat >gap.txt <<END
# klin history 1
# clock mono error 0
# first init
# gap from 6 to 11 object 0x34
t1 @52 4 6 enq ?
t2 @52 >=1 5 deq -> 1
END
verdict 3 "an unknown value beside a gap is no violation" "^UNKNOWN \\(1 gap" "$specs/queue.lin" gap.txt
sed 's/enq ?/enq 2/; s/ object 0x34//' gap.txt >gap2.txt
verdict 1 "a known value that differs, beside a gap, is a violation" "^VIOLATION" "$specs/queue.lin" gap2.txt

# counterexample STATUS NAME HISTORY FIRST-LINE MESSAGE: after klin check --counterexample=kept of
# the history, the file, which existed before, has this first line, and klin printed this message.
counterexample()
{
	echo old >kept
	run check --counterexample=kept "$register" "$3"
	if [ $status -eq "$1" ] && [ "$(head -n 1 kept)" = "$4" ] && [ "$(cat err)" = "$5" ]; then
		ktap_pass "$2"
	else
		ktap_fail "$2" "status $status" "$(head -n 3 kept)" "$(cat err)"
	fi
}

counterexample 1 "a counterexample replaces the file" wrong.txt "# klin history 1" ""
counterexample 0 "without a counterexample the file stays, with a warning" right.txt old \
	"klin: warning: there is no counterexample; 'kept' is not changed"

"$KLIN" gen --type=stack --ops=100000 --threads=16 --keys=2 --any >heavy.txt
verdict 3 "a time limit: UNKNOWN" "^UNKNOWN \(time" --time-limit=1 "$specs/stack.lin" heavy.txt
# Each operation costs work, so with a low limit fewer are checked.
"$KLIN" gen --type=stack --ops=3000 --threads=16 --keys=2 --any >both.txt
{ echo "t99 @99 10 20 push 5"; echo "t99 @99 30 40 pop -> 6"; } >>both.txt
verdict 1 "one object takes all the work: the other object's counterexample is shown" \
	"^The brute-force oracle finds no order either" --full --work=3000000 "$specs/stack.lin" both.txt
verdict 3 "a memory limit: UNKNOWN" "^UNKNOWN \(" --memory-limit=1 "$specs/stack.lin" heavy.txt

for type in $("$KLIN" spec --list | cut -d' ' -f1 | grep -v /); do
	test_type "$type" "$specs/$type.lin"
done
ktap_finish
