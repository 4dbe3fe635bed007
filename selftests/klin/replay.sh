#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin replay accepts the certificates of real recordings, and rejects them after changes.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

# replay STATUS NAME FILE: klin replay ends with that status.
replay()
{
	"$KLIN" replay "$3" >"$work/replay" 2>&1
	status=$?
	if [ $status -eq "$1" ]; then
		ktap_pass "$2"
	else
		ktap_fail "$2" "status $status" "$(cut -c1-200 "$work/replay")"
	fi
}

# Change the line that begins with $1 by the awk statements $2.  They find the words of the line,
# with each operation in a word of its own, in word[1] to word[n].  The fields $1 to $NF would do, but
# busybox's awk builds the line anew for each field that is set.
tamper()
{
	awk -v start="$1" "
		index(\$0, start) == 1 && !done {
			done = 1
			m = split(\$0, range, \" \")
			n = 0
			for (k = 1; k <= m; k++) {
				split(range[k], a, \"+\")
				word[++n] = a[1]
				for (i = 1; k > 1 && i <= a[2]; i++)
					word[++n] = a[1] + i
			}
			$2
			for (k = 1; k <= n; k++)
				printf \"%s%s\", word[k], k < n ? \" \" : \"\n\"
			next
		}
		{ print }" "$work/cert" >"$work/tampered"
}

test_order()
{
	if ! record "$work/right.klh" --load "subject=$1,ops=20000" "$(spec_of "$1")" ||
	   ! check --certificate="$work/cert" "$work/right.klh"; then
		ktap_fail "$1: the order is accepted" "$(cat "$work/record" "$work/check")"
		for what in "a wrong order" "an order that lacks an operation" \
			"an order with an operation twice"; do
			ktap_fail "$1: $what is refused"
		done
		return
	fi
	replay 0 "$1: the order is accepted" "$work/cert"
	tamper order 't = word[10]; word[10] = word[n - 10]; word[n - 10] = t'
	replay 1 "$1: a wrong order is refused" "$work/tampered"
	tamper order 'word[n - 10] = ""'
	replay 1 "$1: an order that lacks an operation is refused" "$work/tampered"
	tamper order 'word[11] = word[10]'
	replay 1 "$1: an order with an operation twice is refused" "$work/tampered"
}

test_violation()
{
	tries
	while again; do
		record "$work/wrong.klh" --load "subject=$1,ops=10000,drain=16,seed=$try,delay=$try_delay" \
			"$(spec_of "$1")" || break
		check --work=50000000 --certificate="$work/cert" "$work/wrong.klh"
		status=$?
		# Retry if a single operation is the violation, since it cannot be reduced further.
		# Retry also if the violation could not be made small enough for the oracle, which
		# the replayer needs.
		[ $status -ne 1 ] || ! grep -q '^kept [0-9]* [0-9]' "$work/cert" ||
			! grep -q "oracle finds no order either" "$work/check" || break
	done
	if [ "${status:-}" != 1 ]; then
		ktap_fail "$1: the violation is accepted" "$(cat "$work/record" "$work/check")"
		for what in "for a recording without it" "without its operations"; do
			ktap_fail "$1: the violation is refused $what"
		done
		return
	fi
	replay 0 "$1: the violation is accepted" "$work/cert"
	# The certificate of the violation, for a recording that has no violation and another number
	# of operations.
	{
		sed -n '1,7p' "$2"
		sed -n '8,$p' "$work/cert"
	} >"$work/tampered"
	replay 2 "$1: the violation is refused for a recording without it" "$work/tampered"
	tamper kept 'n = 2'
	replay 1 "$1: the violation is refused without its operations" "$work/tampered"
}

ktap_header
need_root
need_klin
need_btf
need_module
ktap_plan 14
test_order seqlock
cp "$work/right.klh" "$work/seqlock.klh"
sed "s|^history .* sha256 |history $work/seqlock.klh sha256 |" "$work/cert" >"$work/seqlock.cert"
test_order ticket
cp "$work/right.klh" "$work/ticket.klh"
sed "s|^history .* sha256 |history $work/ticket.klh sha256 |" "$work/cert" >"$work/ticket.cert"
test_violation seqlock.no_retry "$work/seqlock.cert"
test_violation tas.plain "$work/ticket.cert"
ktap_finish
