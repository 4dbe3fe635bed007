#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Every command without memory: where an allocation fails the command ends with 4 and a
# message, or comes to what it comes to with memory; and no file is left half-written.
# Some allocations of each command are made to fail; with KLIN_RUNS from 20000 on, all are.

. "$(dirname "$0")/refuse.sh"

what=allocations
modes="KLIN_INJECT_ALLOC KLIN_INJECT_ALLOC_ON"
message=.

ktap_header
refused "check, a violation" "$KLIN" check --threads=1 --certificate=made/c \
	--counterexample=made/x.txt bad.txt
refused "check --json" "$KLIN" check --threads=1 --json bad.txt
refused "check, store buffers" "$KLIN" check --threads=1 slbad.txt
refused "check --follow" "$KLIN" check --follow followed.txt
refused "check --follow --json" "$KLIN" check --follow --json followed.txt
for pair in log-linear:s points:s ends:pq fifo:q lifo:st frontier:s dfs:s beam:s wgl:s tso:sl \
	oracle:small tso-oracle:small; do
	refused "check --engine=${pair%:*}" "$KLIN" check --threads=1 --engine="${pair%:*}" \
		"${pair#*:}.txt"
done
refused "replay" "$KLIN" replay q.cert
refused "replay, a violation" "$KLIN" replay bad.cert
refused "convert to .klh" "$KLIN" convert r.txt made/o.klh
refused "convert from .klh" "$KLIN" convert r.klh made/o.txt
refused "convert to linp" "$KLIN" convert --to=linp q.txt made/o.linp
for pair in linp:queue events:set edn:register jepsen:register free:kv; do
	refused "check of ${pair%:*}" "$KLIN" check --threads=1 "${pair#*:}" "${pair%:*}.txt"
	refused "convert from ${pair%:*}" "$KLIN" convert "${pair%:*}.txt" made/o.txt
done
refused "gen" "$KLIN" gen --type=queue --ops=50 -o made/g.txt
refused "gen to .klh" "$KLIN" gen --type=queue --ops=50 -o made/g.klh
refused "spec" "$KLIN" spec --dump port_range
refused "explore" "$KLIN" explore "$specs/explore/fig5.lin"
refused "explore --outcomes" "$KLIN" explore --outcomes "$specs/explore/fig5.lin"
refused "verify" "$KLIN" verify "$specs/verify/treiber_peek.lin"
refused "verify --json" "$KLIN" verify --json --dot=made/d.dot "$specs/verify/twolock.lin"
refused "litmus" "$KLIN" litmus sb.litmus
echo "struct ring { long head; } *task; long old_way(struct ring *r) { return r->head; }" >kernel.c
if gcc -gbtf -c kernel.c -o kernel.o 2>/dev/null; then
	refused "list" "$KLIN" list --btf kernel.o old_way
else
	ktap_skip "list" "$no_btf"
fi
if [ -x "$klind" ]; then
	refused "klind --check-config" "$klind" --check-config --config klind.conf
else
	ktap_skip "klind --check-config" "$no_klind"
fi
ktap_finish
