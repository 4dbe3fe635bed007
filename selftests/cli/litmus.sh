#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Litmus tests.  Those of selftests/litmus have the outcome that their second line states,
# on TSO and on SC, with the machine's reductions and without.  The output has herd's form,
# and unreadable input is named.

. "$(dirname "$0")/common.sh"
tests=$here/../litmus

# observed NAME FILE WANTED OPTION...: klin litmus reports WANTED: Always, Sometimes or Never.
observed()
{
	name=$1 file=$2 want=$3
	shift 3
	run litmus --summary "$@" "$file"
	if [ $status -eq 0 ] && [ ! -s err ] &&
	   [ "$(awk '$1 == "Observation" { print $3 }' out)" = "$want" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin litmus $* $file: status $status, expected $want" \
			"$(head -n 5 out err)"
	fi
}

ktap_header
for file in "$tests"/*.litmus; do
	test=${file##*/}
	tso=$(sed -n 's/^(\* TSO: \([A-Z][a-z]*\), SC: \([A-Z][a-z]*\) \*)$/\1/p' "$file")
	sc=$(sed -n 's/^(\* TSO: \([A-Z][a-z]*\), SC: \([A-Z][a-z]*\) \*)$/\2/p' "$file")
	observed "$test on TSO" "$file" "${tso:-stated}"
	observed "$test on SC" "$file" "${sc:-stated}" --memory-model=sc
	# Without reductions, six threads are too many.
	[ "$test" = 6.SB.litmus ] ||
		observed "$test, unreduced" "$file" "${tso:-stated}" --no-reduce
done

run litmus "$tests/SB.litmus"
cat >want <<'E2'
Test SB Allowed
States 4
0:EAX=0; 1:EAX=0;
0:EAX=0; 1:EAX=1;
0:EAX=1; 1:EAX=0;
0:EAX=1; 1:EAX=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:EAX=0 /\ 1:EAX=0)
Observation SB Sometimes 1 3

E2
if [ $status -eq 0 ] && cmp -s out want; then
	ktap_pass "the output has the form of herd"
else
	ktap_fail "the output has the form of herd" "$(diff want out)"
fi
run litmus "$tests/locked-inc.litmus"
if grep -qx 'Test locked-inc Forbidden' out && grep -qx 'Positive: 1 Negative: 0' out &&
   grep -qx 'Observation locked-inc Never 0 1' out && grep -qx Ok out; then
	ktap_pass "a condition with ~exists"
else
	ktap_fail "a condition with ~exists" "$(cat out)"
fi

run litmus "$tests"
n=$(find "$tests" -name '*.litmus' | wc -l)
if [ $status -eq 0 ] && [ "$(grep -c '^Observation' out)" -eq "$n" ] &&
   grep -q "^$n tests run on TSO: .* 0 not read, 0 unknown\$" out; then
	ktap_pass "a directory of litmus tests"
else
	ktap_fail "a directory of litmus tests" "status $status" "$(tail -n 2 out)"
fi

# Stories.
run litmus --explain "$tests/SB.litmus"
sed '1,/^Observation/d' out >story
cat >want <<'E2'

What happened: SB can end with 0:EAX=0; 1:EAX=0, because of store buffers: P0
  loaded y while its store x = 1 was still in its buffer, and P1 loaded x while
  its store y = 1 was still in its buffer.

step  P0                                   P1
   1  P0 x = 1 to the buffer [MOV [x],$1]
   2  P0 y is 0 [MOV EAX,[y]]
   3                                       P1 y = 1 to the buffer [MOV [y],$1]
   4                                       P1 x is 0 [MOV EAX,[x]]
   5  P0 x = 1 of step 1 reaches memory
   6                                       P1 y = 1 of step 3 reaches memory

  Without store buffers each step would come before the next, in a circle:
   1  P0 x = 1   po to 2  P0's program order
   2  P0 y is 0  fr to 3  the load read what was there before the store
   3  P1 y = 1   po to 4  P1's program order
   4  P1 x is 0  fr to 1  the load read what was there before the store

  P0's store x = 1 at step 1 was still in P0's buffer when P0 loaded y at step
  2; it left at step 5.
  P1's store y = 1 at step 3 was still in P1's buffer when P1 loaded x at step
  4; it left at step 6.
  Without store buffers no run ends so: all 13 states were searched.
  A fence (MFENCE) before P0's 'MOV EAX,[y]' (line 6) and a fence (MFENCE)
  before P1's 'MOV EAX,[x]' (line 6) forbid it; without any one of them it can
  still end so.

E2
[ $status -eq 0 ] && cmp -s story want
ktap_result $? "the story of an outcome that needs store buffers" "$(diff want story)"

