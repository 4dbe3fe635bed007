#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin check --json: one object, with what the text says.

. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || ktap_skip_all "python3 not found, to read JSON with"

# json STATUS NAME CONDITION: of the verdict v on h.txt.
json()
{
	run check --json --time-limit=2 "$spec" h.txt
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
json 0 "linearizable" "v['verdict'] == 'LINEARIZABLE' and v['operations'] == 500 and \
	v['linearizable'] == len(v['partitions']) and v['spec'] == 'map'"
run check --json --certificate=h.cert "$spec" h.txt
python3 -c "import json
v = json.load(open('out'))
for key in 'read_seconds', 'check_seconds', 'certificate_seconds', 'user_seconds':
    assert 0 < v[key] < 60, key
assert 1 << 20 < v['peak_bytes'] < 1 << 30" 2>err
ktap_result $? "what it cost" "$(cat out err)"
"$KLIN" gen --type=map --ops=500 --threads=3 --mutate=40 >h.txt
json 1 "a violation" "v['verdict'] == 'VIOLATION' and v['violations'] > 0 and \
	any(p.get('oracle_agrees') and p['counterexample'] for p in v['partitions'])"
spec=$specs/queue.lin
"$KLIN" gen --type=queue --ops=100000 --threads=16 --keys=2 --any >h.txt
json 3 "unknown, with its reason" "v['verdict'] == 'UNKNOWN' and v['reason']"
cp h.txt 'q"\.txt'
run check --json --time-limit=1 "$spec" 'q"\.txt'
python3 -c "import json; assert json.load(open('out'))['history'] == 'q\"\\\\.txt'" 2>err
ktap_result $? "a file name with a quote in it" "$(head -n 3 out err)"
ktap_finish
