#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin report: one file without a network, whatever its input is.  Pages are opened in Chromium
# if there is one (tools/deps browser): a script clicks, steps and searches, and compares what
# the pages say with klin's JSON.

. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || ktap_skip_all "python3 not found, to read JSON with"
# Programs of Python leave no files in the tree.
export PYTHONDONTWRITEBYTECODE=1

# page NAME ARGUMENT...: write NAME.html.
page()
{
	name=$1
	shift
	run report -o "$name.html" "$@"
	if [ $status -eq 0 ] && [ ! -s out ] && [ ! -s err ] && [ -s "$name.html" ]; then
		ktap_pass "a page of $name"
	else
		ktap_fail "a page of $name" "klin report $*: status $status" "$(head -n 5 out err)"
	fi
}

# result NAME ARGUMENT...: write NAME.json.
result()
{
	name=$1
	shift
	timeout -k 5 1200 "$KLIN" "$@" >"$name.json" 2>err </dev/null
}

ktap_header

cat >queue.txt <<'END'
# klin history 1
# first init
t1 @0 10 20 enq 1
t2 @0 12 34 enq 2
t3 @0 36 55 deq -> 1
t1 @0 60 75 deq -> 1
t2 @0 62 90 enq 3
t3 @0 92 - deq -> ?
END
page queue "$specs/queue.lin" queue.txt
result queue check --json "$specs/queue.lin" queue.txt
python3 - <<'END'
import json
v = json.load(open("queue.json"))
v["expected"] = {
    "operations": [["1", "enq(1)", "10", "20"], ["2", "enq(2)", "12", "34"],
                   ["3", "deq() -> 1", "36", "55"], ["1", "deq() -> 1", "60", "75"],
                   ["2", "enq(3)", "62", "90"], ["3", "deq()", "92", "not seen"]],
    "searches": {"deq": 3, "enq thread:t1": 1, "value:1": 3, "1": 3, "method:enq value:2": 1,
                 "thread:3": 2, "line:4": 1, "id:0": 1, "nothing": 0},
}
json.dump(v, open("queue.json", "w"))
END

# A recording: names of threads, CPUs, stacks, the symbol of an object and the slab of one.
cat >kernel.txt <<'END'
# klin history 1
# first init
# clock mono error 2
# comm 301 kworker/2:1
# comm 302 ip netns
# spelling 0xffffffff81a00040 init_net_queue
# slab 0xffff888012345600 kmalloc-64
# stack 3 worker+0x10 [queue]; kthread+0xd7
# stack 5 take+0x4 [queue]; kthread+0xd7
t301 @0xffffffff81a00040 10 20 enq 1 cpu=2 stack=3
t302 @0xffffffff81a00040 12 34 enq 2 cpu=0
t303 @0xffffffff81a00040 36 55 deq -> 1 cpu=3 stack=5
t301 @0xffffffff81a00040 60 75 deq -> 1 cpu=2 stack=5
t302 @0xffffffff81a00040 62 90 enq 3 cpu=0
t303 @0xffff888012345600 92 95 deq -> empty cpu=1
END
page kernel "$specs/queue.lin" kernel.txt
result kernel check --json "$specs/queue.lin" kernel.txt
sed 's/"history": "kernel.txt"/"history": "no.txt"/' kernel.json >kernel_alone.json
page kernel_alone kernel_alone.json

cat >seqlock.txt <<'END'
# klin history 1
# first init
t2 @0 20 30 write 2 2
t1 @0 40 90 write 3 3
t3 @0 60 80 read -> 3 2
END
page seqlock "$specs/seqlock.lin" seqlock.txt
result seqlock check --json "$specs/seqlock.lin" seqlock.txt

sed 's/write(word a, word b) { atomic {/write(word a, word b) { atomic_flush {/' \
	"$specs/explore/seqlock.lin" >wrong.lin
result explore explore --json wrong.lin
page explore explore.json
sed 's/x->next = t;/x->next = null;/' "$specs/verify/treiber_peek.lin" >alarm.lin
result verify verify --json alarm.lin
page verify verify.json

# Entries that are no operations are counted; klin also warns of them.
cat >skipped.edn <<'END'
{:type :invoke, :f :write, :value 1, :process 0}
{:type :info, :f :start, :value "<i>", :process :nemesis}
{:type :ok, :f :write, :value 1, :process 0}
END
run report -o skipped.html "$specs/register.lin" skipped.edn
result skipped check --json "$specs/register.lin" skipped.edn

