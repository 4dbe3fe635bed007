#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Histories without operations: one that says what it is is linearizable, a recording that
# waited for them in vain or lost them is UNKNOWN, an empty file is an error; all commands and
# all forms agree.

. "$(dirname "$0")/common.sh"

register=$specs/register.lin
klin1='# klin history 1\n'

# status COMMAND...: of klin; what it printed is in out, its messages in err.
status()
{
	run "$@"
	echo $status
}

# agree NAME FORM CONTENT WANTED CONVERTED: what `check' ends with, by the form's name and
# without, following a pipe if it is text, after `convert', and with its certificate.
agree()
{
	name=$1 form=$2 content=$3 want=$4 converted=$5
	# shellcheck disable=SC2059 # the formats are these
	printf "$content" >history
	got="$(status check "$register" history) $(status check --from="$form" "$register" history)"
	wanted="$want $want"
	if [ "$form" = text ]; then
		timeout -k 5 1200 "$KLIN" check --follow "$register" - <history >out 2>err
		got="$got $?" wanted="$wanted $want"
	fi
	got="$got $(status convert history history.klh)" wanted="$wanted $converted"
	if [ "$converted" -eq 0 ]; then
		timeout -k 5 1200 "$KLIN" check --follow "$register" - <history.klh >out 2>err
		got="$got $? $(status check --certificate=cert "$register" history.klh)"
		got="$got $(status replay --spec="$register" cert)"
		got="$got $(status convert history.klh history)"
		got="$got $(status check "$register" history)"
		wanted="$wanted $want $want $want 0 $want"
	fi
	[ "$got" = "$wanted" ]
	ktap_result $? "$name" "statuses $got, expected $wanted" "$(cat out err)"
}

ktap_header
agree "a text that says so" text "$klin1" 0 0
agree "a text with a first state" text '# first init\n' 0 0
agree "a text with a specification" text '# spec register\n' 0 0
agree "a text that ends" text '# end\n' 0 0
agree "a vector of EDN" edn '[]\n' 0 0
agree "a list of EDN" edn '; none\n()' 0 0
agree "a recording" text "$klin1# coverage read whole\n" 3 0
agree "a recording of before coverage" text "$klin1# release 6.1.0\n# attached fentry\n" 3 0
agree "only a gap" text "$klin1# gap from 5 to 8\n" 3 0
agree "comments alone" text '# a comment\n#\n' 2 2
agree "comments of EDN alone" edn '; a comment\n' 2 2
for form in text klh linp fptlin limo events jepsen edn; do
	agree "no bytes as $form" $form '' 2 2
	agree "blanks as $form" $form ' \n\t\r\n' 2 2
	agree "a mark of UTF-8 as $form" $form '\357\273\277\n' 2 2
	: >history
	refuse "no bytes as $form" 'history: error: the file is empty' \
		check --from=$form "$register" history
done
# Blanks in front of a history, more than are looked at to tell its form.
{ printf '%100000s\n' '' && printf 't1 @0 1 2 read -> 0\n'; } >history
expect 0 "many blanks and a history" check "$register" history
# A type that the specification is not of is said so, operations or not.
for type in '# stack' '# @object atomic-stack'; do
	echo "$type" >history
	expect 0 "$type" check history
	refuse "$type is no register" "method 'push'" check "$register" history
done
ktap_finish
