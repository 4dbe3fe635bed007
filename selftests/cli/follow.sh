#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin check --follow: a growing file, a pipe, an interrupt, lines that are broken or too
# late, certificates, and refused arguments.

. "$(dirname "$0")/common.sh"

queue=$specs/queue.lin
"$KLIN" gen --type=queue --ops=4000 --threads=6 --keys=0 -o q.txt
"$KLIN" gen --type=set --ops=150000 --threads=6 --keys=50 -o s.klh
"$KLIN" gen --type=queue --ops=4000 --threads=6 --keys=0 --mutate=1 --where=early -o wrong.txt

ktap_header
# Logs of other programs are followed by the history block of a specification.
echo '{"process": 0, "type": "invoke", "f": "add", "value": 1}' >log.json
echo 'process,type,f,value' >log.csv
echo '{:process 0, :type :invoke, :f :write, :value 4}' >log.edn
for log in log.json log.csv; do
	refuse "--follow of $log" "klin's own form.* has a history block.*such as EDN, JSON or CSV: .* without --follow" \
		check --follow queue $log
done
refuse "--follow of log.edn" "this is of the form edn: " check --follow register log.edn

# wait_for PATTERN FILE: wait up to ten seconds until the file has the pattern.
wait_for()
{
	for _ in $(seq 100); do
		! grep -q -- "$1" "$2" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# follow FILE: run in the background, until it is killed or the file ends.  Without
# --foreground, timeout sends SIGCONT after an interrupt.  This could resume the process
# while LeakSanitizer has stopped it at its end, and LeakSanitizer would wait forever.
follow()
{
	timeout --foreground -k 5 1200 "$KLIN" check --follow "$@" >out 2>err </dev/null &
	follower=$!
}

# wait_read FILE: wait until the follower has read the whole file, so that an interrupt
# finds its operations.
wait_read()
{
	size=$(stat -c %s "$1")
	for _ in $(seq 300); do
		read -r pid <"/proc/$follower/task/$follower/children"
		for fd in "/proc/$pid/fd"/*; do
			if [ "$fd" -ef "$1" ] && grep -q "^pos:[[:space:]]*$size$" \
					"/proc/$pid/fdinfo/${fd##*/}"; then
				return 0
			fi
		done
		sleep 0.1
	done 2>/dev/null
	return 1
}

# Interrupt klin itself.  timeout may still be in its fork, and would end by the signal at
# once.
interrupt()
{
	read -r pid <"/proc/$follower/task/$follower/children"
	kill -INT "$pid"
}

# finish STATUS WORDS NAME: the follower ends with this status, and has printed the words.
# It may have said, once, that it waits for more of a file.
finish()
{
	wait $follower
	status=$?
	if [ $status -eq "$1" ] && grep -qE -- "$2" out &&
	   [ "$(grep -c ": waiting for more, until .*SIGINT" err)" -le 1 ] &&
	   ! grep -qv ": waiting for more, until " err; then
		ktap_pass "$3"
	else
		ktap_fail "$3" "status $status, expected $1 and '$2'" "$(cat out)" "$(cat err)"
	fi
}

# Half a line does not count as a line.
test_grows()
{
	head -c 50000 q.txt >grow.txt
	follow grow.txt
	wait_read grow.txt
	tail -c +50001 q.txt >>grow.txt
	echo "# end" >>grow.txt
	finish 0 '^LINEARIZABLE' "a growing text"
	head -c 100000 s.klh >grow.klh
	follow grow.klh
	wait_read grow.klh
	tail -c +100001 s.klh >>grow.klh
	finish 0 '50 of 50 partitions linearizable' "a growing .klh"
}

# Reports name the line and the input, and spell words as there, as a check of the whole does.
test_places()
{
	lines 't1 @1 0 10 write 0x1F\n# 1\nt2 @1 20 30 write 0x10\nt3 @1 40 50 read -> 0x1F\n'
	"$KLIN" check --follow register - <in.txt >out 2>err
	tr -s '\n ' '  ' <out >flat
	grep -q "t3's read() -> 0x1F saw 0x1F, which t2's write(0x10) had overwritten" flat &&
		grep -q '^  t3 .* line 6$' out && grep -q '^  t1 .* line 3$' out &&
		"$KLIN" check --follow --json register - <in.txt >json
	grep -q '"arguments":\["0x1F"\].*"source":{"file":"<stdin>","line":3}' json
	ktap_result $? "lines and spellings are those of the input" "$(cat out err json)"
}

