#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The manual pages equal the output of tools/man, and groff, man and mandoc show them without a
# warning.  Each command has one, with all of its options, the exit status and examples.  The examples
# work.

. "$(dirname "$0")/common.sh"

top=$here/../..

ktap_header
if [ ! -e "$top/tools/man" ] || [ "$(dirname "$KLIN")/klin" -ef "$top/build/san/klin" ]; then
	ktap_skip "manual pages" "they are made in klin's tree, from the usual build"
	ktap_finish
	exit
fi
"$top/tools/man" "$work/man" >out 2>err
ktap_result "$([ $? -eq 0 ] && [ ! -s out ] && [ ! -s err ]; echo $?)" \
	"tools/man succeeds without a message" "$(cat out err)"
for page in "$work"/man/*; do
	name=$(basename "$page")
	cmp -s "$page" "$top/userspace/man/$name"
	ktap_result $? "$name equals the output of tools/man" "run tools/man, and commit what it writes"
done
for page in "$top"/userspace/man/*; do
	name=$(basename "$page")
	[ -e "$work/man/$name" ] || ktap_fail "$name is not made by tools/man"
done

for page in "$work"/man/*.[18]; do
	name=$(basename "$page")
	for title in "EXIT STATUS" EXAMPLES; do
		grep -qx "\.SH $title" "$page"
		ktap_result $? "$name has the section $title"
	done
	awk '/^\.SH/ { examples = /EXAMPLES/; before = "" }
		examples && /^  / {
			if ($1 != "#" && !before)
				bare = 1
			before = $1
		}
		END { exit bare }' "$page"
	ktap_result $? "the examples of $name begin with a comment"
done

# The sorted names of the options in a text.
long_options()
{
	tr -s ' \t[]|,' '\n' | sed -n 's/^\(--[a-z][a-z-]*\).*/\1/p' | sort -u
}

# same_options PAGE: pass if it has the options that are in the file out, from --usage.
same_options()
{
	long_options <out >expected
	sed -n 's/^\.B //p' "$work/man/$1" | tr -d '\\' | long_options >found
	ktap_result "$([ -s expected ] && cmp -s expected found; echo $?)" \
		"$1 has the options of the program" "$(diff expected found)"
}
for command in $("$KLIN" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	run "$command" --usage
	same_options "klin-$command.1"
done
klind=$top/build/klind
"$klind" --usage >out 2>&1
same_options klind.8
# klind lists the keys of a section where it does not know one.
for section in klind "spec queue"; do
	printf '[%s]\nno-key = 1\n' "$section" >wrong.conf
	"$klind" --check-config --config wrong.conf >out 2>&1
	sed -n 's/.*: expected one of //p' out | tr -s ', ' '\n' | sort >expected
	tr -d '\\' <"$work/man/klind.conf.5" | sed -n 's/^[#. ]*\([a-z-]*\) = .*/\1/p' | sort -u >found
	comm -23 expected found >missing
	ktap_result "$([ -s expected ] && [ ! -s missing ]; echo $?)" \
		"klind.conf.5 has the keys of [$section]" "$(cat out missing)"
done

# The examples that need neither root, nor a kernel, nor debugging information.
PATH=$(cd "$(dirname "$KLIN")" && pwd):$PATH:.
ln -s "$top/specs" "$top/selftests" . && mkdir moved
for type in queue port_range seqlock fig5; do
	"$KLIN" gen --type=$type -o $type.klh
done
"$KLIN" convert queue.klh run.txt && cp run.txt moved && "$KLIN" convert run.txt run.klh
cp "$top/specs/logs/tally.lin" mine.lin
for type in invoke ok; do
	printf '{"process": 0, "type": "%s", "f": "add", "value": 3}\n' $type
done >log.json
printf '#!/bin/sh\ncat run.txt\n' >my-program && chmod +x my-program
for name in klin klin-check klin-convert klin-explore klin-gen klin-litmus klin-replay klin-spec \
		klin-verify; do
	sed -n '/^\.SH EXAMPLES/,/^\.fi/s/^  \([^#].*\)/\1/p' "$work/man/$name.1" |
		tr -d '\\' | grep -v "klin record" >examples
	while read -r line; do
		timeout -k 5 1200 sh -c "$line" >out 2>err </dev/null
		status=$?
		# klin check finds some wrong results only.
		case $line in
		*" --mutate="*) [ $status -le 1 ] ;;
		*) [ $status -eq 0 ] ;;
		esac
		ktap_result $? "$name: $line" "exit status $status" "$(head -n 5 err)"
	done <examples
done

if command -v groff >/dev/null; then
	for page in "$work"/man/*; do
		groff -man -Tutf8 -ww -z "$page" >out 2>&1
		ktap_result "$([ ! -s out ]; echo $?)" "groff shows $(basename "$page")" \
			"$(head -n 5 out)"
	done
else
	ktap_skip "groff shows the pages" "no groff"
fi
# complaint_free NAME: pass if the file out, where this program complains of pages, is empty.
complaint_free()
{
	ktap_result "$([ ! -s out ]; echo $?)" "$1 finds nothing wrong" "$(head -n 5 out)"
}
if command -v man >/dev/null; then
	man --warnings -E UTF-8 -l -Tutf8 -Z "$work"/man/* >shown 2>out
	complaint_free "man --warnings"
else
	ktap_skip "man --warnings" "no man"
fi
if command -v mandoc >/dev/null; then
	mandoc -T lint "$work"/man/* >out 2>&1
	complaint_free "mandoc -T lint"
else
	ktap_skip "mandoc -T lint" "no mandoc"
fi
ktap_finish
