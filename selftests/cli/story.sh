#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The story of a violation on a terminal: at most 25 lines, with the rest by --full; colours only
# where they are wanted; ASCII where the locale is not UTF-8.

. "$(dirname "$0")/common.sh"

export LC_ALL=C.UTF-8
seeds="1 2"
[ -z "${KLIN_FEW:-}" ] || seeds=1
escape=$(printf '\033')

# short TYPE: violations of the type are told in at most 25 lines, which name the proof.
short()
{
	type=$1 told=0
	for seed in $seeds; do
		"$KLIN" gen --type="$type" --ops=200 --threads=6 --keys=3 --seed=$seed --mutate=20 \
			>h.txt
		run check --no-partition --memory-model=sc "$specs/$type.lin" h.txt
		[ $status -eq 1 ] || continue
		told=$((told + 1))
		if [ "$(wc -l <out)" -gt 25 ] || ! grep -q '^  Proof: ' out ||
		   ! grep -q '^What is wrong:' out; then
			ktap_fail "$type: the story has at most 25 lines" "$(cat out)"
			return
		fi
	done
	ktap_pass "$type: the story has at most 25 lines" "$told violations"
}

ktap_header
for type in $("$KLIN" spec --list | cut -d' ' -f1 | grep -v /); do
	short "$type"
done

cat >torn.txt <<END
# klin history 1
# first init
t1 @1 0 10 write 1 1
t1 @1 20 30 write 2 2
t2 @1 15 40 read -> 1 2
END
# Operations that overlap the wrong one are in the picture, with dots.
cat >around.txt <<END
# klin history 1
# first init
t1 @1 0 100 write 1
t2 @1 200 300 write 2
t3 @1 400 600 read -> 1
t1 @1 450 650 read -> 2
END
run check "$specs/register.lin" around.txt
grep -q 'dotted: other operations' out && grep -q '├┄*read() -> 2┄*┤' out &&
	! grep -q '^  t1  read' out
ktap_result $? "operations around the wrong one are drawn with dots" "$(cat out)"
run check --color=always "$specs/register.lin" around.txt
grep -q "$(printf '\033')\[2m" out
ktap_result $? "they are dim in colour" "$(cat out)"

# The operation chooses a part of its results, and the state before is the same.
cat >chosen.lin <<'END'
spec lease {
	word now = 0;
	method tick(word t) { atomic_flush { now = t; } }
	method look() -> (bool late, word at) {
		choose t;
		atomic_flush { assume(t >= now); now = t; return (t >= 5, t); }
	}
}
END
printf '# klin history 1\n# first init\nt1 @1 0 10 tick 3\nt2 @1 20 30 look -> 0 2\n' >chosen.txt
run check chosen.lin chosen.txt
tr -s ' \n' ' ' <out | grep -q "could have returned a value that agrees with now = 3 before it\. "
ktap_result $? "what would have been right is said once" "$(cat out)"

# failing FIRST SECOND RESULT: a push with two alternatives, which returned RESULT, and two pops.
failing()
{
	cat >failing.lin <<-END
		spec sometimes {
			stack<word> s = empty;
			method push(word v) -> bool ok { atomic { either { $1 } or { $2 } } }
			method pop() -> word v { atomic { return s.pop(); } }
		}
	END
	printf '# klin history 1\n# first init\nt1 @1 0 10 push 7 -> %s\nt2 @1 20 30 pop -> 7\n' "$3" >failing.txt
	[ "$3" = 0 ] || echo 't3 @1 20 30 pop -> 7' >>failing.txt
	run check failing.lin failing.txt
}
push="s.push(v); return true;" fail="return false;"
failing "$push" "$fail" 1
grep -q "both took 7" out
ktap_result $? "a push that may fail: two took one value" "$(cat out)"
failing "$fail" "$push" 1
grep -q "both took 7" out
ktap_result $? "the same with its alternatives exchanged" "$(cat out)"
failing "$push" "$fail" 0
grep -q "took 7, which was never added" out
ktap_result $? "a push that failed added nothing" "$(cat out)"
failing "s.push(v); return false;" "$fail" 0
echo 't3 @1 20 30 pop -> 7' >>failing.txt
run check failing.lin failing.txt
grep -q '^VIOLATION' out && ! grep -q "never added" out
ktap_result $? "alternatives that cannot be told apart" "$(cat out)"

