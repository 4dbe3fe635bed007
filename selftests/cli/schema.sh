#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# All JSON of klin and klind is as userspace/report/klin-1.schema.json says: the results of each
# command with each verdict, and of all shipped specs.

. "$(dirname "$0")/common.sh"

schema=${KLIN_SCHEMA:-$here/../../userspace/report/klin-1.schema.json}
python3 -c "import jsonschema" 2>/dev/null ||
	ktap_skip_all "python3 has no jsonschema, to read the schema with (tools/deps tests)"
[ -e "$schema" ] || ktap_skip_all "$schema not found: set KLIN_SCHEMA to the schema's path"

# result STATUS NAME ARGUMENT...: klin ends with this status; its output is kept in NAME.json.
result()
{
	want=$1 name=$2
	shift 2
	run "$@"
	mv out "$name.json"
	[ $status -eq "$want" ] && [ -s "$name.json" ] ||
		ktap_fail "$name" "klin $*: status $status, expected $want" "$(head -n 3 err)"
}

ktap_header
missing=

# Histories: each spec, and each verdict.
for file in "$specs"/*.lin; do
	name=$(basename "$file" .lin)
	"$KLIN" gen --type="$file" --ops=40 --threads=3 --mutate=2 -o "$name.txt"
	run check --json --show=3 "$file" "$name.txt"
	mv out "spec-$name.json"
	[ -s "spec-$name.json" ] || ktap_fail "$name" "status $status" "$(head -n 3 err)"
done
"$KLIN" gen --type=queue --ops=300 --threads=3 --objects=120 -o good.klh
result 0 check-good check --json good.klh
"$KLIN" gen --type=map --ops=300 --threads=3 --keys=9 --points --pending=2 --any --mutate=2 -o keys.klh
result 1 check-keys check --json --show=9 keys.klh
"$KLIN" gen --type=stack --ops=3000 --threads=16 --keys=2 --any -o hard.klh
result 3 check-work check --json --work=1000000 hard.klh
# Sanitizers have memory of their own.
if ! grep -q __asan_init "$KLIN"; then
	"$KLIN" gen --type=queue --ops=200000 --threads=4 -o large.klh
	result 3 check-memory check --json --memory-limit=1 large.klh
fi
echo "# klin history 1" >none.txt
result 0 check-none check --json "$specs/queue.lin" none.txt
cat >gaps.txt <<'END'
# klin history 1
# release 6.1.0-test
# first init
# coverage write asserted "by hand"
# coverage read whole
# gap from 15 to 35 lost 1
t1 @7 10 20 write 1 cpu=1
t18446744073709551615 @7 30 9223372036854775808 read -> 9223372036854775809
# end
END
result 3 check-gaps check --json "$specs/register.lin" gaps.txt
cat >kernel.txt <<'END'
# klin history 1
# comm 1 klin test
# slab 0x7 kmalloc-64
# stack 4 write+0x10 [m]; kthread+0xd7
t1 @7 10 20 write 1 cpu=1 stack=4
t2 @7 30 40 read -> 2
END
result 1 check-kernel check --json "$specs/register.lin" kernel.txt
sed -i '/^# gap/d; s/asserted.*/unknown "nobody knows"/' gaps.txt
result 3 check-suspected check --json "$specs/register.lin" gaps.txt
cat >tso.txt <<'END'
# klin history 1
# first init
# memory tso
t1 @1 0 10 write 1 1 cpu=1
t2 @1 5 12 set_y 1 cpu=2
t1 @1 14 20 get_y -> 0 cpu=1
t2 @1 15 24 read -> 0 0 cpu=2
END
result 0 check-tso check --json "$specs/fig5.lin" tso.txt
result 1 check-sc check --json --memory-model=sc "$specs/fig5.lin" tso.txt
echo 't3 @1 60 70 read -> 3 1 cpu=3' >>tso.txt
result 1 check-tso-violation check --json "$specs/fig5.lin" tso.txt
cat >log.edn <<'END'
{:process :nemesis, :type :info, :f :start, :value nil, :time 7}
{:process 9, :type :invoke, :f :write, :value 4, :time 8}
{:process 9, :type :fail, :f :write, :value 4, :error "lost", :time 9}
{:process 0, :type :invoke, :f :write, :value "a"}
{:process 0, :type :ok, :f :write, :value "a"}
{:process :nemesis, :type :info, :f :kill}
{:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value [7 nil]}
END
result 1 check-edn check --json "$specs/register.lin" log.edn
cat >appends.edn <<'END'
{:process 0, :type :invoke, :f :append, :key "a", :value "x"}
{:process 0, :type :ok, :f :append, :key "a", :value "x"}
{:process 1, :type :invoke, :f :get, :key "a", :value nil}
{:process 1, :type :ok, :f :get, :key "a", :value "xx"}
END
result 1 check-appends check --json appends.edn