# story NAME FILE SENTENCE OPTION...: the story has the sentence, when its lines are joined.
story()
{
	name=$1 file=$tests/$2.litmus sentence=$3
	shift 3
	run litmus "$@" "$file"
	tr '\n' ' ' <out | tr -s ' ' | grep -qF "$sentence"
	ktap_result $? "the story of $name" "no '$sentence'" "$(cat out err)"
}

story "an outcome without store buffers" lost-inc \
	"P0's store x = 1 came between the load and the store of P1's 'INC [x]' (line 5)." --explain
story "locks that would forbid it" lost-inc \
	"A lock of P0's 'INC [x]' (line 5) and a lock of P1's 'INC [x]' (line 5) forbid it" --explain
story "an outcome that is asked for" SB \
	"SB can end with 0:EAX=1; 1:EAX=0, without any store in a buffer: P1 loaded x before P0's store x = 1" \
	'--explain=0:EAX=1; 1:EAX=0;'
story "an outcome that no run has" SB+mfences \
	"P0's 'MFENCE' (line 6) and P1's 'MFENCE' (line 6) are needed for this" --explain
story "an outcome that the order of stores and of loads forbids" MP \
	"The order of P0's 'MOV [x],\$1' (line 5) and P0's 'MOV [y],\$1' (line 6) and the order of P1's 'MOV EAX,[y]' (line 5) and P1's 'MOV EBX,[x]' (line 6) forbid it" --explain
sed '/^exists/s/^/filter (0:EAX=1) /' "$tests/MP.litmus" >filter.litmus
run litmus --explain filter.litmus
tr '\n' ' ' <out | tr -s ' ' | grep -qF "no final state of any run that the test's filter accepts has it"
ktap_result $? "the story names the test's filter" "$(cat out err)"
story "a condition of all final states" spin \
	"spin always ends with 1:EBX=1: every final state of any run has it" --explain
story "an outcome on SC" SB "no final state of any run without store buffers has it" \
	--explain --memory-model=sc
story "an outcome that only store buffers allow, on SC" SB "With store buffers a run ends otherwise." \
	--explain --memory-model=sc
run litmus --explain --memory-model=sc "$tests/MP.litmus"
! grep -q "With store buffers" out
ktap_result $? "an outcome that store buffers do not allow either" "$(cat out err)"
refuse "an unknown location in --explain" "--explain:1:1: error: the test has no location 'z'" \
	litmus --explain=z=1 "$tests/SB.litmus"
refuse "a wrong condition in --explain" "--explain:1:9: error: expected the end of the condition" \
	litmus '--explain=1:EAX=1 1' "$tests/SB.litmus"
refuse "a register in --explain that nothing sets" \
	"--explain:1:12: error: register EBX of P1 is always 0: no instruction of P1 sets it" \
	litmus '--explain=0:EAX=0 /\ 1:EBX=1' "$tests/SB.litmus"
run litmus --json --explain "$tests"
python3 "$here/litmus_story.py" "$KLIN" out >said 2>&1
[ $status -eq 0 ] && [ "$(cat said)" = "68 24 21 22 16 26 2" ]
ktap_result $? "each story is true: tests, runs, buffers, forbidden, fences needed, orders, alone" "$(tail -5 said)"

sed 's/1:EAX=0/1:ECX=0 \/\\ z=0/' "$tests/SB.litmus" >unset.litmus
run litmus --explain unset.litmus
[ $status -eq 0 ] && [ "$(grep -c warning err)" -eq 2 ] &&
	grep -q "^unset.litmus:7:20: warning: register ECX of P1 is always 0: " err &&
	grep -q "^unset.litmus:7:31: warning: 'z' is always 0: " err
ktap_result $? "warnings of a register and a location that nothing sets" "$(cat err)"
sed 's/^{/{ 2:EAX=1; /' "$tests/SB.litmus" >extra.litmus
run litmus extra.litmus
[ $status -eq 0 ] && grep -q "^extra.litmus:3:3: warning: the program has no thread 2" err
ktap_result $? "a warning of a first value in no thread" "$(cat err)"
sed 's/^{/{ x=1; x=2;/' "$tests/SB.litmus" >twice.litmus
refuse "two first values of one location" "^twice.litmus:3:8: error: the place has another first" \
	litmus twice.litmus
sed '/^exists/s/.*/exists 0:EAX=0 and 1:EAX=0/' "$tests/SB.litmus" >and.litmus
refuse "a condition with an operator of another language" "found 'and 1:EAX=0'; write '/.' for and" \
	litmus and.litmus
