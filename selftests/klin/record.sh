#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin record: recording a command, and its end.  Refused arguments give one line with the
# reason, and no partial file.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

range=/proc/sys/net/ipv4/ip_local_port_range

# Each value that the command wrote appears in the history once.
test_command()
{
	name="klin record -- COMMAND: every operation of the command is recorded"
	old=$(cat $range)
	record "$work/c.txt" "$KLIN_SPECS/port_range.lin" -- sh -c \
		"for i in \$(seq 100); do echo \$((20000 + i)) \$((30000 + i)) >$range
		cat $range; done"
	status=$?
	echo "$old" >$range
	sets=$(grep -c ' set 20[01][0-9]* 30[01][0-9]* ' "$work/c.txt")
	gets=$(grep -c ' get -> 20[01][0-9]* 30[01][0-9]* ' "$work/c.txt")
	if [ $status -eq 0 ] && [ "$sets" -eq 100 ] && [ "$gets" -ge 100 ] && check "$work/c.txt"; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, $sets sets, $gets gets" \
			"$(cat "$work/record" "$work/check")"
	fi
	ktap_result "$([ "$(stat -c %a "$work/c.txt")" = 600 ]; echo $?)" \
		"only its owner can read a recording"
}

# A shell's read takes a byte at a time.  Such a text is no range.
test_short_reads()
{
	groups=/proc/sys/net/ipv4/ping_group_range
	old=$(cat $groups)
	record "$work/s.txt" "$KLIN_SPECS/ping_range.lin" -- sh -c \
		"for i in \$(seq 100 140); do echo 10 \$i >$groups; read -r _ <$groups; cat $groups; done"
	echo "$old" >$groups
	verdict "reads of a part of a sysctl are no operations" "$work/s.txt" 82
}

# klin moves to each CPU by sched_setaffinity() when a recording begins.
test_own_calls()
{
	cat >"$work/own.lin" <<-'END'
	spec affinity {
		word _mask;
		method set(word m) { atomic { _mask = m; } }
	}
	probe set on sched_setaffinity(pid, mask) { argument m = mask; }
	END
	record "$work/own.txt" "$work/own.lin" -- taskset -p 1 $$
	verdict "klin's own calls of a function leave a time to begin at" "$work/own.txt" 1
}

test_signal()
{
	name="an interrupted recording is complete and linearizable"
	"$KLIN" record -o "$work/i.klh" --load subject=seqlock,rate=2000 \
		"$KLIN_SPECS/seqlock.lin" >"$work/record" 2>&1 </dev/null &
	wait_for state_is running
	wait_for ops_done 500
	kill -TERM $!
	if wait $! && check "$work/i.klh" && [ "$(checked_ops)" -gt 100 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/record" "$work/check")"
	fi
}

# refused NAME WORDS ARGUMENT...: status 2, one message with WORDS, no file.
refused()
{
	name=$1 words=$2
	shift 2
	rm -f "$work"/no.klh*
	record "$work/no.klh" "$@"
	status=$?
	if [ $status -eq 2 ] && [ "$(grep -vc "^  " "$work/record")" -eq 1 ] &&
	   grep -q -- "$words" "$work/record" && [ -z "$(ls "$work"/no.klh* 2>/dev/null)" ]; then
		ktap_pass "refused: $name"
	else
		ktap_fail "refused: $name" "status $status, expected 2 and '$words'" \
			"$(cat "$work/record")" "$(ls "$work")"
	fi
}

spec()
{
	cat >"$work/bad.lin"
}

test_refusals()
{
	spec <<-'END'
	spec s { word x; method get() -> word v { atomic { return x; } } }
	probe get on no_such_function(a) { result v = return; }
	END
	refused "a function that is not there" "bad.lin:2:14: error: .*no_such_function" \
		--duration=1 "$work/bad.lin"
	spec <<-'END'
	spec s { word x; method get() -> word v { atomic { return x; } } }
	probe get on inet_get_local_port_range(net, lo, hi) { result v = net->nothing; }
	END
	refused "a field that is not there" "bad.lin:2:[0-9]*: error: .*nothing" \
		--duration=1 "$work/bad.lin"
	spec <<-'END'
	spec s { word x; method get() -> word v { atomic { return x; } } }
	END
	refused "a spec without probes" "no probe" --duration=1 "$work/bad.lin"
	refused "a load that is not there" "user:nothing" --load user:nothing \
		"$KLIN_SPECS/seqlock.lin"
	refused "a subject that is not there" "subject=nothing" --load subject=nothing \
		"$KLIN_SPECS/seqlock.lin"
	refused "a setting out of range" "mix=101" --load subject=seqlock,mix=101 \
		"$KLIN_SPECS/seqlock.lin"
	refused "a wrong setting of a load in user space" "readers" --load user:port_range,readers=x \
		"$KLIN_SPECS/port_range.lin"
}

test_no_module()
{
	unload || return
	refused "a load of klin.ko that is not loaded" "klin.ko" --load subject=seqlock \
		"$KLIN_SPECS/seqlock.lin"
	refused "tracepoints of klin.ko that is not loaded" "klin" --duration=1 \
		"$KLIN_SPECS/seqlock.lin"
}

ktap_header
need_root
need_klin
need_btf
need_function inet_get_local_port_range
need_module
ktap_plan 14
test_command
test_short_reads
test_own_calls
test_signal
test_refusals
test_no_module
ktap_finish
