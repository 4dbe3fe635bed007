#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin.ko loads and unloads, also under load.  Its subjects are correct or wrong as described: the
# threads of a load themselves see each mutant's fault, and see no fault in a correct subject.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

times=${KLIN_TIMES:-$(amount 20 50)}
duration=$(amount 200 400)

test_reload()
{
	if unload && [ ! -d "$ctl" ] && load && [ "$(cat "$ctl/status")" = state=idle ]; then
		ktap_pass "the module unloads and loads"
	else
		ktap_fail "the module unloads and loads"
	fi
}

# run_subject SUBJECT SEED DELAY: run a load; its threads count the violations that they
# see.
run_subject()
{
	echo "subject=$1 duration=$duration seed=$2 delay=$3" >"$ctl/load" && wait_done
}

test_correct()
{
	if ! run_subject "$1" 1 500; then
		ktap_fail "the load's threads see no fault in $1" "$(cat "$ctl/error" "$ctl/status")"
	elif [ "$(status_of truth)" -ne 0 ] || [ "$(status_of ops)" -eq 0 ]; then
		ktap_fail "the load's threads see no fault in $1" "$(cat "$ctl/status")"
	else
		ktap_pass "the load's threads see no fault in $1" "$(status_of ops) operations"
	fi
}

# Repeat until the fault shows, with other seeds and delays.
test_mutant()
{
	tries
	while again; do
		run_subject "$1" $try $((500 << (try - 1) % 6)) || break
		if [ "$(status_of truth)" -gt 0 ]; then
			ktap_pass "the load's threads see the fault of $1" \
				"$(status_of truth) of $(status_of ops) operations"
			return
		fi
	done
	ktap_fail "the load's threads see the fault of $1" "not in $((try - 1)) loads, the last:" \
		"$(cat "$ctl/error" "$ctl/status")"
}

# start_something N: start a load or rounds of kind N modulo 6.  Some loads wait for their reader,
# sleep, or have not started.
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
			ktap_fail "the module unloads $times times under load" "the ${i}th failed"
			return
		fi
		i=$((i + 1))
	done
	ktap_pass "the module unloads $times times under load"
}

# A reader holds the module only while a file is open.
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
		ktap_fail "the module unloads while its files are read"
	else
		ktap_pass "the module unloads while its files are read"
	fi
	load
}

test_open_file_pins()
{
	exec 3<"$ctl/status"
	if unload 2>/dev/null; then
		ktap_fail "an open file prevents unloading"
		load
	else
		ktap_pass "an open file prevents unloading"
	fi
	exec 3<&-
}

# Kernel addresses are in one file only, so that status output can be published.  They begin with
# 0xff, and with 0xffff where page tables have four levels.
test_addresses()
{
	address='0xff[0-9a-f]{14}'
	echo "subject=spin paused=1" >"$ctl/load"
	if ! echo "$(address_of object) $(address_of lock)" | grep -qE "^$address $address\$"; then
		ktap_fail "only klin/addresses has kernel addresses" "$(cat "$ctl/addresses")"
		echo stop >"$ctl/load"
		return
	fi
	ktap_result "$(grep -qE "$address" "$ctl/status" "$ctl/subjects" "$ctl/methods"
		[ $? -eq 1 ]; echo $?)" \
		"only klin/addresses has kernel addresses" "$(cat "$ctl/status")"
	echo stop >"$ctl/load"
}

# Lists of CPUs have the kernel's usual form, such as 0-3,6.  The text 1 means CPU 1, not "yes".
test_drain()
{
	for cpus in 0 0-0 "$(cat /sys/devices/system/cpu/online)"; do
		if ! echo "$cpus" >"$ctl/drain"; then
			ktap_fail "the file drain accepts lists of CPUs, and refuses other text" \
				"refused: $cpus"
			return
		fi
	done
	for cpus in x 1-0 0-999999; do
		if echo "$cpus" >"$ctl/drain" 2>/dev/null; then
			ktap_fail "the file drain accepts lists of CPUs, and refuses other text" \
				"taken: $cpus"
			return
		fi
	done
	ktap_pass "the file drain accepts lists of CPUs, and refuses other text"
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
	"the module has at least six mutants, three of them of sequence locks"
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
