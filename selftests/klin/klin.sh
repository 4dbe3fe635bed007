# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Common parts of the tests of klin and klin.ko.  To be sourced after ktap.sh.
#
# KLIN		the command (default: klin in PATH)
# KLIN_KO	the module's file (default: modprobe klin)
# KLIN_SPECS	the directory of the shipped specs
# KLIN_CLOCK_ERROR	upper bound of the difference of the CPUs' clocks, in ns; measured
#		by default, which takes seconds if virtual CPUs seldom run at the
#		same time
# KLIN_MISSES	not empty: a debug kernel is slow and calls probed functions itself, so
#		operations may be missed if the recording reports this
# KLIN_LONG	not empty: many more operations, as in `make check-long'
# KLIN_ARTIFACTS	a directory that receives the files of each test that fails
# KLIN_FAIL	the name of a test that shall fail, to try what becomes of its files

KLIN=${KLIN:-klin}
KLIN_KO=${KLIN_KO:-}
if [ -z "${KLIN_SPECS:-}" ]; then
	for KLIN_SPECS in /usr/share/klin/specs /usr/local/share/klin/specs; do
		[ ! -d "$KLIN_SPECS" ] || break
	done
fi
clock_error=${KLIN_CLOCK_ERROR:+--clock-error=$KLIN_CLOCK_ERROR}
# shellcheck disable=SC2034 # the scripts use it
ctl=/sys/kernel/debug/klin

work=$(mktemp -d) || exit 1

