# SPDX-License-Identifier: GPL-2.0
#
# The report of tools/bench-drain, from the lines of tools/guest/bench-drain:
#
#	way|what the recording says|bare, barrier, wait or probe|rounds|hits|ns of a part
#
# Variables: form (table or json), accel (tcg or kvm), release, load, ahead.

BEGIN { FS = "|" }

NF == 6 && $4 > 0 {
	if (!($1 in rounds)) {
		way[++n] = $1
		says[$1] = $2
		kind[$1] = $3
		best[$1] = $6
	}
	rounds[$1] += $4
	hits[$1] += $5
	if ($6 < best[$1])
		best[$1] = $6
}

function million(w) { return hits[w] * 1e6 / rounds[w] }

# Return: true if the outcome, at its rate in way @v, would be frequent in the rounds of way @w.
function enough(v, w) { return hits[v] * rounds[w] >= ENOUGH * rounds[v] }

# Return: true if the outcome is frequent with a wait that takes at least as long as way @w.  Then
# the duration of @w is not the reason why its rounds lack the outcome.
function seen_slower(w,    i) {
	for (i = 1; i <= n; i++)
		if (kind[way[i]] == "wait" && best[way[i]] >= best[w] && enough(way[i], w))
			return 1
	return 0
}

function drains(w) {
	if (hits[w])
		return "no"
	if (kind[w] == "barrier")
		return enough(way[1], w) ? "yes" : "?"
	return kind[w] == "probe" && seen_slower(w) ? "yes" : "?"
}

# Return: true if the outcome was seen although way @w is a barrier, or claims to drain the buffer.
function wrong(w) { return hits[w] && (kind[w] == "barrier" || says[w] ~ /DRAINS/) }

function table(    i, w) {
	printf "Store buffering under probes, kernel %s, %s\n", release, accel == "kvm" ? "KVM" : \
		"emulated (QEMU's TCG): the store buffers are the\nhost's, and so is what drains them " \
		"(an emulated rdtsc or int3 does more than one of hardware)"
	printf "%d stores ahead, host's load %s\n\n", ahead, load
	printf "%-38s %9s %8s %11s %9s  %s\n", "way", "rounds", "hits", "per million", "ns", "drains"
	for (i = 1; i <= n; i++) {
		w = way[i]
		printf "%-38s %9d %8d %11.1f %9.0f  %s%s\n", w, rounds[w], hits[w], million(w), best[w],
			drains(w), wrong(w) ? "  WRONG" : ""
		if (says[w] != "-")
			printf "    it says: %s\n", says[w]
	}
	print "\nhits: rounds in which each thread's load missed the other's store, which a drain between" \
		"\nstore and load rules out; ns: one thread's part of a round, alone.  drains: `no' if there were hits;" \
		"\n`yes' if there were none, while rounds that only wait, as long or longer, had at least " \
		ENOUGH "\nin as many (of the barrier: bare ones); `?' if the figures do not tell."
}

function json(    i, w, comma) {
	printf "{\n  \"kernel\": \"%s\", \"accelerator\": \"%s\", \"host_load\": %s, \"ahead\": %d,\n",
		release, accel, load, ahead
	printf "  \"rows\": ["
	for (i = 1; i <= n; i++) {
		w = way[i]
		printf "%s\n    {\"way\": \"%s\", \"kind\": \"%s\", \"rounds\": %d, \"hits\": %d", comma, w,
			kind[w], rounds[w], hits[w]
		printf ", \"per_million\": %.1f, \"ns\": %.0f, \"drains\": %s", million(w), best[w],
			drains(w) == "?" ? "null" : drains(w) == "yes" ? "true" : "false"
		printf ", \"says\": %s}", says[w] == "-" ? "null" : "\"" says[w] "\""
		comma = ","
	}
	print "\n  ]\n}"
}

END {
	ENOUGH = 20
	if (form == "json")
		json()
	else
		table()
	for (w in rounds)
		if (wrong(w))
			exit 1
}
