#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Wrong options are refused with a line that names them and the expected values.  Nothing is
# written then, and a failed write leaves no partial file.

. "$(dirname "$0")/common.sh"

"$KLIN" gen --ops=50 >h.txt
register=$specs/register.lin

ktap_header
expect 0 "help" --help
expect 0 "the version" --version
features=$(sed -n '4,$p' out)
ktap_result "$(grep -q "^on Linux $(uname -r), preemption [a-z]" out; echo $?)" \
	"the version comes with the kernel's release and preemption" "$features"
with=$(sed -n "s/^on Linux .*, with \(.*\)/, \1,/p" out)
for feature in BTF:/sys/kernel/btf/vmlinux klin.ko:/sys/module/klin; do
	name=${feature%:*}
	if [ -r "${feature#*:}" ]; then
		echo "$with" | grep -q ", $name,"
	else
		grep -q "^without .*$name (" out
	fi
	ktap_result $? "the version says whether the kernel has $name" "$features"
done
for command in $("$KLIN" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	expect 0 "$command --help" "$command" --help
done
refuse "an unknown command" "'nothing'" nothing
refuse "no history" "history" check
refuse "too many histories" "'h.txt'" check "$register" h.txt h.txt
refuse "an unknown option" "nothing" check --nothing h.txt
refuse "an unknown engine" "--engine=nothing" check --engine=nothing "$register" h.txt
# listed COMMAND OPTION: the README shows the output.
listed()
{
	run "$@"
	awk -v command="klin $*" '$0 == "    " command { found = 1; next }
		found && NF { sub(/^ +/, ""); print; begun = 1; next }
		begun { exit }' "$here/../../README" >told
	ktap_result "$([ $status -eq 0 ] && [ -s told ] && cmp -s out told; echo $?)" \
		"the README has what klin $* prints" "$(diff out told)"
}
listed check --engine=help
listed convert --from=help
refuse "an unknown memory model" "--memory-model=arm" check --memory-model=arm "$register" h.txt
for engine in tso tso-oracle; do
	refuse "$engine without store buffers" "--engine=$engine requires --memory-model=tso" \
		check --memory-model=sc --engine=$engine "$register" h.txt
	refuse "no store buffers for $engine" "--engine=$engine requires --memory-model=tso" \
		check --engine=$engine --memory-model=sc "$register" h.txt
done
refuse "a number with letters" "--time-limit=1x" check --time-limit=1x "$register" h.txt
refuse "work with letters" "--work=1e9" check --work=1e9 "$register" h.txt
refuse "a negative number" "--threads=-1" check --threads=-1 "$register" h.txt
for number in +5 " 5" " -18446744073709551615" ""; do
	refuse "the number '$number'" "--work=.*: expected a number" check --work="$number" "$register" h.txt
done
refuse "a number too large" "--memory-limit=99999999999999999999" \
	check --memory-limit=99999999999999999999 "$register" h.txt
refuse "a missing value" "engine" check --engine
refuse "an unknown type" "--type=tree" gen --type=tree
refuse "a share above 100 %" "--pending=101" gen --pending=101
refuse "a wrong mix" "method" gen --mix=nothing=1
refuse "a weight with a sign" "METHOD=WEIGHT" gen --type=register --mix=read=+1
refuse "a weight too large" "below 1048576" gen --type=register --mix=read=1,write=1048577
refuse "an argument of klin gen" "'h.txt'" gen h.txt
refuse "klin convert with one file" "IN and OUT" convert h.txt
refuse "an unknown form" "--to=xml" convert --to=xml h.txt x
refuse "klin replay without a certificate" "certificate" replay
refuse "a certificate that is a history" "h.txt:1: .*not a certificate" replay h.txt
refuse "klin record without a spec" "spec" record
refuse "klin record with a missing spec" "nothing.lin" record nothing.lin
refuse "an unknown way to attach" "--attach" record --attach=uprobe "$register"
refuse "a buffer of three pages" "power of two" record --buffer=3 "$register"
refuse "a wrong duration" "--duration" record --duration=-1 "$register"
refuse "a spec without probes" "no probe" record --duration=1 "$specs/deque.lin"
refuse "a wrong number of rounds" "--rounds=0" rounds --rounds=0 "$specs/fig5.lin"

# klin record is refused in a PID namespace, because klin cannot see all tasks from there.  The
# probed function does not exist, so nothing is attached in any case.
echo "spec s { word n; method m() { atomic { n = 1; } } } probe m on no_such_function() { }" >no.lin
if ! unshare -pf true 2>/dev/null; then
	ktap_skip "no recording in a PID namespace" "none can be made"
else
	timeout -k 5 1200 unshare -pf "$KLIN" record -o no.klh --duration=1 no.lin \
		>out 2>err </dev/null
	ktap_result "$([ $? -eq 4 ] && grep -q "PID namespace" err && [ ! -e no.klh ]; echo $?)" \
		"no recording in a PID namespace" "$(cat err)"
fi

echo "t0 @1 2 1 read -> 0" >bad.txt
untouched "nothing is written of a broken history" convert bad.txt kept
untouched "nothing is written in place of a broken history" convert nothing.txt kept
untouched "no certificate of a broken history" check --certificate=kept "$register" bad.txt
untouched "no recording by a broken spec" record -o kept --duration=1 bad.txt
untouched "nothing in a directory that is not there" gen -o nowhere/h.klh

# full NAME ARGUMENT...: standard output is full.
full()
{
	name=$1
	shift
	"$KLIN" "$@" >/dev/full 2>err
	status=$?
	if [ $status -eq 4 ] && [ "$(wc -l <err)" -eq 1 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(cat err)"
	fi
}

if [ -c /dev/full ]; then
	full "gen tells that the disk is full" gen
	full "check tells that the disk is full" check "$register" h.txt
	"$KLIN" gen --ops=50 --mutate=20 >wrong.txt
	run check "$register" wrong.txt
	ktap_result "$([ $status -eq 1 ]; echo $?)" "a violation, for the next test" "status $status"
	full "check tells that the disk is full for a violation" check "$register" wrong.txt
	full "check --json reports a full disk" check --json "$register" wrong.txt
	full "convert tells that the disk is full" convert h.txt -
else
	ktap_skip "what is said when the disk is full" "no /dev/full"
fi

(umask 027; "$KLIN" gen --ops=5 -o mode.txt; "$KLIN" gen --ops=5 -o mode.klh)
ktap_result "$([ "$(stat -c %a mode.txt mode.klh | tr '\n' ' ')" = "640 640 " ]; echo $?)" \
	"a file has the mode that the umask gives" "$(ls -l mode.*)"

# A device is written in place, not replaced.
if mknod null c 1 3 2>/dev/null && : >null 2>/dev/null; then
	run gen -o null
	ktap_result "$([ $status -eq 0 ] && [ -c null ]; echo $?)" "a device is written, not replaced"
else
	ktap_skip "a device is written, not replaced" "needs root, and a file system that allows devices"
fi
ktap_finish
