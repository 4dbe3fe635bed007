#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Litmus tests: those of selftests/litmus have the outcome that their second line
# states, on TSO and on SC, with the machine's reductions and without; the output
# is herd's; what cannot be read is named.

. "$(dirname "$0")/common.sh"
tests=$here/../litmus

# observed NAME FILE WANTED OPTION...
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
	# Six threads, each step by itself, are too many.
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
	ktap_pass "the output is herd's"
else
	ktap_fail "the output is herd's" "$(diff want out)"
fi
run litmus "$tests/locked-inc.litmus"
if grep -qx 'Test locked-inc Forbidden' out && grep -qx 'Positive: 1 Negative: 0' out &&
   grep -qx 'Observation locked-inc Never 0 1' out && grep -qx Ok out; then
	ktap_pass "~exists"
else
	ktap_fail "~exists" "$(cat out)"
fi

run litmus "$tests"
n=$(find "$tests" -name '*.litmus' | wc -l)
if [ $status -eq 0 ] && [ "$(grep -c '^Observation' out)" -eq "$n" ] &&
   grep -q "^$n tests run on TSO: .* 0 not read, 0 unknown\$" out; then
	ktap_pass "a directory"
else
	ktap_fail "a directory" "status $status" "$(tail -n 2 out)"
fi

broken()
{
	name=$1 pattern=$2
	cat >broken.litmus
	refuse "$name" "$pattern" litmus broken.litmus
}

broken "another architecture" "broken.litmus:1: error: .*AArch64" <<'E2'
AArch64 SB
{ }
E2
broken "an unknown instruction" "broken.litmus:4: error: 'RDTSC'" <<'E2'
X86 t
{ }
 P0 ;
 RDTSC ;
exists (0:EAX=0)
E2
broken "accesses of two sizes" "broken.litmus:5: error: .*size" <<'E2'
X86_64 t
{ }
 P0 ;
 movq $1,(x) ;
 movl $1,(x) ;
exists (x=1)
E2
broken "flags that nothing set" "broken.litmus:4: error: .*flags" <<'E2'
X86 t
{ }
 P0 ;
 JE OUT ;
 OUT: ;
exists (x=1)
E2
broken "flags of an addition that are not kept" "broken.litmus:5: error: 'JL OUT': .*'cmp' before" <<'E2'
X86 t
{ }
 P0 ;
 ADD EAX,$1 ;
 JL OUT ;
 OUT: ;
exists (x=1)
E2
broken "an offset that leads out of a location" "broken.litmus: an index outside" <<'E2'
X86_64 t
{ 0:rax=x; y=1; }
 P0 ;
 movl $1,4(%rax) ;
exists (x=1)
E2
broken "an offset into the middle" "broken.litmus:4: error: .*the middle of a location" <<'E2'
X86_64 t
{ int t[2]; 0:rax=t; }
 P0 ;
 movl $1,2(%rax) ;
exists (t[0]=1)
E2
broken "an index that leads out of its array" "broken.litmus: an index outside" <<'E2'
X86_64 t
{ int t[2]; y=1; 0:rax=t; 0:rbx=2; }
 P0 ;
 movl $1,(%rax,%rbx,4) ;
exists (t[0]=1)
E2
broken "an index times three" "broken.litmus:4: error: .*times" <<'E2'
X86_64 t
{ int t[2]; 0:rax=t; 0:rbx=1; }
 P0 ;
 movl $1,(%rax,%rbx,3) ;
exists (t[0]=1)
E2
broken "an access through a register to a larger location" "broken.litmus:4: error: .*another size" <<'E2'
X86_64 t
{ int64_t x=0x100000001; 0:rax=x; }
 P0 ;
 movl (%rax),%ebx ;
exists (0:rbx=1)
E2
broken "no element of the array" "broken.litmus:4: error: .*no element of an array" <<'E2'
X86_64 t
{ int x[2]; }
 P0 ;
 movl $1,8(x) ;
exists (x[0]=1)
E2
broken "arithmetic on an address" "arithmetic on an address" <<'E2'
X86_64 t
{ int x; int y; 0:rax=x; }
 P0 ;
 addq $8,%rax ;
 movl $1,(%rax) ;
exists (y=1)
E2
broken "a comment without its end" "broken.litmus:2: error: a comment without its end" <<'E2'
X86 t
(* one (* two *)
{ }
 P0 ;
 MOV [x],$1 ;
exists (x=1)
E2
broken "a lock prefix of nothing" "broken.litmus:4: error: .*a lock prefix without" <<'E2'
X86 t
{ }
 P0 ;
 LOCK ;
exists (x=1)
E2
broken "an unknown type" "broken.litmus:2: error: 'float'" <<'E2'
X86 t
{ float x; }
 P0 ;
 MOV [x],$1 ;
exists (x=1)
E2
broken "no such label" "broken.litmus:4: error: .*'OUT'" <<'E2'
X86 t
{ }
 P0 ;
 JMP OUT ;
exists (x=1)
E2
broken "no such thread" "broken.litmus:5: error: .*thread 1" <<'E2'
X86 t
{ }
 P0 ;
 MOV [x],$1 ;
exists (1:EAX=1)
E2
broken "a condition without its end" "broken.litmus:[56]: error: expected" <<'E2'
X86 t
{ }
 P0 ;
 MOV [x],$1 ;
exists (x=1
E2
broken "an empty file" "broken.litmus:1: error: expected 'X86'" </dev/null
refuse "no file" "nothing.litmus" litmus nothing.litmus

mkdir some
cp "$tests/SB.litmus" broken.litmus some
run litmus some
if [ $status -eq 2 ] && grep -q '^1 tests run .* 1 not read' out && [ "$(wc -l <err)" -eq 1 ]; then
	ktap_pass "what cannot be read is counted, the rest is run"
else
	ktap_fail "what cannot be read is counted, the rest is run" "$(cat out err)"
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
[ $status -eq 3 ] && grep -q "$far.* more than 1 MiB .*'x' grew from 0 to [0-9]* as" err
ktap_result $? "without end: UNKNOWN at the memory limit, and what grows" "status $status" "$(cat err)"
run litmus --time-limit=1 grow.litmus
[ $status -eq 3 ] && grep -q "$far.*: time bound reached" err
ktap_result $? "without end: UNKNOWN at the time limit" "status $status" "$(cat err)"
ktap_finish
