#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory of an object that the kernel frees and uses again is another object.  The eventfds that
# `reuse' makes have the same few addresses.  Taken for one object, they would violate the spec.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

# lives FILE: print the number of objects in the history that are later uses of memory.
lives()
{
	grep -c '^# slab .*, used again$' "$1"
}

test_record()
{
	name="eventfds in the same memory are different objects, $1"
	shift
	record "$work/e.txt" "$@" "$KLIN_SPECS/eventfd.lin" -- "$here/reuse" 300
	check "$work/e.txt"
	got=$?
	later=$(lives "$work/e.txt")
	if [ $got -eq 0 ] && [ "$later" -ge 100 ] && grep -q '^[1-9][0-9]* recorded objects' "$work/record"; then
		ktap_pass "$name" "$later of 300 used memory again"
	else
		ktap_fail "$name" "exit status $got; $later used memory again" \
			"$(cat "$work/record" "$work/check")"
	fi
}

need_root
need_klin
need_btf
need_function eventfd_write
ktap_header
ktap_plan 2
test_record "by fentry"
test_record "by kprobes" --attach=kprobe
ktap_finish
