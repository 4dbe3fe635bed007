#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Dependencies point one way: a folder of userspace/ includes only its own headers and those
# of folders that userspace/README lists above it.  Each folder is in that list.  The top
# level has what it has always had, besides dot files.  tools/README names all packages that a build
# needs, for other distributions.

. "$(dirname "$0")/common.sh"

top=$here/../..
ktap_header
if [ ! -e "$top/userspace/README" ]; then
	ktap_skip "folders" "the tests are not in klin's tree"
	ktap_finish
	exit
fi
cd "$top" || exit 1
sed -nE 's#^    ([a-z-]+)/ .*#\1#p' userspace/README >"$work/order"
find userspace -mindepth 2 -name '*.[ch]' | cut -d/ -f2 | sort -u >"$work/folders"
sort "$work/order" | comm -13 - "$work/folders" >"$work/unlisted"
ktap_result "$([ -s "$work/order" ] && [ ! -s "$work/unlisted" ]; echo $?)" \
	"each folder is in the list" "$(cat "$work/unlisted")"
grep -rnE '^#include "[a-z-]+/' userspace --include='*.[ch]' |
	awk -F: -v order="$work/order" '
	BEGIN { while ((getline name <order) > 0) at[name] = ++n }
	{
		split($1, path, "/")
		split($3, word, "\"")
		split(word[2], target, "/")
		if (target[1] in at && at[target[1]] > at[path[2]])
			print $1 ": " word[2]
	}' >"$work/upwards"
ktap_result "$([ ! -s "$work/upwards" ]; echo $?)" "no folder includes one further down" \
	"$(cat "$work/upwards")"
if git ls-files >"$work/files" 2>"$work/git" && [ -s "$work/files" ]; then
	cut -d/ -f1 "$work/files" | grep -v '^\.' | sort -u >"$work/top"
	printf '%s\n' Kbuild LICENSE Makefile README bpf kmod selftests specs tools userspace |
		sort >"$work/fixed"
	ktap_result "$(cmp -s "$work/top" "$work/fixed"; echo $?)" \
		"the top level has the fixed files and folders only" "$(cat "$work/top")"
else
	ktap_skip "the top level" "no list of files from git: $(cat "$work/git")"
fi

# The packages of tools/deps to build with, and the first column of the table.
awk '/^\t\[(userspace|bpf|module)\]=/ { in_group = 1; sub(/.*=/, "") }
	in_group {
		end = /"$/
		gsub(/"|\|[^ ]*/, "")
		for (i = 1; i <= NF; i++)
			print $i
		in_group = !end
	}' tools/deps | sort -u >"$work/needed"
sed -n '/^    Debian /,/^$/s/^    \([^ ].\{19\}\).*/\1/p' tools/README | tr -s ' ' '\n' |
	sort -u >"$work/named"
comm -23 "$work/needed" "$work/named" >"$work/unnamed"
ktap_result "$([ -s "$work/needed" ] && [ ! -s "$work/unnamed" ]; echo $?)" \
	"tools/README names each package that a build needs" "$(cat "$work/unnamed")"
ktap_finish
