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
in_bash klin check --independent = ""
completes "bash: klin check --independent=" yes no
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
	sed -n "/^    $command) _arguments/,/;;/s/^ *'\(([^)]*)\)*--\([a-z-]*\).*/\2/p" made/_klin | sort -u >zsh
	sed -n "s/.*_from $command' -l \([a-z-]*\).*/\1/p" made/klin.fish | sort -u >fish
	ktap_result "$([ -s wanted ] && cmp -s wanted bash && cmp -s wanted zsh && cmp -s wanted fish
		echo $?)" "all options of klin $command" "$(diff wanted bash; diff wanted zsh; diff wanted fish)"
done <commands

if command -v zsh >/dev/null; then
	# zsh completes in a terminal only.  This one completes LINE before it reads a key, and ends.
	mkdir zdotdir
	cat >zdotdir/.zshrc <<-'END'
		fpath=(made $fpath)
		autoload -U compinit && compinit -u -D
		# All words that are offered end here.  With -O, -A and -D zsh only asks.
		compadd() {
			local -a hits
			if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
				builtin compadd -A hits "$@"
				print -l -- $hits >>out
			fi
			builtin compadd "$@"
		}
		zle -C offer complete-word _main_complete
		zle-line-init() {
			BUFFER=$LINE CURSOR=$#BUFFER
			zle offer
			exit
		}
		zle -N zle-line-init
	END
	# in_zsh LINE
	in_zsh()
	{
		: >out
		LINE=$1 ZDOTDIR=$work/zdotdir TERM=dumb timeout -k 5 1200 zsh -fc 'zmodload zsh/zpty && zpty zsh zsh -i
			while zpty -r zsh; do :; done' >screen 2>&1
	}
	in_zsh "klin ch"
	completes "zsh: klin ch" check
	in_zsh "klin check --e"
	completes "zsh: klin check --e" --engine --explain
	in_zsh "klin check --engine=f"
	completes "zsh: klin check --engine=f" frontier fifo
	in_zsh "klin check --independent="
	completes "zsh: klin check --independent=" yes no
	in_zsh "klin record -"
	completes "zsh: klin record -" -o --output
	in_zsh "klin record -o hi"
	completes "zsh: klin record -o hi" history.txt
	in_zsh "klin explore expl"
	completes "zsh: klin explore expl" explore/treiber
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
	fish -c 'source made/klin.fish; complete -C "klin explore expl"' >out 2>&1
	grep -q '^explore/treiber' out
	ktap_result $? "fish: klin explore expl" "$(head -n 5 out)"
else
	ktap_skip "fish: klin check --engine=" "no fish"
fi
ktap_finish
