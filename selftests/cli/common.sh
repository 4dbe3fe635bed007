# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Common parts of the tests of the command, which need no root and no kernel.  To be sourced
# by scripts in this directory.
#
# KLIN		the command (default: build/klin of this tree)
# KLIN_SPECS	the directory of the shipped specs (default: specs of this tree)

here=$(cd "$(dirname "$0")" && pwd) || exit 1
. "$here/../klin/ktap.sh"
KLIN=${KLIN:-$here/../../build/klin}
# shellcheck disable=SC2034 # the scripts use it
specs=${KLIN_SPECS:-$here/../../specs}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
command -v "$KLIN" >/dev/null || ktap_skip_all "$KLIN not found: set KLIN to the command's path"

# Reasons for skipped tests.
# shellcheck disable=SC2034
no_btf="gcc does not know -gbtf (it does from 12 on)" no_klind="no klind beside $KLIN"

# run ARGUMENT...: sets $status; the output is in out, the messages in err.
run()
{
	timeout -k 5 1200 "$KLIN" "$@" >out 2>err </dev/null
	status=$?
}

# True if process $1 catches SIGINT and SIGTERM (bits 1 and 14); a sanitizer catches others,
# too.
catches()
{
	mask=$(sed -n 's/^SigCgt:.*\(....\)$/\1/p' "/proc/$1/status" 2>/dev/null)
	[ $((0x${mask:-0} & 0x4002)) -eq $((0x4002)) ]
}

# interrupt SIGNAL ARGUMENT...: like run, but send the signal once the process catches both
# signals.
interrupt()
{
	signal=$1
	shift
	timeout -k 5 1200 "$KLIN" "$@" >out 2>err </dev/null &
	limit=$!
	pid=
	until [ -n "$pid" ] && catches "$pid"; do
		kill -0 $limit 2>/dev/null || break
		sleep 0.05
		pid=$(cat /proc/$limit/task/$limit/children 2>/dev/null)
		pid=${pid%% *}
	done
	kill "-$signal" "$pid"
	wait $limit
	status=$?
}

# expect STATUS NAME ARGUMENT...: klin ends with that status and no message.
expect()
{
	want=$1 name=$2
	shift 2
	run "$@"
	if [ $status -eq "$want" ] && [ ! -s err ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin $*: status $status, expected $want" "$(head -n 5 err)"
	fi
}

# refuse NAME PATTERN ARGUMENT...: status 2, no output, and one line of message with
# PATTERN.  Warnings, the source line below a message, the line "Usage: ..." and argp's line
# "Try ... --help" do not count.
refuse()
{
	name=$1 pattern=$2
	shift 2
	run "$@"
	grep -vE "^Try |^Usage: |warning: |^  " err >message
	if [ $status -eq 2 ] && [ ! -s out ] && [ "$(wc -l <message)" -eq 1 ] &&
	   grep -qE -- "$pattern" message; then
		ktap_pass "refused: $name"
	else
		ktap_fail "refused: $name" "klin $*: status $status, expected 2 and '$pattern'" \
			"$(head -n 5 err)"
	fi
}

# untouched NAME ARGUMENT...: klin fails, and leaves the file `kept' and the directory
# unchanged.
untouched()
{
	name=$1
	shift
	echo old >kept
	files=$(find . | sort)
	run "$@"
	if [ $status -ne 0 ] && [ $status -lt 5 ] && [ "$(cat kept)" = old ] &&
	   [ "$(find . | sort)" = "$files" ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin $*: status $status" "$(cat kept)" "$(find .)"
	fi
}