# Checks that run along.
"$KLIN" gen --type=queue --ops=500 --threads=3 --objects=3 --mutate=3 -o wrong.klh
result 1 follow-violation check --follow --json --show=2 wrong.klh
result 1 follow-certificate check --follow --json --certificate=c.cert wrong.klh
result 0 follow-good check --follow --json good.klh
result 3 follow-suspected check --follow --json "$specs/register.lin" gaps.txt
"$KLIN" gen --type=map --ops=500 --threads=3 --mutate=40 -o map.klh
result 1 follow-keys check --follow --json map.klh

# Models.
models=$specs/explore
result 0 explore-good explore --json "$models/seqlock.lin"
sed 's/write(word a, word b) { atomic {/write(word a, word b) { atomic_flush {/' \
	"$models/seqlock.lin" >wrong.lin
result 1 explore-wrong explore --json wrong.lin
result 1 explore-no-run explore --json --no-run wrong.lin
result 3 explore-memory explore --json --memory-limit=1 --threads=3 --ops=3 "$models/treiber.lin"
result 0 explore-outcomes explore --json --outcomes "$specs/explore/fig5.lin"
cat >limit.lin <<'END'
spec s { word x = 0; method w(word v) { atomic { x = v; } } method r() -> word { atomic { return x; } } }
shared word x = 0;
method w(word v) { word h; choose h in 0..300; x = v; }
method r() -> word { return x; }
thread a { call w(1); }
thread b { word v; v = call r(); }
END
result 3 explore-limit explore --json limit.lin
result 3 explore-outcomes-limit explore --json --outcomes limit.lin
result 0 verify-good verify --json "$specs/verify/treiber_peek.lin"
sed 's/x->next = t;/x->next = null;/' "$specs/verify/treiber_peek.lin" >alarm.lin
result 1 verify-wrong verify --json alarm.lin
result 3 verify-not-searched verify --json --no-confirm alarm.lin
result 3 verify-memory verify --json --memory-limit=1 "$specs/verify/harris.lin"

# Litmus tests.
cp "$here/../litmus/SB.litmus" .
cat >endless.litmus <<'END'
X86 endless
{ x=0; }
 P0        ;
 L:        ;
 INC [x]   ;
 JMP L     ;
exists ([x]=1)
END
echo X86 >bad.litmus
result 0 litmus-good litmus --json SB.litmus
result 0 litmus-story litmus --json --explain SB.litmus "$here/../litmus/locked-inc.litmus"
result 2 litmus-bad litmus --json --memory-limit=1 SB.litmus endless.litmus bad.litmus missing.litmus

# Places in debugging information.
cat >inlined.c <<'END'
#define INLINE static inline __attribute__((always_inline))
INLINE void put(volatile long *p, long v) { *p = v; }
INLINE void twice(volatile long *p, long v) { put(p, v); put(p, 7); }
void first(long *p, long v) { twice(p, v); }
END
if ${CC:-gcc} -O2 -g -c inlined.c -o inlined.o 2>err; then
	result 0 sites sites --json --debug=inlined.o put
else
	missing="$missing sites"
	ktap_skip "sites" "${CC:-gcc} does not compile"
fi

# The daemon's reports, as a unit test writes them.
reports=$(dirname "$(command -v "$KLIN")")/selftests/test_klind_reports
if [ -x "$reports" ]; then
	mkdir reports
	KLIN_REPORTS=$work/reports "$reports" >out 2>&1
	ktap_result $? "klind writes reports" "$(grep -v '^ok' out)"
	for file in reports/*; do
		[ ! -e "$file" ] || mv "$file" "klind-$(basename "$file")"
	done
else
	missing="$missing incident"
	ktap_skip "klind's reports" "$reports not found: run make unit-build"
fi

# Its answers to klin top, as another unit test writes them.
answers=$(dirname "$(command -v "$KLIN")")/selftests/test_top
if [ -x "$answers" ]; then
	KLIN_ANSWERS=$work "$answers" >out 2>&1
	ktap_result $? "klind's answers are made" "$(grep -v '^ok' out)"
else
	missing="$missing top top_story"
	ktap_skip "klind's answers" "$answers not found: run make unit-build"
fi

python3 "$here/schema.py" "$schema" "$missing" ./*.json >said 2>err
ktap_result $? "the schema is read" "$(cat err)"
while IFS=: read -r verdict name message; do
	ktap_result "$([ "$verdict" = ok ]; echo $?)" "$name" "$message"
done <said
ktap_finish
