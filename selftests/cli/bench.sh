#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tools/bench --quick: every row exists and every verdict is right.  The measured numbers
# are not checked.

. "$(dirname "$0")/common.sh"

top=$here/../..
[ -x "$top/tools/bench" ] || ktap_skip_all "tools/bench not found: not in klin's tree"
command -v python3 >/dev/null || ktap_skip_all "python3 not found, to read JSON with"
KLIN=$(realpath "$(command -v "$KLIN")")

# bench_of KLIN ARGUMENT...: run tools/bench with this klin; sets $status.
bench_of()
{
	klin=$1
	shift
	KLIN=$klin timeout 3000 "$top/tools/bench" "$@" >out 2>err </dev/null
	status=$?
}

bench()
{
	bench_of "$KLIN" "$@"
}

# rows CONDITION NAME: each row r of r.json satisfies the condition, which is Python.
rows()
{
	python3 -c "import json
r = json.load(open('r.json'))['rows']
names = {x['workload'] for x in r}
engines = {(x['workload'], x['engine']): x for x in r}
bad = [x for x in r if not ($1)]
assert not bad, bad" 2>err
	ktap_result $? "$2" "$(tail -n 5 err)"
}

ktap_header
bench --quick --json=r.json
ktap_result $status "tools/bench --quick succeeds" "status $status" "$(cat err)" "$(grep WRONG out)"
rows "x['problem'] is None" "no row has a problem"
rows "x['result'] in (None, 'memory', 'work', 'declined') or x['result'] == x['expected']" \
	"verdicts are those of the workloads, or a limit was reached"
rows "x['result'] is None or x['operations'] > 0 and x['peak_bytes'] > 1 << 20 and
	x['read_seconds'] > 0 and x['check_seconds'] > 0" "every run has its measurements"
rows "len(names) >= 30 and all((n, 'default') in engines for n in names)" \
	"the default engine ran on every workload"
rows "x['cores'] > 1 or x['workload'] != 'set 24 keys, random' or
	all(engines[x['workload'], e]['result'] == 'LINEARIZABLE'
	    for e in ('wgl', 'wgl+p', 'frontier', 'frontier+p', 'default'))" \
	"all engines decide the paper's workload"
rows "{x['expected'] for x in r} == {'LINEARIZABLE', 'VIOLATION'} and
	(x['expected'] != 'VIOLATION' or x['engine'] != 'default' or x['result'] == 'VIOLATION')" \
	"violations are found"
rows "x['engine'] != '2-cores' or x['cores'] == 2" "the variant 2-cores runs on two cores"

# The table has the rows of the JSON, in order.
python3 -c "import json
for x in json.load(open('r.json'))['rows']:
    print(x['engine'], x['result'] or '-')" >want
sed -n '/^workload/,/^$/p' out | sed 1d | grep . | cut -c 52-76 | awk '{ print $1, $2 }' >got
cmp -s want got
ktap_result $? "the table has the rows of the JSON" "$(diff want got | head -n 5)"

bench --quick --only='^queue' --json
ktap_result $status "--json prints JSON" "status $status" "$(cat err)"
python3 -c "import json
r = json.load(open('out'))['rows']
assert r and all(x['workload'].startswith('queue') for x in r)" 2>err
ktap_result $? "--only selects workloads" "$(cat err)"

# tools/bench fails if klin misses violations, or if klin fails.
cat >liar <<EOF
#!/bin/sh
"$KLIN" "\$@" | sed 's/"VIOLATION"/"LINEARIZABLE"/'
EOF
cat >broken <<EOF
#!/bin/sh
[ "\$1" != check ] || exit 4
exec "$KLIN" "\$@"
EOF
chmod +x liar broken
bench_of ./liar --quick --only='wrong early'
[ $status -eq 1 ] && grep -q 'WRONG: expected VIOLATION' out
ktap_result $? "a wrong verdict is an error" "status $status" "$(cat out err)"
bench_of ./broken --quick --only='^queue'
[ $status -eq 1 ] && grep -q 'WRONG: klin failed' out
ktap_result $? "a klin that fails is an error" "status $status" "$(cat out err)"
for args in --runs=0 --runs=x --time-limit= --memory-limit=-1 --nonsense nonsense \
	    --only=no-such-workload; do
	bench --quick $args
	[ $status -eq 2 ] && [ ! -s out ] && grep -q '^bench: ' err
	ktap_result $? "refused: $args" "status $status" "$(cat out err)"
done
ktap_finish
