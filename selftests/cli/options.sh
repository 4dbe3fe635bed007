#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Wrong options are refused with a line that names them and the expected values.  Nothing is
# written then, and a failed write leaves no partial file.

. "$(dirname "$0")/common.sh"

"$KLIN" gen --ops=50 >h.txt
register=$specs/register.lin

ktap_header
expect 0 "help" --help
expect 0 "the version" --version
features=$(sed -n '4,$p' out)
ktap_result "$(grep -q "^on Linux $(uname -r), preemption [a-z]" out; echo $?)" \
	"the version comes with the kernel's release and preemption" "$features"
with=$(sed -n "s/^on Linux .*, with \(.*\)/, \1,/p" out)
for feature in BTF:/sys/kernel/btf/vmlinux klin.ko:/sys/module/klin; do
	name=${feature%:*}
	if [ -r "${feature#*:}" ]; then
		echo "$with" | grep -q ", $name,"
	else
		grep -q "^without .*$name (" out
	fi
	ktap_result $? "the version says whether the kernel has $name" "$features"
done
for command in $("$KLIN" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	expect 0 "$command --help" "$command" --help
done
refuse "an unknown command" "'nothing'" nothing
refuse "no history" "history" check
refuse "too many histories" "'h.txt'" check "$register" h.txt h.txt
refuse "an unknown option" "nothing" check --nothing h.txt
refuse "an unknown engine" "--engine=nothing" check --engine=nothing "$register" h.txt
# listed COMMAND OPTION: the README shows the output.
listed()
{
	run "$@"
	awk -v command="klin $*" '$0 == "    " command { found = 1; next }
		found && NF { sub(/^ +/, ""); print; begun = 1; next }
		begun { exit }' "$here/../../README" >told
	ktap_result "$([ $status -eq 0 ] && [ -s told ] && cmp -s out told; echo $?)" \
		"the README has what klin $* prints" "$(diff out told)"
}
listed check --engine=help
listed convert --from=help
refuse "an unknown memory model" "--memory-model=arm" check --memory-model=arm "$register" h.txt
for engine in tso tso-oracle; do
	refuse "$engine without store buffers" "--engine=$engine requires --memory-model=tso" \
		check --memory-model=sc --engine=$engine "$register" h.txt
	refuse "no store buffers for $engine" "--engine=$engine requires --memory-model=tso" \
		check --engine=$engine --memory-model=sc "$register" h.txt
done
refuse "a number with letters" "--time-limit=1x" check --time-limit=1x "$register" h.txt
refuse "work with letters" "--work=1e9" check --work=1e9 "$register" h.txt
refuse "a negative number" "--threads=-1" check --threads=-1 "$register" h.txt
for number in +5 " 5" " -18446744073709551615" ""; do
	refuse "the number '$number'" "--work=.*: expected a number" check --work="$number" "$register" h.txt
done
refuse "a number too large" "--memory-limit=99999999999999999999" \
	check --memory-limit=99999999999999999999 "$register" h.txt
refuse "a missing value" "engine" check --engine
refuse "an unknown type" "specification nothing: .*klin spec --list" gen --type=nothing
refuse "a share above 100 %" "--pending=101" gen --pending=101
refuse "a wrong mix" "method" gen --mix=nothing=1
refuse "a weight with a sign" "METHOD=WEIGHT" gen --type=register --mix=read=+1
refuse "a weight too large" "below 1048576" gen --type=register --mix=read=1,write=1048577
refuse "an argument of klin gen" "'h.txt'" gen h.txt
refuse "a number without its option" "found '20'; a number has its option, as in --ops=20" \
	gen --ops 10 20
refuse "--spec, which klin check has not" "no option .--spec'; write .klin check \[SPEC.lin\] HIST" \
	check --spec=queue h.txt
refuse "a command in quotes" "did you mean .klin check queue h.txt', without quotes" \
	"check queue h.txt"
refuse "help behind its command" "did you mean .klin help explore'" explore help
refuse "a specification as the command" "did you mean .klin check queue HISTORY'" queue h.txt
refuse "an option of klin help" "help: '--json': expected a COMMAND" help --json
refuse "-- without a command" "expected a command before '--'" -- check
expect 0 "klin help -h" help -h
refuse "= between a specification and a history" "did you mean \`queue h.txt'" check queue=h.txt
refuse "two arguments in quotes" "did you mean \`queue h.txt', two arguments" check "queue h.txt"
refuse "a specification without the history in a pipe" "or - for standard input" check queue
refuse "an unknown form" "--to=xml" convert --to=xml h.txt x
refuse "klin replay without a certificate" "certificate" replay
refuse "a certificate that is a history" "h.txt:1:.*not a certificate" replay h.txt
refuse "two outputs in one file" "name one file: out.x" \
	check --certificate=out.x --counterexample=out.x "$register" h.txt
# People mistype names, and mix up files.
echo '{"kind": "invoke"}' >log.json
cp "$register" near.lin
"$KLIN" check --certificate=h.cert "$register" h.txt >out
"$KLIN" check --json "$register" h.txt >h.json
refuse "a misspelt spec in a folder" "did you mean the shipped logs/tally" check logs/taly h.txt
refuse "a misspelt model without its folder" "mean the shipped explore/treiber" explore treibr
refuse "a spec in a wrong folder" "did you mean the shipped queue" check spec/queue.lin h.txt
refuse "a spec in upper case" "did you mean the shipped queue" check QUEUE h.txt
refuse "a misspelt file of a spec" "did you mean ./near.lin" check ./naer.lin h.txt
refuse "a misspelt history" "did you mean h.txt" check "$register" h.tx
refuse "a spec and no history" "name a history after it" check queue
refuse "a history as the spec" "the file is a history" check h.txt "$register"
refuse "a spec as the history" "the file is a specification" check "$register" "$register"
refuse "a certificate as the history" "certificate: .klin replay FILE" check "$register" h.cert
refuse "a result as the history" "result of klin: .klin report FILE" check "$register" h.json
refuse "a result as the spec" "result of klin: .klin report FILE" check h.json h.txt
refuse "a log as the spec" "the file is a log" spec log.json
refuse "standard input twice" "standard input cannot be both" check - -
refuse "a misspelt command" "did you mean gen" gem
refuse "a misspelt --help" "did you mean --help" --hlep
refuse "a history as the command" "did you mean .klin check h.txt" h.txt
expect 0 "help help" help help
expect 0 "help --help" help --help
refuse "another form than --from" "h.txt: not a .klh file" check --from=klh "$register" h.txt
refuse "a followed certificate" "certificate: .klin replay FILE" check --follow "$register" h.cert
printf 'a,b\n\0\n' >zero.csv
refuse "a binary file as a log" "zero.csv: error: not a text: byte 4 is 0" check logs/tally zero.csv
refuse "a spec without probes" "'queue' has no probe clauses" list queue
refuse "no module" "--module=: expected" sites --module= f
refuse "a load, a duration and a command" "a command excludes --load and --duration" \
	record --load=user:pipe --duration=1 pipe -- true
refuse "an empty setting" "SETTING=VALUE before ',ops=5'" record --load=user:pipe,,ops=5 pipe
refuse "a misspelt engine" "did you mean log-linear" check --engine=log_linear "$register" h.txt
refuse "seconds with a unit" "a number of seconds" check --time-limit=5s "$register" h.txt
refuse "MiB with a unit" "a number of MiB" check --memory-limit=4G "$register" h.txt
refuse "a wrong size of the cache" "--cache=lru:x" check --engine=wgl --cache=lru:x "$register" h.txt
refuse "--partition and --no-partition" "exclude each other" \
	check --partition --no-partition "$register" h.txt
refuse "an option where a file should be" "requires FILE, but .--full" \
	check --certificate --full "$register" h.txt
refuse "an empty name of a file" "expected a file name" check --certificate= "$register" h.txt
refuse "an empty short option" "expected a file name" gen -o ""
for option in certificate counterexample; do
	untouched "--$option in place of the history" check --$option=h.txt "$register" h.txt
	refuse "--$option in place of the history" "would replace the input" \
		check --$option=h.txt "$register" h.txt
done
refuse "a page in place of the history" "would replace the input" report -o ./h.txt h.txt
refuse "a history in place of the spec" "would replace the input" gen --type=near.lin -o near.lin
refuse "a misspelt method" "did you mean deq" gen --type=queue --mix=dequ=1
refuse "a method without a weight" "METHOD=WEIGHT" gen --type=queue --mix=deq
refuse "a method twice" "named twice" gen --type=queue --mix=deq=1,deq=2
refuse "--where without --mutate" "--where requires --mutate" gen --where=early
refuse "more wrong results than operations" "at most --ops=10" gen --ops=10 --mutate=11
refuse "a misspelt role" "did you mean push" verify --roles=puhs:2 treiber
refuse "threads that are no number" "or any" verify --threads=all treiber
refuse "--outcomes and --histories" "exclude each other" explore --outcomes --histories fig5
mkdir -p none
refuse "a directory without tests" "expected files ..litmus" litmus none
refuse "a condition as an argument of its own" "--explain=CONDITION" litmus --explain "0:EAX=0"
refuse "a page of a certificate and a spec" "omit" report "$register" h.cert
refuse "an empty pattern" "empty argument" list ""
refuse "a pattern for klin new" "is a pattern" new "mutex_*"
refuse "a spec for klin new" "not the name of a function" new specs/mutex.lin
refuse "a function twice" "named twice" new mutex_lock mutex_lock
refuse "no debugging information" "--debug=nothing: No such file" list --debug=nothing "$register"
refuse "a load without user:" "did you mean user:pipe" record --load=pipe pipe
refuse "a misspelt setting of klin.ko" "did you mean subject" record --load=subjct=seqlock,ops=5 pipe
refuse "klin.ko and a setting" "did you mean threads" record --load=klin.ko,thread=5 pipe
refuse "a setting of klin.ko after CPUs" "did you mean threads" \
	record --load=cpus=0-1,3,thread=5 pipe
refuse "a misspelt load" "did you mean user:pipe" record --load=user:pip pipe
run record --clock=seq --clock-error=5 nothing.lin
grep -q "warning: --clock-error has an effect only with --clock=mono" err
ktap_result $? "a warning of an error of an exact clock" "$(cat err)"
refuse "the clock's error with a unit" "of nanoseconds" record --clock-error=5us pipe
refuse "a setting twice" "given twice" record --load=user:pipe,tasks=3,tasks=4 pipe
refuse "a misspelt setting" "did you mean tasks" record --load=user:pipe,task=3 pipe
refuse "a load and a setting with a colon" "a comma separates" record --load=user:pipe:tasks=4 pipe
refuse "a structure of klin.ko as the load" "as in --load=subject=seqlock" \
	record --load=seqlock seqlock
refuse "a setting without a value" "as in tasks=4" record --load=user:pipe,tasks pipe
refuse "a sample of none" "--sample=1/0" record --sample=1/0 pipe
refuse "a command without a spec" "expected a specification before" record --load=user:pipe -- true

# A command without what it needs names it, and prints its usage.
for command in check convert explore litmus monitor new record replay report rounds sites spec verify
do
	refuse "klin $command without arguments" "^klin $command: expected " $command
	ktap_result "$(grep -q "^Usage: klin $command " err; echo $?)" \
		"klin $command without arguments prints its usage" "$(cat err)"
done
refuse "an option that takes the last argument" "'treiber' is the value of --dot" \
	verify --dot treiber
refuse "klin convert with one file" "found only 'h.txt'" convert h.txt

# chosen VALUE NEAR ARGUMENT...: a mistyped value of an option is refused, and another suggested.
chosen()
{
	value=$1 near=$2
	shift 2
	refuse "the value $value" "=$value: expected .*; did you mean $near\?" "$@"
}
chosen tos tso check --memory-model=tos "$register" h.txt
chosen JSON json check --output=JSON "$register" h.txt
chosen alwayss always check --color=alwayss "$register" h.txt
chosen ys yes check --independent=ys "$register" h.txt
chosen symmetree symmetry explore --no-reduce=symmetree treiber
chosen symmetree symmetry verify --no-reduce=symmetree treiber
chosen earlyy early gen --where=earlyy --mutate=1
chosen fenty fentry record --attach=fenty pipe
chosen mnoo mono record --clock=mnoo pipe
chosen rates rate top --sort=rates
refuse "a file as the form of the output" "to write one, append >r.json" \
	check --output=r.json "$register" h.txt
refuse "--no-color" "did you mean .--color" check --no-color "$register" h.txt
refuse "an option after --" "options come before .--'" check -- "$register" h.txt --json
refuse "an option before the command" "options follow the command" --json check h.txt
refuse "an argument of --version" "expected no argument, found 'x'" --version x
refuse "an empty form of klin replay" "^klin: --from=: expected klh, text" replay --from= h.cert
refuse "an unknown form of klin replay" "^klin: --from=ednn: .*did you mean edn" \
	replay --from ednn h.cert
refuse "a misspelt option of klin replay" "did you mean .--spec'" replay --sepc=queue h.cert
refuse "an empty --spec" "--spec=: expected" replay --spec= h.cert
refuse "an empty --history" "--history=: expected" replay --history= h.cert
klin=$KLIN KLIN=$(dirname "$KLIN")/klin-replay
refuse "an empty --spec of klin-replay" "--spec=: expected" --spec= h.cert
refuse "an empty --history of klin-replay" "--history=: expected" --history= h.cert
KLIN=$klin
mv h.txt moved.txt
refuse "a misspelt certificate" "did you mean h.cert" replay h.crt
refuse "a certificate whose history was moved" "h.cert: cannot read .*; --history=FILE" replay h.cert
mv moved.txt h.txt
refuse "two outputs in one file of another name" "name one file: ./out.x" \
	check --certificate=out.x --counterexample=./out.x "$register" h.txt
refuse "a converted history in place of its input" "would replace the input" convert h.txt ./h.txt
refuse "a converted history in no directory" "nowhere/: No such file" convert h.txt nowhere/x
refuse "a form that is only read" "--to=limo: klin only reads" convert --to=limo h.txt x
refuse "no history block" "such as logs/tally" convert --spec=queue h.txt x
for command in verify explore; do
	refuse "klin $command of a specification alone" "no implementation: .*explore/treiber" \
		$command queue
done
refuse "a role after the last comma" "before and after each comma" verify --roles=push:2, treiber
refuse "an empty name of a spec" "the name is empty" check "" h.txt
refuse "an empty name of a history" "the name is empty" check "$register" ""
refuse "a spec of another ending" "did you mean the shipped queue" spec queue.lni
refuse "an object that is no number" "such as the address 0x" record --object=ffff8880 pipe
refuse "a short name that is like none" "spec --list' lists" spec nope
echo "X86 SB" >sb.litmus
refuse "a litmus test as the model" "a litmus test: .klin litmus FILE" explore sb.litmus
refuse "a litmus test as the history" "a litmus test: .klin litmus FILE" check "$register" sb.litmus
refuse "a litmus test without its ending" "did you mean sb.litmus" litmus sb
refuse "a specification as a litmus test" "a shipped specification" litmus queue
refuse "an empty condition" "--explain=: expected a condition" litmus --explain= sb.litmus
cp "$here/../litmus/SB.litmus" whole.litmus
run litmus none whole.litmus
ktap_result "$([ $status -eq 2 ] && grep -q "none: no test found" err; echo $?)" \
	"klin litmus notes a directory without tests among others" "$(cat err)"
refuse "--list and --dump" "exclude each other" spec --list --dump
refuse "debugging information that is no ELF file" "--debug=h.txt: expected an ELF file" \
	record --debug=h.txt pipe
refuse "no file with debugging information" "--debug=nothing: No such file" sites --debug=nothing f
refuse "a pattern for klin sites" "is a pattern" sites --debug="$KLIN" "write_*"
refuse "an empty outer function" "--in=: expected the name" sites --in= f
refuse "a module's file as its name" "such as klin; a file is named by --debug" \
	sites --module=klin.ko f
refuse "no BTF" "--btf=nothing: No such file" new --btf=nothing f
refuse "a CPU that is not there" "--cpu=511: this machine has" record --cpu=511 pipe
refuse "a command that is not there" "cannot run './nothing'" record pipe -- ./nothing
refuse "a command in no directory" "cannot run 'no_such_command'" monitor pipe no_such_command
refuse "no command after --" "expected a command after .--'" record pipe --
refuse "a file that is no command" "cannot run './h.txt'.*" record pipe -- ./h.txt
refuse "a recording of ten seconds" "at most 1000000, such as 0.5" record --duration=10s pipe
refuse "a spec of another variant" "did you mean --variant=trylock" rounds fig5_lock
refuse "methods in two arguments" "as in --mix=enq=1,deq=1" gen --type=queue --mix enq=1 deq=1
refuse "no socket" "--socket=: expected the path" top --once --socket=

# An output that cannot be written is refused before the work is done.
for command in "check --certificate=" "check --counterexample=" "check --follow --certificate=" \
		"report --output=" "gen --output=" "monitor --certificate=" "record --output="; do
	case $command in
	gen*)	input= ;;
	monitor*|record*) input=port_range ;;
	*)	input=h.txt ;;
	esac
	# shellcheck disable=SC2086 # commands are words
	refuse "${command}nowhere/x" "=nowhere/x: nowhere/: No such file" ${command}nowhere/x $input
	# shellcheck disable=SC2086
	refuse "${command}none" "=none is a directory" ${command}none $input