# Keep the histories and outputs of a failed test.  A history with a violation gets a certificate and
# a page.
keep_artifacts()
{
	kept=$KLIN_ARTIFACTS/$(basename "$0" .sh)
	mkdir -p "$kept" && cp -r "$work/." "$kept" || return
	echo "# the files of this test are in $kept"
	for history in "$kept"/*.klh "$kept"/*.txt; do
		[ -s "$history" ] || continue
		"$KLIN" check --certificate="$history.cert" "$history" >"$history.verdict" 2>&1
		[ $? -eq 1 ] && "$KLIN" report -o "$history.html" "$history"
	done >/dev/null 2>&1
}

# shellcheck disable=SC2317 # called by the trap
klin_cleanup()
{
	if [ -d "$ctl" ]; then
		echo stop >"$ctl/load"
		unload
	fi 2>/dev/null
	[ -z "${KLIN_ARTIFACTS:-}" ] || [ "$ktap_failed" -eq 0 ] || keep_artifacts
	rm -rf "$work"
}
# A test that is ended, as by kselftest's time limit, has failed.
# shellcheck disable=SC2317 # called by the trap
klin_ended()
{
	ktap_failed=$((ktap_failed + 1))
	echo "# this test was ended by a signal, as at the time limit (KLIN_TIMEOUT)"
	exit 1
}
trap klin_cleanup EXIT
trap klin_ended HUP INT TERM

# This needs nothing of the kernel, so that anyone sees a failure.
if [ -n "${KLIN_FAIL:-}" ] && [ "$(basename "$0" .sh)" = "$(basename "$KLIN_FAIL" .sh)" ]; then
	"$KLIN" gen --type=queue --ops=60 --mutate=3 -o "$work/wrong.klh"
	ktap_header
	ktap_plan 1
	ktap_fail "KLIN_FAIL=$KLIN_FAIL: this test fails on purpose"
	ktap_finish
fi

# Kernel warnings; tools/vm searches for them, too.
trouble='WARNING: |BUG:|Oops:|Kernel panic|general protection fault|rcu.*stall|blocked for more than'

# amount SHORT LONG: print the number for a short or a long test, see KLIN_LONG.
amount()
{
	if [ -n "${KLIN_LONG:-}" ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || ktap_skip_all "needs root"
}

need_command()
{
	command -v "$1" >/dev/null || ktap_skip_all "$1 not found${2:+: $2}"
}

need_klin()
{
	need_command "$KLIN" "set KLIN to the command's path"
	[ -e "$KLIN_SPECS/seqlock.lin" ] ||
		ktap_skip_all "no specs in $KLIN_SPECS: set KLIN_SPECS"
}

# True if there is a klin.ko for this kernel.  The modprobe of busybox has no option -n.
have_module()
{
	[ -n "$KLIN_KO" ] || modprobe -n -q klin 2>/dev/null ||
		[ -n "$(find "/lib/modules/$(uname -r)/" -name 'klin.ko*' 2>/dev/null)" ]
}

load()
{
	if [ -n "$KLIN_KO" ]; then
		insmod "$KLIN_KO"
	else
		modprobe -q klin
	fi
}

unload()
{
	rmmod klin
}

# Load klin.ko unless it is loaded.
need_module()
{
	need_root
	grep -q " /sys/kernel/debug debugfs " /proc/mounts ||
		mount -t debugfs debug /sys/kernel/debug || ktap_skip_all "no debugfs"
	[ ! -d "$ctl" ] || return 0
	have_module ||
		ktap_skip_all "no module klin for $(uname -r): set KLIN_KO to the path of klin.ko"
	load || ktap_skip_all "klin.ko does not load on this kernel ($(uname -r))"
}

# fentry needs the BTF of the kernel and of the module.
need_btf()
{
	[ -e /sys/kernel/btf/vmlinux ] ||
		ktap_skip_all "no BTF of the kernel (CONFIG_DEBUG_INFO_BTF)"
}

# need_function NAME: for a test of an unmodified kernel.
need_function()
{
	grep -q " [tT] $1\$" /proc/kallsyms || ktap_skip_all "this kernel has no function $1"
}

# Print the value of $1 in klin.ko's status.
status_of()
{
	sed -n "s/^$1=//p" "$ctl/status"
}

# Print the kernel address of $1, the object under load or its lock.
address_of()
{
	sed -n "s/^$1=//p" "$ctl/addresses"
}

# wait_for COMMAND...: repeat the command until it succeeds, for at most ten minutes.
wait_for()
{
	wait_turns=12000
	until "$@"; do
		wait_turns=$((wait_turns - 1))
		[ $wait_turns -gt 0 ] || return 1
		sleep 0.05
	done
}

# ops_done N: true if klin.ko's load has done N operations.
ops_done()
{
	[ "$(status_of ops)" -ge "$1" ]
}

# ops_done_or_over N: true if the load has done N operations, or is over.
ops_done_or_over()
{
	ops_done "$1" || ! state_is running
}

# state_is STATE...: true if the state of klin.ko's load or rounds is one of these.
state_is()
{
	case " $* " in
	*" $(status_of state) "*) ;;
	*) return 1 ;;
	esac
}

# Wait until the load or the rounds are over.
wait_done()
{
	wait_for state_is "done" idle
}

# Print the number of operations that klin.ko began.  Those that the end of the load
# interrupted are recorded, too.
began()
{
	echo $(($(status_of ops) + $(status_of pending)))
}

# `tries' resets the counter.  `while again; do ...  done' counts in $try up to 60, because threads
# seldom overlap on some machines.  $try_delay is a delay for klin.ko's setting delay=.
tries()
{
	try=0
}

again()
{
	try=$((try + 1))
	# shellcheck disable=SC2034 # the scripts use it
	try_delay=$((1000 * ((try - 1) % 8 + 1)))
	[ $try -le 60 ]
}

# caught SUBJECT SPEC OPTION...: some recording of a mutant shows a violation that the
# oracle confirms.
caught()
{
	mutant=$1 mutant_spec=$2
	shift 2
	tries
	while again; do
		record "$work/m.klh" "$@" --load \
			"subject=$mutant,ops=20000,seed=$try,delay=$try_delay" "$mutant_spec"
		check --work=100000000 "$work/m.klh"
		if [ $? -eq 1 ] && grep -q "oracle finds no order either" "$work/check"; then
			ktap_pass "$mutant is caught"
			return
		fi
	done
	ktap_fail "$mutant is caught" "not in $((try - 1)) recordings" \
		"$(cat "$work/record" "$work/check")"
}

subjects_of()
{
	awk -v kind="$1" '$2 == kind { print $1 }' "$ctl/subjects"
}

# Print the spec of a subject, from the names of its methods.
spec_of()
{
	spec_group=$(awk -v s="$1" '$1 == s { print $3 }' "$ctl/subjects")
	case ${spec_group%%.*} in
	lock) echo "$KLIN_SPECS/spinlock.lin" ;;
	*) echo "$KLIN_SPECS/${spec_group%%.*}.lin" ;;
	esac
}

# record FILE ARGUMENT...: klin record into FILE, with its messages in $work/record.
record()
{
	record_to=$1
	shift
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record $clock_error -o "$record_to" "$@" >"$work/record" 2>&1 </dev/null
}

# check ARGUMENT...: klin check with a work limit, with its output in $work/check.
check()
{
	case "$*" in
	*--work=*) ;;
	*) set -- --work=300000000 "$@" ;;
	esac
	"$KLIN" check --full "$@" >"$work/check" 2>&1 </dev/null
}

# Print the number of operations from klin check's output, in which warnings may come first.
checked_ops()
{
	sed -n 's/.*: \([0-9]*\) operations, [0-9]* threads, .*/\1/p' "$work/check"
}

