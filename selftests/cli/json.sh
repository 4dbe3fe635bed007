#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin check --json: one object, with the contents of the text report.

. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || ktap_skip_all "python3 not found, to read JSON with"

# json STATUS NAME CONDITION [OPTION]: check the object v for h.txt.
json()
{
	# shellcheck disable=SC2086 # an option or none
	run check --json ${4-} "$spec" h.txt
	if [ $status -eq "$1" ] && python3 -c "import json, sys
v = json.load(open('out'))
sys.exit(not ($3))" 2>>err; then
		ktap_pass "$2"
	else
		ktap_fail "$2" "status $status, expected $1 and $3" "$(cat out err)"
	fi
}

ktap_header
spec=$specs/map.lin
"$KLIN" gen --type=map --ops=500 --threads=3 >h.txt
json 0 "JSON of a linearizable history" "v['verdict'] == 'LINEARIZABLE' and v['operations'] == 500 and \
	v['linearizable'] == len(v['partitions']) and v['spec'] == 'map'"
json 0 "JSON begins with the schema, the kind, klin's version, and the machine" "
	list(v)[:5] == ['schema', 'kind', 'klin', 'host', 'kernel'] and
	(v['schema'], v['kind'], v['kernel']) == ('klin/1', 'check', '$(uname -r)') and
	'klin ' + v['klin']['version'] == '$("$KLIN" --version | head -n 1)'"
json 0 "JSON and --version name the same build and libraries" "
	'build %s, by %s' % (v['klin']['build']['id'], v['klin']['build']['compiler']) ==
	'$("$KLIN" --version | sed -n 2p)' and
	'with ' + ', '.join(n + ' ' + t for n, t in v['klin']['libraries'].items()) ==
	'$("$KLIN" --version | sed -n 3p)' and
	{'libbpf', 'elfutils', 'jansson', 'zstd'} < set(v['klin']['libraries'])"
ids=$("$KLIN" --version | sed -n 's/^build \([0-9a-f]*\),.*/\1/p')
if command -v readelf >/dev/null; then
	readelf -n "$(command -v "$KLIN")" | grep -q "Build ID: $ids\$"
	ktap_result $? "the build is the file's build ID" "$ids"
fi
"$KLIN" gen --type=map --ops=3000 --threads=3 --keys=200 >h.txt
json 0 "JSON counts the linearizable partitions that it does not list" "
	v['linearizable'] > 100 and v['partitions'] == [] and
	v['linearizable_not_listed'] == v['linearizable']"
"$KLIN" gen --type=map --ops=500 --threads=3 >h.txt
run check --json --certificate=h.cert "$spec" h.txt
python3 -c "import json
v = json.load(open('out'))
for key in 'read_seconds', 'check_seconds', 'certificate_seconds':
    assert 0 < v[key] < 60, key
# a kernel that counts ticks may have attributed all of them to system time
for key in 'shrink_seconds', 'user_seconds':
    assert 0 <= v[key] < 60, key
assert 1 << 20 < v['peak_bytes'] < 1 << 30" 2>err
ktap_result $? "JSON has the times and the memory" "$(cat out err)"
"$KLIN" gen --type=map --ops=500 --threads=3 --mutate=40 >h.txt
json 1 "JSON of a violation" "v['verdict'] == 'VIOLATION' and v['violations'] > 0 and \
	any(p.get('oracle_agrees') and p['counterexample'] for p in v['partitions'])"
