#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klind without a kernel: its example, mistakes in a configuration, and refusals before it
# attaches anything.  It leaves nothing behind then.

. "$(dirname "$0")/common.sh"

# The helpers of common.sh run $KLIN, which is the daemon from here on.
KLIN=${KLIND:-$(dirname "$(command -v "$KLIN")")/klind}
command -v "$KLIN" >/dev/null || ktap_skip_all "$KLIN not found: set KLIND to the daemon's path"
example=$here/../../userspace/klind/klind.conf

config()
{
	cat >klind.conf
}

umask 022
ktap_header
expect 0 "--help" --help
expect 0 "--version" --version
if [ -e "$example" ]; then
	expect 0 "klind --check-config accepts the example" --check-config --config "$example"
else
	ktap_skip "klind --check-config accepts the example" "not in klin's tree"
fi
config <<END
[spec mine]
file = $specs/port_range.lin
END
expect 0 "a specification by its path" --check-config --config klind.conf
refuse "a missing configuration" "^klind: cannot read .*nowhere.conf: No such file" \
	--check-config --config nowhere.conf
refuse "a superfluous argument" "no arguments expected; --config=FILE names" --check-config more
config <<END
[klind]
reports = $work
[spec port_range]
buffer = 1000
END
for line in "keep_reports = 5|did you mean 'keep-reports'" "memory = 5M|belongs into a section .spec NAME." \
	"keep-reports = 5 # few|a comment needs a line of its own"; do
	printf '[klind]\n%s\n[spec port_range]\n' "${line%|*}" >line.conf
	refuse "a wrong line: ${line%|*}" "^line.conf:2:[0-9]+: error: .*${line#*|}" --check-config --config line.conf
done
printf '[spec a]\nmemory = 2M\nfile = /nowhere.lin\n' >line.conf
refuse "a specification that is not there" "^line.conf:3: error: .spec a.: cannot read .*nowhere.lin': No such" \
	--check-config --config line.conf
printf '[spec a]\nfile = /root/nowhere.lin\n' >line.conf
NOTIFY_SOCKET=/nowhere refuse "a specification that the service cannot see" \
	"^line.conf:2: error: .*nowhere.lin': .*; ProtectHome= in klind.service hides" \
	--config line.conf
printf '[klind]\nmetrics = %s/gone/klin.prom\n[spec port_range]\n' "$work" >line.conf
run --check-config --config line.conf
ktap_result "$([ "$status" -eq 0 ] && grep -q "^line.conf: warning: metrics = .*gone does not exist" err
	echo $?)" "a warning of metrics in a directory that does not exist" "status $status" "$(cat err)"
printf '\357\273\277[spec port_range]\n' >mark.conf
expect 0 "a byte order mark is no mistake" --check-config --config mark.conf
printf '[spec port_range]\nfile = a\0b\n' >zero.conf
refuse "a zero byte" "^zero.conf:2:9: error: a zero byte" --check-config --config zero.conf
refuse "a wrong value" "klind.conf:4:10: error: buffer = 1000: expected a power of two" \
	--check-config --config klind.conf
[ "$(sed -n 3p err)" = "           ^" ]
ktap_result $? "the value has a caret" "$(cat err)"
config <<END
[klind]
reports = $work/reports
[spec port_range]
END
expect 0 "a directory of reports that does not exist yet" --check-config --config klind.conf
mkdir reports
expect 0 "a directory of reports that belongs to the user" --check-config --config klind.conf
chmod g+w reports
refuse "a directory of reports that others can write" "reports can be written by others .mode 775" \
	--check-config --config klind.conf
refuse "a directory of reports that others can write, at the start" "reports can be written by others" --config klind.conf
rmdir reports
mkdir own
ln -s own reports
refuse "a link to a directory of reports" "reports is a symbolic link" \
	--check-config --config klind.conf
rm reports
chmod o+w klind.conf
refuse "a configuration that others can write" "klind.conf can be written by others .mode 646" \
	--check-config --config klind.conf
chmod 644 klind.conf
mkdir shared
cp klind.conf shared
chmod 777 shared
refuse "a configuration that others can replace" "shared can be written by others .mode 777" \
	--check-config --config shared/klind.conf
