#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A violation that calls which no probe saw may explain is UNKNOWN, however it is checked.

. "$(dirname "$0")/common.sh"

# history WRITE READ: of a value that nobody wrote, recorded with these coverages
history()
{
	cat <<-END
	# klin history 1
	# first init
	# coverage write $1
	# coverage read $2
	t1 @0 10 20 write 1
	t2 @0 30 40 read -> 7
	# end
	END
}

# ends STATUS NAME PATTERN [OPTION...]: check h.txt
ends()
{
	want=$1 name=$2 pattern=$3
	shift 3
	run check "$@" "$specs/register.lin" h.txt
	if [ $status -eq "$want" ] && grep -qE -- "$pattern" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, expected $want and '$pattern'" "$(cat out err)"
	fi
}

ktap_header
history 'unknown "put(): nobody knows"' whole >h.txt
ends 3 "a writer of unknown coverage: UNKNOWN" \
	"^UNKNOWN \(a violation unless calls of 'write' passed by unseen.*0 violated, 1 unknown"
ends 3 "the clause is named" '^coverage of write: unknown, put\(\): nobody knows$'
ends 3 "the ways to know are named" '^To know, .*--debug=FILE'
ends 3 "what would be wrong is shown" '^A violation, if all calls were seen:'
ends 3 "JSON" '"suspected": 1' --json
ends 3 "--follow" "^Suspected violation at time" --follow
ends 3 "--follow, its verdict" "^UNKNOWN \(a violation unless calls of 'write'" --follow
ends 3 "--follow --json" '"verdict":"UNKNOWN","reason":"a violation unless' --follow --json
ends 3 "a certificate, and a counterexample" '^UNKNOWN' --certificate=c.cert --counterexample=c.txt
run replay --spec="$specs/register.lin" c.cert
ktap_result $((status != 3)) "the certificate claims no violation"
mv c.txt h.txt
ends 3 "the counterexample alone is UNKNOWN, too" '^UNKNOWN'
history 'unknown "put(): nobody knows"' whole >h.txt
run convert h.txt h.klh
mv h.klh h.txt
ends 3 ".klh has it" '^UNKNOWN'
ends 3 ".klh has it, --follow" '^UNKNOWN' --follow

history 'asserted "by hand"' whole >h.txt
ends 1 "a writer of asserted coverage: VIOLATION" '^coverage of write: asserted, by hand'
history whole 'unknown "get(): nobody knows"' >h.txt
ends 1 "a reader of unknown coverage: VIOLATION" 'it writes nothing, which does no harm'
ends 1 "a reader of unknown coverage, --follow: VIOLATION" '^VIOLATION' --follow
history whole whole | grep -v coverage >h.txt
ends 1 "a history that no probes recorded: VIOLATION" '^VIOLATION'
history 'unknown "x"' whole | sed 's/read -> 7/read -> 1/' >h.txt
ends 0 "an order stays one" '^LINEARIZABLE'

for line in '7 whole' 'write some' 'write unknown "x' 'write unknown "x" y' 'write'; do
	printf '# klin history 1\n# coverage %s\nt1 @0 10 20 write 1\n' "$line" >h.txt
	run check "$specs/register.lin" h.txt
	ktap_result $((status != 2)) "refused: # coverage $line"
done
ktap_finish
