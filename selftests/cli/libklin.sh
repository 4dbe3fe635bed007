#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libklin as it is installed: programs are compiled by pkg-config alone, with the shared and the
# static library; no symbol is outside klin_; the headers are C and C++ without a warning; the
# examples run, and what they write is read by klin.

. "$(dirname "$0")/common.sh"

top=$here/../..
ktap_header
if [ ! -e "$top/Makefile" ] || [ "$(dirname "$KLIN")/klin" -ef "$top/build/san/klin" ]; then
	ktap_skip "libklin" "it is installed from klin's tree, from the usual build"
	ktap_finish
	exit
fi
make -s -C "$top" install DESTDIR="$work/root" >out 2>&1
status=$?
ktap_result "$([ $status -eq 0 ] && ! grep -q modinfo out; echo $?)" "make install" "$(tail -n 5 out)"
lib=$work/root/usr/local/lib
examples=$work/root/usr/local/share/doc/libklin-dev/examples
export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/root"

# Symbols of the interface, as the headers declare them.
cat "$work"/root/usr/local/include/klin/*.h |
	sed -nE '/static inline/d; s/^[a-z].*[ *](klin_[a-z0-9_]+)\(.*/\1/p' | sort -u >declared
nm -D --defined-only "$lib/libklin.so" >symbols
awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' symbols | sort >exported
ktap_result "$([ -s declared ] && cmp -s declared exported; echo $?)" \
	"libklin.so exports what the headers declare" "$(diff declared exported)"
ktap_result "$(grep -v '@@LIBKLIN_' symbols | grep -vq ' A LIBKLIN_'; [ $? -ne 0 ]; echo $?)" \
	"each of its symbols has a version" "$(head -n 5 symbols)"
nm -g --defined-only "$lib/libklin.a" | awk 'NF == 3 { print $3 }' | sort >static
ktap_result "$(cmp -s declared static; echo $?)" "libklin.a defines the same symbols" \
	"$(diff declared static | head -n 5)"
readelf -d "$lib/libklin.so" | grep -q 'SONAME.*\[libklin.so.0\]'
ktap_result $? "the name of the shared library has its version"
nm -D --undefined-only "$lib/libklin.so" | grep -wE 'exit|_exit|perror' >found
ktap_result "$([ ! -s found ]; echo $?)" "libklin ends no program" \
	"$(cat found)"

printf '#include <klin/klin.h>\n#include <klin/record.h>\nint main(void) { return 0; }\n' >both.c
cp both.c both.cc
for command in "gcc -std=c99 both.c" "gcc -std=c11 both.c" "g++ -std=c++11 both.cc" \
		"clang -std=c11 both.c"; do
	if ! command -v "${command%% *}" >/dev/null; then
		ktap_skip "$command" "no ${command%% *}"
		continue
	fi
	# shellcheck disable=SC2046,SC2086 # options are words
	$command -Wall -Wextra -Wshadow -pedantic -fsyntax-only $(pkg-config --cflags klin) >out 2>&1
	ktap_result "$([ $? -eq 0 ] && [ ! -s out ]; echo $?)" "the headers by $command" \
		"$(head -n 5 out)"
done

# The times hold an operation between them: LFENCE stands on both sides of it, behind the reading of
# its call and before that of its return.
cat >times.c <<'END'
#include <klin/record.h>
uint64_t f(struct klin_lane *lane, int method, const uint64_t *p);
uint64_t f(struct klin_lane *lane, int method, const uint64_t *p)
{
	uint64_t v;

	klin_call1(lane, method, 1, 2);
	__asm__ volatile("/* operation */" : : : "memory");
	v = __atomic_load_n(p, __ATOMIC_ACQUIRE);
	klin_return1(lane, v);
	return v;
}
END
for command in "gcc -O1" "gcc -O3" "clang -O2"; do
	if ! command -v "${command%% *}" >/dev/null || [ "$(uname -m)" != x86_64 ]; then
		ktap_skip "times by $command" "no ${command%% *}, or not x86-64"
		continue
	fi
	# shellcheck disable=SC2046,SC2086 # options are words
	$command $(pkg-config --cflags klin) -S -o times.s times.c >out 2>&1
	got=$(grep -oE '^[^.]*(rdtscp?|[lm]fence|operation)' times.s |
		grep -oE 'rdtscp?|[lm]fence|operation' | head -n 4 | tr '\n' ' ')
	ktap_result "$([ "$got" = "rdtsc lfence operation lfence " ]; echo $?)" \
		"times by $command hold the operation" "$got"
done

# shellcheck disable=SC2046 # options are words
gcc -std=gnu17 -O1 -Wall -fsanitize=thread $(pkg-config --cflags klin) -S -o times.s times.c >out 2>&1
ktap_result "$([ ! -s out ]; echo $?)" "the headers with ThreadSanitizer" "$(head -n 5 out)"

# build NAME PROGRAM OPTION...: compile an example
build()
{
	name=$1 program=$2
	shift 2
	gcc -std=c11 -O2 -Wall -Wextra -Wno-unused-parameter -o "$program" "$examples/$name.c" \
		"$@" >out 2>&1
	ktap_result "$([ $? -eq 0 ] && [ ! -s out ]; echo $?)" "$name.c is compiled to $program" \
		"$(head -n 5 out)"
}
# shellcheck disable=SC2046
build broken_stack broken_stack $(pkg-config --cflags --libs klin)
# shellcheck disable=SC2046
build broken_stack broken_stack_static -static $(pkg-config --static --cflags --libs klin)
# shellcheck disable=SC2046
build test_queue test_queue $(pkg-config --cflags --libs klin) -lcmocka
# shellcheck disable=SC2046
build broken_stack broken_stack_leaks -fsanitize=address $(pkg-config --cflags --libs klin)
# shellcheck disable=SC2046
build test_queue test_queue_leaks -fsanitize=address $(pkg-config --cflags --libs klin) -lcmocka
for program in broken_stack_leaks test_queue_leaks; do
	LD_LIBRARY_PATH=$lib "./$program" >out 2>&1
	ktap_result $? "$program frees all" "$(tail -n 5 out)"
done
for program in broken_stack broken_stack_static; do
	LD_LIBRARY_PATH=$lib "./$program" >out 2>err
	status=$?
	ktap_result "$([ $status -eq 0 ] && [ ! -s err ] && grep -q "both took 2" out; echo $?)" \
		"$program finds its bug" "status $status" "$(cat out err)"
done
LD_LIBRARY_PATH=$lib ./test_queue >out 2>&1
ktap_result $? "test_queue passes" "$(cat out)"
ktap_result "$([ "$(wc -l <"$examples/test_queue.c")" -le 40 ]; echo $?)" \
	"test_queue.c has at most 40 lines"
"$(dirname "$KLIN")/klin-replay" stack.cert >out 2>err
ktap_result $? "klin replay confirms the certificate of broken_stack" "$(cat out err)"
run check stack.cert.klh
ktap_result "$([ $status -eq 1 ] && grep -q "memory sc as the history says" out; echo $?)" \
	"klin check reads the history of broken_stack" "status $status" "$(cat out err)"
ktap_finish
