#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Wrong arguments of the tools and of make are refused with a line that names them, before the tool
# does anything.  Each tool explains itself.

. "$(dirname "$0")/common.sh"

top=$here/../..
ktap_header
if [ ! -e "$top/Makefile" ]; then
	ktap_skip "the tools refuse wrong arguments" "the tests are not in klin's tree"
	ktap_finish
fi
: >empty

# wrong PATTERN COMMAND...: status 2 or 1, nothing on standard output, one line with PATTERN.
wrong()
{
	pattern=$1
	shift
	timeout -k 5 100 "$@" >out 2>err </dev/null
	status=$?
	ktap_result "$({ [ $status -eq 2 ] || [ $status -eq 1 ]; } && [ ! -s out ] &&
		[ "$(wc -l <err)" -eq 1 ] && grep -q -- "$pattern" err; echo $?)" \
		"refused: $(echo "$*" | sed 's,[^ ]*/,,')" "status $status" "$(cat err)"
}

for tool in "$top"/tools/*; do
	if [ -d "$tool" ] || [ ! -x "$tool" ]; then
		continue
	fi
	timeout -k 5 100 "$tool" --help >out 2>err </dev/null
	ktap_result "$([ $? -eq 0 ] && grep -q "tools/${tool##*/}" out && [ ! -s err ]; echo $?)" \
		"${tool##*/} --help" "$(cat out err)"
done
for tool in btf bundle catalog completion coverage debug-kernel demo deps embed embed-page fuzz \
	    kernel kselftest lint man module package run-tap vm; do
	wrong "--nothing" "$top/tools/$tool" --nothing
done
wrong "no such module" "$top/tools/btf" nothing
wrong "no such file" "$top/tools/embed-page" nothing.html
wrong "no such target" "$top/tools/fuzz" nothing
wrong "'--runs=': expected a number" "$top/tools/fuzz" --runs= klh
wrong "'--jobs=0': expected a number, 1 or more" "$top/tools/fuzz" --jobs=0 klh
wrong "joined by =, as in --runs=VALUE" "$top/tools/fuzz" --runs 5 klh
wrong "exclude each other" "$top/tools/fuzz" --runs=5 --seconds=5 klh
wrong "--kernel 'nothing'" "$top/tools/bundle" --kernel nothing
wrong "no directory $PWD/nothing" "$top/tools/bundle" nothing/x
wrong "is a directory" "$top/tools/bundle" .
wrong "--kernel 'nothing'" "$top/tools/catalog" --kernel nothing
wrong "'b': expected one directory" "$top/tools/kselftest" a b
wrong "'--runs': unknown option" "$top/tools/bench" --runs
wrong "KLIN_RUNS=x: expected a number" env KLIN_RUNS=x "$top/selftests/check" unit
wrong "SAN=2: expected 0 or 1" make -C "$top" -s --no-print-directory SAN=2 help
wrong "PREFIX=usr: expected an absolute path" make -C "$top" -s --no-print-directory PREFIX=usr help
wrong "cannot be read" "$top/tools/vmlinux" nothing vmlinux
wrong "holds no kernel" "$top/tools/vmlinux" empty vmlinux
wrong "expected BZIMAGE and VMLINUX" "$top/tools/vmlinux"
wrong "no kernel 6.99 .* are in [a-z]*-backports" "$top/tools/kernel" --kernel 6.99
wrong "no kernel 6.99 " "$top/tools/kernel" --kernel 6.99 --check
wrong "--cpus '0'" "$top/tools/vm" --cpus=0 -- true
wrong "--cpus '0'" "$top/tools/vm" --cpus 0 -- true
wrong "expected a command" "$top/tools/vm" --cpus=2
wrong "no target 'nothing': .make help" make -C "$top" -s --no-print-directory nothing

make -C "$top" -s --no-print-directory DESTIDR=/nothing help >out 2>err
ktap_result "$(grep -q "DESTIDR= has no effect" err && [ "$(wc -l <err)" -eq 1 ]; echo $?)" \
	"make warns of a misspelt variable" "$(cat err)"
make -C "$top" -s --no-print-directory DESTDIR=/nothing CFLAGS="-O1 -DX=1" LLVM=1 W=1 \
	KBUILD_MODPOST_WARN=1 help >out 2>err
ktap_result "$([ ! -s err ] && grep -q "^make install" out; echo $?)" \
	"make help lists the targets" "$(cat out err)"
ktap_finish
