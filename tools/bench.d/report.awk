# SPDX-License-Identifier: GPL-2.0
#
# The report of tools/bench, from a line for each run:
#
#   workload spec expected-verdict variant options by-key cores exit-status
#   verdict reason operations partitions read check total certificate user peak
#
# Variables: form (table or json), time_limit, memory_limit, runs, cpus, model.

function median(what, row,    n, i, k, v, sorted)
{
	n = count[row]
	for (i = 1; i <= n; i++) {
		v = value[row, what, i]
		for (k = i - 1; k > 0 && sorted[k] > v; k--)
			sorted[k + 1] = sorted[k]
		sorted[k + 1] = v
	}
	return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

# The result of a row in a word: a verdict, the limit that was reached, "declined" by the
# engine, or "-" if klin refused the options.
function result_of(verdict, reason, status)
{
	if (status == 2)
		return "-"
	if (status == 124 || status == 137 || reason ~ /^time limit/)
		return "time"
	if (reason ~ /^memory limit/)
		return "memory"
	if (reason ~ /^limit of [0-9]+ looks reached/)
		return "work"
	if (verdict == "UNKNOWN")
		return "declined"
	return verdict == "" ? "failed" : verdict
}

# Return: what is wrong with a row, or "" if it is right.
function judge(row,    parts)
{
	parts = partitions[row]
	if (result[row] == "failed")
		return "klin failed"
	if (decided(row) && result[row] != expected[row])
		return "expected " expected[row]
	if (result[row] == "declined" && variant[row] == "default")
		return reason[row]
	if (result[row] == "-" || parts == 0)
		return ""
	if (by_key[row] == "yes" && parts == 1)
		return "not split by key"
	if (by_key[row] != "yes" && parts != 1)
		return "split by key"
	return ""
}

function decided(row)
{
	return result[row] ~ /^(LINEARIZABLE|VIOLATION)$/
}

# Return: the speed relative to plain WGL; a bound ">..." if WGL reached a limit.
function ratio(row,    base, x)
{
	base = row_of[workload[row], "wgl"]
	if (!base || !decided(row) || !(decided(base) || result[base] ~ /^(time|memory|work)$/))
		return ""
	x = check[base] / check[row]
	return (decided(base) ? "" : ">") \
		sprintf(x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x)
}

function json_text(s)
{
	gsub(/[\\"]/, "\\\\&", s)
	return "\"" s "\""
}

function json_number(x)
{
	return x == "" ? "null" : x
}

function add_notes(    row, base, w)
{
	for (row = 1; row <= nrows; row++) {
		w = workload[row]
		base = row_of[w, "default"]
		if (!base || !decided(row) || !decided(base))
			continue
		if (variant[row] == "2-cores")
			note[++nnotes] = sprintf("%s: two cores are %.2f times as fast as one", w,
						 check[base] / check[row])
		if (variant[row] == "witness")
			note[++nnotes] = sprintf("%s: the witness takes %.3f s, %.0f %% of the " \
						 "check", w, witness[row],
						 100 * witness[row] / check[base])
		if (variant[row] == "shrink")
			note[++nnotes] = sprintf("%s: shrinking takes %.3f s", w, shrink[row])
	}
}

function print_table(    row, w, r, first)
{
	printf "%s, %d CPUs; medians of %d, limits %d s and %d MiB; times in seconds\n\n", model,
		cpus, runs, time_limit, memory_limit
	printf "%-38s %10s  %-11s %-12s %8s %8s %8s %7s %9s %8s\n", "workload", "operations",
		"engine", "verdict", "read", "check", "user", "MiB", "1000/s", "x wgl"
	for (row = 1; row <= nrows; row++) {
		w = workload[row]
		r = result[row]
		first = row == 1 || w != workload[row - 1]
		printf "%-38s %10s  %-11s %-12s", first ? w : "",
			first ? operations[row] : "", variant[row], r
		if (count[row])
			printf " %8.4f %8.4f %8.3f %7.1f", read[row], check[row], user[row],
				peak[row] / 1048576
		if (decided(row))
			printf " %9.1f %8s", operations[row] / check[row] / 1000, ratio(row)
		if (problem[row] != "")
			printf "  WRONG: %s", problem[row]
		printf "\n"
	}
	if (nnotes)
		printf "\n"
	for (row = 1; row <= nnotes; row++)
		print note[row]
}

function print_json(    row, x)
{
	printf "{\n  \"cpu\": %s,\n  \"cpus\": %d,\n  \"runs\": %d,\n", json_text(model), cpus, runs
	printf "  \"time_limit\": %d,\n  \"memory_limit_mib\": %d,\n  \"rows\": [", time_limit,
		memory_limit
	for (row = 1; row <= nrows; row++) {
		x = ratio(row)
		printf "%s\n    {\n", (row > 1 ? "," : "")
		printf "      \"workload\": %s,\n", json_text(workload[row])
		printf "      \"spec\": %s,\n", json_text(spec[row])
		printf "      \"engine\": %s,\n", json_text(variant[row])
		printf "      \"options\": %s,\n", json_text(options[row])
		printf "      \"cores\": %d,\n", cores[row]
		printf "      \"expected\": %s,\n", json_text(expected[row])
		printf "      \"result\": %s,\n",
			result[row] == "-" ? "null" : json_text(result[row])
		printf "      \"problem\": %s,\n",
			problem[row] == "" ? "null" : json_text(problem[row])
		printf "      \"operations\": %s,\n", json_number(operations[row])
		printf "      \"partitions\": %s,\n", json_number(partitions[row])
		printf "      \"read_seconds\": %s,\n", json_number(read[row])
		printf "      \"check_seconds\": %s,\n", json_number(check[row])
		printf "      \"certificate_seconds\": %s,\n", json_number(witness[row])
		printf "      \"shrink_seconds\": %s,\n", json_number(shrink[row])
		printf "      \"user_seconds\": %s,\n", json_number(user[row])
		printf "      \"peak_bytes\": %s,\n", json_number(peak[row])
		printf "      \"operations_per_second\": %s,\n",
			(decided(row) ? operations[row] / check[row] : "null")
		printf "      \"times_wgl\": %s,\n", x == "" || x ~ /^>/ ? "null" : x
		printf "      \"times_wgl_at_least\": %s\n", x ~ /^>/ ? substr(x, 2) : "null"
		printf "    }"
	}
	printf "\n  ]\n}\n"
}

BEGIN {
	FS = "\t"
	CONVFMT = OFMT = "%.9g"
}

{
	if (!(($1, $4) in row_of)) {
		row_of[$1, $4] = ++nrows
		workload[nrows] = $1
		spec[nrows] = $2
		expected[nrows] = $3
		variant[nrows] = $4
		options[nrows] = $5
		by_key[nrows] = $6
		cores[nrows] = $7
	}
	row = row_of[$1, $4]
	# A run that reached a limit is the last one.
	reason[row] = $10
	result[row] = result_of($9, $10, $8)
	if ($11 == "")
		next
	operations[row] = $11
	partitions[row] = $12
	count[row]++
	for (i = 13; i <= 18; i++)
		value[row, i, count[row]] = $i + 0
}

END {
	for (row = 1; row <= nrows; row++) {
		problem[row] = judge(row)
		bad = bad || problem[row] != ""
		if (!count[row])
			continue
		read[row] = median(13, row)
		check[row] = median(14, row)
		total[row] = median(15, row)
		if (variant[row] == "witness")
			witness[row] = median(16, row)
		user[row] = median(17, row)
		peak[row] = median(18, row)
	}
	for (row = 1; row <= nrows; row++) {
		base = row_of[workload[row], "default"]
		if (variant[row] == "shrink" && base && decided(row) && decided(base))
			shrink[row] = total[row] > total[base] ? total[row] - total[base] : 0
	}
	add_notes()
	if (form == "json")
		print_json()
	else
		print_table()
	exit bad ? 1 : 0
}
