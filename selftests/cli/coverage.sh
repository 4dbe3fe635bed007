#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A violation that unseen calls may explain is UNKNOWN, with every kind of check.

. "$(dirname "$0")/common.sh"

# history WRITE READ: write h.txt, a history with a read of an unwritten value, and these coverages
# of write and read.
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

# ends STATUS NAME PATTERN [OPTION...]: klin check of h.txt ends with this status, and its output
# has the pattern.
ends()
{
	want=$1 name=$2 pattern=$3
	shift 3
	run check "$@" "$spec" h.txt
	if [ $status -eq "$want" ] && grep -qE -- "$pattern" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, expected $want and '$pattern'" "$(cat out err)"
	fi
}

ktap_header
spec=$specs/register.lin
history 'unknown "put(): nobody knows"' whole >h.txt
ends 3 "a writer of unknown coverage: UNKNOWN" \
	"^UNKNOWN \(a violation, unless calls of 'write' were missed.*0 violated, 1 unknown"
ends 3 "the clause is named" '^coverage of write: unknown, put\(\): nobody knows$'
ends 3 "the ways to know are named" '^  Advice: Record with debugging information \(--debug=FILE'
ends 3 "what would be wrong is shown" '^A violation, if all calls were seen:'
ends 3 "JSON" '"suspected": 1' --json
ends 3 "--follow" "^Suspected violation at time" --follow
ends 3 "--follow, its verdict" "^UNKNOWN \(a violation, unless calls of 'write'" --follow
ends 3 "--follow, the advice" '^Advice: Record with debugging information' --follow
ends 3 "--follow --json" '"verdict":"UNKNOWN","reason":"a violation, unless' --follow --json
ends 3 "--follow --json, cause and story" '"headline":".*' --follow --json
ends 3 "--follow --json, the advice" '"cause":"coverage","advice":' --follow --json
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
ends 1 "a reader of unknown coverage: VIOLATION" 'harmless, since the method writes nothing'
ends 1 "a reader of unknown coverage, --follow: VIOLATION" '^VIOLATION' --follow
history whole whole | sed 's/coverage write/coverage writes/' >h.txt
for follow in "" --follow; do
	run check $follow "$spec" h.txt
	grep -q "^h.txt: warning: .# coverage writes whole' .* no method 'writes'; did you mean 'write'?" err
	ktap_result $? "a warning of the coverage of no method $follow" "$(cat err)"
done
history whole whole | grep -v coverage >h.txt
ends 1 "a history that no probes recorded: VIOLATION" '^VIOLATION'
history 'unknown "x"' whole | sed 's/read -> 7/read -> 1/' >h.txt
ends 0 "an order stays one" '^LINEARIZABLE'

# Stores that may have waited in a store buffer, although the specification says that they do not.
cat >h.txt <<'END'
# klin history 1
# first init
# memory tso
# coverage enq undrained
# coverage deq undrained
t1 @0 10 20 enq 1
t2 @0 30 40 deq -> empty
t2 @0 50 60 deq -> 1
# end
END
spec=$specs/queue.lin
ends 3 "an undrained store: UNKNOWN" \
	"^UNKNOWN \(a violation, unless a store of 'enq' left the store buffer after its return"
ends 3 "an undrained store: the advice" '--memory-model=sc, or record with KLIN_CLOCK_LOCKED'
ends 3 "an undrained store: the story" "^A violation, if each operation's stores left the store"
ends 3 "an undrained store, --follow" '^Advice: If each operation ends with' --follow
ends 3 "an undrained store, JSON" '"cause": "undrained"' --json
ends 1 "without store buffers: VIOLATION" '^VIOLATION' --memory-model=sc
ends 1 "without store buffers, --follow: VIOLATION" '^VIOLATION' --memory-model=sc --follow
sed s/atomic_flush/atomic/ "$spec" >atomic.lin
spec=atomic.lin
ends 3 "a specification that lets the store wait needs no doubt" '^UNKNOWN .store buffers of cont'
spec=$specs/register.lin

for line in '7 whole' 'write some' 'write unknown "x' 'write unknown "x" y' 'write'; do
	printf '# klin history 1\n# coverage %s\nt1 @0 10 20 write 1\n' "$line" >h.txt
	run check "$specs/register.lin" h.txt
	ktap_result $((status != 2)) "refused: # coverage $line"
done

# covered NAME KIND PATTERN: klin list reports this coverage of put().
covered()
{
	run list --btf kernel.o --debug kernel.o clause.lin
	if [ $status -eq 0 ] && grep -qE "^  coverage $2: put\(\): $3" out; then
		ktap_pass "$1"
	else
		ktap_fail "$1" "expected $2: $3" "$(cat out err)"
	fi
}

