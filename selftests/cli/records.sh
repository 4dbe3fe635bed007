#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Histories in EDN, JSON and CSV, read by the history block of a specification.

. "$(dirname "$0")/common.sh"

# verdict STATUS NAME SPEC FILE: the verdict has this exit status and there is no message.
verdict()
{
	expect "$1" "$2" check "$3" "$4"
}

# events PROCESS F VALUE RESULT: print the :invoke and the :ok of an operation.
events()
{
	echo "{:process $1, :type :invoke, :f :$2, :value $3}"
	echo "{:process $1, :type :ok, :f :$2, :value $4}"
}

ktap_header

# ---- one history in three notations ----

cat >h.edn <<'END'
; adds and a read
{:process 0, :type :invoke, :f :add, :value 3}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :add, :value 3}
#jepsen.history.Op{:process 1, :type :ok, :f :read, :value 3, :time 5}
{:process 2, :type :invoke, :f :dec, :value nil} {:process 2, :type :info, :f :dec, :value nil}
{:process 0, :type :invoke, :f :add, :value 7}
{:process 0, :type :fail, :f :add, :value 7}
END
cat >h.json <<'END'
{"process": 0, "type": "invoke", "f": "add", "value": 3}
{"process":1,"type":"invoke","f":"read"}

{"process": 0, "type": "ok", "f": "add", "value": 3}
{"value": 3.0, "process": 1, "type": "o\u006b", "f": "read"}
{"process": 2, "type": "invoke", "f": "dec"} {"process": 2, "type": "info", "f": "dec"}
{"process": 0, "type": "invoke", "f": "add", "value": 0.7e1}
{"process": 0, "type": "fail", "f": "add", "value": 7}
END
{ echo "["; grep . h.json | sed 's/} {/}, {/; $!s/$/,/'; echo "]"; } >list.json
cat >h.csv <<'END'
value,type,"f",process
3,invoke,add,0
,invoke,read,1
3,ok,"add",0
"3",ok,read,1

,invoke,dec,2
,info,dec,2
7,invoke,add,0
7,fail,add,0
END
sed 's/$/\r/' h.csv >dos.csv
cat >want.txt <<'END'
# klin history 1
# clock seq error 0
# first init
# memory sc
t0 @0 1 3 add 3 drain=3
t1 @0 2 4 read -> 3 drain=4
t2 @0 5 - add -1
END
for form in h.edn h.json list.json h.csv dos.csv; do
	verdict 0 "linearizable: $form" logs/tally $form
	run convert --spec=logs/tally $form -
	sed '/^# spelling/d; s/0xffffffffffffffff/-1/' out >got.txt
	cmp -s got.txt want.txt
	ktap_result $? "the same history: $form" "$(diff want.txt got.txt)"
done

# A map with a namespace has the keys of the map that Clojure reads.
sed 's/\.process/."op\/process"/; s/\.type/."op\/type"/; s/\.f\>/."op\/f"/g; s/\.value/.v/' \
	"$specs/logs/tally.lin" >spaced.lin
sed 's/Op{/Op {/; s/{:process/#:op&/g; s/:value/:_\/v/g' h.edn >spaced.edn
verdict 0 "linearizable: maps with a namespace" spaced.lin spaced.edn
run convert --spec=spaced.lin spaced.edn -
sed '/^# spelling/d; s/0xffffffffffffffff/-1/' out >got.txt
cmp -s got.txt want.txt
ktap_result $? "the same history: maps with a namespace" "$(diff want.txt got.txt)"
sed 's/#:op{:process 1, :type/#:op{:process 1, :_\/type/' spaced.edn >wrong.edn
refuse "a key without the namespace of its map" "^wrong.edn:3:1: error: .*neither 'call'" \
	check spaced.lin wrong.edn