# Further keys of entries, with a byte that is no UTF-8, a control byte and what ends a script.
printf '%b\n' \
	'{:process 0, :type :invoke, :f :write, :value 1, :time 7000000000, :index 3}' \
	'#jepsen.history.Op{:process 0, :type :ok, :f :write, :value 1,' \
	' :time 7002500000, :node "n</script>\0001\0377"}' \
	'{:process 1, :type :invoke, :f :write, :value 2, :time 7003000000}' \
	'{:process 1, :type :info, :f :write, :value 2, :time 8, :error [:timed-out "<b>"]}' \
	'{:process 0, :type :invoke, :f :read, :value nil, :time 9007199254740993}' \
	'{:process 0, :type :ok, :f :read, :value 7, :time 9007199254741000}' >entries.edn
page entries "$specs/register.lin" entries.edn
result entries check --json "$specs/register.lin" entries.edn
page entries_part --texts=200 "$specs/register.lin" entries.edn
cp entries.json entries_part.json
page entries_alone entries.json
cp entries.json entries_alone.json
page one --operations=1 "$specs/queue.lin" queue.txt

# Numbers that the file writes in two ways, and a cas whose result is no word 1 of others.
cat >mixed.edn <<'END'
{:process 0, :type :invoke, :f :write, :value 16}
{:process 0, :type :ok, :f :write, :value 16}
{:process 1, :type :invoke, :f :cas, :value [0x10 1]}
{:process 1, :type :ok, :f :cas, :value [0x10 1]}
{:process 2, :type :invoke, :f :read, :value nil}
{:process 2, :type :ok, :f :read, :value 16}
END
page mixed "$specs/register.lin" mixed.edn
result mixed check --json "$specs/register.lin" mixed.edn

# A nemesis, an operation that failed, and a remark of a process without a pending operation.
cat >others.edn <<'END'
{:process 0, :type :invoke, :f :write, :value 1}
{:process :nemesis, :type :info, :f :start-partition, :value nil, :time 5}
{:process :nemesis, :type :info, :f :start-partition, :value "</script>cut n1"}
{:process 0, :type :ok, :f :write, :value 1}
{:process 3, :type :invoke, :f :cas, :value [7 8]}
{:process :nemesis, :type :info, :f :bump, :value :clocks}
{:process :nemesis, :type :info, :f :bump, :value {"n1" 5}}
{:process 3, :type :fail, :f :cas, :value [7 8], :error :precondition-failed}
{:process 5, :type :info, :f :log, :value :hello}
{:process 1, :type :invoke, :f :read, :value nil}
{:process :nemesis, :type :info, :f :stop-partition, :value nil}
{:process :nemesis, :type :info, :f :stop-partition, :value :healed}
{:process :nemesis, :type :info, :f :start-partition, :value :again}
{:process 1, :type :ok, :f :read, :value 7}
END
run report -o others.html "$specs/register.lin" others.edn
result others check --json "$specs/register.lin" others.edn
sed 's/"history": "others.edn"/"history": "no.edn"/' others.json >others_alone.json
page others_alone others_alone.json

# Strings, of which the empty one is the word 0.
cat >kv.edn <<'END'
{:process 0, :type :invoke, :f :append, :key "a", :value "x 1 0 y"}
{:process 0, :type :ok, :f :append, :key "a", :value "x 1 0 y"}
{:process 1, :type :invoke, :f :append, :key "a", :value "x 2 0 y"}
{:process 1, :type :ok, :f :append, :key "a", :value "x 2 0 y"}
{:process 0, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :get, :key "a", :value "x 2 0 y"}
END
page kv "$specs/kv.lin" kv.edn
result kv check --json "$specs/kv.lin" kv.edn

# Litmus tests: of three verdicts, and one that cannot be read.
cp "$here/../litmus/SB.litmus" "$here/../litmus/MP.litmus" .
printf 'X86 broken\n{ }\n P0 ;\n FROB ;\nexists (0:EAX=0)\n' >broken.litmus
result litmus litmus --json --explain SB.litmus MP.litmus broken.litmus
page litmus litmus.json
result outcomes explore --json --outcomes "$specs/explore/fig5.lin"
page outcomes outcomes.json

