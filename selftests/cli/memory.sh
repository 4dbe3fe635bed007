#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Every command without memory.  If an allocation fails, the command ends with 4 and a
# message, or with its usual result, and leaves no partial file.  The test lets some
# allocations of each command fail; with KLIN_RUNS from 20000 on, all of them.

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
refused "check --output=junit" "$KLIN" check --threads=1 --output=junit bad.txt
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
cat >kernel.c <<END
struct ring { long head; } *task;
void out(void);
void put(struct ring *r, long v) { r->head = v; __asm__ volatile("" ::: "memory"); }
void writer(struct ring *r, long n) { for (long i = 0; i < n; i++) { out(); put(r, i); } }
void (*pointer)(struct ring *r, long v) = put;
END
cat >clause.lin <<END
spec s { word x; method put(word v) { atomic { x = v; } } }
probe put on put(r, v) { object r; argument v = v; }
END
# Libraries read these files for klin.  Each command must report the lack of memory, once.
message="memory$"
lines=1
if gcc -O2 -g -c kernel.c -o debug.o; then
	refused "sites" "$KLIN" sites --debug=debug.o put
	refused "sites --json" "$KLIN" sites --json --debug=debug.o put
	# A known fault that is not klin's: libdw 0.188 aborts the program if it has no memory
	# to enlarge a unit's table of abbreviations, which has room for 41 at first: assert()
	# in resize_coordinator() of its lib/dynamicsizehash_concurrent.c.
	cat >many.c <<-END
	struct pair { long lock, a; unsigned int bit : 3; const char *name; };
	union either { int i; float f; } either;
	enum kind { ONE, TWO } kind;
	typedef int (*call)(const struct pair *, volatile int *, ...);
	static call calls[2];
	extern void other(void);
	extern int array[];
	static inline __attribute__((always_inline)) long put(struct pair *o, long v)
	{
		long old = o->a;
		{ int inner = v; *(volatile int *)&o->lock = inner; }
		*(volatile long *)&o->a = v;
		return old;
	}
	static __attribute__((noinline)) void alone(void) { other(); }
	static __attribute__((noinline)) int several(int n, ...)
	{
		static int count;
		return count += n + array[0];
	}
	void first(struct pair *o, long v)
	{
		if (v) {
			long w = v;
			put(o, w);
	again:
			alone();
			if (o->a)
				goto again;
		} else {
			put(o, 42);
		}
	}
	_Noreturn void last(void *restrict p, _Bool b)
	{
		for (;;)
			calls[b](p, p, several(1, 2), kind, either.f);
	}
	int (*pointer(void))(void) { return 0; }
	struct later;
	struct later *later(struct later *l, _Complex double *c, __int128 w) { return l; }
	END
	gcc -O2 -g -c many.c -o many.o
	known="resize_coordinator: Assertion \`htab->table' failed"
	# If all later allocations fail, the assertion's message cannot be printed either.
	modes=KLIN_INJECT_ALLOC
	refused "sites, many abbreviations" "$KLIN" sites --debug=many.o put
	modes="KLIN_INJECT_ALLOC KLIN_INJECT_ALLOC_ON"
	known=
else
	ktap_skip "sites" "no gcc"
fi
if gcc -O2 -g -gbtf -c kernel.c -o kernel.o 2>/dev/null; then
	refused "list" "$KLIN" list --btf kernel.o put
	refused "list, of a clause" "$KLIN" list --btf kernel.o clause.lin
	refused "list --debug" "$KLIN" list --btf kernel.o --debug=kernel.o clause.lin
else
	ktap_skip "list" "$no_btf"
fi
message=. lines=
if [ -x "$klind" ]; then
	refused "klind --check-config" "$klind" --check-config --config klind.conf
else
	ktap_skip "klind --check-config" "$no_klind"
fi
ktap_finish
