#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The shipped models: `klin explore' and `klin verify' without options accept each one on
# the memory model that it is for.  The explorer's models are accepted on SC, too.  Each
# mutant in the file beside a model is caught and shown with a run.
#
# A file NAME.mutants has paragraphs of lines:
#	mutant WHAT		the mutant's fault
#	finds PATTERN		klin's report, a regular expression
#	on SC right		only TSO shows the fault
#	with OPTION...		options of the exploration
#	<tab>LINE		of the sed script that makes it out of NAME.lin

. "$(dirname "$0")/common.sh"
models=$specs/explore

# right FILE MODEL OPTION...: the model is accepted, on that memory model.
right()
{
	name="$(basename "$1") is LINEARIZABLE on $2" file=$1 on=$2
	shift 2
	run explore "$@" "$file"
	if [ $status -eq 0 ] && [ ! -s err ] &&
	   grep -q ": LINEARIZABLE: [0-9] threads on $on, all [0-9]* states\$" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin explore $* $file: status $status" "$(head -n 5 out err)"
	fi
}

# says FILE: print SC or TSO, the memory model that the file's implementation is for.
says()
{
	if grep -q '^memory sc;' "$1"; then
		echo SC
	else
		echo TSO
	fi
}

# proved FILE: verified for any number of operations; the report names the memory model.
proved()
{
	name="$(basename "$1") is verified"
	line="Memory model sc, as the model says"
	[ "$(says "$1")" = SC ] || line="Memory model sc, but the model is for tso"
	run verify "$1"
	if [ $status -eq 0 ] && [ ! -s err ] && grep -q ': VERIFIED: ' out && grep -q "^$line" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "klin verify $1: status $status" "$(head -n 5 out err)"
	fi
}

# Make mutant number $2 of model $1: the file mutant.lin, and the variables what, finds, sc
# and options.
make_mutant()
{
	awk -v n="$2" '
		/^mutant / { at++ }
		at == n && /^\t/ { sub(/^\t/, ""); print }
	' "$models/$1.mutants" >script
	what=$(awk -v n="$2" '/^mutant / && ++at == n { sub(/^mutant /, ""); print }' \
		"$models/$1.mutants")
	finds=$(field "$1" "$2" 'finds')
	options=$(field "$1" "$2" 'with')
	sc=$(field "$1" "$2" 'on SC')
	sed -f script "$models/$1.lin" >mutant.lin
}

field()
{
	awk -v n="$2" -v key="$3 " '
		/^mutant / { at++ }
		at == n && index($0, key) == 1 { print substr($0, length(key) + 1) }
	' "$models/$1.mutants"
}

mutant()
{
	name="$1: $what"
	if cmp -s mutant.lin "$models/$1.lin"; then
		ktap_fail "$name" "the mutant is the original"
		return
	fi
	# shellcheck disable=SC2086 # several options
	run explore --full $options mutant.lin
	if [ $status -ne 1 ] || [ -s err ] ||
	   ! grep -qE "^mutant.lin: VIOLATION: $finds" out ||
	   ! grep -q '^A run, [0-9]* step' out || grep -q shortest out ||
	   [ "$(grep -cE '^ +[0-9]+  ' out)" -lt 2 ]; then
		ktap_fail "$name" "status $status" "$(head -n 5 out err)"
		return
	fi
	# The thread at fault makes the last step that is shown, or takes part in it.
	thread=$(sed -n '1s/^mutant.lin: VIOLATION: [a-z ]*: thread \([0-9]\): .*/T\1/p' out)
	last=$(awk '/^ +[0-9]+  / { step = "" } /^ / && !/^ +=>/ { step = step $0 } END { print step }' out)
	case "$last" in
	*"$thread"*) ;;
	*)	ktap_fail "$name" "$thread does not make the last step: $last"
		return ;;
	esac
	grep -v '^Again' out >plain
	# Endless runs are reported only after many runs are replayed, which takes long for mcs.
	# shellcheck disable=SC2086
	[ "$1" = mcs ] || run explore --full --hash-compact $options mutant.lin
	if ! grep -v '^Again' out | cmp -s - plain; then
		ktap_fail "$name" "with hashes for states another run" "$(head -n 5 out err)"
		return
	fi
	steps=$(sed -n 's/^A run, \([0-9]*\) step.*/\1/p' plain)
	# shellcheck disable=SC2086
	run explore --full --shortest $options mutant.lin
	least=$(sed -n 's/^The shortest run, \([0-9]*\) step.*/\1/p' out)
	if [ $status -ne 1 ] || [ -s err ] || [ "${least:-9999}" -gt "$steps" ]; then
		ktap_fail "$name" "--shortest: status $status, '$least' steps, not above $steps" \
			"$(head -n 5 out err)"
		return
	fi
	if [ "$sc" = right ]; then
		# shellcheck disable=SC2086
		run explore --memory-model=sc $options mutant.lin
		if [ $status -ne 0 ]; then
			ktap_fail "$name" "status $status on SC" "$(head -n 5 out err)"
			return
		fi
	fi
	ktap_pass "$name"
}

ktap_header
for file in "$models"/*.lin; do
	model=$(basename "$file" .lin)
	right "$file" "$(says "$file")"
	right "$file" SC --memory-model=sc
	total=$(grep -c '^mutant ' "$models/$model.mutants")
	[ "$total" -ge 2 ] || ktap_fail "$model has mutants" "$total found"
	i=0
	while [ $i -lt "$total" ]; do
		i=$((i + 1))
		make_mutant "$model" $i
		mutant "$model"
	done
done
for file in "$specs/verify"/*.lin; do
	right "$file" "$(says "$file")"
	proved "$file"
done
for model in treiber msqueue dglm; do
	proved "$models/$model.lin"
done
ktap_finish