spec=$specs/queue.lin
cat >h.txt <<'END'
# klin history 1
# first init
t1 @1 0 10 enq 1
t2 @1 20 30 deq -> 1
t3 @1 40 50 deq -> 1
END
json 1 "the story of a violation names each operation, its role and its line" "
	[p['story'] for p in v['partitions']] == [{
	'reason': 'taken_twice',
	'headline': \"queue @1: t3's deq() -> 1 took 1 a second time; \"
		\"t2's deq() -> 1 had taken it by 30\",
	'trust': {'engine': 'log-linear', 'oracle_agrees': True, 'operations': 1,
		'sentence': 'log-linear decided, and the brute-force oracle agrees on the proof of '
			'1 operation',
		'replay': 'klin check --certificate=klin.cert $spec h.txt; klin replay klin.cert'},
	'orders': [], 'allowed': {'operation': 2, 'results': ['empty'], 'states': ['q = []'],
		'all': True, 'exact': True, 'sentence': \"t3's deq() could only have returned empty, \"
			\"with q = [] before it\"},
	'facts': ['1 was added once',
		\"t3's deq() -> 1 was called at 40, after t2's deq() -> 1 had returned at 30\"],
	'cast': [{'thread': t, 'method': o[:3], 'arguments': a, 'results': s, 'text': o,
			'call': c, 'return': c + 10, 'role': r, 'id': i,
			'source': {'file': 'h.txt', 'line': i + 3,
				'text': open('h.txt').readlines()[i + 2][:-1]}}
		for t, o, a, s, c, r, i in ((3, 'deq() -> 1', [], [1], 40, 'took 1', 2),
			(1, 'enq(1)', [1], [], 0, 'added 1', 0),
			(2, 'deq() -> 1', [], [1], 20, 'took 1', 1))]}]"
json 1 "the reason of a violation by name" "
	[(r['code'], r['partitions']) for r in v['reasons']] == [('taken_twice', 1)] and
	v['reasons'][0]['sentence'] == v['partitions'][0]['story']['headline'] and
	'limits_met' not in v"
run check --full "$spec" h.txt
sed -n '/^What is wrong/,/^  Check it again/p' out >said
cat >wanted <<END
What is wrong: queue @1: t3's deq() -> 1 took 1 a second time; t2's deq() -> 1
  had taken it by 30.

  t3  deq() -> 1  took 1   40-50  line 5
  t1  enq(1)      added 1  0-10   line 3
  t2  deq() -> 1  took 1   20-30  line 4

  1 was added once.
  t3's deq() -> 1 was called at 40, after t2's deq() -> 1 had returned at 30.
  t3's deq() could only have returned empty, with q = [] before it.

  log-linear decided, and the brute-force oracle agrees on the proof of 1
  operation.
  Check it again: klin check --certificate=klin.cert $spec h.txt; klin replay klin.cert
END
ktap_result "$(cmp -s said wanted; echo $?)" "the text has the same story" "$(cat said)"
PATH=$(cd "$(dirname "$KLIN")" && pwd):$PATH sh -c "$(sed -n 's/^  Check it again: //p' out)" >again 2>err
ktap_result "$(grep -q "1 violation" again; echo $?)" "the command of the story checks the proof again" \
	"$(cat again err)"
cat >h.txt <<'END'
# klin history 1
# first init
t1 @1 0 10 enq -22
t2 @1 20 30 deq -> -22
t3 @1 40 50 deq -> -22
END
json 1 "values of errors are negative numbers" "
	[o['results'] for p in v['partitions'] for o in p['story']['cast']
		if o['text'] == 'deq() -> -22'] == [[-22], [-22]]"
# In EDN an operation begins in a line of its own, or not.
cat >h.edn <<'END'
{:type :invoke, :f :write, :value 1, :process 0}

{:type :ok, :f :write, :value 1, :process 0} {:type :invoke, :f :read, :value nil, :process 4}
  {:type :ok, :f :read, :value 7, :process 4}
END
run check --json "$specs/register.lin" h.edn
python3 -c "import json
cast = json.load(open('out'))['partitions'][0]['story']['cast']
assert [(c['thread'], c['text'], c['source']['line']) for c in cast] == [(4, 'read() -> 7', 3)]
line = open('h.edn').read().split('\n')[2]
assert line[cast[0]['source']['column'] - 1:].startswith(':read'), cast" 2>err
ktap_result $? "the story of an EDN history has its lines" "$(cat out err)"
spec=$specs/stack.lin
ops=100000 less=--work=100000000
# With sanitizers, times do not depend on the work.
! grep -q __asan_init "$KLIN" || ops=3000 less=--work=3000000
"$KLIN" gen --type=stack --ops=$ops --threads=16 --keys=2 --any >h.txt
json 3 "JSON of UNKNOWN has the reason" "v['verdict'] == 'UNKNOWN' and v['reason'] and
	[r['code'] for r in v['reasons']] == v['limits_met'] == ['work_limit']" $less
cp h.txt big.txt
spec=$specs/map.lin
cat >h.txt <<'END'
# clock seq
# first init
t18446744073709551615 @1 9223372036854775806 9223372036854775807 get 9223372036854775807 -> 5
t7 @1 9223372036854775808 18446744073709551614 get 9223372036854775808 -> 5
END
sed -i '1i # release 6.1.0-of-the-recording' h.txt
json 1 "the kernel is that of the recording" "v['kernel'] == '6.1.0-of-the-recording'"
sed -i 1d h.txt
json 1 "numbers of 2^63 and more are strings, smaller ones are not" "
	sorted(str(p['key']) for p in v['partitions']) == [str(2**63 - 1), str(2**63)] and
	sorted(type(p['key']).__name__ for p in v['partitions']) == ['int', 'str']"
json 1 "thread ids of 2^63 and more are strings" "
	[p.get('counterexample') for p in v['partitions'] if p['key'] == 2**63 - 1] == [[{
		'id': 0, 'source': {'file': 'h.txt', 'line': 3, 'text': open('h.txt').readlines()[2][:-1]},
		'thread': str(2**64 - 1), 'method': 'get', 'arguments': [2**63 - 1],
		'results': [5], 'text': 'get(9223372036854775807) -> 5',
		'call': 2**63 - 2, 'return': 2**63 - 1}]]"
sed -i 's/ 9223372036854775807 -> 5$/ 9223372036854775807 -> absent/' h.txt
json 1 "times of 2^63 and more are strings" "
	[p.get('counterexample') for p in v['partitions'] if p['key'] == str(2**63)] == [[{
		'id': 1, 'source': {'file': 'h.txt', 'line': 4, 'text': open('h.txt').readlines()[3][:-1]},
		'thread': 7, 'method': 'get', 'arguments': [str(2**63)],
		'results': [5], 'text': 'get(9223372036854775808) -> 5',
		'call': str(2**63), 'return': str(2**64 - 2)}]]"

# bytes NAME EXPECTED: a file whose name has these bytes, as printf writes them.
bytes()
{
	name=$(printf '%b' "$1")
	cp h.txt "$name"
	run check --json "$spec" "$name"
	python3 -c "import json, sys
v = json.load(open('out', encoding='utf-8'))
sys.exit(v['history'] != sys.argv[1].encode().decode('unicode_escape'))" "$2" 2>err
	ktap_result $? "a file name of the bytes $1" "$(grep '"history"' out)" "$(cat err)"
}
bytes 'a\0377b.txt' 'a\ufffdb.txt'
bytes '\0303\0251\0342\0202\0254\0360\0237\0230\0200' '\u00e9\u20ac\U0001f600'
bytes '\0300\0200\0355\0240\0200' '\ufffd\ufffd\ufffd\ufffd\ufffd'
bytes '\0364\0220\0200\0200\0342\0202' '\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd'
spec=$specs/stack.lin
mv big.txt h.txt
cp h.txt 'q"\.txt'
run check --json --work=10000000 "$spec" 'q"\.txt'
python3 -c "import json; assert json.load(open('out'))['history'] == 'q\"\\\\.txt'" 2>err
ktap_result $? "a file name with a quote in it" "$(head -n 3 out err)"

# ended WORD GREP-STATUS NAME LOOKS GEN-ARGUMENT...: whether the report says that the budget
# of shrinking was exhausted.
ended()
{
	word=$1 said=$2 name=$3 looks=$4
	shift 4
	"$KLIN" gen "$@" -o e.txt
	run check --full --work="$looks" e.txt
	mv out text
	run check --json --work="$looks" e.txt
	grep -q "^Shrinking ended at its limit of work; a smaller counterexample may exist" text
	if [ $? -eq "$said" ] && [ $status -eq 1 ] && grep -q "\"shrinking_ended\": *\"$word\"" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, expected '$word'" "$(tail -n 2 text)" \
			"$(grep -o '"shrinking_ended[^,}]*' out)"
	fi
}

# A violation that stays large: each trial searches the remaining operations.
ended work 0 "shrinking says that its budget of work ended" 2000000 \
	--type=deque --ops=300 --threads=6 --keys=8 --mutate=1
ended done 1 "shrinking that came to its end says nothing of a budget" 6000000000 \
	--type=queue --ops=300 --threads=6 --mutate=1
ktap_finish
