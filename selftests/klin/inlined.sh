#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes inside functions: at entries of inlined functions, and at offsets, with parameters
# from debugging information.  Places with uncertain data are refused.  The test uses the
# debugging information of klin.ko.
#
# The kernel turns such a breakpoint into a jump, and back, some time after klin has
# attached or detached, while any code may run.  QEMU before 8.1 can execute a stale
# breakpoint forever if code is patched while another CPU runs it.  With TCG this test needs
# -accel tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

debug=--debug=$KLIN_KO
ops=${KLIN_OPS:-$(amount 20000 100000)}

pair_spec()
{
	cat <<-END
	spec seqlock {
		word x1 = 0, x2 = 0;
		method write(word a, word b) { fence; atomic { x1 = a; x2 = b; } }
		method read() -> (word a, word b) { atomic { return (x1, x2); } }
	}
	probe write on $1
	probe read on klin_seqlock_read(p, a, b) {
		coverage asserted "noinline";
		object p;
		when return at return;
		result a = *a, b = *b;
		$2
	}
	END
}

inlined_write()
{
	pair_spec 'inlined write_seqlock(lock) in seqlock_write(p, a, b) {
		object (unsigned long)lock - offsetof(struct klin_pair, seqlock);
		argument a, b = (u64)b;
		coverage asserted "all writes of the subject are there";
	}' | sed 's/argument a, /argument a = a, /'
}

# pair NAME SUBJECT SPEC: each write is recorded, and the history is linearizable.
pair()
{
	if ! record "$work/p.klh" $debug --load "subject=$2,ops=$ops" "$3"; then
		ktap_fail "$1" "$(cat "$work/record")"
	elif [ "$(grep -cE 'lost 0, missed 0, gaps 0' "$work/record")" -ne 1 ] ||
	     ! grep -q "^$ops operations" "$work/record"; then
		ktap_fail "$1" "not all was recorded" "$(cat "$work/record" "$ctl/status")"
	else
		verdict "$1" "$work/p.klh" "$ops"
	fi
}

test_pair()
{
	inlined_write >"$work/inlined.lin"
	name="klin list names the place of an inlined function"
	if "$KLIN" list $debug "$work/inlined.lin" >"$work/out" 2>&1 &&
	   grep -q '^  kprobe  inlined write_seqlock at seqlock_write+0x[0-9a-f]* \[klin\]' "$work/out"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/out")"
	fi
	pair "probe on an inlined function: the correct seqlock is linearizable" \
		seqlock "$work/inlined.lin"

	offset=$("$KLIN" sites $debug --in=seqlock_write write_sequnlock |
		sed -n 's/^seqlock_write+\(0x[0-9a-f]*\) .*/\1/p')
	pair_spec "seqlock_write+$offset(p, a, b) { object p; argument a = a, b = b; }" \
		>"$work/offset.lin"
	pair "probe on an offset: the correct seqlock is linearizable" seqlock "$work/offset.lin"

	pair_spec 'klin_seqlock_write(p, a, b) { object p; argument a = a, b = b;
		point on inlined write_sequnlock in seqlock_write; }' >"$work/point.lin"
	pair "probe on a linearization point: the correct seqlock is linearizable" \
		seqlock "$work/point.lin"
	name="the recording has the linearization points"
	"$KLIN" convert "$work/p.klh" "$work/p.txt" >"$work/out" 2>&1
	if [ "$(grep ' write ' "$work/p.txt" | grep -c ' point=')" -gt $((ops / 10)) ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/out"; grep -m5 ' write ' "$work/p.txt")"
	fi
}

test_mutant()
{
	# shellcheck disable=SC2086 # an option or nothing
	caught seqlock.no_retry "$work/inlined.lin" $debug
}