pair=$specs/pair.lin
run check "$pair" torn.txt
grep -q 'is torn: a = 1 comes from' out && grep -q '├─*write(1, 1)─*┤' out &&
	grep -q '├─*write(2, 2)─*┤' out && grep -q '┣━*read() -> (1, 2)━*┫' out && grep -q '; to scale$' out
ktap_result $? "a torn read: the writes that it mixes are named and drawn" "$(cat out)"
printf '# klin history 1\n# first any\nt1 @1 0 10 write 3 4\nt2 @1 20 30 read -> 0 0\n' >unwritten.txt
run check "$pair" unwritten.txt
tr -s ' \n' ' ' <out | grep -q "saw a = 0, b = 0, which no operation wrote before; the first state had gone by 10, with"
ktap_result $? "values that nobody wrote are not torn" "$(cat out)"
sed 's/^# first any/# first init/' unwritten.txt >gone.txt
run check "$pair" gone.txt
tr -s ' \n' ' ' <out | grep -q "saw a = 0, b = 0 of the first state, which had gone by 10, with"
ktap_result $? "nor are those of the first state" "$(cat out)"
awk -v n=40000 'BEGIN {
	print "# klin history 1\n# first init\n# memory tso"
	for (i = 1; i <= n; i++) {
		printf "t1 @1 %d %d write %d %d cpu=0\n", 10 * i, 10 * i + 4, i, i
		printf "t2 @1 %d %d read -> %d %d cpu=1\n", 10 * i + 3, 10 * i + 9, i - (i == n), i
	}
}' >long.txt
run check "$specs/seqlock.lin" long.txt
grep -q 'is torn: *$\|is torn: x1 = 39999' out && grep -q 'write(39999, 39999)  *left x1 = 39999' out
ktap_result $? "a torn read after many operations, with store buffers" "$(cat out)"
# room STAY LAST: values go in and out, STAY others stay, and then an addition returns LAST, wrongly.
room()
{
	awk -v stay="$1" -v last="$2" 'BEGIN {
		print "# klin history 1\n# first init"
		for (i = 1; i <= 9; i++)
			printf "t1 @1 %d %d enq %d -> 0\nt2 @1 %d %d deq -> %d\n",
				100 * i, 100 * i + 10, i, 100 * i + 20, 100 * i + 30, i
		for (i = 1; i <= stay; i++)
			printf "t1 @1 %d %d enq %d -> 0\n", 1000 * i, 1000 * i + 10, 10 * i
		printf "t2 @1 9000 9010 enq 99 -> %s\n", last
	}' >room.txt
	run check "$specs/bounded_queue.lin" room.txt
	[ "$(grep -c "added a value" out)" = "$1" ] && ! grep -q "took a value" out &&
		grep -q "enq($1"0") -> 0  *added a value" out
}
room 3 full
ktap_result $? "an addition that found no room: only values that were inside" "$(cat out)"
room 4 0
ktap_result $? "an addition that found room: only values that were inside" "$(cat out)"
sed 's/^# first init/&\n# comm 1 klin test\n# spelling 1 init_net/; s/ write 1 1$/& cpu=3/' torn.txt >named.txt
run check "$pair" named.txt
grep -q 'pair @1 (init_net): ' out && grep -q '0-10  *line 5, klin test, CPU 3$' out
ktap_result $? "names of threads and objects" "$(cat out)"
run check --json "$pair" named.txt
grep -q '"comm": "klin test"' out && grep -q '"symbol": "init_net"' out
ktap_result $? "names of threads and objects in JSON" "$(cat out)"
sed 's/^# first init/&\n# stack 7 step+0x10 [m]; main+0x4\n# stack 9 other+0x1/
	s/ write 1 1$/& stack=7/; s/ write 2 2$/& stack=7/; s/ read -> .*/& stack=9/' torn.txt >stacks.txt
run check --full "$pair" stacks.txt
grep -qx '  Kernel stack at the call of .*write(1, 1), .*write(2, 2):' out &&
	grep -A 2 'write(1, 1), .*write(2, 2):' out | tail -n 2 | tr '\n' ' ' |
		grep -qx '    step+0x10 \[m\]     main+0x4 ' &&
	grep -A 1 '^  Kernel stack at the call of .*read()' out | grep -qx '    other+0x1'