# Print the numbers of lost and missed operations, as klin record reported them.
lost_ops()
{
	sed -n 's/^lost \([0-9]*\), missed \([0-9]*\),.*/\1 + \2/p' "$work/record"
}

# Print the number of times that a slot was lent, as klin record reported it.
lent()
{
	sed -n 's/^slots were lent \([0-9]*\) times.*/\1/p' "$work/record" | grep . || echo 0
}

seconds()
{
	cut -d. -f1 /proc/uptime
}

# Count the kernel warnings since the boot; tests compare two counts.
warnings()
{
	dmesg | grep -cE "$trouble"
}

# Print the ids of the BPF programs and links in the kernel, after a fixed line, since grep
# -f treats an empty file in different ways.
bpf_ids()
{
	echo "kind number"
	for kind in prog link; do
		bpftool "$kind" show 2>/dev/null | sed -n "s/^\([0-9]*\):.*/$kind \1/p"
	done
}

# shellcheck disable=SC2317 # called by wait_for
no_bpf_left()
{
	bpf_ids | grep -vxF -f "$work/bpf" >"$work/left"
	[ ! -s "$work/left" ]
}

# Test that no BPF program or link exists that was not in $work/bpf.  The kernel frees them
# with a delay.
test_no_bpf_left()
{
	if wait_for no_bpf_left; then
		ktap_pass "$1"
	else
		ktap_fail "$1" "left: $(tr '\n' ' ' <"$work/left")" "$(bpftool prog show)"
	fi
}

# verdict NAME FILE ATLEAST: FILE is linearizable, without a gap, with at least ATLEAST
# operations.  Virtual CPUs may have clocks that differ by a millisecond.  Then an operation overlaps
# hundreds of others, and a search for their order takes more work than check() allows.
verdict()
{
	check --work=3000000000 "$2"
	verdict_status=$?
	if [ -n "${KLIN_MISSES:-}" ] && [ $verdict_status -eq 3 ] &&
	   grep -q ' gaps\{0,1\}$' "$work/check" && [ "$(checked_ops)" -gt 0 ]; then
		ktap_pass "$1" "$(checked_ops) operations, $(sed -n 2p "$work/check")"
	elif [ $verdict_status -ne 0 ]; then
		ktap_fail "$1" "$(cat "$work/check")"
	elif ! [ "$(checked_ops)" -ge "$3" ] || grep -q 'gap' "$work/check"; then
		ktap_fail "$1" "expected $3 operations without a gap" "$(cat "$work/check")"
	else
		ktap_pass "$1" "$(checked_ops) operations"
	fi
}
