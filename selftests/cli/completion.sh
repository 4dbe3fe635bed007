#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The completions equal the output of tools/completion.  bash's and, where these shells are
# installed, zsh's and fish's complete commands, options, values and specifications.

. "$(dirname "$0")/common.sh"

top=$here/../..

ktap_header
if [ ! -e "$top/tools/completion" ] || [ "$(dirname "$KLIN")/klin" -ef "$top/build/san/klin" ]; then
	ktap_skip "completions" "they are made in klin's tree, from the usual build"
	ktap_finish
	exit
fi
"$top/tools/completion" "$work/made" >out 2>err
ktap_result "$([ $? -eq 0 ] && [ ! -s out ] && [ ! -s err ]; echo $?)" \
	"tools/completion succeeds without a message" "$(cat out err)"
for name in klin.bash _klin klin.fish; do
	cmp -s "made/$name" "$top/userspace/completion/$name"
	ktap_result $? "$name equals the output of tools/completion" \
		"run tools/completion, and commit what it writes"
done
PATH=$(cd "$(dirname "$KLIN")" && pwd):$PATH

# completes WORDS WANTED...: bash completes the last of the words with each WANTED.
completes()
{
	local words=$1
	shift
	for want; do
		if ! grep -qxF -- "$want" out; then
			ktap_fail "$words: $want" "$(head -n 20 out)"
			return
		fi
	done
	ktap_pass "$words"
}

# in_bash WORD...
in_bash()
{
	bash -c '. made/klin.bash
		compopt() { :; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_klin
		printf "%s\n" "${COMPREPLY[@]}"' - "$@" >out 2>&1
}

echo >history.txt
in_bash klin ch
completes "bash: klin ch" check
ktap_result "$([ "$(wc -l <out)" -eq 1 ]; echo $?)" "bash: klin ch is nothing else" "$(cat out)"
in_bash klin help ""
completes "bash: klin help" record new verify
in_bash klin check --e
completes "bash: klin check --e" --engine= --explain
in_bash klin check --engine = f
completes "bash: klin check --engine=f" frontier fifo
in_bash klin check --output = ""
completes "bash: klin check --output=" text json ktap junit
in_bash klin record --output = hi
completes "bash: klin record --output=hi" history.txt
in_bash klin explore expl
completes "bash: klin explore expl" explore/treiber
in_bash klin check --full hi
completes "bash: klin check --full hi" history.txt
in_bash klin replay hi
completes "bash: klin replay hi" history.txt

# Each option of each command is offered in all three.
"$KLIN" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >commands
while read -r command; do
	"$KLIN" "$command" --usage </dev/null | tr -s ' \t[]|,' '\n' |
		sed -n 's/^--\([a-z][a-z-]*\).*/\1/p' | sort -u >wanted
	in_bash klin "$command" --
	sed 's/^--//; s/=$//' out | sort -u >bash
	sed -n "/^    $command) _arguments/,/;;/s/^ *'--\([a-z-]*\).*/\1/p" made/_klin | sort -u >zsh
	sed -n "s/.*_from $command' -l \([a-z-]*\).*/\1/p" made/klin.fish | sort -u >fish
	ktap_result "$([ -s wanted ] && cmp -s wanted bash && cmp -s wanted zsh && cmp -s wanted fish
		echo $?)" "all options of klin $command" "$(diff wanted bash; diff wanted zsh; diff wanted fish)"
done <commands

if command -v zsh >/dev/null; then
	# zsh's completion runs in a terminal only, so the test stops at what it would be given.
	zsh -fc 'fpath=(made $fpath) words=(klin check --e) CURRENT=3
		_arguments() { print -l -- "$@" }
		_describe() { print -l -- "$@" }
		autoload -U _klin && _klin' >out 2>&1
	grep -q -- '^--engine=\[Use this engine only' out
	ktap_result $? "zsh: klin check --e" "$(head -n 5 out)"
else
	ktap_skip "zsh: klin check --e" "no zsh"
fi
if command -v fish >/dev/null; then
	fish -c 'source made/klin.fish; complete -C "klin check --engine="' >out 2>&1
	grep -q frontier out
	ktap_result $? "fish: klin check --engine=" "$(head -n 5 out)"
	fish -c 'source made/klin.fish; complete -C "klin ch"' >out 2>&1
	grep -q '^check' out
	ktap_result $? "fish: klin ch" "$(head -n 5 out)"
else
	ktap_skip "fish: klin check --engine=" "no fish"
fi
ktap_finish