# A log that a history block reads: half a record is waited for.
test_log()
{
	{
		echo '['
		printf '{"process": %s, "type": "%s", "f": "%s", "value": %s},\n' \
			0 invoke add 3 1 invoke read null 0 ok add 3
	} >log.json
	printf '{"process": 1, "type": "ok", "f": "read",\n "val' >>log.json
	cp log.json half.json
	pipe 2 "<stdin>:6:2: error: .*the end of this string" \
		"half a record at the end is an error" logs/tally <half.json
	follow logs/tally log.json
	wait_read log.json
	wait_for "^klin: log.json: waiting for more, until SIGINT .* as .- <FILE' or without" err
	ktap_result $? "klin says that it waits for more of a log, and what ends it" "$(cat err)"
	printf 'ue": 3}\n]' >>log.json
	finish 0 '^LINEARIZABLE' "a growing log in JSON, to the end of its list"
	pipe 0 '^LINEARIZABLE' "a log in a pipe" logs/tally <log.json
	sed 's/"value": 3}$/"value": 4}/' log.json | tr -d '[]' | sed 's/},\{0,1\}$/}/' >bad.json
	pipe 1 "t1's read\(\) -> 4 is wrong" "a log: a violation has its story" \
		--certificate=log.cert logs/tally <bad.json
	grep -q '^  t1 .* line 3$' out
	ktap_result $? "a log: the story names lines of the log" "$(cat out)"
	replay 0 log.cert "a log: klin replay accepts the certificate"
	cp log.cert.klh whole.klh
	for piece in 1 7 64; do
		dd ibs=$piece obs=$piece if=bad.json 2>/dev/null |
			timeout -k 5 1200 "$KLIN" check --follow --certificate=log.cert \
				logs/tally - >out 2>&1
		[ $? -eq 1 ] && cmp -s log.cert.klh whole.klh
		ktap_result $? "a log in pieces of $piece bytes: the same proof" "$(cat out)"
	done
	printf 'process,type,f,value\n0,invoke,add,3\n0,ok,add,3\n1,invoke,read,\n1,ok,read,4' >log.csv
	pipe 1 "read\(\) -> 4 is wrong" "a log in CSV, without a newline at its end" \
		logs/tally <log.csv
	cat >whole.lin <<-'END'
		spec cell { word x = 0; method put(word v) { atomic_flush { x = v; } }
		method get() -> word v { atomic { return x; } } }
		history { process .p; call at .c; return at .r;
		method put when .f == "put" { argument v = .v; }
		method get when .f == "get" { result v = .v; } }
	END
	echo 'p,f,v,c,r
	1,put,7,10,20
	2,get,7,12,22
	1,get,7,30,40' | tr -d '\t' >whole.csv
	pipe 0 '^LINEARIZABLE' "a log of whole operations" whole.lin <whole.csv
	echo '1,put,8,35,45' >>whole.csv
	pipe 2 'line|<stdin>:5: error: process t1 is called at 35 during another' \
		"a log of whole operations: two at once" whole.lin <whole.csv
	{ sed '2{h;d};3{G}' whole.csv | sed '$d'; echo '3,put,9,14,50'; } >late.csv
	pipe 0 '^LINEARIZABLE' "whole operations in order of return: --lateness" \
		--lateness=30 whole.lin <late.csv
}

test_at_once()
{
	head -n 3000 wrong.txt >grow.txt
	follow "$queue" grow.txt
	if wait_for "^  Proof: .* and the brute-force oracle" out && kill -0 $follower; then
		ktap_pass "a violation is reported while the history grows"
	else
		ktap_fail "a violation is reported while the history grows" "$(cat out err)"
	fi
	interrupt
	finish 1 '^VIOLATION so far' "an interrupt after a violation: VIOLATION so far"
}

# A monitor shows a violation by few operations; its story must not take these for all.
test_story()
{
	lines '# spelling 0x1 inbox\nt1 @1 10 15 enq 99999\nt1 @1 20 25 deq -> 99999\n'
	for i in $(seq 30); do
		echo "t2 @1 ${i}00 ${i}10 enq $i"
		echo "t2 @1 ${i}20 ${i}30 deq -> $i"
	done >>in.txt
	echo "t1 @1 990000 990005 deq -> 99999" >>in.txt
	pipe 1 'What is wrong:' "a violation found by a monitor has its story" "$queue" <in.txt
	tr -s '\n ' '  ' <out | grep -q "inbox): t1's deq() -> 99999 took 99999 a second time; "
	ktap_result $? "the story tells who took the value" "$(cat out)"
	pipe 1 '"symbol":"inbox"' "JSON of a violation names the object" --json "$queue" <in.txt
	# Now the window has forgotten the first operations.
	for i in $(seq 31 9000); do
		echo "t2 @1 ${i}00 ${i}10 enq $i"
		echo "t2 @1 ${i}20 ${i}30 deq -> $i"
	done >more.txt
	sed -i '$d' in.txt
	cat more.txt >>in.txt
	echo "t1 @1 990000 990005 deq -> 99999" >>in.txt
	pipe 1 '^Counterexample: 1 of' "a violation by an old value has its proof" "$queue" <in.txt
	! grep -q 'never\|No operation adds' out
	ktap_result $? "no story is told of operations that klin has forgotten" "$(cat out)"
}

