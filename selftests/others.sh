#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Other probes that come and go on functions that are recorded, under load: nobody is
# accused, and what klin.ko counted is what was recorded, in whole or in part, and what
# was lost and missed.
#
# QEMU before 8.1 can run a stale breakpoint for ever when code is patched that another
# CPU is executing: with TCG this test wants -accel tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
. "$here/sums.sh"

# Other probes on the same functions come and go, which makes calls under way skip
# what waits for their return.
others()
{
	for _ in 1 2 3; do
		"$KLIN" record --clock-error=200 -o "$work/other.klh" --duration=0.1 "$functions" \
			>"$work/other" 2>&1 </dev/null || return
	done
	echo stop >"$ctl/load"
}

test_others()
{
	name="other probes come and go"
	if ! record_while counter_nested duration=60000,rate=5000 "$functions" others; then
		not_recorded "$name"
	elif [ $meanwhile -ne 0 ]; then
		ktap_fail "$name: no false alarm" "$(cat "$work/other")"
		ktap_fail "$name: recorded, lost and missed add up"
	else
		judge "$name" false
	fi
}

ktap_header
need_klin
need_btf
need_module
ktap_plan 2
test_others
ktap_finish
