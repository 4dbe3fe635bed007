#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin record --stacks: each operation has the kernel's stack at its call, whose first frame is the
# recorded function, and none is klin's own.  Stories show the stacks.  A recording also has the
# slab caches of objects, and what the objects are in the structures that the caches are for.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

# has_stacks NAME INNER OUTER: all operations of $work/s.txt have a stack; each stack begins with
# the function INNER, or calls it, and ends with OUTER.
has_stacks()
{
	ops=$(grep -c '^t' "$work/s.txt")
	bare=$(grep '^t' "$work/s.txt" | grep -vc ' stack=[1-9]')
	stacks=$(grep -c '^# stack ' "$work/s.txt")
	good=$(grep -cE "^# stack [0-9]+ ($2)(\.[a-z0-9.]*)?\+0x.*; $3[^;]*\$" "$work/s.txt")
	if [ "$ops" -gt 100 ] && [ "$bare" -eq 0 ] && [ "$stacks" -gt 0 ] &&
	   [ "$stacks" -eq "$good" ] && ! grep '^# stack ' "$work/s.txt" | grep -q '\[bpf\]\|bpf_'; then
		ktap_pass "$1" "$stacks different stacks of $ops calls"
	else
		ktap_fail "$1" "$ops operations, $bare without a stack; $stacks stacks, $good as" \
			"expected:" "$(grep '^# stack' "$work/s.txt" | head)" "$(cat "$work/record")"
	fi
}

test_way()
{
	name="stacks of a function of the kernel, by $1"
	if record "$work/s.txt" --stacks --attach "$1" --load user:port_range,ops=500 \
	   "$KLIN_SPECS/port_range.lin"; then
		has_stacks "$name" 'inet_get_local_port_range|ipv4_local_port_range' entry_SYSCALL_64
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

test_story()
{
	name="the story of a violation shows stacks"
	spec=$(spec_of seqlock.no_retry)
	tries
	while again; do
		load="subject=seqlock.no_retry,ops=10000,drain=4,seed=$try,delay=$try_delay"
		if ! record "$work/s.klh" --stacks --load "$load" "$spec"; then
			ktap_fail "$name" "$(cat "$work/record")"
			return
		fi
		check --work=50000000 "$work/s.klh"
		[ $? -eq 1 ] || continue
		grep -q '^  Kernel stack at the call of t.*read' "$work/check" &&
			grep -q '^    kthread+0x' "$work/check"
		ktap_result $? "$name" "$(cat "$work/check")"
		return
	done
	ktap_fail "$name" "no violation in $((try - 1)) recordings" "$(cat "$work/check")"
}

need_root
need_klin
need_module
need_btf
ktap_header
if record "$work/s.txt" --stacks --load subject=seqlock,ops=1000 "$KLIN_SPECS/seqlock.lin"; then
	has_stacks "stacks of klin.ko's own structures" '[a-z_]*' 'ret_from_fork'
else
	ktap_fail "stacks of klin.ko's own structures" "$(cat "$work/record")"
fi
test_way fentry
test_way kprobe
record "$work/s.txt" --load subject=seqlock,ops=1000 "$KLIN_SPECS/seqlock.lin" &&
	! grep -q 'stack' "$work/s.txt"
ktap_result $? "no stacks without --stacks" "$(cat "$work/record")"
"$KLIN" monitor --stacks $clock_error --load subject=seqlock,ops=1000 "$KLIN_SPECS/seqlock.lin" \
	>"$work/record" 2>&1
ktap_result $? "klin monitor --stacks" "$(cat "$work/record")"
record "$work/s.txt" --load user:eventfd,ops=500 "$KLIN_SPECS/eventfd.lin" &&
	grep -q '^# slab 0xff[0-9a-f]* [A-Za-z]' "$work/s.txt"
ktap_result $? "the slab cache of an eventfd" "$(cat "$work/record")"
record "$work/s.txt" "$KLIN_SPECS/rwsem.lin" -- sh -c '/bin/true; /bin/true' &&
	grep -q '^# slab 0xff[0-9a-f]* mm_struct\.mmap_lock$' "$work/s.txt" &&
	grep -q '^# slab 0xff[0-9a-f]* anon_vma\.rwsem$' "$work/s.txt"
ktap_result $? "the structures that semaphores are in" "$(cat "$work/record")" \
	"$(grep '^# slab' "$work/s.txt")"
test_story
ktap_finish
