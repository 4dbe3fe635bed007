#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tools/fuzz with targets that have known bugs, or none: its findings, reports and exit
# status.

top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$top/selftests/klin/ktap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$top" || exit 1
mkdir "$work/bin" || exit 1

# toy NAME FLAG...: build a target.
toy()
{
	name=$1
	shift
	${CLANG:-clang} -O1 -D_GNU_SOURCE -Iuserspace -I. -DFUZZ_SECONDS=1 "$@" \
		-fsanitize=fuzzer,address -o "$work/bin/fuzz_$name" selftests/fuzz/toy.c \
		selftests/fuzz/common.c 2>"$work/err"
}

command -v "${CLANG:-clang}" >/dev/null || ktap_skip_all "no clang"
ktap_header
if ! toy buggy || ! toy calm -DCALM; then
	ktap_fail "the targets build" "$(cat "$work/err")"
	ktap_finish
fi

# run ARGUMENT...: run tools/fuzz on the toy targets; sets $status.
run()
{
	tools/fuzz --bin="$work/bin" --out="$work/out" "$@" >"$work/said" 2>&1
	status=$?
}

# expect STATUS NAME PATTERN...: the last run had this status and a line for each pattern.
expect()
{
	want=$1 name=$2
	shift 2
	for pattern; do
		grep -qE "$pattern" "$work/said" || {
			ktap_fail "$name" "no line /$pattern/ in" "$(cat "$work/said")"
			return
		}
	done
	if [ $status -eq "$want" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/said")"
	fi
}

# Inputs of the corpus are tried whatever the time limit.
seeds="$work/out/corpus/buggy"
mkdir -p "$seeds"
printf 'one' >"$seeds/1"
printf 'two' >"$seeds/2"
printf 'slow' >"$seeds/3"
printf 'x' >"$seeds/4"
run --seconds=1 buggy
expect 1 "a finding does not end a target's time" 'buggy .*FOUND [0-9]+: 3 kinds' \
	'^buggy: [0-9]+ inputs: fuzz: the first bug, as .*/crash-' \
	'^buggy: [0-9]+ inputs: fuzz: the second bug, as ' \
	"^buggy: [0-9]+ inputs: fuzz: one input takes too much of the processor's time, as "

run --runs=100000 buggy
expect 1 "a finding fails a number of runs" 'buggy .*FOUND 1: 1 kinds'
run --runs=100000 --tap buggy calm
expect 1 "TAP" '^1\.\.2' '^not ok 1 - fuzz buggy: FOUND 1' '^ok 2 - fuzz calm'
run --runs=1000 calm
expect 0 "nothing is found" '^calm +1[0-9]* .* nothing$'
run nosuch
expect 2 "an unknown target" "'nosuch': no such target"

# interrupt SIGNAL STATUS: send the signal while the first of two targets runs.
interrupt()
{
	rm -rf "$work/out"
	# A shell lets background jobs ignore SIGINT.
	env --default-signal=INT tools/fuzz --bin="$work/bin" --out="$work/out" --seconds=3600 \
		calm buggy >"$work/said" 2>&1 &
	pid=$!
	until grep -qs '^#' "$work/out/calm.log"; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.05
	done
	kill "-$1" $pid
	wait $pid
	status=$?
	expect "$2" "SIG$1 ends it with the table" '^calm +[0-9]+ .* nothing until' \
		'^buggy +not run$'
}

interrupt INT 130
interrupt TERM 143
ktap_finish