# Keys of a map may be numbers, as accounts of a bank are in Jepsen's files.
cat >bank.lin <<'END'
spec bank {
	word a = 10, b = 10;
	method read() -> (word a, word b) { atomic { return (a, b); } }
	method move(word v) { atomic_flush { a -= v; b += v; } }
}
history {
	process .process;
	call when .type == "invoke";
	return when .type == "ok";
	method read when .f == "read" { result a = .value[0], b = .value[7]; }
	method move when .f == "transfer" { argument v = .value.amount; }
}
END
{ events 0 transfer "{:amount 3}" nil; events 1 read nil '{"0" 4, [7] 5, 7 13, 0 7}'; } >bank.edn
verdict 0 "numbers as keys of a map" bank.lin bank.edn
sed 's/ 7 13/ 7 12/' bank.edn >bad.edn
verdict 1 "numbers as keys of a map: a wrong value" bank.lin bad.edn

# ---- shipped specifications ----

sed 's/:ok, :f :read, :value 3/:ok, :f :read, :value 4/' h.edn >bad.edn
verdict 1 "tally: a read of another sum" logs/tally bad.edn

{
	events 0 txn "[[:w x 1] [:w y 2]]" "[[:w x 1] [:w y 2]]"
	events 1 txn "[[:r x nil] [:r z nil]]" "[[:r x 1] [:r z nil]]"
	events 1 txn "[[:w y 5] [:r y nil] [:w x 6] [:r x nil]]" \
		"[[:w y 5] [:r y 5] [:w x 6] [:r x 6]]"
} >txn.edn
verdict 0 "transactions: several registers at once" logs/transactions txn.edn
{ cat txn.edn; events 2 txn "[[:r x nil] [:r y nil]]" "[[:r x 6] [:r y 2]]"; } >bad.edn
verdict 1 "transactions: half of one is seen" logs/transactions bad.edn
events 2 txn "[[:append x 6]]" "[[:append x 6]]" >bad.edn
refuse "transactions: appends" "^bad.edn:1:1: error: appends to lists cannot be decided" \
	check logs/transactions bad.edn
events 2 txn "[[:r 1 nil] [:r 2 nil] [:r 3 nil] [:r 4 nil] [:r 5 nil]]" nil >bad.edn
for command in "check logs/transactions bad.edn" "convert --spec=logs/transactions bad.edn x"; do
	# shellcheck disable=SC2086 # a command is words
	refuse "transactions: five reads, ${command%% *}" \
		"^bad.edn:1:1: error: more than four reads and writes .* in line [0-9]*$" $command
done
ktap_result "$([ ! -e x ]; echo $?)" "a log that is refused is not converted"
events 0 txn "[[:read x nil] [:write y 2]]" "[[:read x 0] [:write y 2]]" >mr.edn
verdict 0 "multi_register: a register begins as 0" logs/multi_register mr.edn
events 0 txn "[[:read x nil]]" "[[:read x 1]]" >mr.edn
verdict 1 "multi_register: a value that nobody wrote" logs/multi_register mr.edn
refuse "multi_register: five reads" "^bad.edn:1:1: error: more than four reads and writes" \
	check logs/multi_register bad.edn

# A value that is a list stands for several members, so the member [1, 2.50] is in another list.
cat >set.json <<'END'
{"process": 0, "type": "invoke", "f": "add", "value": "a"}
{"process": 0, "type": "ok", "f": "add"}
{"process": 1, "type": "invoke", "f": "add", "value": [[1, 2.50]]}
{"process": 2, "type": "invoke", "f": "read"}
{"process": 2, "type": "ok", "f": "read", "value": [[1, 2.5], "a"]}
{"process": 1, "type": "ok", "f": "add"}
{"process": 1, "type": "invoke", "f": "read"}
{"process": 1, "type": "ok", "f": "read", "value": ["a", [1, 25e-1]]}
END
verdict 0 "snapshot_set: members in any order" logs/snapshot_set set.json
sed 's/"value": \["a", \[1, 25e-1\]\]/"value": ["a"]/' set.json >bad.json
verdict 1 "snapshot_set: a member is lost" logs/snapshot_set bad.json
grep -q 'read() -> {"a" \[1, 2.50\]}' out
ktap_result $? "snapshot_set: sets are shown as in the file" "$(cat out)"
i=0
while [ $i -le 62 ]; do
	events 0 add $i nil
	i=$((i + 1))
