#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The exit status of every command if the system refuses a request.  No failure looks like a
# verdict, and lost output is reported.

. "$(dirname "$0")/common.sh"

inject=${KLIN_INJECT:-$here/../../build/inject.so}
klind=$(dirname "$(command -v "$KLIN")")/klind

# full COMMAND...: standard output is a full disk.
full()
{
	timeout -k 5 1200 "$@" >/dev/full 2>err </dev/null
	status=$?
	if [ $status -eq 4 ] && grep -q "cannot write" err; then
		ktap_pass "a full disk: ${*##*/}"
	else
		ktap_fail "a full disk: $*" "status $status" "$(head -n 3 err)"
	fi
}

# injected STATUS NAME VARIABLE ARGUMENT...: run klin with that failure.
injected()
{
	want=$1 name=$2 variable=$3
	shift 3
	rm -f mark
	timeout -k 5 1200 env "$variable" KLIN_INJECT_MARK=mark LD_PRELOAD="$inject" "$KLIN" "$@" \
		>out 2>err </dev/null
	status=$?
	if [ $status -eq "$want" ] && [ -e mark ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$variable klin $*: status $status, expected $want" "$(head -n 3 err)"
	fi
}

ktap_header
"$KLIN" gen --type=register --objects=8 --ops=400 -o good.txt
"$KLIN" gen --type=register --objects=8 --ops=200000 -o large.klh
"$KLIN" gen --type=queue --ops=400 --mutate=1 -o bad.txt
cat >sb.litmus <<END
X86 SB
{ }
 P0          | P1          ;
 MOV [x],\$1 | MOV [y],\$1 ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
END
cat >model.lin <<END
spec counter { word n = 0; method inc() -> word old { atomic_flush { n += 1; return n - 1; } } }
shared word c = 0;
method inc() -> word old { return fadd(&c, 1); }
client general(2) ops(1);
END

for file in good.txt bad.txt; do
	full "$KLIN" check $file
	full "$KLIN" check --json $file
	full "$KLIN" check --certificate=$file.cert $file
	"$KLIN" check --certificate=$file.cert $file >out
	full "$KLIN" replay $file.cert
	full "$KLIN" convert $file -
	full "$KLIN" convert --to=klh $file -
	(cat $file; echo "# end") >followed.txt
	full "$KLIN" check --follow followed.txt
done
full "$KLIN" gen
full "$KLIN" gen --to=klh
full "$KLIN" spec queue
full "$KLIN" spec --dump queue
full "$KLIN" spec --list
full "$KLIN" explore --stats model.lin
full "$KLIN" explore --json model.lin
full "$KLIN" explore --outcomes "$specs/explore/fig5.lin"
full "$KLIN" explore --histories model.lin
full "$KLIN" litmus sb.litmus
full "$KLIN" litmus --summary sb.litmus
full "$KLIN" --help
full "$KLIN" --version
for command in $("$KLIN" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	full "$KLIN" "$command" --help
done
if [ -x "$klind" ]; then
	full "$klind" --help
	full "$klind" --version
	printf '[spec port_range]\n' >klind.conf
	full "$klind" --check-config --config klind.conf
else
	ktap_skip "klind, on a full disk" "$no_klind"
fi

# A missing input is the caller's mistake, wherever it is named.
for command in "check no.txt" "check no.lin good.txt" "check --follow no.txt" "check --follow no.lin good.txt" \
	"replay no.cert" "replay --spec=no.lin good.txt.cert" "replay --history=no.txt good.txt.cert" \
	"explore no.lin" "verify no.lin" "litmus no.litmus" "spec no.lin" "convert no.txt made.klh" \
	"gen --type=no.lin" "record no.lin" "monitor no.lin" "rounds no.lin"; do
	# shellcheck disable=SC2086 # it is several words
	run $command
	ktap_result "$([ $status -eq 2 ] && [ -s err ]; echo $?)" "a missing input: $command" "status $status" \
		"$(head -n 3 err)"
done
if [ -x "$klind" ]; then
	"$klind" --check-config --config no.conf >out 2>err </dev/null
	status=$?
	ktap_result "$([ $status -eq 2 ] && [ -s err ]; echo $?)" "a missing input: klind --config" \
		"status $status" "$(cat err)"
else
	ktap_skip "a missing input: klind --config" "$no_klind"
fi

if [ ! -e "$inject" ] || grep -q __asan_init "$KLIN"; then
	ktap_skip "failures of libraries" "no library to preload: run make unit-build, without SAN=1"
else
	# Threads are optional.
	for file in good.txt large.klh; do
		for n in 1 2 3; do
			injected 0 "thread $n and later ones cannot be created: $file" \
				KLIN_INJECT_THREADS=$n check --threads=4 $file
		done
	done
	injected 0 "no thread can be created: one partition" KLIN_INJECT_THREADS=1 check --threads=4 \
		--no-partition large.klh
	# A failing disk is not a mistake in the input.
	"$KLIN" gen --type=queue --ops=40 -o disk.klh
	(cat good.txt; echo "# end") >disk.followed
	printf '%s\n' "# klin history 1" "# first init" "# spec model.lin" "t1 @0 1 2 inc -> 0" >named.txt
	for pair in "good.txt check" "disk.klh check" "good.txt.cert replay" "disk.followed check --follow" \
		"model.lin explore" "model.lin verify" "sb.litmus litmus" "model.lin spec"; do
		file=${pair%% *}
		# shellcheck disable=SC2086 # it is several words
		injected 4 "EIO when reading the input: ${pair#* }, $file" KLIN_INJECT_READ=$file ${pair#* } $file
	done
	for command in "check model.lin good.txt" "check named.txt" "check --follow named.txt" \
		"replay --spec=model.lin good.txt.cert" "record model.lin" "gen --type=./model.lin" \
		"monitor model.lin" "rounds model.lin"; do
		# shellcheck disable=SC2086 # it is several words
		injected 4 "EIO when reading the specification: $command" KLIN_INJECT_READ=model.lin $command
	done
	injected 4 "EIO when reading the history: convert" KLIN_INJECT_READ=good.txt convert good.txt made.klh
	injected 4 "EIO when reading the history: replay" KLIN_INJECT_READ=good.txt replay good.txt.cert
	# Missing privileges are the system's fault, too: EACCES and EPERM.
	for errno in 13 1; do
		export KLIN_INJECT_ERRNO=$errno
		injected 4 "error $errno when reading the history: check" KLIN_INJECT_READ=good.txt check good.txt
		injected 4 "error $errno when reading the specification: check" KLIN_INJECT_READ=model.lin \
			check model.lin good.txt
	done
	unset KLIN_INJECT_ERRNO
	if [ -x "$klind" ]; then
		rm -f mark
		KLIN_INJECT_READ=klind.conf KLIN_INJECT_MARK=mark LD_PRELOAD="$inject" \
			"$klind" --check-config --config klind.conf >out 2>err </dev/null
		status=$?
		ktap_result "$([ $status -eq 4 ] && [ -e mark ]; echo $?)" \
			"EIO when reading the configuration: klind" "status $status" "$(cat err)"
	fi
	# A library that calls exit() does not cause a verdict.
	for n in 1 2 10 100 200; do
		injected 4 "exit(1) by a library, call $n" KLIN_INJECT_EXIT=$n check good.txt
	done
	for command in "gen" "spec queue" "explore model.lin" "litmus sb.litmus" \
		"convert good.txt good.klh" "replay good.txt.cert"; do
		# shellcheck disable=SC2086 # it is several words
		injected 4 "exit(1) by a library: $command" KLIN_INJECT_EXIT=3 $command
	done
fi
ktap_finish
