#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The recipes of selftests/ci, without a network: their steps run with stand-ins for the programs of
# LAVA and virtme-ng, and with an archive of which each test's result is known.

. "$(dirname "$0")/common.sh"

ci=$here/../ci
klin_tests=$here/../klin

ktap_header
if [ ! -e "$ci" ]; then
	ktap_skip "recipes" "they are in klin's tree"
	ktap_finish
	exit
fi

# A failed kselftest leaves its files.
mkdir tests
cp "$klin_tests/ktap.sh" "$klin_tests/klin.sh" tests
cat >tests/wrong.sh <<'END'
here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
"$KLIN" gen --type=queue --ops=60 --mutate=3 -o "$work/h.klh"
"$KLIN" gen --type=queue --ops=60 -o "$work/right.klh"
ktap_header
ktap_result "$1" "a test"
ktap_finish
END
cp tests/wrong.sh tests/right.sh
export KLIN KLIN_SPECS="$specs"
KLIN_ARTIFACTS=$work/kept sh tests/wrong.sh 0 >out 2>&1
[ $? -eq 0 ] && [ ! -e kept ]
ktap_result $? "a test that passes leaves nothing" "$(cat out)"
KLIN_ARTIFACTS=$work/kept sh tests/wrong.sh 1 >out 2>&1
[ $? -eq 1 ] && [ -s kept/wrong/h.klh ] && [ -s kept/wrong/right.klh ] &&
	grep -q VIOLATION kept/wrong/h.klh.verdict && [ ! -e kept/wrong/right.klh.html ] &&
	grep -qi '<html' kept/wrong/h.klh.html && "$KLIN" replay kept/wrong/h.klh.cert >said 2>&1
ktap_result $? "a test that fails leaves histories, a certificate that replays, and a page" \
	"$(cat out said; ls kept/wrong)"

KLIN_FAIL=wrong.sh KLIN_ARTIFACTS=$work/meant sh tests/wrong.sh 0 >out 2>&1
[ $? -eq 1 ] && [ -s meant/wrong/wrong.klh.cert ] && [ -s meant/wrong/wrong.klh.html ] &&
	[ "$(grep -c '^not ok' out)" -eq 1 ] && [ "$(sed -n 2p out)" = 1..1 ]
ktap_result $? "KLIN_FAIL makes one test fail, with a violation to look at" "$(cat out)"
mv meant moved
"$KLIN" replay moved/wrong/wrong.klh.cert >out 2>&1
ktap_result $? "a certificate replays where the files were moved" "$(cat out)"
KLIN_FAIL=wrong.sh KLIN_ARTIFACTS=$work/other sh tests/right.sh 0 >out 2>&1
[ $? -eq 0 ] && [ ! -e other ]
ktap_result $? "KLIN_FAIL leaves other tests as they are" "$(cat out)"

sed 's|^ktap_result .*|kill -TERM $$|' tests/wrong.sh >tests/ended.sh
KLIN_ARTIFACTS=$work/ended sh tests/ended.sh >out 2>&1
[ $? -eq 1 ] && [ -s ended/ended/h.klh.cert ] && grep -q '^# .* ended by a signal' out &&
	grep -q "^# the files of this test are in $work/ended/ended$" out
ktap_result $? "a test that is ended leaves its files, and says so" "$(cat out)"

# klin warns of what no method reads, before it prints the number of operations.
cat >tests/one.sh <<'END'
here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"
echo 'spec s { word mask; method set(word m) { atomic { mask = m; } } }' >"$work/s.lin"
printf '# spec %s\nt1 @1 1 2 set 5\n' "$work/s.lin" >"$work/one.txt"
ktap_header
verdict "enough" "$work/one.txt" 1
verdict "too few" "$work/one.txt" 2
ktap_finish
END
sh tests/one.sh >out 2>&1
grep -qx '# 1 operations' out && grep -qx 'ok 1 enough' out && grep -qx 'not ok 2 too few' out &&
	! grep -q 'number' out && grep -q warning out
ktap_result $? "the operations of a history are counted, also behind a warning" "$(cat out)"

