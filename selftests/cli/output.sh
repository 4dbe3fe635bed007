#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# --output: KTAP and JUnit say what JSON says.  Both are well-formed, whatever a history has for
# keys and values, and the exit status does not depend on the form.

. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || ktap_skip_all "python3 not found, to read JSON with"

# forms STATUS NAME CONDITION COMMAND ARGUMENT...: the command in all forms.  output.py compares
# them, and evaluates the condition: ends, the list of "pass", "fail", "skip" or "error" of the
# tests; names, their names; whys, the reasons; v, the result as JSON.
forms()
{
	want=$1 name=$2 condition=$3 command=$4
	shift 4
	statuses=
	for form in json ktap junit; do
		run "$command" --output=$form "$@"
		statuses="$statuses $status"
		mv out said.$form
	done
	[ "$statuses" = " $want $want $want" ] &&
		python3 "$here/output.py" said.json said.ktap said.junit "$condition" 2>wrong
	ktap_result $? "$name" "status$statuses, expected $want" "$(cat wrong)" "$(head -n 9 said.ktap err)"
}

ktap_header
cat >queue.txt <<'END'
# klin history 1
# first init
t1 @1 0 10 enq 1
t2 @1 20 30 deq -> 1
t3 @1 40 50 deq -> 1
t3 @2 60 70 deq -> empty
END
forms 1 "a violation has its story" "
	names == ['object 0x1', 'object 0x2'] and ends == ['fail', 'pass'] and
	whys[0] == v['partitions'][0]['story']['headline'] and codes[0] == 'taken_twice' and
	'log-linear decided' in lines[0] and '1 was added once.' in lines[0]" \
	check "$specs/queue.lin" queue.txt
"$KLIN" gen --type=stack --ops=3000 --threads=16 --keys=2 --any -o hard.klh
forms 3 "UNKNOWN is a skip with its reason" "
	ends == ['skip'] and whys == [v['partitions'][0]['reason']]" check --work=1000000 hard.klh
# Sanitizers have memory of their own.
if ! grep -q __asan_init "$KLIN"; then
	"$KLIN" gen --type=queue --ops=200000 --threads=4 -o large.klh
	forms 3 "UNKNOWN without a report" "
		ends == ['skip'] and names == ['large.klh'] and plain(whys[0]) == plain(v['reason'])" \
		check --memory-limit=1 large.klh
fi
"$KLIN" gen --type=queue --ops=3000 --threads=3 --objects=120 -o many.klh
forms 0 "partitions that are not listed" "ends == ['pass'] and '120 partitions' in lines[0]" \
	check many.klh
echo "# klin history 1" >none.txt
forms 0 "a history without operations" "ends == ['pass'] and names == ['none.txt']" \
	check "$specs/queue.lin" none.txt
cat >hostile.edn <<'END'
{:process 0, :type :invoke, :f :put, :key "<&>\"'#\n1..9", :value "]]>"}
{:process 0, :type :ok, :f :put, :key "<&>\"'#\n1..9", :value "]]>"}
{:process 1, :type :invoke, :f :get, :key "<&>\"'#\n1..9", :value nil}
{:process 1, :type :ok, :f :get, :key "<&>\"'#\n1..9", :value "\u0001\uffff # SKIP"}
END
forms 1 "keys and values that are hostile" "ends == ['fail'] and '<&>' in names[0]" check hostile.edn
cp queue.txt 'a<b&"c#d.txt'
forms 1 "a file's name that is hostile" "len(ends) == 2" check "$specs/queue.lin" 'a<b&"c#d.txt'

echo "# end" >>queue.txt
forms 1 "a history that is followed" "ends == ['fail'] and names == ['object 0x1']" \
	check --follow "$specs/queue.lin" queue.txt
forms 0 "a history that is followed, all right" "ends == ['pass'] and names == ['many.klh']" \
	check --follow many.klh

sed 's/write(word a, word b) { atomic {/write(word a, word b) { atomic_flush {/' \
	"$specs/explore/seqlock.lin" >wrong.lin
forms 1 "an explorer's run" "ends == ['fail'] and whys == [v['message']] and '[1] T' in lines[0]" \
	explore wrong.lin
forms 0 "a model without violations" "ends == ['pass']" explore "$specs/explore/seqlock.lin"
forms 3 "an explorer that reached a limit" "ends == ['skip'] and whys == [v['message']]" \
	explore --memory-limit=1 --threads=3 --ops=3 "$specs/explore/treiber.lin"
forms 0 "outcomes" "len(ends) == len(v['outcomes']) and set(ends) == {'pass'}" \
	explore --outcomes "$specs/explore/fig5.lin"
sed 's/x->next = t;/x->next = null;/' "$specs/verify/treiber_peek.lin" >alarm.lin
forms 1 "a verifier's alarm" "
	ends == ['fail'] and v['trail'][0] in lines[0] and '[1] T' in lines[0]" verify alarm.lin
forms 3 "a model that is not proved" "ends == ['skip'] and whys == [v['message']]" \
	verify --no-confirm alarm.lin
cp "$here/../litmus/SB.litmus" .
forms 0 "a litmus test" "
	ends == ['pass'] and names == ['SB'] and len(v['tests'][0]['states']) == 4 and
	v['tests'][0]['condition'] in lines[0] and 'Sometimes' in lines[0]" litmus SB.litmus
echo X86 >bad.litmus
forms 2 "a litmus test that cannot be read" "ends == ['pass', 'error']" litmus SB.litmus bad.litmus

run check --json "$specs/queue.lin" queue.txt
mv out alias
run check --output=json "$specs/queue.lin" queue.txt
sed 's/seconds": .*//; s/peak_bytes": .*//' out >named
sed 's/seconds": .*//; s/peak_bytes": .*//' alias | cmp -s - named
ktap_result $? "--json is --output=json"
run check --output=text --no-diagram "$specs/queue.lin" queue.txt
ktap_result "$(grep -q '^VIOLATION' out; echo $?)" "--output=text is the default" "$(cat out)"
refuse "an unknown form" "--output=xml: expected text, json, ktap or junit" \
	check --output=xml "$specs/queue.lin" queue.txt
run check --output=ktap "$specs/queue.lin" missing.txt
ktap_result "$([ $status -eq 2 ] && [ ! -s out ]; echo $?)" "an error is no test" "$(cat out)"
ktap_finish
