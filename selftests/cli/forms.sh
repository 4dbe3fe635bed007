#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Histories of other tools.  klin's verdicts with the specs that they name are those of the
# tools.  klin writes files that they read, and refuses histories that a form cannot
# express.

. "$(dirname "$0")/common.sh"

# verdict STATUS NAME SPEC: check the history on stdin.
verdict()
{
	want=$1 name=$2 spec=$3
	cat >history
	run check "$specs/$spec.lin" history
	if [ $status -eq "$want" ] && ! grep -qv "warning: history: skipped" err; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, expected $want" "$(head -n 5 err)"
	fi
}

# there NAME FORM SPEC WANTED OPTION...: generate a history, write it in the form, check it,
# read it back.
there()
{
	name=$1 form=$2 spec=$3 want=$4
	shift 4
	"$KLIN" gen --ops=2000 --threads=4 "$@" -o from.klh || return
	run convert --to="$form" from.klh to
	if [ $status -ne 0 ] || [ -s err ]; then
		ktap_fail "$form: $name" "$(head -n 5 err)"
		return
	fi
	run check "$specs/$spec.lin" to
	[ $status -eq "$want" ] && [ ! -s err ]
	ktap_result $? "$form: $name" "status $status, expected $want"
	run convert --from="$form" to back.txt && "$KLIN" convert --to="$form" back.txt again &&
		cmp -s to again
	ktap_result $? "$form: $name, there and back"
}

ktap_header
verdict 0 "LinP's: a stack" stack <<'END'
# stack
push 1 1 2
push 2 3 4
pop 2 5 6
pop 1 7 8
END
verdict 1 "LinP's: a stack that removes in the order of a queue" stack <<'END'
# stack
push 1 1 2
push 2 3 4
pop 1 5 6
pop 2 7 8
END
verdict 1 "LinP's: at equal times an end precedes a start" queue <<'END'
# queue
enq 2 0 1
enq 1 1 2
deq 1 2 3
deq 2 3 4
END
verdict 0 "LinP's: at equal times an end overlaps a start in a set" set <<'END'
# set
insert 1 2 3
contains_false 1 3 4
END
verdict 1 "LinP's: a priority queue returns the largest value first" pqueue <<'END'
# priorityqueue
insert 3 1 2
insert 5 3 4
poll 3 5 6
END
verdict 0 "FPTLin's: read-modify-write" register <<'END'
# rmw
0 1 10 READ_MODIFY_WRITE 0 2
1 1 10 READ_MODIFY_WRITE 2 3
2 1 10 READ_MODIFY_WRITE 3 0
END
verdict 1 "FPTLin's: a set" set <<'END'
# set
0 0 1 INSERT 2 1
1 1 2 CONTAINS 2 0
0 2 6 REMOVE 2 1
END
verdict 1 "Horn and Kroening's: a set" set <<'END'
2 invokes add 23
2 returns true
0 invokes contains 23
0 returns false
END
verdict 0 "LiMo's: a pending push is popped" stack <<'END'
# @object atomic-stack
[1] call push(a)
[2] call pop
[2] return a
END
verdict 1 "Jepsen's log: a failed cas that would have succeeded" register <<'END'
INFO  jepsen.util - 1	:invoke	:write	4
INFO  jepsen.util - 1	:ok	:write	4
INFO  jepsen.util - 2	:invoke	:cas	[4 2]
INFO  jepsen.util - 2	:fail	:cas	[4 2]
END
verdict 0 "Jepsen's log: a write that timed out is seen later" register <<'END'
INFO  jepsen.util - 1	:invoke	:write	4
INFO  jepsen.util - 1	:info	:write	:timed-out
INFO  jepsen.util - 2	:invoke	:read	nil
INFO  jepsen.util - 2	:ok	:read	nil
INFO  jepsen.util - 2	:invoke	:read	nil
INFO  jepsen.util - 2	:ok	:read	4
END
verdict 0 "Knossos: a failed operation has no effect" register <<'END'
[{:process 1, :type :invoke, :f :write, :value 4}
 {:process 1, :type :ok, :f :write, :value 4}
 {:process 2, :type :invoke, :f :cas, :value [4 2]}
 {:process 2, :type :fail, :f :cas, :value [4 2]}]