ktap_result $? "kernel stacks, each with its operations" "$(cat out)"
sed 's/^# first init/&\n# slab 1 kmalloc-64/' torn.txt >slab.txt
run check "$pair" slab.txt
grep -q 'pair @1 (slab kmalloc-64): ' out
ktap_result $? "the slab cache of an object" "$(cat out)"
run check --json "$pair" slab.txt
grep -q '"slab": "kmalloc-64"' out
ktap_result $? "the slab cache of an object in JSON" "$(cat out)"
"$KLIN" check --follow --full "$pair" - <stacks.txt >out 2>err
grep -A 1 '^  Kernel stack at the call of .*read()' out | grep -qx '    other+0x1'
ktap_result $? "kernel stacks with --follow" "$(cat out err)"
run check --json "$pair" stacks.txt
tr -d ' \n' <out | grep -qF '"stack":["step+0x10[m]","main+0x4"]'
ktap_result $? "kernel stacks in JSON" "$(cat out)"
"$KLIN" convert stacks.txt stacks.klh && "$KLIN" convert stacks.klh back.txt
[ "$(grep -c stack= back.txt)" -eq "$(grep -c stack= stacks.txt)" ] &&
	[ "$(grep '^# stack' back.txt)" = "$(grep '^# stack' stacks.txt)" ]
ktap_result $? "kernel stacks in .klh" "$(cat back.txt)"
sed 's/stack=9/stack=x/' stacks.txt >wrong.txt
run check "$pair" wrong.txt
[ $status -eq 2 ] && grep -q '^wrong.txt:[0-9]*:[0-9]*: error: .*the number of a stack' err
ktap_result $? "a wrong number of a stack" "$(cat err)"
sed 's/@1 /@0x20 /; s/ 2 2$/ 0x20 2/; s/-> 1 2/-> 1 2/' torn.txt >same.txt
run check --json "$pair" same.txt
! grep -q '"symbol"' out && grep -q '"0x20"' out
ktap_result $? "a value that equals the object's address is no symbol of it" "$(cat out)"
printf '# klin history 1\n# comm 1 a\033[2J\nt1 @1 0 10 write 1 1\n' >named.txt
run check "$pair" named.txt
[ $status -eq 2 ] && grep -q '^named.txt:2:11: error: .*no control character' err
ktap_result $? "a name with a control character is refused" "$(cat err)"
run check "$pair" torn.txt
! grep -q 'The longest possible order' out && grep -q -- '--full' out
ktap_result $? "the proof is only named" "$(cat out)"
run check --full "$pair" torn.txt
grep -q '^Counterexample: 1 of the 3 operations' out && grep -q 'The longest possible order' out &&
	grep -q '^  No operation left these values together' out
ktap_result $? "--full prints the story and the proof" "$(cat out)"
run check --no-diagram "$pair" torn.txt
! grep -q '┫' out && grep -q '^  Proof: ' out
ktap_result $? "--no-diagram prints no picture" "$(cat out)"
grep -v '^t1 @1 0' torn.txt >grown.txt
run check --follow --full - <grown.txt "$pair"
! grep -q "$escape" out
ktap_result $? "no colours in a file" "$(cat out)"
run check --color=always "$pair" torn.txt
grep -q "$escape" out
ktap_result $? "--color=always: colours in a file" "$(cat out)"
NO_COLOR=1 run check --color=always --full "$pair" torn.txt
grep -q "$escape" out
ktap_result $? "--color=always is stronger than NO_COLOR" "$(cat out)"
run check --color=never "$pair" torn.txt
! grep -q "$escape" out
ktap_result $? "--color=never: no colours" "$(cat out)"
LC_ALL=C run check "$pair" torn.txt
! LC_ALL=C grep -q '[^ -~]' out && grep -q -- '-write(1, 1)-' out
ktap_result $? "ASCII where the locale is not UTF-8" "$(cat out)"
run check --color=red "$pair" torn.txt
[ $status -eq 2 ] && grep -q -- '--color=red: expected auto, always or never' err
ktap_result $? "a wrong --color is refused" "$(cat err)"
cat >size.txt <<'END'
# klin history 1
# first init
t1 @1 0 10 send 4 0 9 -> 0
t3 @1 11 15 send 7 0 4 -> 0
t2 @1 20 30 receive -> 4
t2 @1 32 35 receive -> 7
t2 @1 40 50 receive -> 4
END
run check "$specs/mqueue.lin" size.txt
grep -q '^  t1  send(4, 0, 9) -> 0  was called with 4 ' out && ! grep -q '^  t3 ' out
ktap_result $? "a size is not taken for the value that was seen" "$(cat out)"
ktap_finish