# Violations that a check has found while it ran along: with a history, and without one.
"$KLIN" gen --type=mutex --ops=400 --threads=4 --objects=4 --mutate=3 --seed=2 >found.txt
timeout -k 5 60 "$KLIN" check --follow --json "$specs/mutex.lin" - <found.txt >found.stream
page found found.stream
sed 's/"history":"-"/"history":"found.txt"/' found.stream >found_whole.stream
page found_whole found_whole.stream
# The check was interrupted while it wrote the second violation.
head -c $(($(head -n 1 found.stream | wc -c) + 100)) found.stream >found_cut.stream
page found_cut found_cut.stream
page found_part --operations=50 found_whole.stream
python3 - <<'END'
import json
objects = [json.loads(line) for line in open("found.stream")]
for name in "found", "found_whole", "found_cut", "found_part":
    json.dump({"objects": objects[:1] if name == "found_cut" else objects},
              open(name + ".json", "w"))
END

# An UNKNOWN verdict says why, and what would help.
cat >unknown.txt <<'END'
# klin history 1
# gap from 100 to 150 lost 7 cpu 1
t1 @1 0 10 lock
t2 @1 120 160 lock
END
result unknown check --json "$specs/mutex.lin" unknown.txt
page unknown unknown.json

# Keys and values that would be HTML or JavaScript if they were read as such.
cat >hostile.edn <<'END'
{:type :invoke, :f :write, :value "</script><script>hacked=1</script>", :process 0}
{:type :ok, :f :write, :value "</script><script>hacked=1</script>", :process 0}
{:type :invoke, :f :write, :value "<img src=x onerror=hacked=1>", :process 1}
{:type :ok, :f :write, :value "<img src=x onerror=hacked=1>", :process 1}
{:type :invoke, :f :read, :value nil, :process 0}
{:type :ok, :f :read, :value "<!--<script>\u202e", :process 0}
END
printf '\342\200\256' >mark
sed -i "s/\\\\u202e/$(cat mark)/" hostile.edn
mv hostile.edn '<b onclick=alert(1)>@SCRIPT@.edn'
page hostile "$specs/register.lin" '<b onclick=alert(1)>@SCRIPT@.edn'
result hostile check --json "$specs/register.lin" '<b onclick=alert(1)>@SCRIPT@.edn'

"$KLIN" gen --type=queue --ops=100000 --threads=8 --mutate=1 --where=late >large.txt
page large "$specs/queue.lin" large.txt
result large check --json "$specs/queue.lin" large.txt
page part --operations=3000 "$specs/queue.lin" large.txt
cp large.json part.json

# The columns of a page have what the file has, also where little is known.
cat >tso.txt <<'END'
# klin history 1
# memory tso
# clock mono error 3
# gap from 100 to 150 lost 7 cpu 1
# gap from 200 to 205
t1 @0xff 18446744073709551000 18446744073709551001 write 1 cpu=1
t2 @0xfe 9 50 write 2 point=20 drain=90 cpu=0
t3 @0xff 10 - read -> ? cpu=3
t4 @0xfe 60 61 read -> 2 drain=61
t4 @0xfe 70 99 read -> 2 point=70
END
page tso "$specs/register.lin" tso.txt
result tso check --json "$specs/register.lin" tso.txt
cat >stale.txt <<'END'
# klin history 1
# first init
t1 @0 0 10 write 1 1
t2 @0 20 30 write 2 2
t3 @0 60 80 read -> 0 0
END
page stale "$specs/seqlock.lin" stale.txt
result stale check --json "$specs/seqlock.lin" stale.txt
"$KLIN" gen --type=rwlock --ops=3000 --threads=5 --objects=3 --pending=5 --error=20 \
	--mutate=3 >unsure.txt
"$KLIN" gen --type=map --ops=3000 --threads=5 --points --mutate=1 >points.txt
page points "$specs/map.lin" points.txt
page unsure "$specs/rwlock.lin" unsure.txt
for one in queue seqlock large tso unsure points; do
	python3 "$here/../page/columns.py" $one.html $one.txt 2>err
	ktap_result $? "the columns of $one.html have what $one.txt has" "$(cat err)"