# An archive with a test of each result.
mkdir -p tree/klin-0.0 bin
cat >ktap <<'END'
TAP version 13
1..3
# selftests: klin: one.sh
# TAP version 13
# ok 1 a name, with signs
# ok 2 another # SKIP no such function
# 1..2
ok 1 selftests: klin: one.sh
# selftests: klin: two.sh
# not ok 1 a mutant is caught
# not ok 2 - the last one
not ok 2 selftests: klin: two.sh # exit=1
# selftests: klin: three.sh
# 1..0 # SKIP needs root
ok 3 selftests: klin: three.sh # SKIP
END
cat >want <<'END'
one.sh.a-name-with-signs --result pass
one.sh.another --result skip
one.sh --result pass
two.sh.a-mutant-is-caught --result fail
two.sh.the-last-one --result fail
two.sh --result fail
three.sh --result skip
END
cat >tree/klin-0.0/run <<END
#!/bin/sh
echo "\$*" >"$work/arguments"
echo "\$KLIN_TIMEOUT" >"$work/timeout"
mkdir -p "\$KLIN_ARTIFACTS/two" && echo a history >"\$KLIN_ARTIFACTS/two/h.klh"
cat "$work/ktap"
END
cp "$ci/lava-results" tree/klin-0.0
chmod +x tree/klin-0.0/run
tar -C tree -cf klin.tar klin-0.0
printf '#!/bin/sh\necho "$@" >>"%s/reported"\n' "$work" >bin/lava-test-case
printf '#!/bin/sh\ncp "%s/klin.tar" "$2"\n' "$work" >bin/wget
printf '#!/bin/sh\ncp "$2" "%s/uploaded.tar"\n' "$work" >bin/curl
chmod +x bin/*
"$ci/lava-results" <ktap >out 2>&1
[ $? -eq 2 ] && grep -q "lava-test-case not found" out
ktap_result $? "lava-results outside LAVA is no failed test" "$(cat out)"
"$ci/lava-results" --help <ktap >out 2>&1 && grep -q '^Exit status' out &&
	! "$ci/lava-results" ktap >>out 2>&1
ktap_result $? "lava-results says how it is called" "$(cat out)"
PATH=$work/bin:$PATH

"$ci/lava-results" <ktap >out 2>&1
[ $? -eq 1 ] && cmp -s want reported
ktap_result $? "lava-results reports each result, and fails" "$(cat out; diff want reported)"
grep -v '^\(# \)*not ok' ktap >passed
"$ci/lava-results" <passed >out 2>&1
ktap_result $? "lava-results succeeds if no test failed" "$(cat out)"
: >reported
echo "Kernel panic" | "$ci/lava-results" >out 2>&1
[ $? -eq 1 ] && [ ! -s reported ] && grep -q "no result" out
ktap_result $? "lava-results fails without a result" "$(cat out)"

# LAVA runs the steps one after the other in one shell.
sed -n '/^  steps:$/,$s/^    - //p' "$ci/lava.yaml" | sed "s|/tmp/klin|$work/lava|g" >steps
rm -f reported
ARCHIVE=https://example.org/klin.tar UPLOAD=https://example.org/a.tar TIMEOUT=900 \
	sh -e steps >out 2>&1
[ $? -eq 0 ] && cmp -s want reported && [ "$(cat timeout)" = 900 ] &&
	grep -q '^not ok 2 selftests' out &&
	tar -tf uploaded.tar | grep -qxF artifacts/two/h.klh
ktap_result $? "the steps of lava.yaml report the results and keep the files" "$(cat out)"
for file in lava.yaml lava-job.yaml kernelci.yaml github.yml github-kernel.yml; do
	if ! python3 -c 'import yaml' 2>/dev/null; then
		ktap_skip "$file is YAML" "python3 has no yaml"
		continue
	fi
	python3 -c 'import sys, yaml; assert len(yaml.safe_load(open(sys.argv[1]))) > 1' \
		"$ci/$file" >out 2>&1
	ktap_result $? "$file is YAML" "$(cat out)"
done

sed 's/^{#.*#}$//; s/{{ *[a-z_.]* *}}/1/' "$ci/kernelci.jinja2" >template
if python3 -c 'import yaml' 2>/dev/null; then
	python3 -c 'import sys, yaml
assert [*yaml.safe_load(open("template"))[0]] == ["test"]' >out 2>&1
	ktap_result $? "kernelci.jinja2 is a template of YAML" "$(cat out)"
else
	ktap_skip "kernelci.jinja2 is a template of YAML" "python3 has no yaml"
fi

# The stand-in for vng runs what follows --exec here.
cat >bin/vng <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in
	--run)	[ -e "$2" ] || exit 9; shift 2 ;;
	--rwdir) [ -d "$2" ] || exit 9; shift 2 ;;
	--exec)	exec sh -c "$2" ;;
	*)	shift ;;
	esac
done
END
chmod +x bin/vng
mkdir linux
: >vmlinuz
KLIN_TIMEOUT=800 KLIN_ARTIFACTS=left "$ci/virtme-ng" linux klin.tar -t "klin:it's.sh" >out 2>&1
[ $? -eq 1 ] && [ "$(cat arguments)" = "-t klin:it's.sh" ] && [ -s left/two/h.klh ] &&
	cmp -s out ktap && [ "$(cat timeout)" = 800 ]
ktap_result $? "virtme-ng runs the archive with the arguments, and fails" "$(cat out arguments)"
mv passed ktap
KLIN_ARTIFACTS=left "$ci/virtme-ng" vmlinuz klin.tar >out 2>&1
ktap_result $? "virtme-ng takes an image, and succeeds if no test failed" "$(cat out)"
sed '/^ok/s/[^P]$/& # SKIP/' ktap >skipped
mv skipped ktap
"$ci/virtme-ng" linux klin.tar >out 2>&1
[ $? -eq 4 ] && grep -q "nothing was tested" out
ktap_result $? "virtme-ng tells apart that all tests were skipped" "$(cat out)"

# The stand-in for QEMU unpacks the root file system, and runs what its /init runs.
for tool in busybox cpio gzip; do
	command -v $tool >/dev/null || missing=$tool
done
if [ -n "${missing:-}" ]; then
	ktap_skip "initramfs" "$missing not found"
else
	cat >bin/qemu-system-x86_64 <<-END
	#!/bin/sh
	mkdir "$work/guest" && cd "$work/guest" || exit
	while [ \$# -gt 0 ]; do
		[ "\$1" != -initrd ] || gzip -dc "\$2" | cpio -id --quiet
		case \$1 in
		file:*)	port=\${1#file:} ;;
		esac
		shift
	done
	[ -L bin/mount ] && grep -q '^mount -t tracefs' init &&
		sed -n "s|^/klin-|$work/tree/klin-|; s|/artifacts|$work/guest&|g; s|/dev/ttyS1|\$port|
			/^export KLIN/,/^echo/p" init | grep -v stty >part
	sh part | sed 's/\$/\r/'
	END
	chmod +x bin/qemu-system-x86_64
	KLIN_ARTIFACTS=brought KLIN_TIMEOUT=700 \
		"$ci/initramfs" vmlinuz klin.tar -t "klin:it's.sh" >out 2>&1
	[ $? -eq 0 ] && [ "$(cat arguments)" = "-t klin:it's.sh" ] && [ "$(cat timeout)" = 700 ] &&
		[ -s brought/two/h.klh ] && grep -v '^initramfs: ' out | cmp -s - ktap
	ktap_result $? "initramfs makes a root file system, and exits as run does" "$(cat out)"
fi
for recipe in virtme-ng initramfs; do
	"$ci/$recipe" vmlinuz missing.tar >out 2>&1
	[ $? -eq 2 ] && grep -q "^$recipe: no file 'missing.tar'" out
	ktap_result $? "$recipe names a file that is not there" "$(cat out)"
	"$ci/$recipe" vmlinuz >out 2>&1
	[ $? -eq 2 ] && grep -q "^usage: $recipe KERNEL ARCHIVE" out &&
		"$ci/$recipe" --help >out 2>&1 && grep -q KLIN_TIMEOUT out
	ktap_result $? "$recipe says how it is called" "$(cat out)"
done
ktap_finish
