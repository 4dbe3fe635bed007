#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Burckhardt et al., Figure 5, on the kernel's own seqlock and spinlock.  Without a barrier some
# rounds have an outcome that sequential consistency forbids.  The check for SC reports exactly
# these rounds, and the check for TSO explains them by the store buffer.  With a full barrier no
# round has the outcome.
#
# The test also runs two old bugs of the kernel of the same kind, which violate TSO, too.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

rounds=${KLIN_ROUNDS:-$(amount 10000 20000)}

# Run the rounds; sets $non_sc to the number of rounds with the outcome.
run_rounds()
{
	"$KLIN" rounds --variant="$1" --rounds="$rounds" --seed="$3" -o "$work/rounds.klh" \
		"$KLIN_SPECS/$2.lin" >"$work/rounds" 2>&1 || return
	non_sc=$(sed -n 's/.* rounds, \([0-9]*\) with the outcome.*/\1/p' "$work/rounds")
	[ -n "$non_sc" ]
}

# Run rounds until the machine shows the outcome.  If host and guest share few CPUs, the two
# threads may take turns for a while.
run_until_seen()
{
	for seed in 1 2 3 4 5 6 7 8; do
		if ! run_rounds "$1" "$2" "$seed"; then
			ktap_fail "$1: rounds run" "$(cat "$work/rounds")"
			non_sc=0
			break
		fi
		[ "$non_sc" -eq 0 ] || return 0
	done
	shift 2
	for name in "$@"; do
		ktap_skip "$name" "the machine never showed the outcome in $((seed * rounds)) rounds;" \
			"one whose CPUs take turns, as QEMU's with -accel tcg,thread=single, never does"
	done
	return 1
}

test_variant()
{
	sc="$1: the check for SC reports all rounds with the outcome"
	tso="$1: the check for TSO explains all these rounds by the store buffer"
	run_until_seen "$1" "$2" "$sc" "$tso" || return
	check --memory-model=sc --show=0 "$work/rounds.klh"
	status=$?
	if [ $status -eq 1 ] && grep -q ", $non_sc violated, 0 unknown" "$work/check"; then
		ktap_pass "$sc" "$non_sc rounds"
	else
		ktap_fail "$sc" "status $status, $non_sc rounds" "$(cat "$work/check")"
	fi
	check "$work/rounds.klh"
	status=$?
	if [ $status -eq 0 ] && grep -q "; $non_sc only because stores may wait" "$work/check"; then
		ktap_pass "$tso"
	else
		ktap_fail "$tso" "status $status" "$(cat "$work/check")"
	fi
}

# Under TSO the rounds with the outcome are violations, and all other rounds are correct.
test_bug()
{
	name="$1: exactly the rounds with the outcome are violations"
	run_until_seen "$1" "$1" "$name" || return
	check --show=0 "$work/rounds.klh"
	status=$?
	if [ $status -eq 1 ] && grep -q ", $non_sc violated, 0 unknown" "$work/check"; then
		ktap_pass "$name" "$non_sc rounds"
	else
		ktap_fail "$name" "status $status, $non_sc rounds" "$(cat "$work/check")"
	fi
}

test_barrier()
{
	if ! run_rounds "$1" "$2" 1; then
		ktap_fail "$1: no round has the outcome" "$(cat "$work/rounds")"
		ktap_fail "$1: the check for SC accepts all rounds"
		return
	fi
	ktap_result "$([ "$non_sc" -eq 0 ]; echo $?)" "$1: no round has the outcome" \
		"$non_sc rounds"
	check --memory-model=sc "$work/rounds.klh"
	ktap_result $? "$1: the check for SC accepts all rounds" "$(cat "$work/check")"
}

# A list of CPUs with an error at its end, which is far away.
test_long_list()
{
	list=$(for _ in $(seq 150); do printf '0,1,'; done)x
	"$KLIN" rounds --rounds=100 --cpus="$list" -o "$work/no.klh" "$KLIN_SPECS/fig5.lin" \
		>"$work/rounds" 2>&1
	status=$?
	ktap_result "$([ $status -eq 2 ] && [ ! -e "$work/no.klh" ]; echo $?)" \
		"a mistake at the end of a long list of CPUs is refused" "status $status" \
			"$(cat "$work/rounds")"
}

ktap_header
need_root
need_klin
need_module
[ "$(nproc)" -ge 2 ] || ktap_skip_all "needs two CPUs"
ktap_plan 15
test_variant seqlock fig5
test_barrier seqlock_mb fig5
test_variant trylock fig5_lock
test_barrier trylock_mb fig5_lock
test_bug mntput
test_barrier mntput_mb mntput
test_bug futex
test_barrier futex_mb futex
test_long_list
ktap_finish
