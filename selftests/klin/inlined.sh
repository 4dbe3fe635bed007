#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes inside of functions: on the entries of others that were inlined into them, and on
# offsets, with the parameters that debugging information finds there; what cannot be told
# for certain is refused.  The module's own debugging information is used.
#
# The kernel makes a jump of such a breakpoint, and a breakpoint of the jump again, some
# time after klin attached or detached, whatever runs then.  QEMU before 8.1 can run a
# stale breakpoint for ever when code is patched that another CPU is executing: with TCG
# this test wants -accel tcg,thread=single.

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

# pair NAME SUBJECT SPEC: each write is recorded, and nothing is wrong with any.
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
	name="klin list has the place"
	if "$KLIN" list $debug "$work/inlined.lin" >"$work/out" 2>&1 &&
	   grep -q '^  kprobe  inlined write_seqlock at seqlock_write+0x[0-9a-f]* \[klin\]' "$work/out"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/out")"
	fi
	pair "writes by an inlined function: the correct twin passes" seqlock "$work/inlined.lin"

	offset=$("$KLIN" sites $debug --in=seqlock_write write_sequnlock |
		sed -n 's/^seqlock_write+\(0x[0-9a-f]*\) .*/\1/p')
	pair_spec "seqlock_write+$offset(p, a, b) { object p; argument a = a, b = b; }" \
		>"$work/offset.lin"
	pair "writes by an offset: the correct twin passes" seqlock "$work/offset.lin"

	pair_spec 'klin_seqlock_write(p, a, b) { object p; argument a = a, b = b;
		point on inlined write_sequnlock in seqlock_write; }' >"$work/point.lin"
	pair "writes with a linearization point" seqlock "$work/point.lin"
	name="the point is in the recording"
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

# Inlined into a loop: several in one call of the function, more than are kept at a time.
test_loop()
{
	name="one in a loop is recorded each time"
	cat >"$work/loop.lin" <<-END
	spec numbers { word last; method parse(word v) { atomic { last = v; } } }
	probe parse on inlined kstrtou64(s) in klin_options_parse {
		argument v = number(s, 0);
	}
	END
	numbers="mix=11 rate=12 duration=13 ops=14 seed=15 delay=16 work=17 drain=18 lossless=19 paused=1"
	# All is read before the subject, which there is not, is refused.
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

# A register whose write the compiler inlined seven times of eight.
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

# suspect SPEC OPTION...: some recording has reads of writes that passed by; sets $status.
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

# The probe on the entry sees one write of eight: what the others wrote comes from nowhere.
test_unseen()
{
	name="writes that pass by make no violation, without debugging information"
	suspect "$work/register.lin" --debug="$(command -v "$KLIN")"
	if [ $status -eq 3 ] && [ "$(status_of truth)" -eq 0 ] &&
	   grep -q "^UNKNOWN (a violation unless calls of 'write' passed by unseen" "$work/check" &&
	   grep -q -- '--debug=FILE' "$work/check" && grep -q 'coverage asserted "REASON"' "$work/check"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check")"
	fi
	name="a debug file of other code: both build IDs"
	if grep -qE 'module klin with the build ID of the one that runs, [0-9a-f]{40}: .* has the build ID ([0-9a-f]{40}|none)' \
	     "$work/record"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# With it all writes are seen; the first of two files is of other code.
test_seen()
{
	name="inlined writes are recorded with debugging information"
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

# What the clause reads at the return cannot be seen where it is inlined.
test_contradicted()
{
	name="debugging information wins over an assertion"
	register_spec 'when v > 0 at return; coverage asserted "by hand";' >"$work/asserted.lin"
	suspect "$work/asserted.lin" $debug
	if [ $status -eq 3 ] && grep -qE "coverage of write: unknown, .*'by hand' is contradicted: it is inlined at do_write\+0x[0-9a-f]+ \(register.c:[0-9]+\)" \
	     "$work/check"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check")"
	fi
}

# A live patch has functions of its own, with what the compiler inlined into them.
test_patched()
{
	name="with a live patch not all instances are known"
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

# refused NAME WORDS: the clause in the input is refused, with one line.
refused()
{
	{
		echo 'spec s { word x; method get() -> word v { atomic { return x; } } }'
		cat
	} >"$work/bad.lin"
	rm -f "$work"/no.klh*
	record "$work/no.klh" $debug --duration=1 "$work/bad.lin"
	status=$?
	if [ $status -eq 2 ] && [ "$(wc -l <"$work/record")" -eq 1 ] &&
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
	refused "a parameter that is not there" "has 1 parameters .*the clause names 2" <<-END
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
