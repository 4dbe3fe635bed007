#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Histories without operations.  One that describes itself as a history is linearizable; a
# recording without operations, or one that lost them, is UNKNOWN; an empty file is an
# error.  All commands and all forms agree.

. "$(dirname "$0")/common.sh"

register=$specs/register.lin
klin1='# klin history 1\n'

# status COMMAND...: print klin's exit status; its output is in out, its messages in err.
status()
{
	run "$@"
	echo $status
}

# agree NAME FORM CONTENT WANTED CONVERTED: compare the status of `check' with and without
# the form's name, following a pipe if it is text, after `convert', and with a certificate.
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
agree "a text with the header line" text "$klin1" 0 0
agree "a text with a first state" text '# first init\n' 0 0
agree "a text with a specification" text '# spec register\n' 0 0
agree "a text with an end line" text '# end\n' 0 0
agree "a vector of EDN" edn '[]\n' 0 0
agree "a list of EDN" edn '; none\n()' 0 0
agree "a recording" text "$klin1# coverage read whole\n" 3 0
agree "a recording without coverage lines" text "$klin1# release 6.1.0\n# attached fentry\n" 3 0
agree "only a gap" text "$klin1# gap from 5 to 8\n" 3 0
agree "comments alone" text '# a comment\n#\n' 2 2
agree "comments of EDN alone" edn '; a comment\n' 2 2
for form in text klh linp fptlin limo events jepsen edn; do
	agree "an empty file as $form" $form '' 2 2
	agree "a file of blanks as $form" $form ' \n\t\r\n' 2 2
	agree "a file with only a byte order mark as $form" $form '\357\273\277\n' 2 2
	: >history
	refuse "an empty file as $form" 'history: error: the file is empty' \
		check --from=$form "$register" history
done
# More blanks before a history than klin reads to recognize the form.
{ printf '%100000s\n' '' && printf 't1 @0 1 2 read -> 0\n'; } >history
expect 0 "a history after many blanks" check "$register" history
# A type that does not fit the specification is refused, with or without operations.
for type in '# stack' '# @object atomic-stack'; do
	echo "$type" >history
	expect 0 "$type" check history
	refuse "$type with the specification register" "method 'push'" check "$register" history
done
ktap_finish
