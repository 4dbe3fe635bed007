#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# --time-limit and --memory-limit of `klin check' apply to the whole process, including the
# reading of the history.  No test here depends on the speed of the machine.

. "$(dirname "$0")/common.sh"

# bounded NAME MIB STATUSES HISTORY: the process never exceeds MIB by more than a fifth.
bounded()
{
	run check --json --show=1 --memory-limit="$2" "$4"
	peak=$(sed -nE 's/.*"peak_bytes": ([0-9]+).*/\1/p' out)
	case $3 in
	*$status*)	;;
	*)		peak= ;;
	esac
	if [ "${peak:-0}" -gt 0 ] && [ "$peak" -le $(($2 * 1048576 * 6 / 5)) ]; then
		ktap_pass "$1: the peak is at most 1.2 times the limit of $2 MiB"
	else
		ktap_fail "$1: the peak is at most 1.2 times the limit of $2 MiB" \
			"status $status, expected one of $3; $peak bytes" "$(head -n 5 err)" "$(head -n 5 out)"
	fi
}

# unread NAME PATTERN ARGUMENT...: a limit ends klin check while it reads, and the verdict is
# UNKNOWN, with a reason that matches the pattern.
unread()
{
	name=$1 pattern=$2
	shift 2
	run check "$@"
	if [ $status -eq 3 ] && grep -qE "^UNKNOWN \($pattern\)" out && [ ! -s err ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(head -n 3 err)" "$(head -n 3 out)"
	fi
}

ktap_header

# A pipe that stays open without further input.
mkfifo pipe
exec 3<>pipe
"$KLIN" gen --type=register --ops=20 >&3
unread "a time limit ends the wait for input" \
	"the time limit of 1 s was reached while reading pipe" --time-limit=1 pipe
exec 3>&-

# Ten kilobytes that expand to a million operations.
"$KLIN" gen --type=register --threads=1 --ops=1 | grep "^#" >bomb.txt
awk 'BEGIN { for (i = 1; i <= 1000000; i++) print "t0 @1 " 2 * i, 2 * i + 1, "write 1" }' >>bomb.txt
"$KLIN" convert bomb.txt bomb.klh || ktap_fail "a history that expands is made"

if grep -q __asan_init "$KLIN"; then
	ktap_skip "memory limits" "sanitizers have memory of their own"
	ktap_finish
fi
unread "a memory limit ends the reading of text" \
	"the memory limit of 20 MiB was reached while reading bomb.txt, line [0-9]+" \
	--memory-limit=20 bomb.txt
unread "a memory limit ends the reading of .klh" \
	"the memory limit of 30 MiB was reached while reading bomb.klh, operation [0-9]+" \
	--memory-limit=30 bomb.klh
run check --json --memory-limit=30 bomb.klh
ktap_result $((status != 3 || $(grep -c '"reason": "the memory limit' out) != 1)) \
	"JSON reports the memory limit" "$(cat out)"
echo old | tee kept.cert >kept.txt
run check --memory-limit=30 --certificate=kept.cert --counterexample=kept.txt bomb.klh
ktap_result $((status != 3 || $(grep -c "there is no .*; 'kept.*' is not changed" err) != 2 ||
	       $(cat kept.cert kept.txt | grep -c old) != 2)) "a memory limit leaves existing files unchanged" "status $status" "$(cat err)"

"$KLIN" gen --type=register --objects=100000 --ops=300000 -o objects.klh
# The clock advances by 0.1 ms at each reading, so its time counts the readings.
inject=${KLIN_INJECT:-$here/../../build/inject.so}
name="partitions that are skipped after the time limit do not read the clock"
if [ -e "$inject" ]; then
	LD_PRELOAD=$inject KLIN_INJECT_CLOCK=100000 "$KLIN" check --json --threads=1 \
		--time-limit=1 objects.klh >out 2>err
	status=$?
	seconds=$(sed -nE 's/.*"check_seconds": ([0-9]+).*/\1/p' out)
	ktap_result $((status != 3 || ${seconds:-9} > 1)) "$name" "status $status, $seconds s" "$(cat err)"
else
	ktap_skip "$name" "no library to preload: run make unit-build"
fi
"$KLIN" gen --type=queue --ops=300000 -o few.klh
"$KLIN" gen --type=queue --threads=24 --keys=8 --ops=100000 -o wide.klh
"$KLIN" gen --type=stack --threads=24 --ops=20000 --mutate=1 --seed=2 -o wrong.klh
for mib in 20 40 80; do
	bounded "a history that expands" $mib 3 bomb.klh
	bounded "many objects" $mib "0 3" objects.klh
	bounded "few objects" $mib "0 3" few.klh
	bounded "24 threads" $mib 3 wide.klh
	bounded "a violation made small" $mib "1 3" wrong.klh
done
bounded "many objects with a sufficient limit" 400 0 objects.klh

# A violation that is found at once, in a client with endless runs on SC.
cat >endless.lin <<'END'
spec t {
	bool held = false;
	method acquire() { atomic_flush { assume(!held); held = true; } }
	method release() { atomic_flush { held = false; } }
}
shared word l = 0, tries = 0;
method acquire() { while (xchg(&l, 1) != 0) tries = tries + 1; }
method release() { l = 0; }
thread w[2] repeat(1) { call acquire(); call release(); }
END
name="the remark on SC uses little memory"
if command -v python3 >/dev/null; then
	peak=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=open("out", "w"))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$KLIN" explore endless.lin)
	if grep -q '^On SC the same client: not known' out && [ "$peak" -lt 102400 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$peak KiB" "$(tail -n 3 out)"
	fi
else
	ktap_skip "$name" "python3 not found, to read its memory with"
fi
ktap_finish
