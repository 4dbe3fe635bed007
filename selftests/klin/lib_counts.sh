# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# For tests of losses: specs for klin.ko's counters, and a comparison of klin record's
# numbers with klin.ko's own count.  To be sourced after klin.sh.

counter='spec counter {
	word n = 0;
	method inc() -> word old { atomic_flush { n += 1; return n - 1; } }
	method get() -> word v { atomic { return n; } }
}'

# The counter by its functions.
functions="$work/counter.lin"
cat >"$functions" <<END
$counter
probe inc on klin_counter_inc(counter) { object counter; result old = return; coverage asserted "noinline"; }
probe get on klin_counter_get(counter) { object counter; result v = return; coverage asserted "noinline"; }
END

# Two clauses for each method, of which one applies to a call: chosen by an argument, or by
# the result.
either="$work/either.lin"
cat >"$either" <<END
$counter
probe inc on klin_counter_inc(counter, worker) {
	coverage asserted "noinline";
	when worker == 0;
	object counter;
	result old = return;
}
probe inc on klin_counter_inc(counter, worker) {
	coverage asserted "noinline";
	when worker != 0;
	object counter;
	result old = return;
}
probe get on klin_counter_get(counter) {
	coverage asserted "noinline";
	when return % 2 == 0;
	object counter;
	result v = return;
}
probe get on klin_counter_get(counter) {
	coverage asserted "noinline";
	when return % 2 != 0;
	object counter;
	result v = return;
}
END

# Two clauses for each function, both of which make an operation.
both="$work/both.lin"
cat >"$both" <<'END'
spec counter {
	word n = 0;
	method inc() -> word old { atomic_flush { n += 1; return n - 1; } }
	method raised(word c) { atomic { } }
	method get() -> word v { atomic { return n; } }
	method got() -> word v { atomic { return n; } }
}
probe inc on klin_counter_inc(counter) { object counter; result old = return; coverage asserted "noinline"; }
probe get on klin_counter_get(counter) { object counter; result v = return; coverage asserted "noinline"; }
probe raised on klin_counter_inc(counter) { object counter; argument c = (u64)counter; coverage asserted "noinline"; }
probe got on klin_counter_get(counter) { object counter; result v = return; coverage asserted "noinline"; }
END

# said WORD: print the number that follows WORD in klin record's report.
said()
{
	sed -n "s/^\(.*, \)\{0,1\}$1 \([0-9]*\).*/\2/p" "$work/record"
}

# Print the number of calls that klin accounts for.
told()
{
	echo $(($(checked_ops) - $(said "without a call") + $(said lost) +
		$(said "calls missed")))
}

# judge NAME WHOLE: check $work/s.klh and the report of klin record.  If WHOLE is true, nothing
# may be missing.  Each of klin.ko's operations gives $each recorded operations.
each=1
judge()
{
	check --work=30000000 --show=1 "$work/s.klh"
	status=$?
	if [ "$(status_of truth)" -ne 0 ]; then
		ktap_fail "$1: no false alarm" "klin.ko's threads saw violations"
	elif [ $status -eq 0 ] || { [ $status -eq 3 ] && ! "$2"; }; then
		ktap_pass "$1: no false alarm" "$(said lost) lost, $(said missed) missed," \
			"$(sed -n 2p "$work/check")"
	else
		ktap_fail "$1: no false alarm" "status $status" "$(cat "$work/record" "$work/check")"
	fi
	expected=$(($(began) * each))
	if [ "$(told)" -eq $expected ]; then
		ktap_pass "$1: recorded, lost and missed operations add up" "$expected operations in all"
	else
		ktap_fail "$1: recorded, lost and missed operations add up" \
			"to $(told), not $expected" "$(cat "$work/record" "$work/check")"
	fi
}

not_recorded()
{
	ktap_fail "$1: no false alarm" "$(cat "$work/record")"
	ktap_fail "$1: recorded, lost and missed operations add up"
}

# record_while SUBJECT SETTINGS SPEC FUNCTION OPTION...: run FUNCTION during the recording;
# sets $meanwhile to its status.
record_while()
{
	load=subject=$1,lossless=0,$2 spec=$3 hostile=$4
	shift 4
	# shellcheck disable=SC2086 # an option or nothing
	"$KLIN" record $clock_error -v -o "$work/s.klh" --load "$load" "$@" "$spec" \
		>"$work/record" 2>&1 </dev/null &
	recorder=$!
	wait_for state_is running
	wait_for ops_done 100
	"$hostile"
	meanwhile=$?
	wait $recorder
}
