# SPDX-License-Identifier: GPL-2.0
#
# The report of tools/bench-record, from the lines of tools/guest/bench-record:
#
#   function|way|events|best|mean|operations|seconds|reader's ns|recorded|lost|bytes
#
# Variables: form (table or json), accel (tcg, kvm, or count: ns are instructions), release,
# load, rounds, calls.

NF == 11 {
	n++
	for (i = 1; i <= NF; i++)
		field[n, i] = $i
	if ($2 == "bare") {
		if (!($1 in bare) || $4 < bare[$1])
			bare[$1] = $4
		next
	}
}

# Return: the cost of recording, in ns per operation.
function cost(row) { return field[row, 4] - bare[field[row, 1]] }

function cheapest(tool, whole,    row, c) {
	c = 0
	for (row = 1; row <= n; row++) {
		if (field[row, 1] != whole || index(field[row, 2], tool) != 1)
			continue
		# Leave out perf without events of returns, which klin records.
		if (tool == "perf" && field[row, 3] == 1)
			continue
		if (!c || cost(row) < c)
			c = cost(row)
	}
	return c
}

function ratio(row, by) { return by > 0 ? sprintf("%.2f", cost(row) / by) : "-" }

function ratio_or_null(row, by) { return by > 0 ? ratio(row, by) : "null" }

function table(    row, f, last) {
	printf "Cost of recording, kernel %s, %s", release, accel == "kvm" ? "KVM" : \
		accel == "count" ? "emulated (QEMU's TCG): ns are instructions" : \
		"emulated (QEMU's TCG): times are not those of hardware, compare within the table"
	printf "\n%d rounds of %d calls each way on CPU 0, ", rounds, calls
	if (accel == "count")
		print "reader there when it is idle"
	else
		printf "reader on CPU 1; host's load %s\n", load
	for (row = 1; row <= n; row++) {
		f = field[row, 1]
		if (f != last)
			printf "\n%-34s %2s %8s %8s %7s %9s %9s %7s %6s %8s\n", f "()", "ev", "ns/op",
				"of rec.", "of perf", "of bpftr.", "ops/s", "lost", "bytes", "reader"
		last = f
		if (field[row, 2] == "bare") {
			printf "%-34s %2s %8.0f\n", "  bare", "", field[row, 4]
			continue
		}
		printf "%-34s %2d %8.0f %8.0f %7s %9s %9.0f %7d %6d %8.0f\n", "  " field[row, 2],
			field[row, 3], field[row, 4], cost(row), ratio(row, perf[f]), ratio(row, bt[f]),
			field[row, 9] / field[row, 7], field[row, 10], field[row, 11],
			field[row, 8] / field[row, 6]
	}
	print "\nev: events an operation; of rec.: ns of recording; of perf, of bpftr.: that in parts" \
		"\nof the cheapest of theirs; bytes and reader's ns of CPU time: of an operation"
}

function json(    row, f, comma) {
	printf "{\n  \"kernel\": \"%s\", \"accelerator\": \"%s\", \"host_load\": %s,\n", release, accel, load
	printf "  \"rounds\": %d, \"calls\": %d,\n  \"rows\": [", rounds, calls
	for (row = 1; row <= n; row++) {
		f = field[row, 1]
		printf "%s\n    {\"function\": \"%s\", \"way\": \"%s\"", comma, f, field[row, 2]
		printf ", \"ns\": %.1f, \"ns_mean\": %.1f, \"operations\": %d", field[row, 4],
			field[row, 5], field[row, 6]
		if (field[row, 2] != "bare") {
			printf ", \"events\": %d, \"ns_recording\": %.1f, \"recorded\": %d",
				field[row, 3], cost(row), field[row, 9]
			printf ", \"lost\": %d, \"bytes\": %d, \"per_second\": %.0f", field[row, 10],
				field[row, 11], field[row, 9] / field[row, 7]
			printf ", \"reader_ns\": %.1f", field[row, 8] / field[row, 6]
			printf ", \"of_perf\": %s, \"of_bpftrace\": %s", ratio_or_null(row, perf[f]),
				ratio_or_null(row, bt[f])
		}
		printf "}"
		comma = ","
	}
	print "\n  ]\n}"
}

END {
	for (f in bare) {
		perf[f] = cheapest("perf", f)
		bt[f] = cheapest("bpftrace", f)
	}
	if (form == "json")
		json()
	else
		table()
}
