#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The examples of specs/README.  Each is written to the file that its first line names, and
# each command has the exit status that is given beside it.  Each message of its last section is
# the one that klin prints for the spec below it.

. "$(dirname "$0")/common.sh"

readme=$here/../../specs/README

ktap_header
if [ ! -e "$readme" ]; then
	ktap_skip "the examples of specs/README" "the tests are not in klin's tree"
	ktap_finish
	exit
fi

# A block begins with "// NAME.lin" or "# NAME.txt", and ends before a command or at the next
# line that is not indented.
awk '
	/^    \/\/ [a-z_]+\.lin$/ || /^    # [a-z_]+\.txt$/ {
		name = $2
		next
	}
	/^[^ ]/ || /^    (klin|sed) / { name = "" }
	name { sub(/^    /, ""); print >name }
' "$readme"

while IFS= read -r line; do
	command=${line#    }
	case $line in
	"    sed "*)
		sh -c "$command"
		ktap_result $? "$command"
		;;
	"    klin "*"# status "[0-4])
		want=${command##*# status }
		command=$(printf "%s" "${command%%#*}" | sed "s/ *$//")
		# The words of a command of the page have no quotes.
		# shellcheck disable=SC2086
		run ${command#klin }
		ktap_result "$([ "$status" = "$want" ]; echo $?)" "$command" \
			"exit status $status, expected $want" "$(head -n 20 err)" "$(head -n 20 out)"
		;;
	esac
done <"$readme"

# In this section a message is indented by 4, the spec that causes it by 8, and advice by more.
sed -n '/^Messages that beginners meet$/,$p' "$readme" |
	sed -n 's/^    \([^ ].*\)/message \1/p; s/^        \([^ ].*\)/text \1/p' >messages
message=
while read -r kind line; do
	if [ "$kind" = message ]; then
		[ -z "$message" ] || ktap_fail "$message" "no spec below it"
		message=$line
		continue
	fi
	printf "%s\n" "$line" >message.lin
	run spec message.lin
	sed -n 's/^message\.lin:[0-9]*:[0-9]*: error: //p' err >printed
	printf "%s\n" "$message" >expected
	ktap_result "$([ $status -eq 2 ] && cmp -s printed expected; echo $?)" "$message" \
		"exit status $status, expected 2" "$(cat err)"
	message=
done <messages
[ -s messages ] && [ -z "$message" ]
ktap_result $? "each message of specs/README has a spec" "$message"
ktap_finish