done
refuse "a picture in place of the model" "would replace the input" verify --dot=near.lin near.lin
refuse "a recording in place of the spec" "would replace the input" record -o near.lin near.lin
refuse "rounds in place of the spec" "would replace the input" rounds -o near.lin near.lin

# ignored NAME PATTERN ARGUMENT...: klin does it, and warns of an option without effect.
ignored()
{
	name=$1 pattern=$2
	shift 2
	run "$@"
	ktap_result "$([ $status -eq 0 ] && [ "$(wc -l <err)" -eq 1 ] &&
		grep -q -- "warning: $pattern" err; echo $?)" "$name" "$(cat err)"
}
ignored "an engine that another follows" "--engine=dfs has no effect, since --engine=wgl" \
	check --engine=dfs --engine wgl "$register" h.txt
ignored "a file that another follows" "--output=a has no effect" gen -o a --output=b --ops=3
ignored "a form that another follows" "--output=json has no effect" \
	check --json --output=ktap "$register" h.txt
ignored "text in a file of another form" "x.edn is written in klin's text form; --to=edn" \
	convert h.txt x.edn
ignored "text in a file of a form that klin does not write" \
	"x.json is written in klin's text form: klin writes no json" convert h.txt x.json
ignored "a history block for a history of klin's" "h.txt has the form text, so the history block" \
	convert --spec=logs/tally h.txt x
