#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The alert rules and the dashboard ask for metrics that klind has.  Where promtool is installed,
# Prometheus itself loads the rules and the dashboard's queries, and raises the right alerts.

. "$(dirname "$0")/common.sh"

klind=$here/../../userspace/klind
files=$klind/prometheus

ktap_header
if [ ! -e "$files" ]; then
	ktap_skip "alerts and dashboard" "they are in klin's tree"
	ktap_finish
	exit
fi
# The names that metrics.c prints: COUNTER("reports", ...) is klin_reports_total.
sed -nE 's/^\s*COUNTER\("([a-z_]+)".*/klin_\1_total/p; s/^\s*GAUGE\("([a-z_]+)".*/klin_\1/p
	s/.*print_head\(f, "(klin_[a-z]+)".*/\1/p' "$klind/metrics.c" | sort -u >has
[ "$(wc -l <has)" -gt 20 ]
ktap_result $? "klind's metrics are found" "$(cat has)"

# Each query of the dashboard becomes a rule, which promtool reads.
python3 - "$files/klin.dashboard.json" >queries.yml 2>err <<'END'
import json
import sys

print("groups: [{name: dashboard, rules: [")
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel["targets"]:
        print("{record: 'a:b', expr: %s, labels: {at: %s}}," %
              (json.dumps(target["expr"]), json.dumps("%d %s" % (panel["id"], target["refId"]))))
print("]}]")
END
ktap_result "$([ $? -eq 0 ] && [ ! -s err ]; echo $?)" "the dashboard is JSON with queries" "$(cat err)"
for file in "$files/klin.rules.yml" queries.yml; do
	name=$(basename "$file")
	grep -o 'klin_[a-z_]*' "$file" | sort -u >asks
	comm -13 has asks >unknown
	[ -s asks ] && [ ! -s unknown ]
	ktap_result $? "$name asks for metrics that klind has" "$(cat unknown)"
done

if ! promtool --version >out 2>&1; then
	ktap_skip "Prometheus loads the rules" "promtool is not installed"
	ktap_finish
	exit
fi
for file in "$files/klin.rules.yml" queries.yml; do
	promtool check rules "$file" >out 2>&1
	ktap_result $? "Prometheus loads $(basename "$file")" "$(cat out)"
done
# klind(8) has a part of prometheus.yml.
sed -n '/^    rule_files:/,/targets/s/^    //p' "$klind/README" |
	sed "s,/usr/share/klin,$(cd "$klind" && pwd)," >prometheus.yml
[ -s prometheus.yml ] && promtool check config prometheus.yml >out 2>&1
ktap_result $? "Prometheus reads the configuration that klind(8) shows" "$(cat out)"
promtool test rules "$files/klin.rules.test.yml" >out 2>&1
ktap_result $? "the alerts are raised when they should be, and not before" "$(cat out)"
ktap_finish
