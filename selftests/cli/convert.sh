#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin gen and klin convert.  The same options give the same history, and conversion to
# another form and back loses nothing.

. "$(dirname "$0")/common.sh"

round_trip()
{
	name=$1
	shift
	if "$KLIN" gen --seed=3 "$@" >a.txt && "$KLIN" gen --seed=3 "$@" -o a.klh &&
	   "$KLIN" convert a.txt b.klh && "$KLIN" convert b.klh c.txt && cmp a.txt c.txt &&
	   "$KLIN" convert a.klh b.txt && cmp a.txt b.txt &&
	   "$KLIN" convert - - <b.klh | cmp - a.txt; then
		ktap_pass "there and back: $name"
	else
		ktap_fail "there and back: $name"
	fi
}

ktap_header
for type in $("$KLIN" spec --list | cut -d' ' -f1 | grep -v /); do
	round_trip "$type" --type="$type" --ops=3000
done
round_trip "nothing" --ops=0
round_trip "pending operations" --type=map --ops=3000 --pending=30
round_trip "an unknown first state" --type=stack --ops=1000 --any
round_trip "linearization points" --type=queue --ops=1000 --points
round_trip "a clock with an error" --type=set --ops=1000 --error=50
round_trip "many objects" --type=register --ops=20000 --objects=5000
"$KLIN" gen --seed=4 >a.txt
"$KLIN" gen --seed=5 >b.txt
ktap_result "$(! cmp -s a.txt b.txt; echo $?)" "another seed makes another history"

# A history of a user's own specification.
cat >own.lin <<'END'
spec own { word x = 0;
	method add(word n) -> word v { atomic_flush { x += n; return x; } }
	method get() -> word v { atomic { return x; } } }
END
"$KLIN" gen --type=own.lin --mix=add=3,get=1 --ops=400 >own.txt
run check own.txt
ktap_result $status "a user's own specification" "$(cat out err)"
"$KLIN" gen --type=own.lin --mix=add=3,get=1 --ops=400 --mutate=2 --where=late >late.txt
run check late.txt
first=$(diff own.txt late.txt | sed -n '1s/[^0-9].*//p')
if [ $status -eq 1 ] && [ "$first" -gt 340 ]; then
	ktap_pass "a late violation survives the conversion"
else
	ktap_fail "a late violation survives the conversion" "status $status, line $first"
fi

cat >gap.txt <<'END'
# klin history 1
# clock mono error 12
# first any
# release 6.1.0-test
# a comment that nobody knows
# gap cpu 1 from 100 to 200 lost 7
t0 @0xffff888000000000 1 2 write 18446744073709551615 cpu=1
t1 @0xffff888000000000 - 3 read -> 5
t1 @0xffff888000000000 210 - read
END
if "$KLIN" convert gap.txt gap.klh 2>err && "$KLIN" convert gap.klh back.txt 2>>err &&
   grep -q '^# gap .*from 100 to 200 .*lost 7' back.txt && grep -q 'write -1 ' back.txt &&
   [ "$(grep -c '^t' back.txt)" -eq 3 ]; then
	ktap_pass "gaps, unseen calls and returns, and the largest word survive the conversion"
else
	ktap_fail "gaps, unseen calls and returns, and the largest word survive the conversion" "$(cat err back.txt)"
fi
ktap_finish