END
verdict 1 "Knossos: a register begins as nil" register <<'END'
{:process 2, :type :invoke, :f :read, :value nil}
{:process 2, :type :ok, :f :read, :value 0}
END
verdict 0 "Porcupine's log: the order of appends" kv <<'END'
{:process 1, :type :invoke, :f :append, :key "0", :value "x 1 0 y"}
{:process 2, :type :invoke, :f :append, :key "0", :value "x 2 0 y"}
{:process 1, :type :ok, :f :append, :key "0", :value "x 1 0 y"}
{:process 2, :type :ok, :f :append, :key "0", :value "x 2 0 y"}
{:process 1, :type :invoke, :f :get, :key "0", :value nil}
{:process 1, :type :ok, :f :get, :key "0", :value "x 2 0 yx 1 0 y"}
END
verdict 1 "Porcupine's log: the wrong order of appends" kv <<'END'
{:process 1, :type :invoke, :f :append, :key "0", :value "x 1 0 y"}
{:process 1, :type :ok, :f :append, :key "0", :value "x 1 0 y"}
{:process 2, :type :invoke, :f :append, :key "0", :value "x 2 0 y"}
{:process 2, :type :ok, :f :append, :key "0", :value "x 2 0 y"}
{:process 1, :type :invoke, :f :get, :key "0", :value nil}
{:process 1, :type :ok, :f :get, :key "0", :value "x 2 0 yx 1 0 y"}
END
verdict 0 "appends of any strings" kv <<'END'
{:process 0, :type :invoke, :f :put, :key "a", :value "x"}
{:process 0, :type :ok, :f :put, :key "a", :value "x"}
{:process 1, :type :invoke, :f :append, :key "a", :value "y"}
{:process 2, :type :invoke, :f :append, :key "a", :value "z"}
{:process 1, :type :ok, :f :append, :key "a", :value "y"}
{:process 2, :type :ok, :f :append, :key "a", :value "z"}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "xzy"}
END
verdict 1 "an append of any string that is read twice" kv <<'END'
{:process 0, :type :invoke, :f :put, :key "a", :value "x"}
{:process 0, :type :ok, :f :put, :key "a", :value "x"}
{:process 1, :type :invoke, :f :append, :key "a", :value "y"}
{:process 2, :type :invoke, :f :append, :key "a", :value "z"}
{:process 1, :type :ok, :f :append, :key "a", :value "y"}
{:process 2, :type :ok, :f :append, :key "a", :value "z"}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "xyzz"}
END
verdict 0 "appends with a common prefix" kv <<'END'
{:process 1, :type :invoke, :f :append, :key "a", :value "a"}
{:process 2, :type :invoke, :f :append, :key "a", :value "aa"}
{:process 1, :type :ok, :f :append, :key "a", :value "a"}
{:process 2, :type :ok, :f :append, :key "a", :value "aa"}
{:process 0, :type :invoke, :f :append, :key "a", :value ""}
{:process 0, :type :ok, :f :append, :key "a", :value ""}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "aaa"}
END
verdict 1 "appends with a common prefix, one of them lost" kv <<'END'
{:process 1, :type :invoke, :f :append, :key "a", :value "a"}
{:process 2, :type :invoke, :f :append, :key "a", :value "aa"}
{:process 1, :type :ok, :f :append, :key "a", :value "a"}
{:process 2, :type :ok, :f :append, :key "a", :value "aa"}
{:process 0, :type :invoke, :f :append, :key "a", :value ""}
{:process 0, :type :ok, :f :append, :key "a", :value ""}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "aa"}
END
# named STATUS SPEC: with kv named, klin uses the specification that the history carries, in
# each form.
named()
{
	bad=
	run convert history.edn history.klh
	for form in edn txt klh; do
		run check --certificate=cert "$2" history.$form
		[ $status -eq "$1" ] && [ ! -s err ] || bad="$bad $form"
		if grep -q append_any history.txt; then
			grep -q "spec kv, with the appends of the history" out || bad="$bad $form:note"
		fi
		run replay --spec="$2" cert
		[ $status -eq 0 ] || bad="$bad $form:replay"
	done
	"$KLIN" check --follow "$2" - <history.txt >out 2>err
	[ $? -eq "$1" ] && [ ! -s err ] || bad="$bad follow"
	[ -z "$bad" ]
	ktap_result $? "$what: $(basename "$2") named" "wrong:$bad"
}

