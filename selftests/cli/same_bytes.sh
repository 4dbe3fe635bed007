#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin check: the same history gives the same bytes of text, JSON and certificate, with any
# number of threads and in each run.  Only times differ, and the peak of memory in JSON.

. "$(dirname "$0")/common.sh"

# Remove the times: "(0.012 s)" of the text, and keys of JSON that end in "seconds".
without_times()
{
	sed -E 's/ \([0-9]+\.[0-9]{3} s\)$//
		s/"([a-z]+_)?seconds":[^,}]*,?//g; s/"peak_bytes":[^,}]*,?//g'
}

# answer THREADS ARGUMENT...: print text, JSON, certificate and status.
answer()
{
	threads=$1
	shift
	run check --threads="$threads" --explain --show=3 "$@"
	echo "status $status"
	cat out err | without_times
	run check --threads="$threads" --json --show=3 --certificate=c.cert "$@"
	echo "status $status"
	cat out err | without_times
	cat c.cert
	rm -f c.cert
}

# same STATUS NAME ARGUMENT...: klin check ends with that status, and with the same bytes.
same()
{
	want=$1 name=$2
	shift 2
	answer 1 "$@" >first
	if ! head -n 1 first | grep -qx "status $want"; then
		ktap_fail "$name" "expected status $want" "$(head -n 5 first | cut -c1-200)"
		return
	fi
	for threads in $others; do
		answer $threads "$@" >again
		if ! cmp -s first again; then
			ktap_fail "$name" "differs with $threads threads" \
				"$(diff first again | head -n 6 | cut -c1-300)"
			return
		fi
	done
	ktap_pass "$name"
}

# made STATUS NAME ARGUMENT...: run `same' on a history that klin gen makes with these arguments.
made()
{
	want=$1 name=$2
	shift 2
	"$KLIN" gen "$@" -o h.klh
	same "$want" "$name" h.klh
}

cat >hand.lin <<'END'
spec hand {
	word a = 0, b = 0;

	method give(word v) { atomic_flush { a = v; } }

	method swap() -> word v {
		atomic_flush {
			word old = a;
			a = b;
			b = old;
			return old;
		}
	}
}
END

# Memory errors show in a single run; other builds test that all runs are equal.
others="1 2 2 4 4"
! grep -q __asan_init "$KLIN" || others=4

ktap_header
made 0 "register" --type=register --ops=600 --threads=6
made 1 "register, wrong" --type=register --ops=200 --threads=6 --keys=3 --mutate=2
made 0 "queue of few words" --type=queue --ops=2000 --threads=24 --keys=8
made 1 "queue of new words, wrong" --type=queue --ops=2000 --threads=6 --mutate=1
made 0 "stack of few words" --type=stack --ops=600 --threads=8 --keys=8
made 1 "stack of new words, wrong" --type=stack --ops=600 --threads=8 --mutate=2
made 0 "deque of few words" --type=deque --ops=300 --threads=6 --keys=8
made 1 "deque of few words, wrong" --type=deque --ops=100 --threads=4 --keys=4 --mutate=2
made 0 "set whose keys threads share out" --type=set --ops=150000 --threads=6 --keys=500
made 1 "set whose keys threads share out, wrong" --type=set --ops=150000 --threads=6 --keys=500 \
	--mutate=2
made 0 "kv" --type=kv --ops=3000 --threads=6 --keys=6
made 1 "kv, wrong" --type=kv --ops=3000 --threads=6 --keys=6 --mutate=3
made 0 "seqlock" --type=seqlock --ops=600 --threads=6
made 1 "seqlock, wrong" --type=seqlock --ops=200 --threads=6 --mutate=1
made 0 "a spec of one's own" --type=hand.lin --ops=600 --threads=6 --keys=4
made 1 "a spec of one's own, wrong" --type=hand.lin --ops=600 --threads=6 --keys=4 --mutate=2
made 1 "many objects, some wrong" --type=queue --objects=40 --ops=4000 --threads=8 --mutate=4
"$KLIN" gen --type=queue --ops=2000 --threads=24 --keys=8 -o h.klh
same 3 "UNKNOWN: a bound of memory, which is counted" --memory-limit=1 --engine=frontier h.klh
ktap_finish
