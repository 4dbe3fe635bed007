#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Record each structure of an unmodified kernel in catalog.list that user space drives, and
# find it linearizable.  The reuse of a BPF hash map's elements is found as a violation.
# tools/catalog is the long form, with a table.  mutants.sh tests the structures that
# klin.ko drives.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

ops=${KLIN_CATALOG_OPS:-$(amount 3000 10000)}

test_entry()
{
	name="$1 under load $2 is linearizable"
	if record "$work/e.klh" --load "$2,ops=$ops" "$KLIN_SPECS/$1.lin"; then
		verdict "$name" "$work/e.klh" 1000
		return
	fi
	# The kernel may lack the functions.
	"$KLIN" list "$KLIN_SPECS/$1.lin" >"$work/list" 2>&1
	if [ $? -eq 2 ]; then
		ktap_skip "$name" "$(tail -n 1 "$work/list")"
	else
		ktap_fail "$name" "$(cat "$work/record")"
	fi
}

# Takes up to a minute, but nearly always the first recording shows the violation.
test_reuse()
{
	name="a violation is found in a BPF hash map that reuses elements during look-ups"
	case $(uname -r) in
	6.1.*) ;;
	*)	ktap_skip "$name" "known of 6.1, this is $(uname -r)"
		return ;;
	esac
	tries
	while again; do
		if ! record "$work/e.klh" --load "user:bpf_hash,ops=100000,seed=$try" \
		     "$KLIN_SPECS/bpf_hash.lin"; then
			break
		fi
		check "$work/e.klh"
		if [ $? -eq 1 ] && grep -q "no order explains this" "$work/check" &&
		   grep -q "oracle finds no order either" "$work/check"; then
			ktap_pass "$name" "recording $try"
			return
		fi
	done
	ktap_fail "$name" "$(cat "$work/record" "$work/check")"
}

ktap_header
need_root
need_klin
need_btf
awk '!/^#/ && $2 ~ /^user:/ && !$3 && !seen[$1]++ { print $1, $2 }' "$here/catalog.list" \
	>"$work/list.mine"
ktap_plan $(($(wc -l <"$work/list.mine") + 1))
while read -r spec load; do
	test_entry "$spec" "$load" </dev/null
done <"$work/list.mine"
test_reuse
ktap_finish
