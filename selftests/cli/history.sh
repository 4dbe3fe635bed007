#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Histories.  Broken and hostile ones are refused with a line that gives the place and the
# reason.  A truncated one is read as far as possible.

. "$(dirname "$0")/common.sh"

register=$specs/register.lin

# broken NAME PATTERN: the history in the standard input.
broken()
{
	name=$1 pattern=$2
	{
		echo "# klin history 1"
		cat
	} >broken.txt
	refuse "$name" "$pattern" check "$register" broken.txt
}

# Print a .klh with the bytes $2 at offset $3.
damage()
{
	cp good.klh damaged.klh
	printf '%b' "$2" | dd of=damaged.klh bs=1 seek="$3" conv=notrunc 2>/dev/null
	run check damaged.klh
	if [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'damaged.klh' err; then
		ktap_pass "damaged: $1"
	else
		ktap_fail "damaged: $1" "status $status" "$(head -n 5 err)"
	fi
}

ktap_header
broken "a return before the call" "^broken.txt:2:[0-9]*: error: '3'" <<'END'
t0 @1 5 3 read -> 1
END

# Rows: a line, and a pattern of the message on it.
while IFS='|' read -r line pattern; do
	broken "advice: $pattern" "^broken.txt:2:[0-9]*: error: $pattern" <<END
$line
END
done <<'END'
t1 @1 3 4 read 7|the operation .* read has 1 argument and 0 results, .* says 0 and 1; write `->' before results
t1 @1 3 4 push 7|the history has method 'push', which spec 'register' does not; it has .*write
t1 @1 >= 3 4 read|a blank: expected the time of the call
t1 @1 3 4 read -> empty,|'empty,': expected .*; write `empty'
t1 @1 3 4 read -> ABSENT|'ABSENT': expected .*; write `absent'
t1 @1 3 4 read -> nil|'nil': expected .*; write `empty' or `absent' where nothing was there
t1 @1 3 4 read -> ff|'ff': expected .*; hexadecimal numbers begin with 0x
# clock mono errors 2|'errors': expected `error' and a number
# clock mono error 200ns|'200ns': expected the clock's error, a number without a unit
END
printf '# quue\nenq 1 1 3\n' >broken.txt
refuse "a mistyped first line" "^broken.txt:1: error: .*; did you mean the first line \`# queue'?" check "$register" broken.txt
printf '#queue\nenq 1 1 3\n' >broken.txt
refuse "a first line without its blank" "; did you mean the first line \`# queue'?" check "$register" broken.txt
printf '# first init\nT1 @0 1 2 read -> 0\n' >broken.txt
refuse "a thread with a large letter" "; a thread is written as in \`t3'" check "$register" broken.txt
printf '2 invoke add 23\n' >broken.txt
refuse "a mistyped event" "; did you mean \`invokes'?" check "$register" broken.txt
printf '# first init\nt1 @0 1 2 read -> 0\n' >broken.txt
refuse "a history in place of the specification" "^broken.txt: error: the file is a history: a spec" \
	check broken.txt queue
tr '\n' '\r' <"$register" >broken.txt
refuse "a specification with line ends of old" "text with lines that end in CR alone: convert it" spec broken.txt
printf '[spec queue]\nmemory = 2M\n' >broken.txt
refuse "a configuration as the specification" "a configuration of klind: .klind --check-config" spec broken.txt
refuse "a configuration as the history" "a configuration of klind: .klind --check-config" check queue broken.txt
printf "It isn't one.\n" >broken.txt
refuse "prose as the specification" "the file is no specification: a specification begins" spec broken.txt
refuse "a program as the specification" "is a program or an object file" spec "$(command -v "$KLIN")"
echo >member
tar cf broken.txt member
refuse "a tar archive" "^broken.txt:1: error: the file is a tar archive: unpack it" check "$register" broken.txt
printf 'X86 SB\n{ }\n' >broken.txt
refuse "a litmus test" "^broken.txt:1: error: the file is a litmus test: \`klin litmus" check "$register" broken.txt
broken "no time" "^broken.txt:3:[0-9]*: error: 'x'" <<'END'
t0 @1 1 2 read -> 0
t0 @1 x 3 read -> 0
END
broken "a method of no name" "^broken.txt:2:[0-9]*: error: .*expected" <<'END'
t0 @1 1 2
END
broken "a time too large" "^broken.txt:2:[0-9]*: error: '99999999999999999999'" <<'END'
t0 @1 1 99999999999999999999 read -> 0
END
broken "no thread" "^broken.txt:2:[0-9]*: error: 'read'" <<'END'
read 1 2
END
broken "a version of tomorrow" "^broken.txt:2:16: error: '2': .*version 1" <<'END'
# klin history 2
END
broken "a clock that is not known" "^broken.txt:2:[0-9]*: error: 'sundial'" <<'END'
# clock sundial error 3
END
broken "a method that the spec has not" "read2" <<'END'
t0 @1 1 2 read2 -> 0
END
broken "a method that the spec nearly has" "^broken.txt:2:11: error: .*'reed'.*did you mean 'read'" <<'END'
t0 @1 1 2 reed -> 0
END
broken "an arrow without blanks" "^broken.txt:2:16: error: '->0': expected .->. with blanks" <<'END'
t0 @1 1 2 read ->0
END
broken "a comment behind an operation" "^broken.txt:2:21: error: .*a comment in a line of its own" <<'END'
t0 @1 1 2 read -> 0 # seen
END
broken "an argument too many" "read" <<'END'
t0 @1 1 2 read 7 -> 0
END
broken "two operations of a thread at once" "t0|thread" <<'END'
t0 @1 1 5 read -> 0
t0 @1 3 8 read -> 0
END
printf '# klin history 1\nt0 @1 1 2 read -> 0\n# a \0 b\n' >broken.txt
refuse "a zero byte" "^broken.txt:3:[0-9]*: error: a zero byte" check "$register" broken.txt
printf '# klin history 1\nt0 @1 1 2 read -> 0\0' >broken.txt
refuse "a zero byte at the end" "^broken.txt:2:[0-9]*: error: a zero byte" check "$register" broken.txt
refuse "a missing file" "nothing.klh.*No such file" check "$register" nothing.klh
refuse "a directory" "Is a directory" check "$register" /
# The first state matters, and is reported.
printf '# klin history 1\n# first init\nt1 @1 1 2 get -> 7\n' >first.txt
expect 1 "with 'first init' a wrong first read is a violation" check counter first.txt
printf '# klin history 1\nt1 @1 1 2 get -> 7\n' >first.txt
expect 0 "without 'first init' any first read is accepted" check counter first.txt
grep -q 'spec counter, any first state, ' out
ktap_result $? "the report names the first state" "$(cat out)"
printf '# klin history 1\n# gap from 5 to 8\n' >empty.txt
expect 3 "a gap without operations" check "$register" empty.txt
# No operation has a value, and a pending one lacks its result.
for op in counter/get queue/deq register/read stack/pop lock/trylock; do
	printf '# klin history 1\n# first init\nt1 @1 1 - %s\n' "${op#*/}" >pending.txt
	expect 0 "a single pending ${op#*/}" check "${op%/*}" pending.txt
done
printf '# klin history 1\n# first init\nt1 @1 0 1 enq empty\nt1 @2 0 1 deq -> 7\n' >broken.txt
refuse "a special value as an argument" \
	"thread 1 called at 0, .enq.empty.'.*'v' is a special value" check queue broken.txt
printf '# klin history 1\n# first init\nt4 @1 70 80 write 1\nt3 @1 30 40 write 1 3\n' >broken.txt
refuse "an operation with an argument too many" \
	"thread 3 called at 30: write has 2 arguments" check register broken.txt

# place NAME LINE:COLUMN COMMAND...: a mistake in an operation is reported at its place,
# from a file and from a pipe, at once and in a growing file, with its line and a caret.
cat >flags.lin <<'END'
spec flags {
	queue<bool> q = empty;

	method enq(bool v) { atomic { q.push(v); } }
	method deq() -> bool v { atomic { return q.pop(); } }
}
END
place()
{
	name=$1 at=$2
	shift 2
	cat >place.txt
	refuse "$name: $at of a file" "^place.txt:$at: error: " "$@" place.txt
	shown=$(sed '1s/^place.txt//' err)
	sed -n "${at%:*}p" place.txt | tr '\t' ' ' | sed 's/^/  /' >line
	line=$(grep -nF -- "$(cat line)" err | head -n 1)
	caret=$(sed -n 3p err)
	[ "${line%%:*}" = 2 ] && [ ${#caret} -eq $((${at#*:} + 2)) ]
	ktap_result $? "$name: the line and a caret" "$(cat err)"
	"$KLIN" "$@" - <place.txt >out 2>err
	[ $? -eq 2 ] && [ "$(sed '1s/^<stdin>//' err)" = "$shown" ]
	ktap_result $? "$name: the same place from a pipe" "$(cat err)"
}
follow_place()
{
	name=$1 at=$2
	shift 2
	"$KLIN" check --follow "$@" - <place.txt >out 2>err
	[ $? -eq 2 ] && grep -q "^<stdin>:$at: error: " err && [ "$(wc -l <err)" -eq 3 ]
	ktap_result $? "$name: $at while it grows" "$(cat err)"
}
place "operations of a thread at once" 4:7 check register <<'END'
t0 @1 30 40 read -> 0

t0 @1 1 5 read -> 0
t0 @1 3 8 read -> 0
END
place "a bool that is none" 3:22 check register <<'END'
t1 @0 10 15 write 3
t1 @0 20 25 write 3
t1 @0 6 9 cas 3 4 -> 7
END
follow_place "a bool that is none" 3:22 register
place "a point before the call" 3:23 check register <<'END'
t1 @0 10 15 write 3 point=12
# memory tso
t1 @0 20 25 read -> 3 point=19
END
follow_place "a point before the call" 3:23 register
place "a special value" 2:18 check queue <<'END'
t1 @0 1 5 enq 1
	t1   @0 6 9 enq empty
END
follow_place "a special value" 2:18 queue
place "an argument too many" 2:13 check queue <<'END'
# first init
t1 @0 12 15 enq 1 2
END
follow_place "an argument too many" 2:13 queue
place "a method that is none" 2:11 check queue <<'END'
t1 @0 1 5 enq 1
t1 @0 6 9 push 1
END
follow_place "a method that is none" 2:11 queue
place "a bool in EDN" 3:34 check flags.lin <<'END'
[{:process 2, :type :invoke, :f :enqueue, :value 0} {:process 2, :type :ok, :f :enqueue, :value 0}
  {:process 0, :type :invoke, :f :enqueue, :value 4} {:process 0, :type :fail, :f :enqueue}
  {:process 0, :type :invoke, :f :enqueue, :value 4} {:process 0, :type :ok, :f :enqueue}]
END
place "a bool in a log" 3:31 check flags.lin <<'END'
INFO  jepsen.util - 2 :invoke :enqueue 1
INFO  jepsen.util - 2 :ok :enqueue 1
INFO  jepsen.util - 2 :invoke :enqueue 4
INFO  jepsen.util - 2 :ok :enqueue 4
END
place "a method that LiMo's object has" 3:3 check register <<'END'
# @object atomic-stack

  [1] call push(a)
[1] return
END
place "a process at once" 3:1 check stack <<'END'
# stack
1 1 5 PUSH 3
1 3 7 PUSH 4
END
# Blanks before the header do not matter, and klin keeps no more of a long text from a pipe.
printf '\357\273\277t1 @0 10 15 enq 1 2\n' >place.txt
refuse "a byte order mark at the begin" "^place.txt:1:13: error: " check queue place.txt
i=0
while [ $i -lt 30000 ]; do
	i=$((i + 1))
	echo "t1 @0 $((i * 2)) $((i * 2 + 1)) read -> 0"
done >place.txt
echo 't1 @0 100000 100001 cas 1 2 -> 7' >>place.txt
refuse "the end of a long file" "^place.txt:30001:32: error: " check register place.txt
"$KLIN" check register - <place.txt >out 2>err
grep -q '^<stdin>:30001: error: ' err
ktap_result $? "the end of a long pipe" "$(cat err)"
follow_place "the end of a long pipe" 30001:32 register
"$KLIN" gen --ops=5 >none.txt
sed '/^# spec/d' none.txt >bare.txt
refuse "a history without a spec" "bare.txt: the history carries no specification" check bare.txt

# klin looks for the specification that a history names first in the history's directory, and then
# in its own working directory.
mkdir -p there/sub here
for value in 0 7; do
	sed "s/spec register/spec mine/; s/word x = 0/word x = $value/" "$register" >mine.$value
done
cp mine.7 there/mine.lin
cp mine.7 there/sub/mine.lin
printf '# klin history 1\n# first init\n# spec mine.lin\nt1 @1 1 2 read -> 7\n' >there/h.txt
expect 0 "a specification beside the history" check there/h.txt
grep -q 'spec mine of there/mine.lin, ' out
ktap_result $? "the report names the specification beside the history" "$(cat out)"
cp mine.0 mine.lin
expect 0 "a specification in the current directory is not used" check there/h.txt
expect 1 "a specification on the command line overrides the history's" check mine.lin there/h.txt
(cd there && "$KLIN" check h.txt) >out 2>&1
ktap_result $? "a specification beside the history, in the current directory" "$(cat out)"
sed 's/mine.lin/sub\/mine.lin/' there/h.txt >there/deep.txt
expect 0 "a specification in a directory beside the history" check there/deep.txt
cp there/h.txt here/h.txt
expect 1 "without a specification beside the history, the current directory's is used" check here/h.txt
grep -q 'spec mine of mine.lin, ' out
ktap_result $? "the report names the specification in the current directory" "$(cat out)"
rm mine.lin
refuse "a history with a missing specification" "cannot read specification mine.lin" check here/h.txt
printf '# klin history 1\n# first init\n# spec register\nt1 @1 1 2 read -> 0\n' >there/h.txt
echo "anything" >there/register
expect 0 "a shipped name means the shipped specification, not a file beside the history" check there/h.txt
mkdir register
expect 0 "a shipped name means the shipped specification, not a directory" check there/h.txt
rmdir register
cp mine.7 register
warning="warning: 'register' is the shipped specification; .* say ./register"
run check there/h.txt
[ $status -eq 0 ] && grep -q 'spec register, ' out && grep -q "$warning" err
ktap_result $? "a shipped name means the shipped specification, not a file in the current directory" "status $status" "$(cat out err)"
run check register there/h.txt
[ $status -eq 0 ] && grep -q "$warning" err
ktap_result $? "a shipped name on the command line means the shipped specification" "status $status" "$(cat out err)"
expect 1 "a file with a shipped name can be given by its path" check ./register there/h.txt
rm register

"$KLIN" gen --ops=200000 --keys=3 -o good.klh
expect 0 "a complete .klh" check "$register" good.klh
size=$(wc -c <good.klh)
damage "its version" '\0377\0377\0377\0377' 8
damage "its header" '\0377\0377\0377\0377' 16
damage "its middle" '\0001\0002\0003\0004' $((size / 2))
damage "near its end" '\0377\0377\0377\0377\0377\0377' $((size - 40))
head -c 5 good.klh >damaged.klh
refuse "the first five bytes of a .klh" "damaged.klh" check "$register" damaged.klh

# The complete blocks after a crash are read; the rest is unknown.
head -c $((size * 2 / 3)) good.klh >cut.klh
run check "$register" cut.klh
if [ $status -ne 1 ] && [ $status -ne 2 ] && [ $status -lt 4 ] &&
   grep -q 'warning: cut.klh: truncated' err &&
   [ "$(sed -n '1s/.*: \([0-9]*\) operations.*/\1/p' out)" -gt 50000 ]; then
	ktap_pass "a truncated .klh is read as far as possible, no false alarm"
else
	ktap_fail "a truncated .klh is read as far as possible, no false alarm" "status $status" \
		"$(cat out err)"
fi

# No damage may crash the reader.
bad=0
for at in 4 12 20 28 36 44 52 60 68 76 84 92 100 108 116 124 132 140 148 156 164 172; do
	head -c "$at" good.klh >damaged.klh
	run check "$register" damaged.klh
	[ $status -le 3 ] || bad=$((bad + 1))
	cp good.klh damaged.klh
	printf '\377\377\377\377' | dd of=damaged.klh bs=1 seek="$at" conv=notrunc 2>/dev/null
	run check "$register" damaged.klh
	[ $status -eq 2 ] || [ $status -eq 0 ] || [ $status -eq 3 ] || bad=$((bad + 1))
done
ktap_result "$bad" "damage in the first blocks is detected, or changes nothing" "$bad times not"
ktap_finish
