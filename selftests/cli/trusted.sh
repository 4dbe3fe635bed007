#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The program that checks certificates stands alone.  It is linked with the oracles and no
# other engine.  The lines of its files are limited, so that additions are noticed.

. "$(dirname "$0")/common.sh"

top=$here/../..
replay=$(dirname "$KLIN")/klin-replay
most=19000	# lines of klin-replay's files

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
ktap_result $? "klin-replay replays a certificate without klin" "$(cat out err)"
# klin-replay's parser skips probe clauses and implementations: it is linked without their parsers.
: >failed
for spec in "$specs"/*.lin "$specs"/explore/*.lin "$specs"/logs/*.lin "$specs"/verify/*.lin; do
	"$KLIN" gen --type="$spec" --ops=20 --threads=2 >h.txt
	run check --certificate=c "$spec" h.txt
	"$replay" c >out 2>&1 || cat out >>failed
done
ktap_result "$([ -s out ] && [ ! -s failed ]; echo $?)" \
	"klin-replay accepts orders of every shipped specification and model" "$(cat failed)"

# klin-replay has no reader of other programs' forms.  It runs klin, beside it, to convert them.
cat >h.edn <<-END
	{:process 0, :type :invoke, :f :write, :value 1}
	{:process 0, :type :ok, :f :write, :value 1}
	{:process 1, :type :invoke, :f :read, :value nil}
	{:process 1, :type :ok, :f :read, :value 1}
END
run check --certificate=foreign "$specs/register.lin" h.edn
for from in "" --from=edn --independent=no; do
	"$replay" ${from:+"$from"} foreign >out 2>err
	status=$?
	ktap_result "$([ $status -eq 0 ] && grep -q "klin converted the history" out; echo $?)" \
		"klin-replay${from:+ $from} lets klin convert a history of another form, and says so" \
		"$(cat out err)"
done
"$replay" --history=- foreign <h.edn >out 2>err
ktap_result "$?" "klin-replay lets klin convert standard input" "$(cat out err)"
"$replay" --from=linp foreign >out 2>err
status=$?
ktap_result "$([ $status -eq 2 ] && grep -q "^h.edn:1:1: error" err; echo $?)" \
	"klin-replay: a history that klin cannot convert" "status $status" "$(cat out err)"
mkdir -p "a b"
sed '3s/:f :read/:f/' h.edn >"a b/broken.edn"
"$replay" --history="a b/broken.edn" foreign >out 2>err
status=$?
ktap_result "$([ $status -eq 2 ] && grep -q "^a b/broken.edn:3:[0-9]*: error" err; echo $?)" \
	"klin-replay: an error inside a history of another form names its file" \
	"status $status" "$(cat out err)"
"$replay" --history=- foreign <"a b/broken.edn" >out 2>err
status=$?
ktap_result "$([ $status -eq 2 ] && grep -q "^<stdin>:3:[0-9]*: error" err; echo $?)" \
	"klin-replay: an error inside standard input of another form" "status $status" "$(cat out err)"
sed 's/:value 1/:value 2/' h.edn >moved.edn
"$replay" --history=moved.edn foreign >out 2>err
ktap_result "$([ $? -eq 2 ] && grep -q "sha256" err; echo $?)" \
	"klin-replay refuses another history of another form" "$(cat out err)"
cp "$replay" alone-replay
./alone-replay foreign >out 2>err
status=$?
ktap_result "$([ $status -eq 2 ] && grep -q "cannot run '$PWD/klin', which converts" err; echo $?)" \
	"klin-replay without klin beside it" "status $status" "$(cat out err)"
cp "$KLIN" klin
timeout -k 5 1200 ./klin replay c >out 2>err
status=$?
ktap_result "$([ $status -eq 4 ] && grep -q "cannot run '$PWD/klin-replay': No such file" err
	echo $?)" "klin replay without klin-replay beside it" "status $status" "$(cat err)"
ktap_finish
