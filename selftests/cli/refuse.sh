#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Common parts of memory.sh and disk.sh: histories of each kind, and commands that run
# repeatedly while the system refuses one request after another.  To be sourced.
#
# what	the kind of requests, for the test names
# modes	variables of the preloaded library; the first counts requests
# message	a pattern for the message of a failure
# lines	maximum number of lines of the message; empty: no limit
# known	text of a library's abort that is its own fault; empty: none

. "$(dirname "$0")/common.sh"

inject=${KLIN_INJECT:-$here/../../build/inject.so}
klind=$(dirname "$(command -v "$KLIN")")/klind
if [ ! -e "$inject" ] || grep -q __asan_init "$KLIN"; then
	ktap_skip_all "no library to preload: run make unit-build, without SAN=1"
fi
export LC_ALL=C
some=16 known='' lines=''
[ "${KLIN_RUNS:-0}" -lt 20000 ] || some=1000000

# Times, and values that depend on them, differ between runs.
steady()
{
	sed -E 's/\(?[0-9.]+ s\)?/T/g; s/[0-9]+ operations\/s/R/; s/[0-9]+ KiB/K/; s/ time="[0-9.]+"//
		s/"(([a-z_]*)seconds|peak_bytes|operations_per_second)": ?[0-9.e+-]+/"\1"/g' "$1"
}

# attempt PROGRAM ARGUMENT...: sets $status; output and files are in out.raw, err, made.  There
# are thousands of attempts, so this function and the next start few other programs.
attempt()
{
	if [ ! -d made ] || [ "$(cd made && echo .* *)" != ". .. *" ]; then
		rm -rf made
		mkdir made
	fi
	timeout -k 5 1200 env $inject_env "$@" >out.raw 2>err </dev/null
	status=$?
}

# Is the wanted message, and no more, in the file err?
speaks()
{
	if [ "$message" = . ] && [ -z "$lines" ]; then
		[ -s err ]
	else
		grep -qE -- "$message" err && [ "$(wc -l <err)" -le "${lines:-1000}" ]
	fi
}

# Check the results of an attempt; if they are wrong, $why has the reason.
right()
{
	why=
	if [ "$(cd made && echo .* *)" != "$made" ] && [ $status -lt 4 ]; then
		why="other files: $(ls -A made)"
	fi
	for file in made/*; do
		[ ! -e "$file" ] || cmp -s "$file" "whole/${file#made/}" || why="half a file: $file"
	done
	if [ $status -eq 134 ] && [ -n "$known" ] && grep -qF -- "$known" err; then
		ktap_note "$name: $known"
	elif [ $status -eq 4 ]; then
		speaks || why="status 4, and no '$message', or more: $(head -n 2 err)"
	elif [ $status -ne "$wanted" ]; then
		why="status $status, expected $wanted or 4: $(head -n 2 err)"
	elif steady out.raw >out && ! cmp -s out whole.out; then
		why="status $status with another output"
	fi
	[ -z "$why" ]
}

# refused NAME PROGRAM ARGUMENT...: the program writes its files to the directory made.
refused()
{
	name=$1
	shift
	inject_env=
	attempt "$@"
	wanted=$status
	rm -rf whole
	mv made whole
	steady out.raw >whole.out
	made=$(cd whole && echo .* *)
	# Count the requests by one that would fail far beyond the last.
	rm -f count
	inject_env="${modes%% *}=1000000000 KLIN_INJECT_COUNT=count LD_PRELOAD=$inject"
	attempt "$@"
	low=$(od -A n -t u8 count)
	low=$((low))
	if [ "$low" -eq 0 ]; then
		ktap_fail "$name" "no $what were counted"
		return
	fi
	step=$((low / some + 1))
	for mode in $modes; do
		n=1
		while [ $n -le "$low" ]; do
			inject_env="$mode=$n LD_PRELOAD=$inject"
			attempt "$@"
			if ! right; then
				ktap_fail "$name" "$mode=$n: $why"
				return
			fi
			n=$((n + step))
		done
	done
	ktap_pass "$name: $low $what"
}

gen()
{
	"$KLIN" gen --threads=3 "$@"
}

gen --type=register --objects=3 --ops=60 -o r.txt
gen --type=register --objects=3 --ops=60 -o r.klh
gen --type=register --ops=40 --mix=read=1,write=1 -o r1.txt
gen --type=queue --ops=60 -o q.txt
gen --type=queue --ops=60 --mutate=1 --seed=3 -o bad.txt
gen --type=set --ops=60 --keys=4 -o s.txt
gen --type=set --ops=60 --keys=4 --mix=add=1,remove=1,has=1 -o e.txt
gen --type=stack --ops=60 -o st.txt
gen --type=pqueue --ops=60 -o pq.txt
gen --type=seqlock --ops=40 -o sl.txt
gen --type=seqlock --ops=8 -o small.txt
gen --type=seqlock --ops=40 --mutate=3 -o slbad.txt
(cat bad.txt; echo "# end") >followed.txt
for f in q bad; do
	"$KLIN" check --certificate=$f.cert $f.txt >out
done
# A log whose appends explain a get in many ways.
for i in 0 1 2 3 4; do
	printf '{:process %d, :type :invoke, :f :append, :key "a", :value "a"}\n' $i
done >free.txt
cat >>free.txt <<END
{:process 5, :type :invoke, :f :append, :key "b", :value ""}
{:process 5, :type :ok, :f :append, :key "b", :value ""}
{:process 6, :type :invoke, :f :put, :key "b", :value "ab"}
{:process 9, :type :invoke, :f :get, :key "a", :value nil}
{:process 9, :type :ok, :f :get, :key "a", :value "aaaaa"}
END
cat >sb.litmus <<END
X86 SB
{ }
 P0          | P1          ;
 MOV [x],\$1 | MOV [y],\$1 ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
END
printf '[klind]\nmetrics = %s/m\n[spec port_range]\n[spec eventfd]\n' "$work" >klind.conf
"$KLIN" convert --to=linp q.txt linp.txt
"$KLIN" convert --to=events e.txt events.txt
"$KLIN" convert --to=edn r1.txt edn.txt
"$KLIN" convert --to=jepsen r1.txt jepsen.txt
