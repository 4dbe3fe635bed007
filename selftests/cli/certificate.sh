#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin check --certificate and klin replay, which trusts nothing in the certificate.

. "$(dirname "$0")/common.sh"

make_certificate()
{
	keys=0
	case $1 in
	set|multiset|map) keys=2 ;;
	esac
	"$KLIN" gen --type="$1" --ops="$3" --threads=3 --keys=$keys --mutate="$4" \
		--seed="$seed" >h.txt
	run check --work=500000000 --show=50 --certificate=c.cert "$2" h.txt
}

# with_parts CERTIFICATE LINE...: print the certificate with these parts instead of its own.
with_parts()
{
	sed -n 1,7p "$1"
	sed_from=$1
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@"
	sed -n '/^text /,$p' "$sed_from"
}

# shown FILE: a message with a place shows its line, and a caret in its column.
shown()
{
	at=$(sed -n '1s/^[^:]*:\([0-9]*\):\([0-9]*\): .*/\1 \2/p' err)
	[ -n "$at" ] || return 0
	sed -n "${at% *}p" "$1" | tr '\0\t\r' '   ' | cut -c1-40 | sed 's/^/  /' >line
	sed -n 2p err | cut -c1-42 | cmp -s - line || [ "${at#* }" -gt 48 ] || return 1
	[ "$(sed -n '3s/^ *\^$/&/p' err | wc -c)" -eq $((${at#* } + 3)) ] || [ "${at#* }" -gt 48 ]
}

# replay STATUS NAME FILE [PATTERN]: a wrong certificate has one message.
replay()
{
	run replay --spec="$spec" "$3"
	if [ $status -eq "$1" ] && [ "$(grep -cv '^  ' err)" -eq $((status == 1 || status == 2)) ] &&
	   { [ $status -eq 0 ] || shown "$3"; } &&
	   grep -qE -- "${4:-}" out err; then
		ktap_pass "$2"
	else
		ktap_fail "$2" "status $status, expected $1" "$(head -n 3 out err | cut -c1-200)"
	fi
}

ktap_header
for type in register seqlock set multiset map queue stack pqueue counter spinlock deque ida clock; do
	spec=$specs/$type.lin
	seed=1
	make_certificate $type "$spec" 50 0
	replay 0 "$type: an order is accepted" c.cert "[1-9][0-9]* orders accepted"
	awk '$1 == "order" && NF > 8 && !done { done = 1; t = $2; $2 = $NF; $NF = t } { print }' \
		c.cert >t.cert
	replay 1 "$type: an order that contradicts the times is refused" t.cert
	awk '$1 == "order" && NF > 8 && !done { done = 1; NF = NF - 1 } { print }' c.cert >t.cert
	replay 1 "$type: an order without the last operation is refused" t.cert
	# The first seed that finds a violation is enough for each type.
	for seed in 8 9 2 3 4 5 6 7; do
		make_certificate $type "$spec" 50 3
		if [ $status -eq 1 ] && grep -q 'oracle finds no order either' out; then
			break
		fi
	done
	replay 0 "$type: a violation is confirmed (seed $seed)" c.cert \
		"[1-9][0-9]* violations confirmed"
done

# The replayer has no limit on the operations of a violation, because not every violation can be
# made small.
spec=$specs/counter.lin
awk 'BEGIN {
	print "# klin history 1\n# first init"
	for (i = 0; i < 5000; i++)
		print "t1 @0", 2 * i + 1, 2 * i + 2, i < 4999 ? "inc -> " i : "inc -> 0"
}' >h.txt
run check --certificate=c.cert "$spec" h.txt
awk '$1 == "cut" { $2 = "-" }
$1 == "kept" { for (i = 1; i <= 5000; i++) $(i + 1) = i - 1 } { print }' c.cert >t.cert
replay 0 "a violation of 5000 operations is confirmed" t.cert "1 violations confirmed"

spec=$specs/register.lin
seed=1
make_certificate register "$spec" 200 0
sed 's/^part LINEARIZABLE/part VIOLATION/; s/^order.*/cut - end 18446744073709551615\nkept 0 1 2/' \
	c.cert >t.cert
replay 1 "a false claim of a violation is refused" t.cert
sed '/^order/d' c.cert >t.cert
replay 1 "a LINEARIZABLE without an order is refused" t.cert
awk '
$1 == "order" {
	for (i = 2; i <= NF; i++) {
		n = split($i, run, "+")
		$i = run[1]
		for (k = 1; n == 2 && k <= run[2]; k++)
			$i = $i " " run[1] + k
	}
}
{ print }' c.cert >t.cert
replay 0 "an order without N+K is accepted" t.cert "1 orders accepted"
for version in 1 2; do
	sed "s/^klin-certificate 3/klin-certificate $version/" c.cert >t.cert
	replay 2 "a certificate of version $version is refused" t.cert "make it again with"
done
for line in "1 klin-certifcate 3" "2 spec register" "4 operations fifty" "5 memory pso" "6 first int" \
	"7 partitions 1 by objct" "8 part LINEARISABLE 50 wgl" "9 order 0..2"; do
	sed "${line%% *}s/.*/${line#* }/" c.cert >t.cert
	replay 2 "a wrong line is shown: ${line#* }" t.cert "^t.cert:${line%% *}:[0-9]+: error: "
done
sed 's/^part LINEARIZABLE/part VIOLATION/' c.cert >t.cert
replay 2 "an order of a violation" t.cert "'order' is for LINEARIZABLE"
for n in 2 3; do
	sed "$n s/.$//" c.cert >t.cert
	column=$(sed -n "$n s/sha256 .*/sha256 /p" c.cert | wc -c)
	replay 2 "line $n with a short hash" t.cert "^t.cert:$n:$column: error: .*HEX of 64 digits"
done
sed 's/$/\r/' c.cert >t.cert
replay 2 "a certificate with line ends of Windows" t.cert "^t.cert:1:1: error: .*dos2unix"
printf '\357\273\277' | cat - c.cert >t.cert
replay 0 "a byte order mark is no mistake" t.cert
(cat c.cert; echo more) >t.cert
replay 2 "a certificate with more behind its end" t.cert "the last line: .* something follows it"
sed 's/^klin-certificate 3/klin-certificate 4/' c.cert >t.cert
replay 2 "a certificate of a later version is refused" t.cert
for run in 198+2 0+99999999999999999999 +1 0+ 0+1! ~0+1 0+-1; do
	sed "s/^order .*/order $run/" c.cert >t.cert
	replay 2 "a wrong N+K is refused: $run" t.cert
done
"$KLIN" gen --type=register --ops=200 --threads=3 --seed=77 >other.txt
sed 's/^history h.txt/history other.txt/' c.cert >t.cert
replay 2 "a certificate of another history is refused" t.cert "is about a history with sha256"
cp h.txt kept.txt
sed -i '$s/^t/# a remark, which changes no operation\nt/' h.txt
replay 2 "a certificate is refused after a change of its history" c.cert \
	"is about a history with sha256"
cp kept.txt h.txt
other=$(sha256sum other.txt)
sed "s/^history .*/history other.txt sha256 ${other%% *}/" c.cert >t.cert
replay 1 "an order of one history is refused for another" t.cert

# A certificate proves nothing about another specification of the same name.
printf '%s\n' "# klin history 1" "# first init" "t1 @0 1 2 read -> 9" >nine.txt
sed 's/word x = 0;/word x = 9;/' "$specs/register.lin" >lax.lin
expect 1 "a history that the shipped specification rejects" check "$spec" nine.txt
expect 0 "a laxer specification of the same name accepts the history" check --certificate=nine.cert lax.lin nine.txt
replay 2 "the certificate of the laxer specification is refused for the shipped one" nine.cert \
	"is about another specification: 'register' of sha256"
spec=lax.lin
replay 0 "the certificate is accepted for the laxer specification" nine.cert "of spec register .sha256 $(sha256sum lax.lin | cut -c1-12)"
mv lax.lin gone.lin
run replay nine.cert
ktap_result "$([ $status -eq 0 ] && grep -q "of spec register .sha256 $(sha256sum gone.lin | cut -c1-12)" out; echo $?)" \
	"replay without --spec names the specification of the certificate" "status $status" "$(cat out err)"
spec=$specs/register.lin
sed 's/^\tspec register/\tspec register_/' c.cert >t.cert
replay 2 "a certificate with a changed specification is refused" t.cert "^t.cert:2:[0-9]*: error: the carried specification has sha256"
sed 's/^spec register /spec other /' c.cert >t.cert
replay 2 "a certificate with a wrong name of its specification is refused" t.cert "^t.cert:2:6: error: the carried specification is 'register'"
for claim in "operations 199" "operations 0" "first any" "partitions 2 by object" "partitions 1 by key"; do
	sed "s/^${claim%% *} .*/$claim/" c.cert >t.cert
	replay 2 "a header that contradicts the history is refused: $claim" t.cert
done
for n in 1 4 7 8; do
	head -n $n c.cert >t.cert
	replay 2 "a certificate of its first $n lines is cut off at its end" t.cert "^t.cert:$n:1: .* cut off"
done
sed 's/^\(order .*\) /\1\x00/' c.cert >t.cert
replay 2 "a certificate with a zero byte is refused" t.cert "a zero byte"

cat >delayed.lin <<'EOF'
spec delayed {
	word v = 0;
	method read() -> word { atomic { return v; } }
	method write(word x) { atomic { v = x; } }
}
EOF
cat >partial.lin <<'EOF'
spec partial {
	word x = 0, y = 0;
	method set(word a, word b) { atomic_flush { x = a; y = b; } }
	method setx(word a) { atomic_flush { x = a; } }
	method get() -> (word a, word b) { atomic { return (x, y); } }
}
EOF

cat >served.lin <<'EOF'
spec served {
	word n = 0;
	method serve(word k) -> word { atomic_flush { n = n + 1; return n; } }
	partition by k;
}
EOF

# history SPEC LINE...: klin's own certificate of the history is accepted, with the verdict
# of klin check.
history()
{
	spec=$1
	shift
	printf '%s\n' "# klin history 1" "# first init" "# memory tso" "$@" >v.txt
	run check --show=50 --certificate=v.cert "$spec" v.txt
	replay $((status == 3 ? 3 : 0)) "accepted: $(tail -n 1 v.txt)" v.cert
}

# forged NAME LINE...: a certificate of the history with these parts is refused.
forged()
{
	name=$1
	shift
	with_parts v.cert "$@" >t.cert
	run replay --spec="$spec" t.cert
	if { [ $status -eq 1 ] || [ $status -eq 2 ]; } && [ "$(grep -cv "^  " err)" -eq 1 ]; then
		ktap_pass "forged: $name"
	else
		ktap_fail "forged: $name" "status $status" "$(head -n 3 out err)"
	fi
}

history $specs/register.lin "t1 @0 1 2 write 5" "t1 @0 3 4 read -> 5" "t1 @0 5 6 read -> 0"
forged "two orders of a part" "part LINEARIZABLE 3 wgl" "order 0 1" "order 2"
forged "two parts of a partition" "part LINEARIZABLE 2 wgl" "order 0 1" "part LINEARIZABLE 1 wgl" \
	"order 2"
forged "an order that lacks an operation" "part LINEARIZABLE 3 wgl" "order 0 1"
forged "too small a number of operations" "part LINEARIZABLE 2 wgl" "order 0 1"
forged "an order that lacks an operation, beside an open part" "part LINEARIZABLE 3 frontier" "order 0 1" \
	"part UNKNOWN 0 none"
forged "no part at all"
forged "LINEARIZABLE with a counterexample" "part LINEARIZABLE 3 wgl" "cut - end 6" "kept 0 2"
history $specs/register.lin "t1 @0 10 20 cas 0 1 -> 1" "t2 @0 30 40 read -> 1"
forged "an operation twice" "part LINEARIZABLE 2 frontier" "order 0 1 0"
forged "VIOLATION with an order" "part VIOLATION 2 frontier" "order 0 1"
forged "VIOLATION of a linearizable history" "part VIOLATION 2 frontier" "cut - end 40" "kept 0 1"
forged "VIOLATION after a cut that makes the state unknown" "part VIOLATION 2 frontier" "cut 20 end 40" "kept 1"
forged "VIOLATION without an operation that matters" "part VIOLATION 2 frontier" "cut - end 40" "kept 1"
forged "an unknown verdict" "part RIGHT 2 frontier" "order 0 1"
history $specs/register.lin "t1 @0 0 0 cas 0 1 -> 1" "t2 @0 1 2 read -> 1"
forged "a cut at time 0" "part VIOLATION 2 tso" "cut 0 end 2" "kept 1"
history $specs/register.lin "t1 @0 5 10 cas 0 1 -> 1" "t1 @0 10 12 read -> 0" "t1 @0 10 12 read -> 1"
forged "equal times against program order" "part LINEARIZABLE 3 frontier" "order 1 0 2"
history $specs/register.lin "t1 @0 10 20 cas 0 1 -> 1" "t2 @0 30 40 read -> 0" "t2 @1 50 60 read -> 4"
run check --show=1 --certificate=w.cert "$spec" v.txt
replay 3 "a violation without a counterexample is open" w.cert "1 parts without proof"
forged "an open order beside a violation" "part LINEARIZABLE 2 frontier" "order 0" \
	"part VIOLATION 1 frontier" "cut - end 60" "kept 2"
forged "a violation of another partition" "part VIOLATION 2 frontier" "cut - end 60" "kept 2" \
	"part VIOLATION 1 frontier" "cut - end 60" "kept 2"

# Numbers are digits only: for strtoul() a number is also one with a sign, with 2^64 added to it.
history $specs/register.lin "t1 @0 1 20 write 5" "t2 @0 2 30 write 12" "t1 @0 31 32 read -> 7"
cp v.cert good.cert
with_parts good.cert "part LINEARIZABLE 3 wgl" "order 1 0 2" >order.cert
for line in "good operations " "good partitions " "good text " "good part VIOLATION " "good cut - end " \
	    "good kept " "order order "; do
	cert=${line%% *}.cert words=${line#* }
	n=$(sed -nE "s/^$words([0-9]+).*/\1/p" "$cert" | head -n 1)
	failed=
	for wrong in "+$n" "-1844674407370955$((1616 - n))" "$(printf '\t')$n" "0x$n" " $n" ""; do
		# Any blanks separate the numbers of a list.
		case "$words$wrong" in
		"kept "|"kept  "*|"order "|"order  "*) continue ;;
		esac
		sed "s/^$words$n/$words$wrong/" "$cert" >t.cert
		run replay --spec="$spec" t.cert
		if [ $status -ne 2 ] || [ "$(grep -cv "^  " err)" -ne 1 ] || ! grep -qE 'expected|numbers' err; then
			failed="$failed '$wrong': status $status, $(cat out err)"
		fi
	done
	ktap_result "$([ -n "$n" ] && [ -z "$failed" ]; echo $?)" \
		"the number behind '$words' is digits only" "$failed"
done

# The message shows the wrong operation, the state before it, and the results that the state
# allows.
history $specs/register.lin "t1 @0 1 20 write 5" "t2 @0 2 30 write 12" "t1 @0 31 32 read -> 12"
with_parts v.cert "part LINEARIZABLE 3 wgl" "order 1 0 2" >t.cert
replay 1 "a wrong result: the message has the state and the allowed result" t.cert \
	"^t.cert:9:11: error: .*operation 2, .*read.*12.*: the state before it is x = 5, which allows 5$"
with_parts v.cert "part LINEARIZABLE 3 wgl" "order 2 0 1" >t.cert
replay 1 "an order against time: the message has the column" t.cert "^t.cert:9:7: error: out of order in time"
with_parts v.cert "part LINEARIZABLE 3 wgl" "order 1 0 x2" >t.cert
replay 2 "a wrong number: the message has the column" t.cert "^t.cert:9:11: error: "
with_parts v.cert "part LINEARIZABLE 3 wgl" "order 1 0+1" >t.cert
replay 1 "an operation twice: the message has the column" t.cert "^t.cert:9:9: error: twice in the order"
history $specs/queue.lin "t1 @0 1 2 enq 7" "t1 @0 3 4 enq 8" "t2 @0 5 9 deq -> 7" "t3 @0 6 8 deq -> 8"
with_parts v.cert "part LINEARIZABLE 4 wgl" "order 0+1 3 2" >t.cert
replay 1 "a wrong result of a queue: the message has the state" t.cert \
	"^t.cert:9:11: error: .*operation 3, .*deq.*8.*: the state before it is .*7, 8.*, which allows 7$"
history $specs/lock.lin "t1 @0 1 20 lock" "t2 @0 2 30 unlock" "t3 @0 3 40 lock"
with_parts v.cert "part LINEARIZABLE 3 wgl" "order 0 2 1" >t.cert
replay 1 "an operation that no result allows: the message says so once" t.cert \
	"does not allow operation 2, lock\(\), with any result: the state before it is held = true$"
cat >some.lin <<-END
	spec some {
	        word n = 0;

	        method few() -> word { atomic_flush { choose x in 1..2; choose y in 5..6; n = x; return y; } }
	        method many() -> word { atomic_flush { choose y in 5..9; return y; } }
	}
END
history some.lin "t1 @0 1 20 few -> 7"
with_parts v.cert "part LINEARIZABLE 1 wgl" "order 0" >t.cert
replay 1 "several states after an operation: the message has each result once" t.cert \
	"the state before it is n = 0, which allows 5 or 6$"
history some.lin "t1 @0 1 20 many -> 10"
with_parts v.cert "part LINEARIZABLE 1 wgl" "order 0" >t.cert
replay 1 "more results than the message lists" t.cert "which allows 5 or 6 or 7 or 8 or others$"
# Operations that a thread calls after the end of the counterexample may be omitted, whatever their
# times.
history $specs/llist.lin "t1 @0 1 3 pop -> 1 0" "t1 @0 3 5 pop -> 0 ?" "t1 @0 6 8 push 1"
history $specs/llist.lin "# clock mono error 1" "t1 @0 1 3 pop -> 1 0" "t1 @0 4 5 pop -> 0 ?" \
	"t1 @0 6 7 pop -> 0 0"
# An operation that returned after the end of the counterexample counts as pending, even if its
# result is impossible.
history $specs/bounded_queue.lin "# clock mono error 18446744073709551615" \
	"t1 @0 3 9 enq 1 -> 0" "t2 @0 8 14 deq -> 0" "t2 @0 17 18 enq 0 -> 2" \
	"t2 @0 21 25 deq -> 0" "t2 @0 26 28 deq -> empty"
history $specs/llist.lin "t1 @0 1 3 pop -> 1 0" "t2 @0 3 5 push 0"
forged "VIOLATION without an operation that is called at the end" "part VIOLATION 2 frontier" "cut - end 3" "kept 0"
history $specs/llist.lin "# clock mono error 1" "t1 @0 1 3 pop -> 1 0" "t2 @0 4 5 push 0" \
	"t1 @0 6 7 pop -> 0 0"
forged "VIOLATION without an operation that is called within the clock error after the end" "part VIOLATION 3 frontier" \
	"cut - end 3" "kept 0"
history $specs/map.lin "t1 @0 1 2 put 5 1" "t1 @0 3 4 put 6 7" "t2 @0 5 6 get ? -> 7"
forged "an unknown key that is taken for a certain key" "part VIOLATION 3 frontier" "cut - end 6" "kept 0 2"
history $specs/map.lin "t1 @0 1 2 put 5 1" "t1 @0 3 4 put 6 7" "t2 @0 5 6 get 6 -> 7"
sed -i 's/^partitions .*/partitions 3 by key/' v.cert
forged "too many partitions" "part LINEARIZABLE 1 frontier" "order 0" \
	"part LINEARIZABLE 1 frontier" "order 1" "part LINEARIZABLE 1 frontier" "order 2"

history $specs/set.lin "t1 @0 1 9 add 5 -> 1" "t2 @0 2 8 has 5 -> 0" "t3 @0 3 7 add 6 -> 1"
forged "an order of two keys, of which the second is wrong" "part LINEARIZABLE 3 frontier" "order 2 0 1"
forged "a result of one key that is attributed to another" "part LINEARIZABLE 3 frontier" "order 0 2 1"
printf '%s\n' "# klin history 1" "# first init" "t1 @0 1 9 serve 5 -> 1" "t2 @0 2 8 serve 6 -> 1" >v.txt
run check --no-partition --certificate=v.cert served.lin v.txt
with_parts v.cert "part LINEARIZABLE 2 frontier" "order 0 1" >t.cert
run replay --spec=served.lin t.cert
ktap_result "$([ $status -eq 1 ] && grep -q 'does not allow operation 1' err; echo $?)" \
	"forged: an order that is right for each key only, for a specification with a common state"

history delayed.lin "t1 @0 10 20 write 1" "t2 @0 30 40 read -> 0"
forged "VIOLATION without store buffers" "part VIOLATION 2 frontier" "cut - end 40" "kept 0 1"
history delayed.lin "t1 @0 10 20 write 1 drain=25" "t2 @0 30 40 read -> 0"
forged "a store that is never flushed" "part LINEARIZABLE 2 tso" "order 0! 1"
forged "a store that is flushed too late" "part LINEARIZABLE 2 tso" "order 0! 1 ~0"
history delayed.lin "t1 @0 10 20 write 1" "t1 @0 21 22 read -> 1 drain=25" "t2 @0 30 40 read -> 0"
forged "a store that stays buffered after its thread has drained" "part LINEARIZABLE 3 tso" "order 0! 1 2"
history partial.lin "t1 @0 1 2 set 1 1" "t1 @0 3 4 setx 2" "t2 @0 5 6 get -> 2 1"
forged "an omitted write of which a part is read" "part VIOLATION 3 frontier" "cut - end 6" "kept 1 2"

history $specs/register.lin "# gap from 0 to 1 lost 1" "# gap from 100 to 101 lost 1" \
	"t1 @0 10 20 cas 0 1 -> 1" "t2 @0 30 40 cas 1 2 -> 1" "t2 @0 50 60 cas 1 7 -> 1"
forged "two gaps taken for one" "part UNKNOWN 3 frontier" "order ( 0 1 2 )"
forged "two gaps taken for one, and a third" "part UNKNOWN 3 frontier" "order ( 0 1 2 ) ( )"
history $specs/register.lin "# gap from 15 to 35 lost 1" "t1 @0 10 20 cas 0 1 -> 1" \
	"t2 @0 30 40 cas 0 7 -> 1" "t2 @0 50 60 read -> 7"
forged "LINEARIZABLE in spite of a gap" "part LINEARIZABLE 3 frontier" "order 0 ( ) 1 2"
forged "a gap that ends too late" "part UNKNOWN 3 frontier" "order 0 ( 1 2 )"
history $specs/register.lin "# gap from 0 to 1 lost 1" "t1 @0 10 20 cas 0 1 -> 1" \
	"t2 @0 30 40 cas 0 7 -> 1"
forged "a gap that never ends" "part UNKNOWN 2 frontier" "order ( 0 1"
history $specs/register.lin "# gap from 15 to 35 lost 1 object 5" "t1 @0 10 20 cas 0 1 -> 1" \
	"t2 @0 30 40 cas 0 7 -> 1" "t2 @5 50 60 cas 0 7 -> 1"
forged "a gap of another object" "part UNKNOWN 2 frontier" "order 0 ( ) 1" \
	"part LINEARIZABLE 1 frontier" "order 2"
history delayed.lin "# gap cpu 1 from 0 to 1 lost 1" "t1 @0 10 20 write 1 drain=25 cpu=1" \
	"t2 @0 30 40 read -> 7 cpu=1"
forged "a gap that is longer than the store buffer explains" "part UNKNOWN 2 tso" "order ( 0 1 )"

# Each failed cas shows a value that the register does not have at first; the read then shows the
# value that it has.  Both kinds of information hold for any number of cas.
for n in 1 3 4 5 20 200; do
	for first in 5 700; do
		{
			echo "# klin history 1"
			for i in $(seq $n); do
				echo "t1 @0 $((10 * i)) $((10 * i + 1)) cas $((3 * i)) 9 -> 0"
			done
			echo "t2 @0 10000 10001 read -> $first"
		} >v.txt
		spec=$specs/register.lin
		run check --certificate=v.cert "$spec" v.txt
		# The order is right, whatever the engine decides.
		with_parts v.cert "part LINEARIZABLE $((n + 1)) wgl" "order 0+$n" >t.cert
		replay 0 "a first state of $first after $n failed cas is accepted" t.cert "1 orders accepted"
		sed -i "s/read -> .*/read -> 3/" v.txt
		run check --certificate=v.cert "$spec" v.txt
		with_parts v.cert "part LINEARIZABLE $((n + 1)) wgl" "order 0+$n" >t.cert
		replay 1 "a first state that one of $n failed cas excludes is refused" t.cert "does not allow operation $n"
	done
done

# If the first state exceeds the replayer's limit, the order is not replayed, and proves
# nothing.
{
	echo "# klin history 1"
	for i in $(seq 400); do
		echo "t1 @0 $((10 * i)) $((10 * i + 1)) cas $((3 * i)) 9 -> 0"
	done
	echo "t2 @0 10000 10001 read -> 1201"
} >v.txt
run check --certificate=v.cert "$specs/register.lin" v.txt
with_parts v.cert "part LINEARIZABLE 401 wgl" "order 0+400" >t.cert
run replay --spec="$specs/register.lin" t.cert
ktap_result "$([ $status -eq 3 ] && grep -q 'implies more about the first state' err &&
	       grep -q '1 parts without proof' out; echo $?)" \
	"an order that the replayer cannot decide counts as a part without proof" \
	"status $status" "$(cat out err)"

# A recording without operations is UNKNOWN, and so is its certificate.
printf '%s\n' "# klin history 1" "# coverage read whole" >v.txt
run check --certificate=v.cert "$specs/register.lin" v.txt
spec=$specs/register.lin
ktap_result "$([ $status -eq 3 ]; echo $?)" "a recording without operations is UNKNOWN" "status $status"
replay 3 "the certificate of a recording without operations proves nothing" v.cert

# Certificates that divide a history by key are refused for a specification without keys.
printf '%s\n' "# klin history 1" "# first init" "t1 @0 1 2 write 5" >v.txt
run check --certificate=v.cert "$spec" v.txt
sed 's/ by object/ by key/' v.cert >t.cert
replay 2 "partitions by key are refused for a specification without keys" t.cert "no partitions by key"

# The oracle would need forever: overlapping writes, and reads that saw them in an unusual
# order.
{
	printf '%s\n' "# klin history 1" "# first init"
	for i in $(seq 100); do
		echo "t$((i + 1)) @0 1 10000 write $((i % 40))"
	done
	for i in $(seq 100); do
		echo "t1 @0 $((3 * i + 10)) $((3 * i + 11)) read -> $(((100 - i) % 40))"
	done
} >v.txt
spec=delayed.lin
run check --work=10000000 --certificate=v.cert "$spec" v.txt
with_parts v.cert "part VIOLATION 200 tso" "cut - end 20000" "kept $(seq -s ' ' 0 199)" >t.cert
run replay --spec="$spec" --time-limit=1 t.cert
ktap_result "$([ $status -eq 3 ] && grep -qE 'time limit reached|too many orders' err && [ "$(wc -l <err)" -eq 1 ] &&
	       grep -q '1 parts without proof' out; echo $?)" \
	"forged: what takes the oracle for ever is open" "status $status" "$(cat out err)"

# One part that the replayer confirms at once, and sixty parts that each take long.  The replayer
# reports its progress when the time limit of a second ends it, or a signal.
awk 'BEGIN {
	print "# klin history 1\n# first init\nt1 @0 1 2 write 1"
	for (o = 1; o <= 60; o++) {
		b = 20000 * o
		for (i = 1; i <= 100; i++)
			printf "t%d @%d %d %d write %d\n", i + 1, o, b + 1, b + 10000, i % 40
		for (i = 1; i <= 100; i++)
			printf "t1 @%d %d %d read -> %d\n", o, b + 3 * i + 10, b + 3 * i + 11,
				(100 - i) % 40
	}
}' >v.txt
run check --work=1000 --show=0 --certificate=v.cert "$spec" v.txt
{
	sed -n 1,9p v.cert
	awk 'BEGIN {
		for (o = 1; o <= 60; o++) {
			printf "part VIOLATION 200 tso\ncut - end %d\nkept", 20000 * (o + 1)
			for (i = 0; i < 200; i++)
				printf " %d", 200 * (o - 1) + 1 + i
			print ""
		}
	}'
	sed -n '/^text /,$p' v.cert
} >t.cert
# came WHY NAME: the replayer ended because of WHY, with one part confirmed and sixty left open.
came()
{
	ktap_result "$([ $status -eq 3 ] && grep -q "warning: $1\$" err &&
		       grep -q ' 1 orders accepted, .* 60 parts without proof' out; echo $?)" \
		"ended by $2, klin replay reports its progress" "status $status" "$(cat out err)"
}
run replay --spec="$spec" --time-limit=1 t.cert
came "time limit reached" "--time-limit"
for signal in INT TERM; do
	interrupt $signal replay --spec="$spec" t.cert
	came interrupted SIG$signal