ignored "a run of no violation" "--shortest has no effect with --outcomes" \
	explore --outcomes --shortest fig5
expect 0 "the same option twice" check --engine=dfs --engine=dfs "$register" h.txt
refuse "klin record without a spec" "spec" record
refuse "klin record with a missing spec" "nothing.lin" record nothing.lin
refuse "an unknown way to attach" "--attach" record --attach=uprobe "$register"
refuse "a buffer of three pages" "power of two" record --buffer=3 "$register"
refuse "a wrong duration" "--duration" record --duration=-1 "$register"
refuse "a spec without probes" "no probe" record --duration=1 "$specs/deque.lin"
refuse "a wrong number of rounds" "--rounds=0" rounds --rounds=0 "$specs/fig5.lin"

# klin record is refused in a PID namespace, because klin cannot see all tasks from there.  The
# probed function does not exist, so nothing is attached in any case.
echo "spec s { word n; method m() { atomic { n = 1; } } } probe m on no_such_function() { }" >no.lin
if ! unshare -pf true 2>/dev/null; then
	ktap_skip "no recording in a PID namespace" "none can be made"
else
	timeout -k 5 1200 unshare -pf "$KLIN" record -o no.klh --duration=1 no.lin \
		>out 2>err </dev/null
	ktap_result "$([ $? -eq 4 ] && grep -q "PID namespace" err && [ ! -e no.klh ]; echo $?)" \
		"no recording in a PID namespace" "$(cat err)"