# log STATUS NAME: check the log on stdin, whose appends are described by a specification that the
# history carries.  Its conversion to text and its certificate give the same verdict, and reports
# show the strings of the appends.
log()
{
	right=$1 what=$2
	cat >history.edn
	run check --certificate=cert history.edn
	if [ $status -ne "$right" ]; then
		ktap_fail "$what" "status $status, expected $right" "$(head -n 5 err)"
		return
	fi
	expect 0 "$what: its certificate" replay cert
	run convert history.edn history.txt
	run check history.txt
	[ $status -eq "$right" ] && [ ! -s err ] && ktap_pass "$what: as text" ||
		ktap_fail "$what: as text" "status $status, expected $right" "$(head -n 5 err)"
	named "$right" kv
	named "$right" "$specs/kv.lin"
	run check history.edn
	[ $status -eq "$right" ] && [ ! -s err ] && ! grep -q 'append[0-9_]\|-> ?\|append("a", [^"]' out
	ktap_result $? "$what: reports show the appends as they were called" "$(grep append out | head -n 5)"
	run check --json history.edn
	if [ "$right" -eq 0 ] || { grep -q 'get(\\"a\\") -> \\"[a-z]*\\"' out &&
		grep -q 'append(\\"a\\", \\"[a-z]*\\")' out &&
		! grep -v '"method": "append",$\|"\(return_\)\?text": "{' out |
			grep -q 'append[^(]\|append([^,]*, [^\\]\|-> ?'; }; then
		ktap_pass "$what: JSON has the values as they were called"
	else
		ktap_fail "$what: JSON has the values as they were called" "no strings" "$(head -n 20 out)"
	fi
}

log 0 "a log of appends" <<'END'
{:process 0, :type :invoke, :f :put, :key "a", :value "x"}
{:process 0, :type :ok, :f :put, :key "a", :value "x"}
{:process 1, :type :invoke, :f :append, :key "a", :value "y"}
{:process 2, :type :invoke, :f :append, :key "a", :value "z"}
{:process 1, :type :ok, :f :append, :key "a", :value "y"}
{:process 2, :type :ok, :f :append, :key "a", :value "z"}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "xzy"}
END
log 1 "a log of appends, one of them twice" <<'END'
{:process 0, :type :invoke, :f :put, :key "a", :value "x"}
{:process 0, :type :ok, :f :put, :key "a", :value "x"}
{:process 1, :type :invoke, :f :append, :key "a", :value "y"}
{:process 2, :type :invoke, :f :append, :key "a", :value "z"}
{:process 1, :type :ok, :f :append, :key "a", :value "y"}
{:process 2, :type :ok, :f :append, :key "a", :value "z"}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "xyzz"}
END
log 0 "five equal appends" <<'END'
{:process 0, :type :invoke, :f :append, :key "a", :value "a"}
{:process 1, :type :invoke, :f :append, :key "a", :value "a"}
{:process 2, :type :invoke, :f :append, :key "a", :value "a"}
{:process 3, :type :invoke, :f :append, :key "a", :value "a"}
{:process 4, :type :invoke, :f :append, :key "a", :value "a"}
{:process 0, :type :ok, :f :append, :key "a", :value "a"}
{:process 1, :type :ok, :f :append, :key "a", :value "a"}
{:process 2, :type :ok, :f :append, :key "a", :value "a"}
{:process 3, :type :ok, :f :append, :key "a", :value "a"}
{:process 4, :type :ok, :f :append, :key "a", :value "a"}
{:process 9, :type :invoke, :f :get, :key "a", :value nil}
{:process 9, :type :ok, :f :get, :key "a", :value "aaaaa"}
END
log 1 "five equal appends, one of them lost" <<'END'
{:process 0, :type :invoke, :f :append, :key "a", :value "a"}
{:process 1, :type :invoke, :f :append, :key "a", :value "a"}
{:process 2, :type :invoke, :f :append, :key "a", :value "a"}
{:process 3, :type :invoke, :f :append, :key "a", :value "a"}
{:process 4, :type :invoke, :f :append, :key "a", :value "a"}
{:process 0, :type :ok, :f :append, :key "a", :value "a"}
{:process 1, :type :ok, :f :append, :key "a", :value "a"}
{:process 2, :type :ok, :f :append, :key "a", :value "a"}
{:process 3, :type :ok, :f :append, :key "a", :value "a"}
{:process 4, :type :ok, :f :append, :key "a", :value "a"}
{:process 9, :type :invoke, :f :get, :key "a", :value nil}
{:process 9, :type :ok, :f :get, :key "a", :value "aaaa"}
END
# A kv other than the shipped one may not describe the log.
sed 's/return m.get(k)/return absent/' "$specs/kv.lin" >other.lin
run check other.lin history.edn
[ $status -eq 2 ] && grep -q "append_any.*; omit SPEC.lin to use the specification that the history carries" err
ktap_result $? "a log of appends is refused with another kv" "status $status" "$(head -n 5 err)"
log 1 "an append of nothing, and a get that it does not explain" <<'END'
{:process 0, :type :invoke, :f :append, :key "a", :value "x"}
{:process 0, :type :ok, :f :append, :key "a", :value "x"}
{:process 1, :type :invoke, :f :append, :key "a", :value ""}
{:process 1, :type :ok, :f :append, :key "a", :value ""}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "xx"}
END
# appends N LOST: print N appends of one or two letters to four keys, and a final get of
# each without its last LOST characters.
appends()
{
	awk -v n="$1" -v lost="$2" '
	function op(f, k, asked, told) {
		printf "{:process 0, :type :invoke, :f :%s, :key \"%d\", :value %s}\n", f, k, asked
		printf "{:process 0, :type :ok, :f :%s, :key \"%d\", :value %s}\n", f, k, told
	}
	function some(n) { x = x * 16807 % 2147483647; return int(x / 64) % n }
	BEGIN {
		x = 1
		for (i = 0; i < n; i++) {
			s = substr("abaabb", some(5) + 1, some(2) + 1)
			k = some(4)
			value[k] = value[k] s
			op("append", k, "\"" s "\"", "\"" s "\"")
		}
		for (k = 0; k < 4; k++) {
			s = "\"" substr(value[k], 1, length(value[k]) - lost) "\""
			op("get", k, "nil", s)
		}
	}'
}
appends 20000 0 >many.edn
verdict 0 "20,000 appends of two letters" kv <many.edn
appends 20000 1 >many.edn
verdict 1 "20,000 appends of two letters, one of them lost" kv <many.edn
# These appends need more than the eight million steps that the reader may take.
awk 'BEGIN {
	for (s = "a"; length(s) < 1000; s = s "a")
		print "{:process " length(s) ", :type :invoke, :f :append, :key 0, :value \"" s "\"}"
	for (t = s; length(t) < 9000; t = t s)
		;
	print "{:process 0, :type :invoke, :f :get, :key 0, :value nil}"
	print "{:process 0, :type :ok, :f :get, :key 0, :value \"" t "\"}"
}' >history.edn
run check history.edn
[ $status -eq 2 ] && grep -q "history.edn: the appended strings can make .* in too many ways" err
ktap_result $? "appends that need too much work are refused" "status $status" "$(head -n 5 err)"
verdict 1 "Porcupine's log: an append that was lost" kv <<'END'
{:process 1, :type :invoke, :f :append, :key "0", :value "x 1 0 y"}
{:process 1, :type :ok, :f :append, :key "0", :value "x 1 0 y"}
{:process 1, :type :invoke, :f :append, :key "0", :value "x 1 0 y"}
{:process 1, :type :ok, :f :append, :key "0", :value "x 1 0 y"}
{:process 1, :type :invoke, :f :get, :key "0", :value nil}
{:process 1, :type :ok, :f :get, :key "0", :value "x 1 0 y"}
END