done

# A history in EDN, with keys that are independent if the command line says so.
printf '%s\n' '{:process 0, :type :invoke, :f :write, :value [1 5]}' \
	'{:process 0, :type :ok, :f :write, :value [1 5]}' \
	'{:process 1, :type :invoke, :f :write, :value [2 6]}' \
	'{:process 1, :type :ok, :f :write, :value [2 6]}' >v.edn
spec=$specs/register.lin
run check --from=edn --independent=yes --certificate=e.cert "$spec" v.edn
for options in "--from=edn --independent=yes" --independent=yes; do
	# shellcheck disable=SC2086 # two options
	run replay $options --spec="$spec" e.cert
	ktap_result "$([ $status -eq 0 ] && grep -q '2 orders accepted' out && grep -q 'of 2 objects' out
		echo $?)" "the certificate of independent keys, $options" "status $status" \
		"$(cat out err)"
done
run replay --independent=no --spec="$spec" e.cert
ktap_result "$([ $status -eq 1 ] || [ $status -eq 2 ]; echo $?)" \
	"read otherwise, the history is not what the certificate is about" "status $status" "$(cat out err)"
refuse "an unknown form" "--from=nothing: expected" replay --from=nothing e.cert
run replay --from=text --spec="$spec" e.cert
ktap_result "$([ $status -eq 2 ] && grep -q '^v.edn:1:1: error' err; echo $?)" \
	"read as a text, the certificate's history is none" "status $status" "$(cat out err)"

