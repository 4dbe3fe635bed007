#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Every command on a full or broken disk.  If a write, an fsync(), a close() or a rename()
# fails, the command ends with 4, names the file, and leaves no partial file.  If the kernel
# writes only a part of the bytes, nothing is lost.

. "$(dirname "$0")/refuse.sh"

# shellcheck disable=SC2034 # refuse.sh uses them
what="calls that write" modes="KLIN_INJECT_DISK KLIN_INJECT_DISK_ON"
# shellcheck disable=SC2034
message="made/.*(No space left|Input/output)|standard output"

# halved NAME PROGRAM ARGUMENT...: with short writes its output and files are complete.
halved()
{
	name=$1
	shift
	rm -f mark
	inject_env="KLIN_INJECT_SHORT=1 KLIN_INJECT_MARK=mark LD_PRELOAD=$inject"
	attempt "$@"
	if right && [ $status -ne 4 ] && [ -e mark ]; then
		ktap_pass "$name: short writes"
	else
		ktap_fail "$name: short writes" "status $status" "$why" "$(head -n 2 err)"
	fi
}

ktap_header
while read -r name arguments; do
	# klin replay uses execve(), which removes the signal handler of the preloaded library.
	program=$KLIN
	[ "$name" != replay ] || program=$(dirname "$KLIN")/klin-replay
	# shellcheck disable=SC2086 # they are several words
	refused "$name" "$program" $arguments
	# shellcheck disable=SC2086
	halved "$name" "$program" $arguments
done <<END
check check --threads=1 --certificate=made/c --counterexample=made/x.txt bad.txt
check-json check --threads=1 --json bad.txt
check-follow check --follow --json followed.txt
replay bad.cert
convert convert r.klh made/o.txt
convert-klh convert r.txt made/o.klh
convert-linp convert --to=linp q.txt made/o.linp
convert-events convert --to=events e.txt made/o.events
convert-edn convert --to=edn r1.txt made/o.edn
convert-jepsen convert --to=jepsen r1.txt made/o.log
convert-stdout convert r.klh -
gen gen --type=queue --ops=2000 -o made/g.txt
gen-klh gen --type=queue --ops=2000 -o made/g.klh
gen-stdout gen --type=queue --ops=2000
spec spec --dump port_range
explore explore $specs/explore/fig5.lin
explore-json explore --json $specs/explore/fig5.lin
explore-histories explore --histories $specs/explore/fig5.lin
verify verify --dot=made/d.dot $specs/verify/twolock.lin
verify-json verify --json $specs/verify/twolock.lin
litmus litmus sb.litmus
END
export KLIN_INJECT_ERRNO=5
refused "check, EIO" "$KLIN" check --threads=1 --certificate=made/c bad.txt
refused "convert to .klh, EIO" "$KLIN" convert r.txt made/o.klh
refused "gen to standard output, EIO" "$KLIN" gen
ktap_finish
