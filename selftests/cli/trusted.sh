#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The program that checks certificates stands alone: of all engines it is linked with the
# oracles, and its files are counted, so that whoever adds one sees it.

. "$(dirname "$0")/common.sh"

top=$here/../..
replay=$(dirname "$KLIN")/klin-replay
most=27500	# lines of klin-replay's files

ktap_header
if [ ! -e "$top/Makefile" ]; then
	ktap_skip "the files of klin-replay" "the tests are not in klin's tree"
else
	make -s --no-print-directory -C "$top" replay-files >files
	(cd "$top" && xargs grep -lw "^KL_ENGINE") <files | sort >engines
	printf 'userspace/trusted/%s\n' oracle.c oracle_tso.c >oracles
	ktap_result "$(cmp -s engines oracles; echo $?)" \
		"klin-replay is linked with the oracles and no other engine" "$(cat engines)"
	lines=$( (cd "$top" && xargs cat) <files | wc -l)
	ktap_result "$([ -s files ] && [ "$lines" -le $most ]; echo $?)" \
		"klin-replay has $lines lines, at most $most"
fi

cat >h.txt <<-END
	# klin history 1
	# first init
	t1 @0 10 20 enq 1
	t2 @0 12 30 deq -> 1
END
run check --certificate=c "$specs/queue.lin" h.txt
"$replay" c >out 2>err
ktap_result $? "klin-replay by itself" "$(cat out err)"
cp "$KLIN" klin
timeout -k 5 1200 ./klin replay c >out 2>err
status=$?
ktap_result "$([ $status -eq 4 ] && grep -q "cannot run '$PWD/klin-replay': No such file" err
	echo $?)" "klin replay without klin-replay beside it" "status $status" "$(cat err)"
ktap_finish