spec=$specs/register.lin
refuse "a missing history" "nothing.txt': No such file or directory$" \
	replay --history=nothing.txt --spec="$spec" c.cert
sed 's|^history .* sha256|history /elsewhere/run.klh sha256|' c.cert >elsewhere.cert
refuse "a history of another machine" \
	"'/elsewhere/run.klh': No such file .*; --history=FILE names another" \
	replay elsewhere.cert
refuse "a missing certificate" "nothing.cert" replay nothing.cert
mkdir -p kept/sub
cp "$(sed -n 's/^history \(.*\) sha256.*/\1/p' c.cert)" kept/run.klh
mv elsewhere.cert kept
expect 0 "a history of another machine beside the certificate" replay kept/elsewhere.cert
(cd kept && run replay elsewhere.cert && exit "$status")
ktap_result $? "a history of another machine in the same directory"
mv kept/run.klh kept/sub
sed 's|^history .* sha256|history /artifacts/sub/run.klh sha256|' c.cert >kept/moved.cert
expect 0 "a history of which a directory was moved, too" replay kept/moved.cert
echo "# another" >>kept/sub/run.klh
refuse "another history beside the certificate" "sha256" replay kept/moved.cert
long="a
b.txt"
"$KLIN" gen --type=register --ops=20 >"$long"
refuse "a history with a newline in its name" "--certificate: .*newline" \
	check --certificate=n.cert "$spec" "$long"