verdict 1 "EDN: a form after #_ is ignored" register <<'END'
[{:process 0, :type :invoke, :f :write, :value 1}
 {:process 0, #_ :time #_ 5 :type :ok, #_ #_ :f :read :f :write, :value 1 #_ 7}
 #_{:process 2, :type :invoke, :f :write, :value 2}
 #_ #_ {:process 2, :type :ok, :f :write, :value 2} {:process 3}
 {:process 1, :type :invoke, :f :read, :value nil}
 {:process 1, :type :ok, :f :read, :value 2} #_[]]
END
verdict 0 "EDN: the completion has the value" register <<'END'
{:process 0, :type :invoke, :f :write, :value nil}
{:process 0, :type :ok, :f :write, :value 4}
{:process 1, :type :invoke, :f :cas}
{:process 1, :type :ok, :f :cas, :value [4 5]}
{:process 1, :type :invoke, :f :read}
{:process 1, :type :ok, :f :read, :value 5}
END
verdict 1 "EDN: maps with a tag" register <<'END'
#jepsen.history.Op{:index 0, :time 100, :type :invoke, :process 0, :f :write, :value 3}
#jepsen.history.Op{:index 1, :time 200, :type :ok, :process 0, :f :write, :value 3}
#jepsen.history.Op{:index 2, :time 300, :type :invoke, :process 1, :f :read, :value nil}
#jepsen.history.Op{:index 3, :time 400, :type :ok, :process 1, :f :read, :value 2}
END
verdict 1 "Jepsen's current log lines" register <<'END'
INFO [2024-11-26 16:34:02,600] main - jepsen.core Test version
INFO [2024-11-26 16:34:02,623] jepsen worker 0 - jepsen.util 0	:invoke	:write	3
INFO [2024-11-26 16:34:02,625] jepsen worker 0 - jepsen.util 0	:ok	:write	3
INFO [2024-11-26 16:34:02,626] jepsen worker 1 - jepsen.util 1	:invoke	:read	nil
INFO [2024-11-26 16:34:02,627] jepsen worker 1 - jepsen.util 1	:ok	:read	4
END
# The same history as a vector of maps, as maps and as log lines: `process type f value'.
alike()
{
	want=$1 name=$2
	cat >events
	sed 's/^/INFO  jepsen.util - /; s/ \(:[a-z]*\) \(:[a-z]*\) /\t\1\t\2\t/' events >lines.log
	sed 's/^\([0-9]*\) \(:[a-z]*\) \(:[a-z]*\) \(.*\)/{:process \1, :type \2, :f \3, :value \4}/' \
		events >maps.edn
	{ echo "["; cat maps.edn; echo "]"; } >vector.edn
	bad=
	for file in vector.edn maps.edn lines.log; do
		run check "$specs/register.lin" $file
		[ $status -eq "$want" ] && { [ "$want" -eq 2 ] || [ ! -s err ]; } ||
			bad="$bad $file: $status, $(cat err)"
	done
	[ -z "$bad" ]
	ktap_result $? "alike: $name" "expected $want:$bad"
}

alike 0 "-1 beside nil" <<'END'
0 :invoke :cas [nil -1]
0 :ok :cas [nil -1]
1 :invoke :read nil
1 :ok :read -1
END
alike 0 "collections, in two ways" <<'END'
0 :invoke :write {:a #{1 "A"}, :b [-1 nil 0.5]}
0 :ok :write {:b (-1N nil 5e-1), :a #{"\u0041" +1}}
1 :invoke :read nil
1 :ok :read {:b [-1 nil 0.50] :a #{"A" 1}}
END
alike 1 "a keyword, and the string of its name" <<'END'
0 :invoke :write :a
0 :ok :write :a
1 :invoke :read nil
1 :ok :read "a"
END
alike 1 "independent keys" <<'END'
0 :invoke :write [7 3]
0 :ok :write [7 3]
1 :invoke :read [8 nil]
1 :ok :read [8 3]
END
alike 0 "an :info whose value is the text of an error" <<'END'
0 :invoke :write 3
0 :info :write "Read timed out"
1 :invoke :read nil
1 :ok :read 3
END
alike 0 "an :info of a write that had no effect" <<'END'
0 :invoke :write 2
0 :ok :write 2
1 :invoke :write 3
1 :info :write {:type :timeout}
2 :invoke :read nil
2 :ok :read 2
END
alike 2 "an :info with another number" <<'END'
0 :invoke :write 3
0 :info :write 4
END
alike 0 "a time, and a prefix of it" <<'END'
0 :invoke :write #inst "2020-01-01"
0 :ok :write #inst "2020"
1 :invoke :read nil
1 :ok :read #inst "2020-01-01T00:00:00.000-00:00"
END
# Nil at the :ok of a read is any value, as in Knossos; in a log it is the register's nil.
for file in vector.edn maps.edn; do
	sed 's/\(:ok, :f :read, :value\) .*}/\1 nil}/' $file >nil.edn
	expect 0 "a read of nil, $file" check "$specs/register.lin" nil.edn
done
sed 's/\(:ok\t:read\t\).*/\1nil/' lines.log >nil.log
expect 1 "a read of nil, lines.log" check "$specs/register.lin" nil.log
verdict 0 "Jepsen's log file, with errors behind values" register <<'END'
2024-11-26 16:34:02,623	INFO	[jepsen worker 0] jepsen.util: 0	:invoke	:write	3
2024-11-26 16:34:02,625	INFO	[jepsen worker 0] jepsen.util: 0	:fail	:write	3	:not-leader
2024-11-26 16:34:02,626	INFO	[jepsen worker 1] jepsen.util: 1	:invoke	:read	nil
2024-11-26 16:34:02,627	INFO	[jepsen worker 1] jepsen.util: 1	:ok	:read	nil
END
for names in "enqueue dequeue" "add rem" "add remove" "put get" "push pop" "offer poll" "put take"; do
	verdict 1 "Violin's queue: $names" queue <<END
# @object atomic-queue
[1] call ${names% *}(1)
[1] return
[2] call ${names% *}(2)
[2] return
[3] call ${names#* }
[3] return 2
END
done
verdict 1 "Violin's set: inserted twice" set <<'END'
# @object atomic-set
[1] call insert(1)
[1] return empty
[2] call insert(1)
[2] return empty
END
verdict 0 "Violin's set: the value that was there" set <<'END'
# @object atomic-set
[1] call insert(1)	# a comment
[1] return empty
[2] call insert(1)
[2] return 1
END
verdict 0 "Violin's stack: put and get" stack <<'END'
# @object atomic-stack
[1] call put(1)
[1] return
[2] call put(2)
[2] return
[3] call get
[3] return 2
END
verdict 1 "EDN: a string is no number" register <<'END'
{:process 0, :type :invoke, :f :write, :value "7"}
{:process 0, :type :ok, :f :write, :value "7"}
{:process 1, :type :invoke, :f :read}
{:process 1, :type :ok, :f :read, :value 7}
END
verdict 0 "EDN: equal values are written in several ways" register <<'END'
{:process 0, :type :invoke, :f :write, :value {:a #{1 "A"}, :b [-1 nil 0.5]}}
{:process 0, :type :ok, :f :write, :value {:b (-1N nil 5e-1), :a #{"\u0041" +1}}}
{:process :nemesis, :type :info, :f :kill}
{:process 1, :type :invoke, :f :cas, :value [{:a #{1 "A"}, :b [-1 nil 0.5]} nil]}
{:process 1, :type :ok, :f :cas, :value [{:b [-1 nil 0.50] :a #{"A" 1}} nil]}
{:process 1, :type :invoke, :f :cas, :value [nil -1]}
{:process 1, :type :ok, :f :cas, :value [nil -1]}
{:process 1, :type :invoke, :f :read}
{:process 1, :type :ok, :f :read, :value -1}
END
run check --json "$specs/register.lin" history
grep -q '"skipped": 1' out
ktap_result $? "skipped lines are counted"
verdict 1 "EDN: independent keys" register <<'END'
{:process 0, :type :invoke, :f :write, :value [7 3]}
{:process 0, :type :ok, :f :write, :value [7 3]}
{:process 1, :type :invoke, :f :read, :value [7 nil]}
{:process 1, :type :ok, :f :read, :value [7 2]}
{:process 2, :type :invoke, :f :write, :value [8 1]}
{:process 2, :type :ok, :f :write, :value [8 1]}
{:process 2, :type :invoke, :f :cas, :value [8 [1 2]]}
{:process 2, :type :ok, :f :cas, :value [8 [1 2]]}
END
run check "$specs/register.lin" history
grep -q '^key 7: VIOLATION' out && grep -q '1 of 2 partitions linearizable' out
ktap_result $? "the key is named" "$(cat out)"
printf '%s\n' '{:process 0, :type :invoke, :f :write, :value [7 3]}' \
	'{:process 0, :type :ok, :f :write, :value [7 3]}' >neither.edn
refuse "keys that may or may not be independent" "expected --independent=yes" \
	check "$specs/register.lin" neither.edn
for independent in yes no; do
	run check --from=edn --independent=$independent "$specs/register.lin" neither.edn
	ktap_result $status "--independent=$independent" "$(cat err)"
done
printf '2 invokes add 23\n' >keyless
refuse "--independent=yes of a form without keys" "keyless: --independent is for the forms edn" \
	check --independent=yes "$specs/set.lin" keyless
printf '%s\n' '{:process 1, :type :invoke, :f :read, :value nil}' >>neither.edn
printf '%s\n' '{:process 2, :type :invoke, :f :read, :value [7 nil]}' >>neither.edn
refuse "operations with and without keys" "^neither.edn:4:32: .*as in line 3; --independent" \
	check "$specs/register.lin" neither.edn
while IFS='|' read -r value message; do
	printf '%s\n' "{:process 0, :type :invoke, :f :write, :value $value}" >value.edn
	refuse "EDN: $value" "^value.edn:1:[0-9]*: error: .*$message" \
		check "$specs/register.lin" value.edn
done <<'END'
{:a 1, :b 2, :a 3}|each key of a map once
#{1 [2] (2)}|each member of a set once
{1 2 3}|a value for each key
##NaN|equals itself
009|an octal number after the zero
0x1g|hexadecimal digits after 0x
2r102|digits of the radix
37r1|a radix from 2 to 36
"\x"|one of the escapes
1/0|another number than 0
#inst "yesterday"|a time as in
#uuid "7"|a UUID
#(f)|Clojure code
\abc|a character, as in
::a|a keyword with a name
END
printf '%s\n' 'INFO [2024-11-26 16:34:02,600] main - jepsen.core Test version' >none.log
refuse "a log without an operation" "^none.log:1: .*the file has no operation" \
	check "$specs/register.lin" none.log
for command in check "convert --from=edn"; do
	printf '%s\n' '{:process 0, :type :invoke, :f :read}' '{:process :nemesis, :type :info}' >part.edn
	case $command in
	check) run check "$specs/register.lin" part.edn ;;
	*) run convert --from=edn part.edn - ;;
	esac
	[ $status -eq 0 ] && grep -q "skipped 1 entries .*(first: line 2: {:process :nemesis" err
	ktap_result $? "$command says what it skipped" "status $status" "$(cat err)"
done
printf 'Hello\nworld\n' >prose.txt
refuse "a file of prose" "^prose.txt:1: error: the file has no form that klin reads" convert prose.txt -
grep -q '^  world' err
ktap_result $? "the message shows the first lines of the file" "$(cat err)"
printf '\012\001\377\200garbage\n' >noise
refuse "bytes that are no text" "^noise:1: error: the file is neither text in UTF-8 nor a .klh file" \
	check queue noise
ktap_result $(($(wc -l <err) - 1)) "the message shows none of them" "$(cat -v err)"
printf '# nothing\n# but comments\n' >prose.txt
refuse "comments" "^prose.txt:1: error: the file has no operation" \
	check "$specs/set.lin" prose.txt
printf '# klin history 1\nt1 @1 1 2 read -> 0\n' | gzip >packed.txt
refuse "a compressed file" "packed.txt: .*compressed by gzip: decompress it" \
	check "$specs/register.lin" packed.txt
refuse "a compressed file with --follow" "packed.txt: .*compressed by gzip: decompress it" \
	check --follow "$specs/register.lin" packed.txt
printf '\357\273\277# klin history 1\nt1 @1 1 2 read -> 0' >mark.txt
expect 0 "a byte order mark, and no newline at the end" check "$specs/register.lin" mark.txt
printf '%s\n' '{:process 0, :type :invoke, :f :write, :value 3}' \
	'{:process 0, :type :ok, :f :write, :value 4}' >contradiction.edn
refuse "a completion that contradicts its call" ":2:[0-9]*: .*the :value that its :invoke has" \
	check "$specs/register.lin" contradiction.edn
printf '%s\n' '[{:process 0, :type :invoke, :f :read} #_]' >discard.edn
refuse "a #_ without a form after it" "expected a value" check "$specs/register.lin" discard.edn

printf '%s\n' '#:op{:process 0, :type :invoke, :f :read}' >namespace.edn
refuse "a map with a namespace is recognized as EDN" "namespace.edn:1:1: error: '#:op{:process'" \
	check "$specs/register.lin" namespace.edn

verdict 1 "EDN: metadata before the first form" register <<'END'
^{:m 1} {:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 2}
END

there "a set" linp set 0 --type=set --mix=add=1,remove=1,has=1
there "a queue" linp queue 0 --type=queue --ops=200
there "a priority queue" linp pqueue 0 --type=pqueue --ops=200
there "a set" events set 0 --type=set --mix=add=1,remove=1,has=1 --pending=3
there "a wrong set" events set 1 --type=set --mix=add=1,remove=1,has=1 --mutate=20
there "a register" jepsen register 0 --type=register --keys=4 --mix=read=1,write=1,cas=1
there "a queue" jepsen queue 0 --type=queue --mix=enq=2,deq=1 --ops=200
there "a register" edn register 0 --type=register --mix=read=1,write=1 --pending=1
there "a key-value store" edn map 0 --type=map --mix=get=2,put=1
there "a wrong key-value store" edn map 1 --type=map --mix=get=2,put=1 --mutate=20

"$KLIN" gen --type=counter >counter.txt
refuse "a specification that LinP lacks" "has spec 'counter', which the form linp cannot express" \
	convert --to=linp counter.txt out.linp
sed '/^# spec/d' counter.txt >bare.txt
refuse "methods that LinP lacks, without a specification" "the form linp has sets" convert --to=linp bare.txt out.linp
# A pipe is a queue; its read and write differ from a register's.
printf '# klin history 1\n# first init\n# spec pipe\nt1 @1 0 1 write 7\n' >pipe.txt
refuse "another specification with the same method names" "has spec 'pipe', which the form edn cannot express" \
	convert --to=edn pipe.txt out.edn
# Peeks alone do not show whether a structure is a queue or a stack.
printf '# klin history 1\n# first init\n# spec queue\nt1 @1 0 1 peek -> empty\n' >peek.txt
run convert --to=linp peek.txt -
if [ $status -eq 0 ] && [ "$(head -n 1 out)" = "# queue" ]; then
	ktap_pass "a queue with peeks only is written as a queue"
else
	ktap_fail "a queue with peeks only is written as a queue" "status $status" "$(cat out err)"
fi
# Nil, the first value of a register, is written for 2^63.
for op in 'enq 0x8000000000000000' 'deq -> 0x8000000000000000' 'put 18446744073709551611 1' \
	'get 1 -> 18446744073709551611'; do
	printf '# klin history 1\n# first init\nt1 @1 0 1 %s\n' "$op" >large.txt
	refuse "a value that the form cannot express is refused: $op" "below 2\^62|returned a number" \
		convert --to=edn large.txt out.edn
done
run gen --type=queue --ops=1000 -o /dev/full
if [ $status -eq 4 ] && grep -q "cannot write '/dev/full': No space left on device" err; then
	ktap_pass "the message names a full disk"
else
	ktap_fail "the message names a full disk" "status $status" "$(cat err)"
fi
refuse "an unknown form" "--to=xml: expected klh, text, linp" convert --to=xml counter.txt -
refuse "a mistyped form of --to" "--to=lnip: .*; did you mean linp\?" \
	convert --to=lnip counter.txt -
refuse "a mistyped form of --from" "--from=jespen: .*; did you mean jepsen\?" \
	check --from=jespen counter counter.txt
refuse "a form that klin can only read" "--to=limo: klin only reads this form" convert --to=limo counter.txt -
printf '# set\ninsert 1 1 2\ninsert one 1 2\n' >broken
echo '{"process":0,"type":"invoke","f":"write","value":1}' >log.json
refuse "JSON without a history block" "no form that klin reads: .* a spec with a history block" \
	check "$specs/register.lin" log.json
refuse "a broken line" "^broken:3:[0-9]*: error: 'one': expected a value" check "$specs/set.lin" broken
untouched "a history that the form cannot say leaves the file" convert --to=linp counter.txt kept

# A value other than true and false is not a bool, in any form.
cat >flags.lin <<'END'
spec flags {
	bool x = false;
	method write(bool v) { atomic_flush { x = v; } }
	method read() -> bool { atomic { return x; } }
	method push(bool v) { atomic_flush { x = v; } }
	method pop() -> bool v { atomic { return x; } }
	method deq() -> bool v { atomic { return x; } }
	method peek() -> bool v { atomic { return x; } }
	method enq(bool v) { atomic_flush { x = v; } }
}
END

# no_bool FORM STATUS SPEC: the history on stdin has the value 2 for a bool; STATUS is the
# verdict with 1 instead.
no_bool()
{
	form=$1 status_one=$2 spec=$3
	cat >two
	sed 's/\([^n]\) 2$/\1 1/; s/ 2}$/ 1}/; s/(2)$/(1)/; s/^enq 2/enq 1/; s/return 2/return 1/' two >one
	run check --from="$form" "$spec" one
	[ $status -eq "$status_one" ] && [ ! -s err ]
	ktap_result $? "$form: a bool of 1" "status $status" "$(head -n 3 err)"
	refuse "$form: a bool of 2" "(is 2, spec '.*' expects a bool|'2': expected)" \
		check --from="$form" "$spec" two
}

no_bool text 0 flags.lin <<'END'
# klin history 1
# first init
t1 @1 10 20 write 2
END
printf '# klin history 1\n# first init\nt1 @1 1 2 write 1\nt1 @1 10 20 read -> 2\n' >two
"$KLIN" convert two two.klh
for file in two two.klh; do
	refuse "$file: a result of 2" "'result' is 2, spec 'flags' expects a bool" check flags.lin $file
done
no_bool edn 0 flags.lin <<'END'
{:process 0, :type :invoke, :f :enqueue, :value 2}
{:process 0, :type :ok, :f :enqueue, :value 2}
END
# A register of this form begins as nil, which is not a bool.  A word with which klin numbers a
# value of another kind is not a bool either.
printf 'INFO  jepsen.util - 1 %s :write 1\n' :invoke :ok >two
refuse "jepsen: nil for a bool" "write.nil.': 'v' is .* expects a bool" check --from=jepsen \
	flags.lin two
printf '{:process 0, :type %s, :f :enqueue, :value true}\n' :invoke :ok >two
refuse "edn: true, which is a value of its own" "'v' is .* expects a bool" check --from=edn \
	flags.lin two
no_bool linp 0 flags.lin <<'END'
# queue
enq 2 3 4
END
no_bool fptlin 0 "$specs/set.lin" <<'END'
# set
0 0 1 INSERT 7 2
END
no_bool limo 0 flags.lin <<'END'
# @object atomic-stack
[1] call push(2)
[1] return
[2] call pop
[2] return 2
END
# A register of EDN begins as nil, which klin represents by a write that the file does not have.
cat >first.edn <<'END'
{:process 0, :type :invoke, :f :write, :value "a"}
{:process 0, :type :ok, :f :write, :value "a"}
{:process 1, :type :invoke, :f :cas, :value [nil 3]}
{:process 1, :type :ok, :f :cas, :value [nil 3]}
END
run check first.edn
grep -q '^first.edn: 2 operations, 2 threads, 1 objects' out && ! grep -qw t2 out &&
	grep -qE '^  first  write\(nil\) .* before all$' out &&
	[ "$(grep -c '^  first  ' out)" -eq 2 ]
ktap_result $? "the first state is told, and not counted as an operation" "$(cat out)"
run check --json first.edn
[ "$(grep -c '"operations": 2' out)" -ge 2 ]
ktap_result $? "the first state is not counted, as JSON" "$(cat out)"
ktap_finish
