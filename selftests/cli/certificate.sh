#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin check --certificate and klin replay, which trusts nothing of it.

. "$(dirname "$0")/common.sh"

make_certificate()
{
	keys=0
	case $1 in
	set|map) keys=2 ;;
	esac
	"$KLIN" gen --type="$1" --ops="$3" --threads=3 --keys=$keys --mutate="$4" \
		--seed="$seed" >h.txt
	run check --time-limit=5 --certificate=c.cert "$2" h.txt
}

# replay STATUS NAME FILE [PATTERN]
replay()
{
	run replay --spec="$spec" "$3"
	if [ $status -eq "$1" ] && [ "$(wc -l <err)" -eq $((status > 0)) ] &&
	   grep -qE -- "${4:-}" out err; then
		ktap_pass "$2"
	else
		ktap_fail "$2" "status $status, expected $1" "$(head -n 3 out err | cut -c1-200)"
	fi
}

ktap_header
for type in register seqlock set map queue stack pqueue counter spinlock deque ida clock; do
	spec=$specs/$type.lin
	seed=1
	make_certificate $type "$spec" 50 0
	replay 0 "$type: an order is accepted" c.cert "[1-9][0-9]* orders accepted"
	awk '$1 == "order" && NF > 8 && !done { done = 1; t = $2; $2 = $NF; $NF = t } { print }' \
		c.cert >t.cert
	replay 1 "$type: an order against time is refused" t.cert
	awk '$1 == "order" && NF > 8 && !done { done = 1; NF = NF - 1 } { print }' c.cert >t.cert
	replay 1 "$type: an order that lacks the last is refused" t.cert
	for seed in 2 3 4 5 6 7 8 9; do
		make_certificate $type "$spec" 50 3
		if [ $status -eq 1 ] && grep -q 'oracle finds no order either' out; then
			break
		fi
	done
	replay 0 "$type: a violation is confirmed (seed $seed)" c.cert \
		"[1-9][0-9]* violations confirmed"
done

spec=$specs/register.lin
seed=1
make_certificate register "$spec" 200 0
sed 's/^part LINEARIZABLE/part VIOLATION/; s/^order.*/cut 0 end 18446744073709551615\nkept 0 1 2/' \
	c.cert >t.cert
replay 1 "a violation that is none is refused" t.cert
# Two orders, each right from the first state, prove nothing of the whole.
printf '%s\n' "# klin history 1" "# first init" "t1 @0 1 2 write 5" "t1 @0 3 4 read -> 5" \
	"t1 @0 5 6 read -> 0" >v.txt
run check --certificate=v.cert "$spec" v.txt
{ sed -n 1,4p v.cert; printf '%s\n' "part LINEARIZABLE 2 wgl" "order 0 1" "order 2"; } >t.cert
replay 2 "a second order of a part is refused" t.cert "second order"
{ sed -n 1,4p v.cert; printf '%s\n' "part LINEARIZABLE 2 wgl" "order 0 1" "part LINEARIZABLE 1 wgl" \
	"order 2"; } >t.cert
replay 1 "a partition in two parts is refused" t.cert "second order"
sed '/^order/d' c.cert >t.cert
replay 1 "an order that is not there is refused" t.cert
"$KLIN" gen --type=register --ops=200 --threads=3 --seed=77 >other.txt
sed 's/^history .*/history other.txt/' c.cert >t.cert
run replay --spec="$spec" t.cert
ktap_result "$([ $status -eq 1 ] || [ $status -eq 2 ]; echo $?)" \
	"a certificate of another history is refused" "status $status"
refuse "a history that is not there" "nothing.txt" replay --history=nothing.txt --spec="$spec" c.cert
refuse "a certificate that is not there" "nothing.cert" replay nothing.cert
for text in "klin-certificate 2" "order 1 2 3" "part LINEARIZABLE -1 x" "kept 99999999999999999999"; do
	{
		sed -n 1,4p c.cert
		echo "$text"
	} >t.cert
	run replay --spec="$spec" t.cert
	ktap_result "$([ $status -eq 1 ] || [ $status -eq 2 ]; echo $?)" "nonsense is refused: $text" \
		"status $status"
done
ktap_finish