done >many.edn
refuse "snapshot_set: 63 members" "^many.edn:125:[0-9]*: error: bits\(\) can tell 62 members .* cannot be decided" \
	check logs/snapshot_set many.edn

{
	events 0 enqueue '"a"' nil
	events 0 enqueue '{:k [1 2], #{3 1.50} nil}' nil
	events 1 dequeue nil '"a"'
	events 1 drain nil '[{#{1.5 3} nil, :k (1 2)}]'
	events 1 drain nil '[]'
	events 1 dequeue nil nil
} >queue.edn
verdict 0 "drain_queue: maps, sets and floats are equal as values" logs/drain_queue queue.edn
sed 's/#{1.5 3} nil/#{1.51 3} nil/' queue.edn >bad.edn
verdict 1 "drain_queue: another float was never added" logs/drain_queue bad.edn
sed 's/:drain, :value \[{.*}\]/:drain, :value [:x :y]/' queue.edn >bad.edn
verdict 1 "drain_queue: a drain of what was never added" logs/drain_queue bad.edn
{ head -n 4 queue.edn; echo "{:process 1, :type :invoke, :f :drain}"; } >lost.edn
refuse "drain_queue: a drain that did not return" \
	"^lost.edn:5:1: error: the outcome of this record is unknown, so the number" \
	check logs/drain_queue lost.edn

{
	echo process,type,f
	for e in 1,acquire 1,release 2,lock; do
		echo "${e%,*},invoke,${e#*,}"
		echo "${e%,*},ok,${e#*,}"
	done
} >lock.csv
verdict 0 "owner_lock: one owner after the other" logs/owner_lock lock.csv
{ cat lock.csv; echo 1,invoke,release; echo 1,ok,release; } >bad.csv
verdict 1 "owner_lock: another one releases" logs/owner_lock bad.csv

cat >rev.json <<'END'
{"process": 0, "type": "invoke", "f": "put", "key": "a", "value": "x"}
{"process": 0, "type": "ok", "revision": 2}
{"process": 1, "type": "invoke", "f": "put-if", "key": "a", "value": "y", "expect": 2}
{"process": 1, "type": "ok", "succeeded": true, "revision": 3}
{"process": 1, "type": "invoke", "f": "get", "key": "a"}
{"process": 1, "type": "ok", "f": "get", "key": "a", "value": "y", "mod-revision": 3}
{"process": 1, "type": "invoke", "f": "delete", "key": "a"}
{"process": 1, "type": "ok", "f": "delete", "key": "a", "revision": 4}
{"process": 1, "type": "invoke", "f": "get", "key": "a"}
{"process": 1, "type": "ok", "f": "get", "key": "a"}
END
verdict 0 "revisions: writes count" logs/revisions rev.json
sed 's/"mod-revision": 3/"mod-revision": 2/' rev.json >bad.json
verdict 1 "revisions: a key of an old revision" logs/revisions bad.json

# ---- whole operations, objects, and times of calls and returns ----

cat >whole.lin <<'END'
spec cell {
	word x = absent;

	method put(word v) { atomic_flush { x = v; } }
	method get() -> word v { atomic { return x; } }
	method cas(word old, word new) -> bool ok {
		atomic_flush {
			if (x != old)
				return false;
			x = new;
			return true;
		}
	}
}