sed 's/^ MOV EAX,\[y\] .*/ MOV EAX,[y] ;/' "$tests/SB.litmus" >short.litmus
refuse "a row with fewer columns than threads" \
	"^short.litmus:6:14: error: the row ends after 1 column of 2" litmus short.litmus

sed '/^exists/d' "$tests/SB.litmus" >open.litmus
run litmus open.litmus
[ $status -eq 0 ] && grep -q "^open.litmus: warning: the test has no condition" err
ktap_result $? "a warning of a test without a condition" "$(cat err)"
sed 's/^exists/exist/' "$tests/SB.litmus" >exist.litmus
refuse "a misspelt word before the condition" \
	"^exist.litmus:7:1: error: expected a row that ends with ';', or 'exists', .*found 'exist" \
	litmus exist.litmus

broken()
{
	name=$1 pattern=$2
	cat >broken.litmus
	refuse "$name" "$pattern" litmus broken.litmus
}

# Rows: a change of SB.litmus, as a script of sed, and a pattern of the message on it.
while IFS='#' read -r change pattern; do
	sed "$change" "$tests/SB.litmus" >broken.litmus
	refuse "advice: $pattern" "^broken.litmus:$pattern" litmus broken.litmus
done <<'E2'
s:/\\:\&\&:#7:17: error: expected '\)', found '&& .*'; write '/\\' for and
s:/\\:or:#7:17: error: expected '\)', found 'or .*'; write '\\/' for or
s:/\\ ::#7:17: error: expected '\)', found .*'; '/\\' or '\\/' stands between two conditions
s:MOV .x.:MVO [x]:#5:2: error: .* unknown instruction; did you mean 'mov'?
s:MOV .x.,:MOV [x] :#5:2: error: .* has 2 operands, found 1; ',' stands between operands
5s:;$::#6:[0-9]+: error: .* than there are threads; is a ';' missing at the end of the line before?
s:{ }:{ x\:1; }:#3:4: error: expected ';' or '}' in the initial state, .*; write '=' before a value
E2
gzip -c "$tests/SB.litmus" >broken.litmus
refuse "a compressed test" "^broken.litmus: error: the file is compressed by gzip" litmus broken.litmus
printf '\357\273\277' | cat - "$tests/SB.litmus" >marked.litmus
expect 0 "a test with a byte order mark" litmus marked.litmus

broken "another architecture" "broken.litmus:1:[0-9]+: error: .*AArch64" <<'E2'
AArch64 SB
{ }
E2
broken "no bar between threads" "broken.litmus:3:2: error: expected 'P0', found .*; '.' stands between threads" <<'E2'
X86 t
{ }
 P0   P1 ;
 MFENCE | MFENCE ;
E2
broken "nine threads" "broken.litmus:3:[0-9]+: error: .*P7.: at most 8 threads are supported" <<'E2'
X86 t
{ }
 P0 | P1 | P2 | P3 | P4 | P5 | P6 | P7 | P8 ;
 NOP | NOP | NOP | NOP | NOP | NOP | NOP | NOP | MOV [x],$1 ;
exists (x=1)
E2
broken "a thread whose number is 2^32" "broken.litmus:3:2: error: expected 'P0'" <<'E2'
X86 t
{ }
 P4294967296 ;
 MOV [x],$1 ;
exists (x=1)
E2
broken "a register of a thread whose number is 2^32" \
	"broken.litmus:5:9: error: the thread's number is too large" <<'E2'
X86 t
{ }
 P0 ;
 MOV EAX,[x] ;
exists (4294967296:EAX=1)
E2
broken "an unknown instruction" "broken.litmus:4:[0-9]+: error: 'RDTSC'" <<'E2'
X86 t
{ }
 P0 ;
 RDTSC ;
exists (0:EAX=0)
E2
broken "accesses of two sizes" "broken.litmus:5:[0-9]+: error: .*size" <<'E2'
X86_64 t
{ }
 P0 ;
 movq $1,(x) ;
 movl $1,(x) ;
exists (x=1)
E2
broken "a jump before any instruction that sets flags" "broken.litmus:4:[0-9]+: error: .*flags" <<'E2'
X86 t
{ }
 P0 ;
 JE OUT ;
 OUT: ;
exists (x=1)
E2
broken "a jump by flags of an addition" "broken.litmus:5:[0-9]+: error: 'JL OUT': .*'cmp' before" <<'E2'
X86 t
{ }
 P0 ;
 ADD EAX,$1 ;
 JL OUT ;
 OUT: ;
exists (x=1)
E2
broken "an offset beyond the end of a location" "broken.litmus:4:[0-9]+: error: the index is out of bounds" <<'E2'
X86_64 t
{ 0:rax=x; y=1; }
 P0 ;
 movl $1,4(%rax) ;