done
"$KLIN" gen --type=mutex --ops=60 --threads=4 --mutate=2 --seed=9 >mutex.txt
page mutex "$specs/mutex.lin" mutex.txt
result mutex check --json "$specs/mutex.lin" mutex.txt

cat >buffer.txt <<'END'
# klin history 1
# first init
# memory tso
t1 @0 0 10 write 1 1 cpu=1
t2 @0 5 12 set_y 1 cpu=2
t1 @0 14 20 get_y -> 0 cpu=1
t2 @0 15 24 read -> 0 0 cpu=2
t3 @0 60 70 read -> 1 1 cpu=3
END
page buffer "$specs/fig5.lin" buffer.txt
result buffer check --json "$specs/fig5.lin" buffer.txt

# A page needs nothing from outside, and is ASCII.
for one in *.html; do
	grep -nE 'https?://|src=|@import|url\([^#]' "$one" | grep -vE 'www.w3.org/2000/svg|src=x onerror' >bad
	LC_ALL=C grep -n '[^ -~	]' "$one" >>bad
	[ "$(grep -c '</script>' "$one")" -eq 2 ] || echo "$one: scripts" >>bad
	ktap_result "$([ ! -s bad ]; echo $?)" "${one%.html}.html is self-contained" \
		"$(cut -c 1-200 bad | head -n 3)"
done
ktap_result "$([ "$(wc -c <large.html)" -lt 4000000 ]; echo $?)" \
	"a page of 100,000 operations is smaller than 4 MB" "$(wc -c <large.html)"

run check --certificate=queue.cert "$specs/queue.lin" queue.txt
page certificate queue.cert
grep -q 'took 1 a second time' certificate.html
ktap_result $? "the page of a certificate has the story"
page of_result queue.json
grep -q '"history":{' of_result.html
ktap_result $? "the page of a result has the history that it names"
mkdir klind
"$KLIN" convert queue.txt klind/history.klh
echo '{ "kind": "incident", "name": "q", "check": {} }' >klind/report.json
page "klind's report" "$specs/queue.lin" klind
grep -q 'took 1 a second time' "klind's report.html"
ktap_result $? "the page of klind's report has the story"
# The file alone, as klind writes it: with the check of its history.
python3 - <<'END'
import json
with open("queue.json") as f:
    check = json.load(f)
check.pop("expected")
json.dump({**{k: check[k] for k in ("schema", "klin", "host", "kernel")}, "kind": "incident",
           "cause": "violation", "name": "inbox", "spec": "queue", "time": 75, "events": 9,
           "written": "20261128T010203.000004Z", "shown_by_history": True, "check": check},
          open("incident.json", "w"))
END
page incident incident.json
"$KLIN" gen --type=set --ops=5000 --threads=300 --objects=400 --mutate=3 >wide.txt
page wide "$specs/set.lin" wide.txt
result wide check --json --show=8 "$specs/set.lin" wide.txt
rm queue.txt
page alone queue.json
grep -q '"note":"The history was not found' alone.html
ktap_result $? "the page of a result says that its history was not found"
refuse "a certificate whose history is missing" "queue.txt" report queue.cert
refuse "a page without -o" "to write the page to 'x.html', say -o x.html" report queue.cert x.html
refuse "a file that is nothing" "error" report "$specs/queue.lin" wrong.lin
head -c 200 queue.json >cut.json
refuse "a result that is cut off" "^cut.json:[0-9]+:[0-9]+: error: the result is cut off" report cut.json
refuse "a result with a specification" "name the result alone" report "$specs/queue.lin" queue.json
mkdir empty
refuse "a directory without a report" "not a report of klind" report empty
untouched "a page that cannot be written" report -o none/x.html queue.json

browser=
for one in chromium chromium-browser google-chrome; do
	command -v $one >/dev/null && browser=${browser:-$one}
done
if [ -z "$browser" ]; then
	ktap_skip "pages in a browser" "no chromium: run tools/deps browser"
else
	timeout -k 5 300 python3 "$here/../page/check.py" "$browser" . >said 2>err
	while read -r word rest; do
		case $word in
		ok)	ktap_pass "$rest" ;;
		not)	ktap_fail "${rest#ok }" ;;
		"#")	echo "# $rest" ;;
		esac
	done <said
	ktap_result "$(grep -q '^ok' said; echo $?)" "the browser opened the pages" "$(tail -n 3 err)"
fi
ktap_finish