history {
	process .client;
	object .input.key;
	call at .start;
	return at .end;
	failed when .error == "refused";
	unknown when .error == "timeout";
	ignore when .input.op in ("ping", "log");
	method put when .input.op == "put" { argument v = .input.value; }
	method get when .input.op == "get" { result v = .output == null ? absent : .output; }
	method cas when .input.op == "cas" {
		argument old = .input.args[0], new = .input.args[1];
		result ok = .output == "yes";
	}
}
END
cat >whole.json <<'END'
{"client": "c1", "start": 10, "end": 20, "input": {"op": "put", "key": "k", "value": 1.0}}
{"client": "c2", "start": 1700000000123456789, "end": 1700000000123456790, "input": {"op": "get", "key": "k"}, "output": 1}
{"client": "c3", "start": 15, "end": 21, "input": {"op": "get", "key": "k"}, "output": null}
{"client": "c4", "start": 12, "end": null, "input": {"op": "put", "key": "k", "value": "z"}, "error": "timeout"}
{"client": "c5", "start": 13, "end": 14, "input": {"op": "put", "key": "k", "value": 4}, "error": "refused"}
{"client": "c5", "start": 15, "end": 16, "input": {"op": "cas", "key": "k", "args": [9, 1]}, "output": "no"}
{"client": "c6", "input": {"op": "ping"}}
{"client": "c6", "start": 15, "end": 16, "input": {"op": "put", "key": "other", "value": 4}}
END
verdict 0 "whole operations" whole.lin whole.json
grep -q '1 failed operation left out$' out
ktap_result $? "whole operations: the failed one is counted" "$(cat out)"
sed 's/"output": 1}/"output": 4}/' whole.json >bad.json
verdict 1 "whole operations: a failed write was read" whole.lin bad.json
grep -q '^  "c2" *get() -> 4 .* line 2$' out
ktap_result $? "reports name the client and the line" "$(cat out)"
sed 's/"key": "other", "value": 4/"key": "k", "value": 4/' bad.json >good.json
verdict 0 "whole operations: objects are apart" whole.lin good.json

# The read returns at 21, and the write is called at 30, by a clock that may be 9 ahead.
cat >clock.json <<'END'
{"client": 1, "start": 30, "end": 40, "input": {"op": "put", "key": "k", "value": 1}}
{"client": 2, "start": 15, "end": 21, "input": {"op": "get", "key": "k"}, "output": 1}
END
verdict 1 "a read before the write" whole.lin clock.json
sed 's/^history {/& clock error 9;/' whole.lin >clock.lin
verdict 0 "clocks that differ" clock.lin clock.json

# Sums pass 10^18, and go below 0.
{
	events 0 add 999999999999999999 nil
	events 0 add 1000000000000000001 nil
	events 0 read nil 2000000000000000000
	events 0 add -3000000000000000000 nil
	events 0 read nil -1000000000000000000
} >sums.edn
verdict 0 "tally: large sums" logs/tally sums.edn

sed 's/"end"/"ended"/' whole.json >missing.json
refuse "no record has a return" "whole.lin:[0-9]*:[0-9]*: error: no record of missing.json has this part, so no operation" \
	check whole.lin missing.json
printf 'process, type,f,value\n0,invoke,add,3\n' >bad.csv
refuse "blanks around the names of columns" "^bad.csv:2:1: error: this record is neither .*lacks what line .* without blanks" \
	check logs/tally bad.csv

refuse "JSON without a history block" "^whole.json:1: error: the file has no form .* history block" \
	check register whole.json
refuse "--spec without a history block" "^klin: --spec=queue: this specification has no" \
	convert --spec=queue whole.json -
refuse "--spec and --from" "^klin: --spec and --from exclude" \
	convert --spec=logs/tally --from=edn whole.json -

