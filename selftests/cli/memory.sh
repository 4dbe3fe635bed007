#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Every command without memory: where an allocation fails the command ends with 4 and a
# message, or comes to what it comes to with memory; and no file is left half-written.
# Some allocations of each command are made to fail; with KLIN_RUNS from 20000 on, all are.

. "$(dirname "$0")/common.sh"

inject=${KLIN_INJECT:-$here/../../build/inject.so}
klind=$(dirname "$(command -v "$KLIN")")/klind
if [ ! -e "$inject" ] || grep -q __asan_init "$KLIN"; then
	ktap_skip_all "no library to preload: run make unit-build, without SAN=1"
fi
export LC_ALL=C
some=24
[ "${KLIN_RUNS:-0}" -lt 20000 ] || some=1000000

# Times, and what follows from them, differ from one run to the next.
steady()
{
	sed -E 's/\(?[0-9.]+ s\)?/T/g; s/[0-9]+ operations\/s/R/; s/[0-9]+ KiB/K/
		s/"(([a-z_]*)seconds|peak_bytes|operations_per_second)": ?[0-9.e+-]+/"\1"/g' "$1"
}

# attempt PROGRAM ARGUMENT...: sets $status; what it said and made is in out, err, made.
attempt()
{
	rm -rf made mark
	mkdir made
	timeout -k 5 60 env $inject_env "$@" >out.raw 2>err </dev/null
	status=$?
	steady out.raw >out
}

# Is what came of allocation $1 right?  Else $why says what is not.
right()
{
	why=
	if [ "$(cd made && echo .* *)" != "$names" ] && [ $status -ne 4 ]; then
		why="other files: $(ls -A made)"
	fi
	for file in made/*; do
		[ ! -e "$file" ] || cmp -s "$file" "whole/${file#made/}" || why="half a file: $file"
	done
	if [ $status -eq 4 ]; then
		[ -s err ] || why="status 4 without a message"
	elif [ $status -ne "$wanted" ]; then
		why="status $status, expected $wanted or 4: $(head -n 2 err)"
	elif ! cmp -s out whole.out; then
		why="status $status with another output"
	fi
	[ -z "$why" ]
}

# starved NAME PROGRAM ARGUMENT...: files that it writes go to the directory made.
starved()
{
	name=$1
	shift
	inject_env=
	attempt "$@"
	wanted=$status
	rm -rf whole
	mv made whole
	mv out whole.out
	names=$(cd whole && echo .* *)
	# How many there are: one that is far away is never made to fail, a half is found so.
	low=1 high=2
	while fails_at $high "$@"; do
		low=$high high=$((high * 2))
	done
	while [ $((low + 1)) -lt $high ]; do
		n=$(((low + high) / 2))
		if fails_at $n "$@"; then low=$n; else high=$n; fi
	done
	step=$((low / some + 1))
	for mode in KLIN_INJECT_ALLOC KLIN_INJECT_ALLOC_ON; do
		n=1
		while [ $n -le "$low" ]; do
			inject_env="$mode=$n KLIN_INJECT_MARK=mark LD_PRELOAD=$inject"
			attempt "$@"
			if ! right; then
				ktap_fail "$name" "$mode=$n: $why"
				return
			fi
			n=$((n + step))
		done
	done
	ktap_pass "$name: $low allocations"
}

fails_at()
{
	n=$1
	shift
	inject_env="KLIN_INJECT_ALLOC=$n KLIN_INJECT_MARK=mark LD_PRELOAD=$inject"
	attempt "$@"
	[ -e mark ]
}

gen()
{
	"$KLIN" gen --threads=3 "$@"
}

ktap_header
gen --type=register --objects=3 --ops=60 -o r.txt
gen --type=register --objects=3 --ops=60 -o r.klh
gen --type=queue --ops=60 -o q.txt
gen --type=queue --ops=60 --mutate=1 --seed=3 -o bad.txt
gen --type=set --ops=60 --keys=4 -o s.txt
gen --type=stack --ops=60 -o st.txt
gen --type=pqueue --ops=60 -o pq.txt
gen --type=seqlock --ops=40 -o sl.txt
gen --type=seqlock --ops=8 -o small.txt
gen --type=seqlock --ops=40 --mutate=3 -o slbad.txt
(cat bad.txt; echo "# end") >followed.txt
for f in q bad; do
	"$KLIN" check --certificate=$f.cert $f.txt >out
done
cat >sb.litmus <<END
X86 SB
{ }
 P0          | P1          ;
 MOV [x],\$1 | MOV [y],\$1 ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
END
printf '[klind]\nmetrics = %s/m\n[spec port_range]\n[spec eventfd]\n' "$work" >klind.conf

starved "check, a violation" "$KLIN" check --threads=1 --certificate=made/c \
	--counterexample=made/x.txt bad.txt
starved "check --json" "$KLIN" check --threads=1 --json bad.txt
starved "check, store buffers" "$KLIN" check --threads=1 slbad.txt
starved "check --follow" "$KLIN" check --follow followed.txt
starved "check --follow --json" "$KLIN" check --follow --json followed.txt
for pair in log-linear:s points:s ends:pq fifo:q lifo:st frontier:s dfs:s beam:s wgl:s tso:sl \
	oracle:small tso-oracle:small; do
	starved "check --engine=${pair%:*}" "$KLIN" check --threads=1 --engine="${pair%:*}" \
		"${pair#*:}.txt"
done
starved "replay" "$KLIN" replay q.cert
starved "replay, a violation" "$KLIN" replay bad.cert
starved "convert to .klh" "$KLIN" convert r.txt made/o.klh
starved "convert from .klh" "$KLIN" convert r.klh made/o.txt
starved "convert to linp" "$KLIN" convert --to=linp q.txt made/o.linp
starved "gen" "$KLIN" gen --type=queue --ops=50 -o made/g.txt
starved "gen to .klh" "$KLIN" gen --type=queue --ops=50 -o made/g.klh
starved "spec" "$KLIN" spec --dump port_range
starved "explore" "$KLIN" explore "$specs/explore/fig5.lin"
starved "explore --outcomes" "$KLIN" explore --outcomes "$specs/explore/fig5.lin"
starved "verify" "$KLIN" verify "$specs/verify/treiber_peek.lin"
starved "verify --json" "$KLIN" verify --json --dot=made/d.dot "$specs/verify/twolock.lin"
starved "litmus" "$KLIN" litmus sb.litmus
[ ! -x "$klind" ] || starved "klind --check-config" "$klind" --check-config --config klind.conf
ktap_finish
