#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Attach and detach under load, and kill klin under load, many times.  No probe is left, the
# module unloads, and the kernel's log has no warning.
#
# QEMU before 8.1 can execute a stale breakpoint forever if code is patched while another
# CPU runs it.  With TCG this test needs -accel tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

times=${KLIN_TIMES:-$(amount 8 50)}
# The turns that attach and detach are alike.  Those that kill klin are not, so there are more.
attach_times=${KLIN_TIMES:-$(amount 4 50)}

# Alternate between the tracepoints of the module, and functions of the kernel.
spec_in_turn()
{
	case $(($1 % 2)) in
	0) echo "$KLIN_SPECS/spinlock.lin" ;;
	1) echo "$KLIN_SPECS/spinlock_kernel.lin" ;;
	esac
}

test_attach()
{
	name="klin attaches and detaches $attach_times times under load"
	echo "subject=spin rate=5000" >"$ctl/load"
	object=$(address_of lock)
	i=0
	while [ $i -lt "$attach_times" ]; do
		if ! record "$work/a.klh" --duration=0.03 --object="$object" "$(spec_in_turn $i)"; then
			ktap_fail "$name" "the ${i}th:" "$(cat "$work/record")"
			return
		fi
		i=$((i + 1))
	done
	ktap_pass "$name"
}

# When klin attaches to an object in use, the first state is unknown.
test_mid_life()
{
	for way in spinlock_kernel:auto spinlock:auto spinlock:plain; do
		spec=${way%:*}
		name="attaching to a lock in use raises no false alarm, $way"
		object=$(address_of lock)
		[ $spec = spinlock_kernel ] || object=$(address_of object)
		if ! record "$work/a.klh" --duration=0.5 --object="$object" --attach="${way#*:}" \
		     "$KLIN_SPECS/$spec.lin"; then
			ktap_fail "$name" "$(cat "$work/record")"
			continue
		fi
		check "$work/a.klh"
		status=$?
		if [ "$(checked_ops)" -gt 100 ] && [ $status -ne 1 ] && [ $status -ne 2 ]; then
			ktap_pass "$name" "$(checked_ops) operations, status $status"
		else
			ktap_fail "$name" "status $status" "$(cat "$work/record" "$work/check")"
		fi
	done
	echo stop >"$ctl/load"
}

# Kill klin at any moment: while it loads, attaches, records or detaches.
test_kill()
{
	name="klin record is killed $times times under load"
	i=0
	while [ $i -lt "$times" ]; do
		# shellcheck disable=SC2086 # an option or nothing
		"$KLIN" record $clock_error -o "$work/k.klh" --load subject=spin,duration=1000,rate=5000 \
			"$(spec_in_turn $i)" >"$work/record" 2>&1 </dev/null &
		pid=$!
		sleep "0.$((i % 10))$((i % 7))"
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		i=$((i + 1))
	done
	rm -f "$work"/k.klh*
	if record "$work/k.klh" --load subject=spin,ops=1000 "$KLIN_SPECS/spinlock.lin" &&
	   check "$work/k.klh" && [ "$(checked_ops)" -ge 1000 ]; then
		ktap_pass "$name, and the next recording is complete"
	else
		ktap_fail "$name, and the next recording is complete" "$(cat "$work/record" \
			"$work/check")"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_command bpftool
need_module
ktap_plan 9
before=$(warnings)
bpf_ids >"$work/bpf"
test_attach
test_no_bpf_left "no probe is left after klin detached"
test_mid_life
test_kill
test_no_bpf_left "no probe is left after klin was killed"
if unload && [ ! -d "$ctl" ]; then
	ktap_pass "the module unloads"
else
	ktap_fail "the module unloads" "$(lsmod)"
fi
ktap_result "$([ "$(warnings)" -eq "$before" ]; echo $?)" "no warning in the kernel's log"
ktap_finish