run check --certificate=run.cert whole.lin bad.json
run replay run.cert
ktap_result $status "klin replay reads the history by the specification" "$(cat err out)"
run report whole.lin bad.json -o page.html
ktap_result $status "klin report reads the history by the specification" "$(cat err)"
"$KLIN" check whole.lin - <whole.json >out 2>err
ktap_result $? "from a pipe" "$(cat err)"
"$KLIN" convert --spec=whole.lin whole.json whole.klh && "$KLIN" check whole.lin whole.klh >out 2>err
ktap_result $? "a form of klin's own is read as such" "$(cat err)"

# ---- the writers of userspace/history/README ----

# writer COMPILER NAME COMMAND...: the program NAME of the page writes a log that logs/tally reads.
writer()
{
	compiler=$1 name=$2
	shift 2
	if ! command -v "$compiler" >/dev/null; then
		ktap_skip "a writer: $name" "no $compiler"
		return
	fi
	rm -f log.json
	"$@" >made 2>&1
	if [ ! -e log.json ]; then
		ktap_fail "a writer: $name" "$(cat made)"
		return
	fi
	verdict 0 "a writer: $name" logs/tally log.json
}

readme=$here/../../userspace/history/README
if [ -e "$readme" ]; then
	awk '
		/^    (#|\/\/) log\.[a-z]+$/ { name = $2; next }
		/^[^ ]/ { name = "" }
		name { sub(/^    /, ""); print >name }
	' "$readme"
	writer python3 log.py python3 log.py
	writer gcc log.c sh -c "gcc -Wall -Werror -o log-c log.c && ./log-c"
	writer go log.go env HOME="$work" GOFLAGS=-mod=mod go run log.go
	writer rustc log.rs sh -c "rustc -o log-rs log.rs && ./log-rs"
fi

# ---- refused histories: file, line, column, and what to do ----

# wrong NAME PATTERN RECORDS [SPEC]: records of JSON have that message.
wrong()
{
	printf '%s\n' "$3" >wrong.json
	refuse "$1" "^wrong.json:$2" check "${4:-logs/tally}" wrong.json
}
ok='"type": "invoke", "f": "add", "value": 1}'
get='"input": {"op": "get", "key": 1}'
wrong "a record of no type" "1:1: error: this record is neither 'call' nor .* 'ignore when" \
	'{"process": 0, "typo": "invoke"}'
wrong "no process" "1:1: error: expected a record with a process, in .process, by line" "{$ok"
wrong "no rule" "2:1: error: no rule .* fits this record; write such a rule" \
"{\"process\": 0, $ok
{\"process\": 1, \"type\": \"invoke\", \"f\": \"sub\"}"
wrong "a return without a call" "1:1: error: expected a call of this process before" \
	'{"process": 0, "type": "ok", "f": "add", "value": 1}'
wrong "two calls" "2:1: error: .*expected the return of the previous operation" \
"{\"process\": 0, $ok
{\"process\": 0, $ok"
wrong "the return of another method" "2:1: error: expected the return of add, .* not of read" \
"{\"process\": 0, $ok
{\"process\": 0, \"type\": \"ok\", \"f\": \"read\", \"value\": 1}"
wrong "an item of a number" "1:55: error: expected a list or a map, which has an item \[4\]" \
	'{"process": 0, "type": "invoke", "f": "txn", "value": 7}' logs/transactions
wrong "a time with a fraction" "1:24: error: expected a time, .* a whole number" \
	"{\"client\": 1, \"start\": 1.5, \"end\": 2, $get}" whole.lin
wrong "a text to compute with" "1:55: error: expected a whole number .* 'add' computes with it" \
	'{"process": 0, "type": "invoke", "f": "add", "value": "3"}'
wrong "a return before the call" "1:1: error: this operation returns at 2, before its call at 3" \
	"{\"client\": 1, \"start\": 3, \"end\": 2, $get}" whole.lin
wrong "one process does two things" "2:1: error: .*process t1 is called at 4 during another" \
"{\"client\": 1, \"start\": 3, \"end\": 6, \"output\": 1, $get}
{\"client\": 1, \"start\": 4, \"end\": 7, \"output\": 1, $get}" whole.lin
wrong "one process does a thing within another" "2:1: error: .*called at 4 during another .* 3 to 9" \
"{\"client\": 1, \"start\": 3, \"end\": 9, \"output\": 1, $get}
{\"client\": 1, \"start\": 4, \"end\": 7, \"output\": 1, $get}" whole.lin
{
	echo "{\"client\": 1, \"start\": 3, \"end\": 9, \"error\": \"timeout\", $get}"
	for times in '"start": 4, "end": 6' '"start": 4, "end": 4' '"start": 6, "end": 6'; do
		echo "{\"client\": 1, $times, $get}"
	done
} >touch.json
verdict 0 "one process: a lost operation goes on, and times are coarse" whole.lin touch.json
{
	echo '{"process": 0, "type": "invoke", "f": "read"}'
	echo '{"process": 0, "type": "ok", "f": "read"}'
} >wrong.json
sed '/read/s/\.value/.result/' "$specs/logs/tally.lin" >typo.lin
refuse "a part that no record has" \
	"^typo.lin:[0-9]*:[0-9]*: error: no record of wrong.json has .*; its members are 'process', 'type', 'f'" \
	check typo.lin wrong.json
echo "{\"process\": 0, $ok" >wrong.json
for name in value2 amount; do
	[ $name = value2 ] && hint="; did you mean 'value'\\?$" || hint="; its members are .*, 'value'$"
	sed "/add/s/\.value/.$name/" "$specs/logs/tally.lin" >typo.lin
	refuse "a number that no record has, .$name" \
		"^typo.lin:[0-9]*:[0-9]*: error: no record of wrong.json .* computes with 'by'$hint" \
		check typo.lin wrong.json
done
{
	echo '{"process": 0, "type": "invoke", "f": "read"}'
	echo '{"process": 0, "type": "ok", "f": "reed", "value": 0}'
	echo '{"process": 0, "type": "invoke", "f": "read"}'
	echo '{"process": 0, "type": "ok", "f": "finished", "value": 0}'
} >wrong.json
run check logs/tally wrong.json
[ $status -eq 0 ] && [ "$(grep -c warning err)" -eq 1 ] &&
	grep -q '^wrong.json:2:1: warning: this return counts as that of read.* it has "reed"' err
ktap_result $? "a warning of a return with a misspelt method" "$(cat err)"
printf '# log\nprocess,type,f,value\n0,invoke,add,1\n' >wrong.csv
refuse "a comment in CSV" "^wrong.csv:1:1: error: .*begins with .;', and CSV has none" \
	check logs/tally wrong.csv
{
	echo '{:process 0, :type :invoke, :f :dequeue, :value nil}'
	echo '{:process 0, :type :ok, :f :drain, :value [1]}'
} >wrong.edn
refuse "two rules of one method" "^wrong.edn:2:1: error: expected a return by the rule in line [0-9]+ of" \
	check logs/drain_queue wrong.edn
wrong "no end of an object" "1:[0-9]*: error: .*expected ',' or '}' after a member" '{"process": 0'
wrong "a colon is missing" "1:20: error: .*expected ':' after the key" '{"process": 0, "b" 1}'
wrong "a key occurs twice" "1:9: error: .*expected each key of an object once" '{"a":1, "a":2}'
wrong "a number with a zero in front" "1:13: error: .*expected a number of JSON" '{"process": 07}'
wrong "half a surrogate pair" "1:8: error: .*both halves" '{"a": "\ud800x"}'
wrong "an unknown word" "1:7: error: .*expected a value of JSON" '{"a": nul}'
printf 'process,type,f,value\n0,invoke,add\n' >wrong.csv
refuse "a row that is too short" "^wrong.csv:2:13: error: .*as many fields as the first line" \
	check logs/tally wrong.csv
printf 'process,type,process\n' >wrong.csv
refuse "two columns of a name" "^wrong.csv:1:14: error: .*names of columns, each once" \
	check logs/tally wrong.csv
printf 'process;type\n0;invoke\n' >wrong.csv
refuse "other marks than commas" "^wrong.csv:1:1: error: no column 'process', by line" \
	check logs/tally wrong.csv
printf 'process,type\n0,"inv\n' >wrong.csv
refuse "a quote that does not end" "^wrong.csv:2:3: error: .*a closing quote" \
	check logs/tally wrong.csv
echo '{:process :nemesis, :type :info, :f :kill}' >wrong.edn
refuse "nothing but ignored records" "^logs/tally:[0-9]*:[0-9]*: error: all 1 records of wrong.edn" \
	check logs/tally wrong.edn
: >empty.json
refuse "an empty file" "no record|empty" check logs/tally empty.json
printf '{:process 0\n' >wrong.edn
refuse "no end of a map" "^wrong.edn:1:1: error: .*a closing bracket" check logs/tally wrong.edn

# ---- history blocks ----

run spec whole.lin
sed -n '/^history/,$p' out >got
cat >want <<'END'
history, a record for each operation:
  put, line 24
  get, line 25
  cas, line 26
END
cmp -s got want
ktap_result $? "klin spec prints the rules" "$(cat got)"

# block NAME PATTERN TEXT: a history block with this text has that message.
block()
{
	{
		echo 'spec s { word x = 0; method put(word v) { atomic_flush { x = v; } }'
		echo ' method get() -> word v { atomic { return x; } } }'
		echo "history { $3 }"
	} >block.lin
	refuse "$1" "^block.lin:3:[0-9]*: error: $2" spec block.lin
}
all='process .p; call when .t == "c"; return when .t == "r";'
put='method put when .f == "w" { argument v = .v; }'
block "no call" "this history block has no 'call'" "process .p; return when .t == \"r\"; $put"
block "no process" "this history block has no 'process'" \
	"call when .t == 1; return when .t == 2; $put"
block "no rule" "this history block has no rule" "$all"
block "call at, return when" "'call' and 'return' both have" \
	"process .p; call at .t; return when .t == 2; $put"
block "a method of another name" "'s' has no method 'puts'; did you mean 'put'" \
	"$all method puts when true;"
block "a refusal without a reason" "expected the reason in quotes" "$all $put refuse when .x == 1;"
block "a refusal with an empty reason" "expected a reason" "$all $put refuse \"\" when .x == 1;"
block "a refusal without a condition" "expected 'when'" "$all $put refuse \"x\";"
block "no argument" "this rule does not say where method 'put' has: argument v" \
	"$all method put when true;"
block "a rule that is never used" "this rule is never used: that in line [0-9]* has the same condition" \
	"$all method put when .f == 9 { argument v = .v; } method put when .f == 9 { argument v = .v; }"
block "a slash in a name" "unexpected '/': a name with '/' is in quotes" "$all method put when .q/f == 1;"
block "a keyword of EDN" "keywords of EDN are written as texts" "$all method put when .f == :w;"
block "a path without a dot" "a path begins with '\.', and a text is in quotes: write '\.f'" "$all method put when f == 1;"
block "an assignment" "'=' compares nothing: write '=='" "$all method put when .f = 1;"
block "a text as a value" "a text can only be compared" \
	"$all method put when true { argument v = \"w\"; }"
block "a special value in a condition" "no value of a record is empty" \
	"$all method put when .v == empty { argument v = 1; }"
block "numbers beside bits" "where one value is bits\(\), all words are" \
	"$all $put method get when .f == 1 { result v = bits(.v); }"
block "a clock without times" "a clock error needs 'call at TIME;'" "clock error 3; $all $put"
block "a second process" "a second 'process'; the first is in line 3" "process .a; process .b; $put"


# A nil that means `nothing was there' needs a rule; without it, it is a value.
cat >nil.lin <<'END'
spec nil {
	queue<word> q = empty;
	method enq(word v) { atomic { q.push(v); } }
	method deq() -> word v {
		atomic {
			if (q.size() == 0)
				return empty;
			return q.pop();
		}
	}
}
history {
	process .process;
	call when .type == "invoke";
	return when .type == "ok";
	method enq when .f == "enq" { argument v = .value; }
	method deq when .f == "deq" { result v = .value; }
}
END
{
	events 0 deq nil nil
	events 0 enq 3 3
	events 0 deq nil 3
} >nil.edn
run check nil.lin nil.edn
ktap_result "$([ $status -eq 1 ] && grep -q "^note: 1 value of the log is nil" out; echo $?)" \
	"a violation of a log with nil says what nil is" "$(cat out err)"
# Rows: a change of a log, a change of its specification, as scripts of sed, and a pattern of the
# message or note; the status is 2, or 1 for a note.
cat >box.lin <<'END'
spec box {
	word x = 0;
	method put(word v) { atomic_flush { x = v; } }
	method get() -> word v { atomic { return x; } }
}
history {
	process .process;
	call when .type == "invoke";
	return when .type == "ok";
	ignore when .process == 7;
	method put when .f == "put" { argument v = .value; }
	method get when .f == "get" { result v = .value; }
}
END
cat >box.json <<'END'
{"process": 0, "type": "invoke", "f": "put", "value": 3}
{"process": 0, "type": "ok", "f": "put", "value": 3}
{"process": 1, "type": "invoke", "f": "get", "value": null}
{"process": 1, "type": "ok", "f": "get", "value": 3}
END
run check box.lin box.json
ktap_result "$([ $status -eq 0 ] && [ ! -s err ] && ! grep -q note: out; echo $?)" \
	"the log that is changed has no mistake" "$(cat out err)"
while IFS='|' read -r log_change spec_change pattern; do
	sed "$log_change" box.json >changed.json
	sed "$spec_change" box.lin >changed.lin
	run check changed.lin changed.json
	[ $status -eq 2 ] || { [ $status -eq 1 ] && grep -q '^note' out; } ||
		{ [ $status -eq 0 ] && grep -q warning: err; }
	ktap_result "$([ $? -eq 0 ] && cat err out | grep -q "^$pattern"; echo $?)" \
		"advice: $pattern" "status $status" "$(cat err out)"
done <<'END'
1s/invoke/invok/||changed.json:1:1: error: .*; it has "invok", and line 8 of the specification "invoke"; write
1s/put/putt/||changed.json:1:1: error: .*; it has "putt", and line 11 of the specification "put"; write
|s/\.type == "inv/.typ == "inv/|changed.json:1:1: error: .* what line 8 of the specification compares, in .typ;
1s/ 3/ None/||changed.json:1:55: error: .*; write null
1s/ 3/ True/||changed.json:1:55: error: .*; write true
1s/"put"/'put'/||changed.json:1:39: error: .*; texts stand in double quotes
1s/$/,/||changed.json:1:57: error: .*; commas stand between values in { } and \[ \] only
2s/^/# /||changed.json:2:1: error: .*; JSON has no comments
2s/: 0/: "0"/||changed.json:2:1: error: .*; some processes of the log are numbers, others texts
1s/: 0/: "7"/||changed.json:1:13: warning: this text is not the number in line 10 of the specification; write "7"
|s/== 7/== "1"/|changed.json:3:13: warning: this number is not the text in line 10 of the specification; write 1
1s/ 3/ "3"/||note: 1 value of the log is a text of digits, which no number equals
END
sed 's/result v = .value/result v = .value == null ? empty : .value/' nil.lin >empty.lin
run check empty.lin nil.edn
ktap_result "$([ $status -eq 0 ] && ! grep -q note: out; echo $?)" \
	"a nil that a rule maps is no value" "$(cat out err)"
ktap_finish