# replay STATUS CERTIFICATE NAME: klin replay accepts the certificate, or refuses it.
replay()
{
	"$KLIN" replay "$2" >out 2>err
	status=$?
	ktap_result "$([ $status -eq "$1" ]; echo $?)" "$3" "status $status, expected $1" \
		"$(cat out err "$2")"
}

# The first violation has a certificate, and beside it a history of its own, from which klin
# replay checks it.  Both also hold when they are moved, and when the window has forgotten.
test_certificate()
{
	pipe 1 '^  Again: klin replay w.cert$' "the story names the certificate" \
		--certificate=w.cert <wrong.txt
	replay 0 w.cert "klin replay accepts the certificate of a violation in a stream"
	sed 's/^part VIOLATION/part LINEARIZABLE/; /^cut/d; /^kept/d' w.cert >c.cert
	replay 1 c.cert "a certificate with another verdict is refused"
	mkdir moved
	mv w.cert w.cert.klh moved
	replay 0 moved/w.cert "both files can be moved together"
	"$KLIN" check moved/w.cert.klh >out 2>err
	ktap_result "$([ $? -eq 1 ]; echo $?)" "the history shows the violation by itself" \
		"$(cat out err)"
	cp q.txt moved/w.cert.klh
	replay 2 moved/w.cert "the certificate is refused for another history"
	pipe 1 '"replay":"klin replay '"'old one'"'"' "JSON names the certificate" --json \
		--certificate="old one" "$queue" <in.txt
	replay 0 "old one" "klin replay accepts a violation whose beginning is forgotten"
	pipe 1 '^  Again: klin replay none$' "--show=0: the certificate is named" --show=0 \
		--certificate=none <wrong.txt
	pipe 0 '^LINEARIZABLE' "no violation" --certificate=good <q.txt
	ktap_result "$([ ! -e good ] && [ ! -e good.klh ]; echo $?)" \
		"without a violation no file is written"
	mkdir beside.klh
	timeout -k 5 1200 "$KLIN" check --follow --certificate=beside - <wrong.txt >out 2>err
	status=$?
	[ $status -eq 4 ] && grep -q "'beside.klh': Is a directory" err && ! grep -q Again out
	ktap_result $? "a certificate that cannot be written" "status $status" "$(cat out err)"
}

test_interrupt()
{
	head -n 2000 q.txt >grow.txt
	follow --json grow.txt
	wait_read grow.txt
	wait_for "^klin: grow.txt: waiting for more, until a line .# end' or SIGINT" err
	ktap_result $? "klin says that it waits for more of a text, and what ends it" "$(cat err)"
	interrupt
	finish 0 '"verdict":"LINEARIZABLE","whole":false.*"lag":' "an interrupt: the verdict so far"
}

