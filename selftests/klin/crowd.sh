#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Many more tasks than slots.  All tasks have called the recorded function and stay alive.
# A task without a slot borrows one for an operation, and every operation is recorded.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

tasks=$(amount 3000 10000)

# whole NAME FILE COUNT LENT: the file has COUNT operations, and, if LENT, slots were lent.
whole()
{
	if [ "$(($(lost_ops)))" -ne 0 ] || { "$4" && [ "$(lent)" -eq 0 ]; }; then
		ktap_fail "$1" "$(cat "$work/record")"
	else
		verdict "$1" "$2" "$3"
	fi
}

# test_functions WAY SLOTS LENT: the tasks call a function of the kernel, recorded by --attach=WAY.
test_functions()
{
	name="$tasks tasks, $2 slots, $1: every operation is recorded"
	if record "$work/c.klh" --slots="$2" --attach="$1" "$KLIN_SPECS/eventfd.lin" -- \
	   "$here/crowd" "$tasks"; then
		whole "$name" "$work/c.klh" $((tasks / 2 * 5 + 1)) "$3"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# test_announced WAY: klin.ko's threads announce their operations.  They are slow, so that all are
# alive at the same time.
test_announced()
{
	name="256 threads of klin.ko, 16 slots, $1: every operation is recorded"
	if ! record "$work/c.klh" --slots=16 --attach="$1" "$KLIN_SPECS/seqlock.lin" \
	     --load subject=seqlock,threads=256,ops=5120,rate=20; then
		ktap_fail "$name" "$(cat "$work/record")"
	else
		whole "$name" "$work/c.klh" "$(status_of ops)" true
	fi
}

ktap_header
need_root
need_klin
need_btf
need_function eventfd_write
need_module
ktap_plan 5
test_functions kprobe 64 true
test_functions fentry 64 true
# The default number of kept slots is enough for these tasks if all slots are used.
test_functions auto 4096 false
test_announced auto
test_announced plain
ktap_finish