ktap_result "$([ ! -e n.cert ]; echo $?)" "no certificate is written for a name with a newline"
for text in "klin-certificate 4" "order 1 2 3" "part LINEARIZABLE -1 x" "kept 99999999999999999999"; do
	with_parts c.cert "$text" >t.cert
	run replay --spec="$spec" t.cert
	ktap_result "$([ $status -eq 1 ] || [ $status -eq 2 ]; echo $?)" "a wrong certificate is refused: $text" \
		"status $status"
done
# A certificate of a history with 2 for a bool, made from one with 1.
history "$specs/set.lin" "t1 @1 1 2 add 5 -> 1"
was=$(sha256sum <v.txt)
sed 's/-> 1/-> 2/' v.txt >two.txt
mv two.txt v.txt
now=$(sha256sum <v.txt)
sed "s/${was%% *}/${now%% *}/" v.cert >t.cert
replay 2 "forged: a bool that is neither 0 nor 1" t.cert "a bool of the history is neither 0 nor 1"

# A get that found nothing shows it by one result, though the other is unknown.
cat >part.txt <<-END
	# klin history 1
	# first init
	t2 @0 0 7 get -> 0 ?
	t1 @0 4 10 put 0 -> 0
	t0 @0 5 8 get -> 0 0
	t2 @0 10 12 get -> 1 0
	t1 @0 12 18 get -> 0 0
	t2 @0 18 21 put 2 -> 1
END
run check --certificate=part.cert "$specs/kfifo.lin" part.txt
run replay part.cert
ktap_result "$([ $status -eq 0 ] && grep -q "1 violations confirmed" out; echo $?)" \
	"a result that is partly unknown can be left out of a counterexample" "$(cat out err)"
ktap_finish
