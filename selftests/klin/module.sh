#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin.ko: it comes and goes, under load too, and its subjects are what they say:
# the threads of a load see for themselves what each mutant does wrong, and never
# anything wrong in a correct one.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

times=${KLIN_TIMES:-$(amount 20 50)}
duration=$(amount 200 400)

test_reload()
{
	if unload && [ ! -d "$ctl" ] && load && [ "$(cat "$ctl/status")" = state=idle ]; then
		ktap_pass "unload and load"
	else
		ktap_fail "unload and load"
	fi
}

# run_subject SUBJECT SEED DELAY: the truth is what its threads saw.
run_subject()
{
	echo "subject=$1 duration=$duration seed=$2 delay=$3" >"$ctl/load" && wait_done
}

test_correct()
{
	if ! run_subject "$1" 1 500; then
		ktap_fail "$1 is right" "$(cat "$ctl/error" "$ctl/status")"
	elif [ "$(status_of truth)" -ne 0 ] || [ "$(status_of ops)" -eq 0 ]; then
		ktap_fail "$1 is right" "$(cat "$ctl/status")"
	else
		ktap_pass "$1 is right ($(status_of ops) operations)"
	fi
}

# Until it goes wrong: another seed and delay may bring more luck.
test_mutant()
{
	tries
	while again; do
		run_subject "$1" $try $((500 << (try - 1) % 6)) || break
		if [ "$(status_of truth)" -gt 0 ]; then
			ktap_pass "$1 is wrong ($(status_of truth) of $(status_of ops) operations)"
			return
		fi
	done
	ktap_fail "$1 is wrong" "not in $((try - 1)) loads, the last:" "$(cat "$ctl/error" "$ctl/status")"
}

# Each kind of load, also one that waits for its reader, sleeps or was not started.
start_something()
{
	case $(($1 % 6)) in
	0) echo "variant=trylock rounds=10000000" >"$ctl/rounds" ;;
	1) echo "subject=tas.plain threads=5" >"$ctl/load" ;;
	2) echo "subject=seqlock lossless=100" >"$ctl/load" ;;
	3) echo "subject=ticket threads=9 rate=1" >"$ctl/load" ;;
	4) echo "subject=spin paused=1" >"$ctl/load" ;;
	5) echo "subject=seqcount.no_lock" >"$ctl/load" ;;
	esac
}

test_unload_under_load()
{
	i=0
	while [ $i -lt "$times" ]; do
		if ! start_something $i || ! unload || ! load; then
			ktap_fail "$times times unloaded under load" "the ${i}th failed"
			return
		fi
		i=$((i + 1))
	done
	ktap_pass "$times times unloaded under load"
}

# Who reads the files holds the module only while a file is open.
test_unload_with_readers()
{
	echo "subject=spin" >"$ctl/load"
	for _ in 1 2; do
		(while cat "$ctl/status" "$ctl/subjects" "$ctl/rounds_result" >/dev/null 2>&1; do
			:
		done) &
	done
	i=0
	while ! unload 2>/dev/null && [ $i -lt 2000 ]; do
		i=$((i + 1))
	done
	wait
	if [ -d "$ctl" ]; then
		ktap_fail "unload while others read its files"
	else
		ktap_pass "unload while others read its files"
	fi
	load
}

test_open_file_pins()
{
	exec 3<"$ctl/status"
	if unload 2>/dev/null; then
		ktap_fail "an open file keeps the module"
		load
	else
		ktap_pass "an open file keeps the module"
	fi
	exec 3<&-
}

# Addresses in the kernel are in one file only, apart from what any report may quote.
test_addresses()
{
	echo "subject=spin paused=1" >"$ctl/load"
	case "$(address_of object) $(address_of lock)" in
	0xffff*" "0xffff*) ;;
	*)	ktap_fail "addresses are in klin/addresses alone" "$(cat "$ctl/addresses")"
		return ;;
	esac
	ktap_result "$(grep -q 0xffff "$ctl/status" "$ctl/subjects" "$ctl/methods"; [ $? -eq 1 ]; echo $?)" \
		"addresses are in klin/addresses alone" "$(cat "$ctl/status")"
	echo stop >"$ctl/load"
}

# Lists name CPUs as elsewhere in the kernel, and 1 is one CPU, not "yes".
test_drain()
{
	for cpus in 0 0-0 "$(cat /sys/devices/system/cpu/online)"; do
		if ! echo "$cpus" >"$ctl/drain"; then
			ktap_fail "drain takes lists of CPUs" "refused: $cpus"
			return
		fi
	done
	for cpus in x 1-0 0-999999; do
		if echo "$cpus" >"$ctl/drain" 2>/dev/null; then
			ktap_fail "drain takes lists of CPUs" "taken: $cpus"
			return
		fi
	done
	ktap_pass "drain takes lists of CPUs"
}

ktap_header
need_root
need_module
before=$(warnings)
correct=$(subjects_of correct)
mutants=$(subjects_of mutant)
# shellcheck disable=SC2086 # words
ktap_plan $((8 + $(echo $correct $mutants | wc -w)))

test_reload
n=$(echo "$mutants" | wc -l)
ktap_result "$([ "$(echo "$mutants" | grep -c '^seq')" -ge 3 ] && [ "$n" -ge 6 ]; echo $?)" \
	"each group has at least three mutants"
for subject in $correct; do
	test_correct "$subject"
done
for subject in $mutants; do
	test_mutant "$subject"
done
test_addresses
test_drain
test_unload_under_load
test_open_file_pins
test_unload_with_readers
ktap_result "$([ "$(warnings)" -eq "$before" ]; echo $?)" "no warning in the kernel's log"
ktap_finish
