# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# KTAP for shell scripts, with the exit codes of kselftest.h.  To be sourced.

KSFT_PASS=0
KSFT_FAIL=1
KSFT_SKIP=4

ktap_num=0
ktap_failed=0
ktap_skipped=0
ktap_planned=

# Print further information, each line as a comment.
ktap_note()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

ktap_plan()
{
	ktap_planned=$1
	echo "1..$1"
}

ktap_header()
{
	echo "TAP version 13"
}

# Skip the whole script, with the reason.
ktap_skip_all()
{
	echo "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

# ktap_pass NAME [NOTE...]: numbers that differ from run to run belong into the notes, so that a
# name is the same in each run.  KTAP wants the notes before the result.
ktap_pass()
{
	ktap_name=$1
	shift
	[ $# -eq 0 ] || ktap_note "$*"
	ktap_num=$((ktap_num + 1))
	echo "ok $ktap_num $ktap_name"
}

# ktap_fail NAME [NOTE...]
ktap_fail()
{
	ktap_name=$1
	shift
	[ $# -eq 0 ] || ktap_note "$*"
	ktap_num=$((ktap_num + 1))
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_num $ktap_name"
}

# ktap_skip NAME REASON...
ktap_skip()
{
	ktap_name=$1
	shift
	ktap_num=$((ktap_num + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_num $ktap_name # SKIP $*"
}

# ktap_result STATUS NAME [NOTE...]: passed if STATUS is 0.
ktap_result()
{
	ktap_status=$1
	shift
	if [ "$ktap_status" -eq 0 ]; then
		ktap_pass "$1"
	else
		ktap_fail "$@"
	fi
}

# Print the totals and exit.  Without an earlier plan, print the plan here.
ktap_finish()
{
	[ -n "$ktap_planned" ] || ktap_plan "$ktap_num"
	if [ "$ktap_planned" -ne "$ktap_num" ]; then
		ktap_note "$ktap_planned tests planned, $ktap_num run"
		ktap_failed=$((ktap_failed + 1))
	fi
	ktap_note "Totals: pass:$((ktap_num - ktap_failed - ktap_skipped)) fail:$ktap_failed" \
		"xfail:0 xpass:0 skip:$ktap_skipped error:0"
	[ "$ktap_failed" -eq 0 ] || exit $KSFT_FAIL
	[ "$ktap_skipped" -lt "$ktap_num" ] || exit $KSFT_SKIP
	exit $KSFT_PASS
}