chmod 1777 shared
expect 0 "a configuration in a directory with the sticky bit" --check-config --config shared/klind.conf
if [ "$(id -u)" -eq 0 ]; then
	chown 12345 shared
	refuse "a configuration in another user's directory with the sticky bit" \
		"shared belongs to user 12345" --check-config --config shared/klind.conf
	chown 12345 klind.conf
	refuse "a configuration of another user" "klind.conf belongs to user 12345" \
		--check-config --config klind.conf
	rm klind.conf
else
	ktap_skip "refused: a configuration of another user" "needs root"
fi
config <<END

[spec queue]
END
refuse "a specification without probes" "klind.conf:2: error: .*has no probe clauses" \
	--check-config --config klind.conf
echo 'spec s { word x' >bad.lin
printf '[spec s]\nfile = %s/bad.lin\n' "$work" >klind.conf
run --check-config --config klind.conf
ktap_result $((status - 2)) "refused: a specification with a mistake" "status $status"
ktap_result "$(grep -c "bad.lin:.*expected" err | awk '{ print $1 != 1 }')" \
	"the message names the mistake and the section" "$(cat err)"
config <<END
[klind]
reports = $work/no/such/place
[spec port_range]
END
refuse "a missing directory for reports" "cannot write reports to .*no/such/place" \
	--config klind.conf
config <<END
[klind]
metrics-socket = $work/taken
[spec port_range]
END
echo mine >taken
run --config klind.conf
if [ $status -eq 4 ] && grep -q "taken exists and is not a socket" err &&
   [ "$(cat taken)" = mine ]; then
	ktap_pass "refused: a file at the path of the socket, which is kept"
else
	ktap_fail "refused: a file at the path of the socket, which is kept" "status $status" "$(cat err)"
fi
# Without systemd messages begin with klind's name; with it, with their level.
run --config nowhere.conf
grep -qx "klind: cannot read nowhere.conf: .*" err
ktap_result $? "messages begin with klind's name" "$(cat err)"
JOURNAL_STREAM=1:1 run --config nowhere.conf
grep -qx "klind: cannot read nowhere.conf: .*" err
ktap_result $? "plain messages if standard error is not the stream that JOURNAL_STREAM names" \
	"$(cat err)"

# Each MESSAGE_ID that klind sends is explained for journalctl -x, and described in the manual.
name="the catalog of messages explains what klind sends"
source=$here/../../userspace/klind
if [ ! -e "$source" ]; then
	ktap_skip "$name" "not in klin's tree"
else
	grep -oE '"[0-9a-f]{32}"' "$source/journal.c" | tr -d '"' | sort >sent
	sed -n 's/^-- \([0-9a-f]*\)$/\1/p' "$source/klind.catalog" | sort >explained
	grep -oE '[0-9a-f]{32}  ' "$source/README" | tr -d ' ' | sort >described
	[ -s sent ] && cmp -s sent explained && cmp -s sent described
	ktap_result $? "$name" "$(diff sent explained; diff sent described)"
fi
name="journalctl shows the catalog"
if [ ! -e "$source" ] || ! command -v journalctl >/dev/null; then
	ktap_skip "$name" "not in klin's tree, or no journalctl"
else
	mkdir -p root/usr/lib/systemd/catalog
	cp "$source/klind.catalog" root/usr/lib/systemd/catalog
	journalctl --root="$work/root" --update-catalog >out 2>&1
	while read -r id; do
		journalctl --root="$work/root" --dump-catalog "$id" 2>&1 | grep "^Subject: "
	done <sent >>out
	ktap_result "$([ "$(grep -c '^Subject: .' out)" -eq "$(wc -l <sent)" ] &&
		[ "$(grep -vc '^Subject: ' out)" -eq 0 ]; echo $?)" "$name" "$(cat out)"
fi

# The systemd unit, as make install writes it.
name="systemd-analyze accepts the unit"
unit=$here/../../userspace/klind/klind.service.in
if [ ! -e "$unit" ]; then
	ktap_skip "$name" "not in klin's tree"
elif ! command -v systemd-analyze >/dev/null; then
	ktap_skip "$name" "no systemd-analyze"
else
	sed "s|@SBINDIR@/klind|$(command -v "$KLIN")|; s|@DATADIR@|$work|" "$unit" >klind.service
	systemd-analyze verify --man=no ./klind.service >out 2>&1
	status=$?
	ktap_result $((status + $(grep -c klind.service out))) "$name" "status $status" "$(cat out)"
fi
ktap_finish
