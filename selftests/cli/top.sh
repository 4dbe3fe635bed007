#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin top without klind: top.py answers in its place, rightly and wrongly, and looks at the
# screen through a pseudo terminal.

. "$(dirname "$0")/common.sh"

ktap_header
refuse "an unknown order" "--sort=size: expected verdict, rate, lag, lost or name" top --sort=size
refuse "an unknown word for --color" "--color=maybe: expected auto, always or never" \
	top --color=maybe
refuse "a superfluous argument" "no arguments expected" top specs
refuse "a screen, and JSON" "--top and --output exclude each other" \
	monitor --top --json "$specs/port_range.lin"
refuse "a screen, and a command that would write to it" "--top: COMMAND would write to the screen" \
	monitor --top "$specs/port_range.lin" -- true
refuse "no terminal" "the screen needs a terminal; .klin top --once. prints" top
if python3 -c "import pty" 2>/dev/null; then
	python3 "$here/top.py" "$KLIN" >said 2>err
	ktap_result $? "the tests of the screen run to their end" "$(tail -n 5 err)"
	while IFS=: read -r verdict name message; do
		ktap_result "$([ "$verdict" = ok ]; echo $?)" "$name" "$message"
	done <said
else
	ktap_skip "the screen" "no python3 with pty"
fi
ktap_finish