fi

echo "t0 @1 2 1 read -> 0" >bad.txt
untouched "nothing is written of a broken history" convert bad.txt kept
untouched "nothing is written in place of a broken history" convert nothing.txt kept
untouched "no certificate of a broken history" check --certificate=kept "$register" bad.txt
untouched "no recording by a broken spec" record -o kept --duration=1 bad.txt
untouched "nothing in a directory that is not there" gen -o nowhere/h.klh

# full NAME ARGUMENT...: standard output is full.
full()
{
	name=$1
	shift
	"$KLIN" "$@" >/dev/full 2>err
	status=$?
	if [ $status -eq 4 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "No space left" err; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status" "$(cat err)"
	fi
}

if [ -c /dev/full ]; then
	full "gen tells that the disk is full" gen
	full "check tells that the disk is full" check "$register" h.txt
	"$KLIN" gen --ops=50 --mutate=20 >wrong.txt
	run check "$register" wrong.txt
	ktap_result "$([ $status -eq 1 ]; echo $?)" "a violation, for the next test" "status $status"
	full "check tells that the disk is full for a violation" check "$register" wrong.txt
	full "check --json reports a full disk" check --json "$register" wrong.txt
	full "convert tells that the disk is full" convert h.txt -
else
	ktap_skip "what is said when the disk is full" "no /dev/full"
fi

(umask 027; "$KLIN" gen --ops=5 -o mode.txt; "$KLIN" gen --ops=5 -o mode.klh)
ktap_result "$([ "$(stat -c %a mode.txt mode.klh | tr '\n' ' ')" = "640 640 " ]; echo $?)" \
	"a file has the mode that the umask gives" "$(ls -l mode.*)"

# A device is written in place, not replaced.
if mknod null c 1 3 2>/dev/null && : >null 2>/dev/null; then
	run gen -o null
	ktap_result "$([ $status -eq 0 ] && [ -c null ]; echo $?)" "a device is written, not replaced"
else
	ktap_skip "a device is written, not replaced" "needs root, and a file system that allows devices"
fi
run gen registr
ktap_result "$([ $status -eq 2 ] && grep -q -- "found 'registr'; --type names" err; echo $?)" \
	"klin gen says which option names the kind of history" "$(cat err)"
ktap_finish