exists (x=1)
E2
broken "an offset into the middle of a location" "broken.litmus:4:[0-9]+: error: .*the middle of a location" <<'E2'
X86_64 t
{ int t[2]; 0:rax=t; }
 P0 ;
 movl $1,2(%rax) ;
exists (t[0]=1)
E2
broken "an index beyond the end of an array" "broken.litmus:4:[0-9]+: error: the index is out of bounds" <<'E2'
X86_64 t
{ int t[2]; y=1; 0:rax=t; 0:rbx=2; }
 P0 ;
 movl $1,(%rax,%rbx,4) ;
exists (t[0]=1)
E2
broken "an index with the scale 3" "broken.litmus:4:[0-9]+: error: .*1, 2, 4 or 8" <<'E2'
X86_64 t
{ int t[2]; 0:rax=t; 0:rbx=1; }
 P0 ;
 movl $1,(%rax,%rbx,3) ;
exists (t[0]=1)
E2
broken "an access through a register to a larger location" "broken.litmus:4:[0-9]+: error: .*another size" <<'E2'
X86_64 t
{ int64_t x=0x100000001; 0:rax=x; }
 P0 ;
 movl (%rax),%ebx ;
exists (0:rbx=1)
E2
broken "an address between elements of an array, or beyond" "broken.litmus:4:[0-9]+: error: .*not an element of an array" <<'E2'
X86_64 t
{ int x[2]; }
 P0 ;
 movl $1,8(x) ;
exists (x[0]=1)
E2
broken "arithmetic on an address" "broken.litmus:4:[0-9]+: error: arithmetic on an address" <<'E2'
X86_64 t
{ int x; int y; 0:rax=x; }
 P0 ;
 addq $8,%rax ;
 movl $1,(%rax) ;
exists (y=1)
E2
broken "a comment without its end" "broken.litmus:2:[0-9]+: error: the comment is not closed" <<'E2'
X86 t
(* one (* two *)
{ }
 P0 ;
 MOV [x],$1 ;
exists (x=1)
E2
broken "a lock prefix without an instruction" "broken.litmus:4:[0-9]+: error: .*the lock prefix has no instruction" <<'E2'
X86 t
{ }
 P0 ;
 LOCK ;
exists (x=1)
E2
broken "an unknown type" "broken.litmus:2:[0-9]+: error: unknown type 'float'" <<'E2'
X86 t
{ float x; }
 P0 ;
 MOV [x],$1 ;
exists (x=1)
E2
broken "an unknown label" "broken.litmus:4:[0-9]+: error: .*'OUT'" <<'E2'
X86 t
{ }
 P0 ;
 JMP OUT ;
exists (x=1)
E2
broken "an unknown thread" "broken.litmus:5:[0-9]+: error: .*thread 1" <<'E2'
X86 t
{ }
 P0 ;
 MOV [x],$1 ;
exists (1:EAX=1)
E2
broken "a condition without its end" "broken.litmus:[56]:[0-9]+: error: expected" <<'E2'
X86 t
{ }
 P0 ;
 MOV [x],$1 ;
exists (x=1
E2
broken "a test in C" "broken.litmus:1:1: error: expected 'X86' or 'X86_64', found 'C SB'" <<END
C SB
{}
P0(int *x) { WRITE_ONCE(*x, 1); }
END
broken "an empty file" "broken.litmus:1:[0-9]+: error: the file is empty" </dev/null
refuse "a missing file" "nothing.litmus" litmus nothing.litmus

mkdir some
cp "$tests/SB.litmus" broken.litmus some
run litmus some
if [ $status -eq 2 ] && grep -q '^1 tests run .* 1 not read' out && [ "$(wc -l <err)" -eq 3 ]; then
	ktap_pass "unreadable tests are counted, the others run"
else
	ktap_fail "unreadable tests are counted, the others run" "$(cat out err)"
fi
cat >grow.litmus <<'E2'
X86 grow
{ }
 P0 | P1 | P2 ;
 L: INC [x] | L: INC [y] | L: INC [z] ;
 JMP L | JMP L | JMP L ;
exists (x=1)
E2
far='UNKNOWN: after [0-9]* states and [0-9]* transitions, .* levels'
run litmus --memory-limit=1 grow.litmus
[ $status -eq 3 ] && grep -q "$far.* more than 1 MiB; .*'x' grew from 0 to [0-9]* while" err
ktap_result $? "an endless test: UNKNOWN at the memory limit, with the growing location" "status $status" "$(cat err)"
run litmus --time-limit=1 grow.litmus
[ $status -eq 3 ] && grep -q "$far.*: time limit reached" err
ktap_result $? "an endless test: UNKNOWN at the time limit" "status $status" "$(cat err)"
ktap_finish
