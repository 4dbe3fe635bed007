#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Reports show the lines, processes and values of foreign histories as their files have them.
# story/places looks at each, with readers of its own.

. "$(dirname "$0")/common.sh"

# places NAME OPTION...: each operation of each story is in the file as klin says.
places()
{
	name=$1
	shift
	python3 "$here/../story/places" --klin="$KLIN" "$@" >out 2>&1
	ktap_result $? "$name" "$(cat out)"
}

histories=30
[ -z "${KLIN_FEW:-}" ] || histories=3
ktap_header
places "histories of each form" --histories=$histories --seed="${KLIN_SEEDS:-1}"
for form in edn events fptlin jepsen limo linp text; do
	[ ! -d "$here/../fuzz/corpus/$form" ] ||
		places "samples: $form" "$here/../fuzz/corpus/$form"
done

cat >"a b.edn" <<'END'
{:process 0, :type :invoke, :f :write, :value 0x1F, :index 7}
{:process 0, :type :ok, :f :write, :value 0x1F, :index 8}
{:process "client-3", :type :invoke, :f :write, :value -5000, :index 9}
{:process "client-3", :type :ok, :f :write, :value -5000, :index 10}
{:process 1, :type :invoke, :f :read, :value nil, :index 11}
{:process 1, :type :ok, :f :read, :value 0x1F, :index 12}
END
run check "a b.edn"
grep -q '^  "client-3"  write(-5000)  *wrote -5000  *events 3-4  lines 3 and 4, :index 9 and 10$' out &&
	grep -q 'with x = -5000 before it' out &&
	grep -q 'times number the calls and returns in the file' out &&
	! grep -q 'atomic counter\|t[0-9]\{9\}\| 31\|0xffff' out
ktap_result $? "a story has the words, names and indices of the file" "$(cat out)"
sed -i 's/:ok, :f :read/:ok\n :f :read, :node "\x1b[1m"/' "a b.edn"
run check --full "a b.edn"
printf '  In a b.edn:\n    5: {:process 1, :type :invoke, :f :read, :value nil, :index 11}\n%s\n%s\n' \
	'    6: {:process 1, :type :ok' \
	'       :f :read, :node " [1m", :value 0x1F, :index 12}' >wanted
grep -A 3 '^  In a b.edn:' out | cmp -s - wanted
ktap_result $? "the story has the entries of the file, without control characters" "$(cat out)"
# words NAME TEXT...: the cast of the history mixed has these texts, and its proof no others; the
# text of klin check, with its pictures, has them, too.
words()
{
	name=$1
	shift
	run check --json mixed
	python3 -c '
import json, sys
p = json.load(open("out"))["partitions"][0]
cast, proof = [[o["text"] for o in ops] for ops in (p["story"]["cast"], p["counterexample"])]
assert cast == sys.argv[1:], cast
assert set(proof) <= set(cast), proof
' "$@" 2>said
	ktap_result $? "$name: each operation has the words of its own lines" "$(cat said err)"
	run check --full mixed
	printf '%s\n' "$@" >said
	ktap_result "$(sed '1,/^Counterexample/d' out | grep -qFf said; echo $?)" \
		"$name: the proof has these words, too" "$(cat out)"
}
cat >mixed <<'END'
{:process 0, :type :invoke, :f :write, :value 16}
{:process 0, :type :ok, :f :write, :value 16}
{:process 1, :type :invoke, :f :cas, :value [0x10, "\u0061"]}
{:process 1, :type :ok, :f :cas, :value [16 "a"]}
{:process 2, :type :invoke, :f :read, :value nil}
{:process 2, :type :ok, :f :read, :value 16N}
END
words maps "read() -> 16N" "write(16)" 'cas(0x10, "\u0061") -> :ok'
cat >mixed <<'END'
INFO  jepsen.util - 0	:invoke	:read	[1 nil]
INFO  jepsen.util - 0	:ok	:read	[1 nil]
INFO  jepsen.util - 1	:invoke	:write	[1 020]
INFO  jepsen.util - 1	:ok	:write	[1 16]
INFO  jepsen.util - 2	:invoke	:cas	[1 [0x10 5]]
INFO  jepsen.util - 2	:fail	:cas	[1 [16 5]]
END
words "log lines" "cas(0x10, 5) -> :fail" "write(020)"
cat >mixed <<'END'
# klin history 1
# spec register
# first init
t1 @0 0 10 write 7
t2 @0 20 30 cas 0x7 8 -> true
t3 @0 40 50 read -> 0x07
t3 @0 52 60 cas 1 2 -> 0
END
words "klin's text form" "read() -> 0x07" "write(7)" "cas(0x7, 8) -> true"
cat >mixed <<'END'
1 invokes add 0x7
1 returns true
2 invokes contains 7
2 returns false
END
words "Horn & Kroening's" "contains(7) -> false" "add(0x7) -> true"
cat >mixed <<'END'
# @object atomic-set
[1] call add(a)
[1] return true
[2] call contains(a)
[2] return false
END
words "LiMo's" "contains(a) -> false" "add(a) -> true"
run report "a b.edn" -o r.html
grep -q "klin check 'a b.edn'" r.html
ktap_result $? "a page quotes the name of the file" "$(cat err)"
cat >failed.edn <<'END'
{:process 0, :type :invoke, :f :write, :value 3}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 3}
{:process 0, :type :fail, :f :write, :value 3}
END
run check failed.edn
grep -q "The file says that t0's write(3), lines 1 and 4, failed, so 3 cannot come" out
ktap_result $? "a write that failed is named, where its value was read" "$(cat out)"
cat >two.txt <<'END'
# klin history 1
# first init
t1 @1 0 10 write 1
t2 @1 20 30 read -> 7
t3 @1 22 32 read -> 8
END
run check register two.txt
grep -q "could at most have returned 1, with x = 1 before it" out
ktap_result $? "of two wrong results, each is judged without the other" "$(cat out)"
cat >nil.edn <<'END'
{:process 0, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :read, :value 2}
END
run check --full nil.edn
grep -q 'The first value is nil' out && ! grep -q 'x = 0\|(0)' out
ktap_result $? "a proof without the first state shows no state" "$(cat out)"
cat >pq.linp <<'END'
# priorityqueue
insert 3 1 2
insert 5 3 4
poll 3 5 6
END
run check --json pq.linp
python3 - <<'END'
import json
v = json.load(open("out"))["partitions"][0]["story"]
assert v["headline"].endswith("line 4's poll() -> 3 took 3 while 5, which is greater, was inside"), v
assert all(o["thread"] is None for o in v["cast"]), v
END
ktap_result $? "a file without threads has none in a report" "$(cat out)"
cat >array.txt <<'END'
# klin history 1
# first init
t1 @0 10 20 write 3 0x7
t2 @0 50 60 read 3 -> 9
END
run check "$specs/array.lin" array.txt
grep -q "could only have returned 0x7, with a = \\[3: 0x7, others 0\\] before" out
ktap_result $? "of an array only the elements that differ from most are listed" "$(cat out)"
ktap_finish