# clause BODY-LINE...: write clause.lin, a spec with a clause on put() that has these lines, too.
clause()
{
	{
		echo "spec s { word x; method put(word v) { atomic { x = v; } } }"
		echo "probe put on put(r, v) { object r; argument v = v; $* }"
	} >clause.lin
}

cat >kernel.c <<'END'
struct reg { volatile long v; };
void out(void);
void put(struct reg *r, long v) { r->v = v; __asm__ volatile("" ::: "memory"); }
#ifdef LOOP
void writer(struct reg *r, long n) { for (long i = 0; i < n; i++) { out(); put(r, i); } }
#endif
void (*pointer)(struct reg *r, long v) = put;
END
# object OPTION...: compile kernel.c into kernel.o, with BTF and these options.
object()
{
	gcc -O2 -g -gbtf "$@" -c kernel.c -o kernel.o 2>/dev/null
}

if object; then
	clause
	covered "a function that is not inlined anywhere" whole "it is neither inlined nor cloned"
	object -DLOOP
	covered "an inlined instance is recorded, too" whole "1 inlined instance is recorded, too"
	grep -qE '^  kprobe  inlined put at writer\+0x' out
	ktap_result $? "klin list names the place of the inlined instance"
	clause "when v == 1 at return;"
	covered "data read at the return is not available in an inlined instance" unknown \
		"it is inlined at writer\+0x.*return"
	clause 'coverage asserted "by hand";' 'when v == 1 at return;'
	covered "debugging information overrides an assertion" unknown \
		"'by hand' is contradicted: it is inlined at writer\+0x[0-9a-f]+ \(kernel.c:5\), "
	clause 'coverage asserted "inlined in writers() alone";' 'when v == 1 at return;'
	covered "an assertion that names another function" unknown "'inlined.*' is contradicted"
	clause 'coverage asserted "inlined in writer() alone, at boot";' 'when v == 1 at return;'
	covered "an assertion that names the place of the inlined instance" asserted "inlined in writer\(\) alone, at boot"
	clause
	object -DLOOP -fno-inline
	covered "a function that is compiled without inlining" whole "it is neither inlined nor cloned"
	sed -i 's/^void put(/inline void put(/; 1i struct reg; extern void put(struct reg *r, long v);' kernel.c
	object -DLOOP -std=gnu11
	covered "a function of a header: other files may have copies" unknown "it is defined in a header"
	clause 'coverage asserted "by hand";'
	covered "a function of a header: an assertion about other files is believed" asserted "by hand"
	clause 'coverage asserted "by hand";' 'when v == 1 at return;'
	covered "a function of a header: an assertion that debugging information contradicts" unknown "'by hand' is contradicted: it is inlined at writer"
	clause
	gcc -O2 -g0 -c kernel.c -o bare.o 2>/dev/null
	run list --btf kernel.o --debug bare.o --debug kernel.o clause.lin
	grep -q "coverage unknown: put(): it is defined in a header" out
	ktap_result $? "several files, of which the second has debugging information"
	refuse "nine files" "expected 8 files at most" list --btf kernel.o \
		$(for i in 1 2 3 4 5 6 7 8 9; do printf -- "--debug=bare.o "; done) clause.lin
	gcc -O2 -gbtf -c kernel.c -o kernel.o 2>/dev/null
	run list --btf kernel.o clause.lin
	grep -q "coverage unknown: put(): it is not known where it is inlined" out
	ktap_result $? "without debugging information the coverage is unknown"
	for clone in isra.0 isra.0.cold constprop.0 part.0 llvm.12345 lto_priv.0 cold; do
		printf 'ffffffff810000%d0 t put%s\n' 1 "" 2 ".$clone" >symbols
		clause
		run list --btf kernel.o --symbols symbols clause.lin
		grep -q "coverage unknown: put(): " out &&
			{ [ $clone = cold ] || grep -q "cloned, as put.$clone, and" out; }
		ktap_result $? "a symbol put.$clone: the coverage is unknown"
		clause 'coverage asserted "by hand";'
		run list --btf kernel.o --symbols symbols clause.lin
		if [ $clone = cold ]; then
			grep -q "coverage asserted: put(): by hand" out
		else
			grep -q "coverage unknown: put(): 'by hand' is contradicted: it is cloned, as put.$clone" out
		fi
		ktap_result $? "a symbol put.$clone: the assertion is contradicted if it is a clone"
	done
else
	ktap_skip "coverage in a small object file" "$no_btf"
fi

# Check the specs' assertions, if `tools/coverage' has downloaded Debian's debugging
# information.
name="the coverage that shipped specs assert is right for Debian's kernel"
KLIN=$KLIN timeout 3000 "$here/../../tools/coverage" --check >out 2>err
case $? in
0) ktap_pass "$name" ;;
4) ktap_skip "$name" "run tools/coverage once, which downloads it" ;;
*) ktap_fail "$name" "$(grep -E 'WRONG|unknown' out; cat err)" ;;
esac
ktap_finish