# pipe STATUS WORDS NAME ARGUMENT...: klin check --follow ... - on stdin.
pipe()
{
	want=$1 words=$2 name=$3
	shift 3
	timeout -k 5 1200 "$KLIN" check --follow "$@" - >out 2>err
	status=$?
	if [ $status -eq "$want" ] && cat out err | grep -qE -- "$words" &&
	   [ "$(grep -vc "^  " err)" -le 1 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, expected $want and '$words'" "$(cat out)" \
			"$(cat err)"
	fi
}

# lines FORMAT: prepare the input of the next pipe.
lines()
{
	# shellcheck disable=SC2059 # the formats are these
	printf "# clock seq\n# first init\n$1" >in.txt
}

test_pipes()
{
	pipe 0 '^LINEARIZABLE' "a pipe" <q.txt
	pipe 0 '^LINEARIZABLE' "a .klh in a pipe" <s.klh
	head -c $(($(wc -c <s.klh) * 4 / 5)) s.klh >cut.klh
	pipe 0 '^LINEARIZABLE so far' "a truncated .klh: LINEARIZABLE so far" <cut.klh
	pipe 1 'events' "a violation, as JSON" --json <wrong.txt
	lines 't1 @1 1 2 enq 5\nt1 @1 3 x deq -> 5\n'
	pipe 2 "<stdin>:4:9: error: 'x': expected the time of the return" "a broken line" \
		"$queue" <in.txt
	lines 't1 @1 1 2 enq 5\nt1 @1 3 4 dequeue -> 5\n'
	pipe 2 "method 'dequeue', which spec 'queue' does not" "a method that the specification lacks" "$queue" <in.txt
	lines 't1 @1 1 2 enq 5\n'
	pipe 2 'carries no specification' "a history without a specification" <in.txt
	pipe 2 'the file is empty' "an empty pipe" "$queue" </dev/null
	lines 't1 @1 1 2 enq empty\n# end\n'
	pipe 2 "'v' of enq is a special value" "a special value as an argument" "$queue" <in.txt
	lines 't1 @1 1 2 add 5 -> 2\n# end\n'
	pipe 2 "'ok' of add is 2, spec 'set' expects a bool" "a bool that is neither 0 nor 1" "$specs/set.lin" <in.txt
	lines 't1 @1 3 4 deq -> full\n# end\n'
	pipe 1 'VIOLATION at the end' "a violation at the end" "$queue" <in.txt
}

# Operations in order of return: the floor bounds the calls that may still arrive.
test_order()
{
	first='t1 @1 5 6 enq 7\nt2 @1 8 9 deq -> 7\n'
	lines "$first"
	cp in.txt grow.txt
	follow "$queue" grow.txt
	wait_read grow.txt
	printf 't3 @1 1 10 enq 8\nt3 @1 11 12 deq -> 8\n# end\n' >>grow.txt
	finish 3 'UNKNOWN .*(lost|known)' "an operation that arrives too late: UNKNOWN"
	lines "${first}t3 @1 1 10 enq 8\nt3 @1 11 12 deq -> 8\n"
	pipe 0 '^LINEARIZABLE' "an operation that is late within --lateness" --lateness=20 "$queue" <in.txt
	lines "# floor 1\n${first}t3 @1 1 10 enq 8\n# floor 11\nt3 @1 11 12 deq -> 8\n"
	pipe 0 '^LINEARIZABLE' "an operation that is late within the floors" "$queue" <in.txt
	# No result is wrong before all operations that could explain it have arrived.
	lines "# floor 0\nt1 @1 5 6 deq -> 8\n# floor 4\n"
	cp in.txt grow.txt
	follow "$queue" grow.txt
	wait_read grow.txt
	printf 't2 @1 4 9 enq 8\n# floor 10\n# end\n' >>grow.txt
	finish 0 '^LINEARIZABLE' "an operation that explains an earlier result arrives after it"
}

# Header lines that grow: the first ones were passed on with the first operation.
test_late_header()
{
	lines "$(printf '# attached read  f  fentry+fexit, not drained\\n%.0s# | spec x\\n' 1 2 3 4 5)"
	printf 't1 @1 1 2 enq 5\n' >>in.txt
	cp in.txt grow.txt
	follow "$queue" grow.txt
	wait_read grow.txt
	printf '# attached f\n# | spec\nt1 @1 3 4 deq -> 5\n# end\n' >>grow.txt
	finish 0 '^LINEARIZABLE' "header lines after operations"
}

# Operations lost before the first one arrived may explain its result.
test_gap()
{
	lines '# gap from 1 to 9\n'
	cp in.txt grow.txt
	follow "$queue" grow.txt
	wait_read grow.txt
	printf 't1 @1 5 6 deq -> 8\n# end\n' >>grow.txt
	finish 3 'UNKNOWN .*lost' "a gap before the first operation: UNKNOWN"
	lines '# gap from 1 to 9\n'
	pipe 3 '^UNKNOWN .*lost' "a gap without operations: UNKNOWN" "$queue" <in.txt
}

ktap_plan 66
test_grows
test_gap
test_late_header
test_at_once
test_places
test_log
test_story
test_certificate
test_interrupt
test_pipes
test_order
refuse "a certificate that replaces the history" "would replace the input by s.klh" \
	check --follow --certificate=s "$queue" s.klh
refuse "a certificate on standard output" "expected a file's name" \
	check --follow --certificate=- "$queue" q.txt
refuse "--counterexample with --follow" "--counterexample and --follow exclude each other" \
	check --follow --counterexample=c "$queue" q.txt
refuse "--engine with --follow" "--engine and --follow exclude each other" \
	check --follow --engine=wgl "$queue" q.txt
refuse "--lateness without --follow" "--lateness requires --follow" check --lateness=5 "$queue" q.txt
refuse "a missing file" "nothing.txt" check --follow "$queue" nothing.txt
refuse "monitor without a spec" "expected a specification" monitor
ktap_finish
