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
	record "$work/e.txt" "$@" "$KLIN_SPECS/eventfd.lin" -- "$here/reuse" eventfd 300
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

# An object that kfree_rcu() frees, by kmem_cache_free_bulk().
test_bulk()
{
	name="objects that are freed many at once"
	cat >"$work/acl.lin" <<-'END'
		spec acl {
			method set() { atomic { } }
		}

		probe set on set_cached_acl(inode, type, acl) {
			object acl;
		}
	END
	mkdir "$work/tmpfs" && mount -t tmpfs tmpfs "$work/tmpfs" && : >"$work/tmpfs/file"
	# The kernel may free the objects of one recording only in the next one.
	tries
	freed=0
	while again && [ "$freed" -lt 100 ]; do
		record "$work/a.txt" "$work/acl.lin" -- "$here/reuse" acl 200 "$work/tmpfs/file" ||
			break
		freed=$(sed -n 's/^\([0-9]*\) recorded objects were freed.*/\1/p' "$work/record")
		freed=${freed:-0}
	done
	umount "$work/tmpfs"
	if [ "$freed" -ge 100 ]; then
		ktap_pass "$name" "$freed freed"
	else
		ktap_fail "$name" "$freed freed" "$(cat "$work/record")"
	fi
}

need_root
need_klin
need_btf
need_function eventfd_write
ktap_header
ktap_plan 3
test_record "by fentry"
test_record "by kprobes" --attach=kprobe
test_bulk
ktap_finish