# A function that is inlined into a loop: several calls while the outer function runs, more
# than the recorder keeps at a time.
test_loop()
{
	name="a function that is inlined into a loop is recorded at each turn"
	cat >"$work/loop.lin" <<-END
	spec numbers { word last; method parse(word v) { atomic { last = v; } } }
	probe parse on inlined kstrtou64(s) in klin_options_parse {
		argument v = number(s, 0);
	}
	END
	numbers="mix=11 rate=12 duration=13 ops=14 seed=15 delay=16 work=17 drain=18 lossless=19 paused=1"
	# All settings are parsed before the unknown subject is refused.
	record "$work/l.txt" $debug "$work/loop.lin" -- sh -c \
		"exec 2>/dev/null; for i in \$(seq 50); do echo seed=\$i mix=7 subject=none >$ctl/load
		echo $numbers subject=none >$ctl/load; done; :"
	status=$?
	[ -e "$work/l.txt" ] || touch "$work/l.txt"
	for v in 11 12 13 14 15 16 17 18 19; do
		[ "$(grep -c " parse $v " "$work/l.txt")" -ge 50 ] || status=$v
	done
	if [ $status -eq 0 ] && [ "$(grep -c '^t.* parse ' "$work/l.txt")" -eq 600 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(cat "$work/record")" "$(head -n 30 "$work/l.txt")"
	fi
}

# A register whose write the compiler inlined at seven of eight places.
register_spec()
{
	cat <<-END
	spec register {
		word x = 0;
		method write(word v) { atomic_flush { x = v; } }
		method read() -> word v { atomic { return x; } }
	}
	probe write on klin_register_put(r, v) { object r; argument v = v; $1 }
	probe read on klin_register_get(r) {
		coverage asserted "noinline";
		object r;
		result v = return;
	}
	END
}

# suspect SPEC OPTION...: repeat until a recording has reads of unseen writes; sets $status.
suspect()
{
	suspect_spec=$1
	shift
	tries
	while again; do
		record "$work/r.klh" "$@" --load \
			"subject=register,ops=5000,seed=$try,delay=$try_delay" "$suspect_spec"
		check "$work/r.klh"
		status=$?
		[ $status -eq 0 ] || return
	done
}

# The probe at the entry sees one of eight writes; the values of the others are unexplained.
test_unseen()
{
	name="without debugging information, inlined writes are unseen: UNKNOWN, no violation"
	suspect "$work/register.lin" --debug="$(command -v "$KLIN")"
	if [ $status -eq 3 ] && [ "$(status_of truth)" -eq 0 ] &&
	   grep -q "^UNKNOWN (a violation, unless calls of 'write' were missed" "$work/check" &&
	   grep -q -- '--debug=FILE' "$work/check" && grep -q 'coverage asserted "REASON"' "$work/check"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check")"
	fi
	name="a debug file of another build: the message has both build IDs"
	if grep -qE 'module klin with the build ID of the running one, [0-9a-f]{40}: .* has the build ID ([0-9a-f]{40}|none)' \
	     "$work/record"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# With debugging information all writes are seen; the first of the two files is of other
# code.
test_seen()
{
	name="with debugging information, inlined writes are recorded"
	if ! record "$work/r.klh" --debug="$(command -v "$KLIN")" $debug \
	     --load "subject=register,ops=2000" "$work/register.lin"; then
		ktap_fail "$name" "$(cat "$work/record")"
	elif ! grep -q "coverage whole: klin_register_put(): 1 inlined instance is recorded, too" \
	       "$work/record" || [ "$(status_of truth)" -ne 0 ]; then
		ktap_fail "$name" "$(cat "$work/record" "$ctl/status")"
	else
		verdict "$name" "$work/r.klh" "$(status_of ops)"
	fi
	caught register.stale "$work/register.lin" $debug
}

# The clause reads data at the return, which an inlined instance does not have.
test_contradicted()
{
	name="debugging information overrides a coverage assertion"
	register_spec 'when v > 0 at return; coverage asserted "by hand";' >"$work/asserted.lin"
	suspect "$work/asserted.lin" $debug
	if [ $status -eq 3 ] && grep -qE "coverage of write: unknown, .*'by hand' is contradicted: it is inlined at do_write\+0x[0-9a-f]+ \(register.c:[0-9]+\)" \
	     "$work/check"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check")"
	fi
}

# A live patch has its own copies of functions, with functions that are inlined into them.
test_patched()
{
	name="with a live patch, the coverage is unknown"
	patches=/sys/kernel/livepatch
	if [ ! -d $patches ] || ! mount -t tmpfs none $patches; then
		ktap_skip "$name" "this kernel has no live patches"
		return
	fi
	mkdir $patches/some_patch
	"$KLIN" list $debug "$work/register.lin" >"$work/patched" 2>&1
	umount $patches
	"$KLIN" list $debug "$work/register.lin" >"$work/out" 2>&1
	if grep -q "coverage unknown: klin_register_put(): .*the live patch some_patch" \
		"$work/patched" && grep -q "coverage whole: klin_register_put()" "$work/out"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/patched" "$work/out")"
	fi
}

# refused NAME WORDS: the clause on stdin is refused, with one line.
refused()
{
	{
		echo 'spec s { word x; method get() -> word v { atomic { return x; } } }'
		cat
	} >"$work/bad.lin"
	rm -f "$work"/no.klh*
	record "$work/no.klh" $debug --duration=1 "$work/bad.lin"
	status=$?
	if [ $status -eq 2 ] && [ "$(grep -vc "^  " "$work/record")" -eq 1 ] &&
	   grep -q -- "$2" "$work/record" && ! ls "$work"/no.klh* >/dev/null 2>&1; then
		ktap_pass "refused: $1"
	else
		ktap_fail "refused: $1" "status $status, expected 2 and '$2'" "$(cat "$work/record")"
	fi
}

test_refusals()
{
	refused "an entry that is not always executed" "inlined at seqlock_read+0x.*: its entry" <<-END
	probe get on inlined read_seqbegin(l) in seqlock_read { object l; result v = 1; }
	END
	refused "a function that is not inlined there" "not inlined in 'seqlock_write'" <<-END
	probe get on inlined read_seqbegin(l) in seqlock_write { object l; result v = 1; }
	END
	refused "a parameter that is not there" "has 1 parameters .*but the clause names 2" <<-END
	probe get on inlined write_seqlock(l, m) in seqlock_write { object m; result v = 1; }
	END
	refused "an offset beyond the function" "'klin_seqlock_read' ends before +0x10000" <<-END
	probe get on klin_seqlock_read+0x10000(p) { object p; result v = 1; }
	END
	refused "an offset inside of an instruction" "no instruction begins" <<-END
	probe get on klin_seqlock_read+0x1(p) { object p; result v = 1; }
	END
	refused "debugging information of another build" "build ID" <<-END
	probe get on inlined fdget(fd) in do_dup2 { result v = fd; }
	END
}

ktap_header
need_root
need_klin
need_btf
need_module
[ -n "$KLIN_KO" ] || ktap_skip_all "set KLIN_KO to the file of klin.ko, for its debugging information"
readelf -S "$KLIN_KO" 2>/dev/null | grep -q debug_info ||
	"$KLIN" sites $debug write_seqlock >/dev/null 2>&1 ||
	ktap_skip_all "$KLIN_KO has no debugging information"
ktap_plan 19
register_spec >"$work/register.lin"
test_unseen
test_seen
test_contradicted
test_patched
test_pair
test_mutant
test_loop
test_refusals
ktap_finish
