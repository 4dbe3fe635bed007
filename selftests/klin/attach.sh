#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Attached and detached under load, and killed under load, many times: no probe is
# left, the module unloads, the kernel has nothing to complain of.
#
# QEMU before 8.1 can run a stale breakpoint for ever when code is patched that
# another CPU is executing: with TCG this test wants -accel tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

times=${KLIN_TIMES:-$(amount 8 50)}

# The tracepoints of the module, and functions of it and of the kernel, in turn.
spec_in_turn()
{
	case $(($1 % 2)) in
	0) echo "$KLIN_SPECS/spinlock.lin" ;;
	1) echo "$KLIN_SPECS/spinlock_kernel.lin" ;;
	esac
}

test_attach()
{
	name="$times times attached and detached under load"
	echo "subject=spin rate=5000" >"$ctl/load"
	object=$(address_of lock)
	i=0
	while [ $i -lt "$times" ]; do
		if ! record "$work/a.klh" --duration=0.03 --object="$object" "$(spec_in_turn $i)"; then
			ktap_fail "$name" "the ${i}th:" "$(cat "$work/record")"
			return
		fi
		i=$((i + 1))
	done
	ktap_pass "$name"
}

# Attached in mid-life, the first state is not known.
test_mid_life()
{
	for way in spinlock_kernel:auto spinlock:auto spinlock:plain; do
		spec=${way%:*}
		name="attached in mid-life, $way: no false alarm"
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
			ktap_pass "$name ($(checked_ops) operations, status $status)"
		else
			ktap_fail "$name" "status $status" "$(cat "$work/record" "$work/check")"
		fi
	done
	echo stop >"$ctl/load"
}

# Killed at any moment: while it loads, attaches, records or detaches.
test_kill()
{
	name="$times times klin record was killed under load"
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
		ktap_pass "$name, and the next recording is whole"
	else
		ktap_fail "$name, and the next recording is whole" "$(cat "$work/record" "$work/check")"
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
test_no_bpf_left "no probe is left after them"
test_mid_life
test_kill
test_no_bpf_left "no probe is left after them"
if unload && [ ! -d "$ctl" ]; then
	ktap_pass "the module unloads"
else
	ktap_fail "the module unloads" "$(lsmod)"
fi
ktap_result "$([ "$(warnings)" -eq "$before" ]; echo $?)" "no warning in the kernel's log"
ktap_finish
