#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The archive of tools/bundle runs in a root that has a shell and no library.  With KLIN_RUNS of 20000 or
# more, some of its kselftests run in the virtual machine, too.

. "$(dirname "$0")/common.sh"

top=$(cd "$here/../.." && pwd)
if [ ! -e "$top/tools/bundle" ] || [ ! "$(dirname "$KLIN")/klin" -ef "$top/build/klin" ]; then
	ktap_skip_all "archives are made in klin's tree, of the usual build"
fi
for tool in busybox zstd gcc; do
	command -v $tool >/dev/null || ktap_skip_all "$tool not found: run tools/deps vm bpf"
done
[ -e "$top/build/ksrc" ] || ls /usr/src/linux-source-*.tar.xz >/dev/null 2>&1 ||
	ktap_skip_all "no linux-source, for the kselftests: run tools/deps tests"
[ "$(id -u)" -eq 0 ] || ktap_skip_all "chroot needs root"

ktap_header
env -u MAKEFLAGS -u MAKELEVEL "$top/tools/bundle" klin.tar.zst >out 2>err
ktap_result "$([ $? -eq 0 ] && [ "$(cat out)" = "$work/klin.tar.zst" ]; echo $?)" "tools/bundle" \
	"$(head -n 20 out err)"
mkdir -p root/bin
cp "$(command -v busybox)" root/bin
for tool in $(busybox --list); do
	[ "$tool" = busybox ] || ln -s busybox "root/bin/$tool"
done
tar -C root -xf klin.tar.zst
version=$("$KLIN" --version | sed -n '1s/klin //p')
dir=klin-$version
ktap_result "$([ "$(ls root)" = "$(printf 'bin\n%s\n' "$dir")" ]; echo $?)" \
	"the archive has one directory, named after the version" "$(ls root)"

# inside COMMAND...: run in the root; sets $status.
inside()
{
	chroot root /bin/sh -c "cd /$dir && $*" >out 2>err
	status=$?
}
inside bin/klin --version
ktap_result "$([ "$(head -n 1 out)" = "klin $version" ]; echo $?)" "klin starts without libraries" \
	"$(cat out err)"
inside "bin/klin gen --type=queue --ops=200 --mutate=3 -o /h.txt &&
	bin/klin check --certificate=/h.cert specs/queue.lin /h.txt"
[ $status -eq 1 ] && inside bin/klin-replay /h.cert
ktap_result $status "klin finds a violation, and klin-replay proves it" "$(cat out err)"
inside bin/klind --check-config --config klind.conf
ktap_result $status "klind reads the example of its configuration" "$(cat out err)"
inside ./run -l
listed=$(grep -c '^klin:[a-z_]*\.sh$' out)
tests=$(sed -n '/^TEST_PROGS/,/[^\\]$/p' "$top/selftests/klin/Makefile" | grep -o '[a-z_]*\.sh' | wc -l)
ktap_result "$([ "$tests" -gt 0 ] && [ "$listed" -eq "$tests" ]; echo $?)" \
	"the archive has all kselftests" "$listed of $tests"
inside KLIN_TIMEOUT=900 ./run -l
ktap_result "$([ "$(cat "root/$dir/kselftest/klin/settings")" = timeout=900 ]; echo $?)" \
	"KLIN_TIMEOUT is the time that a test may take" "$(cat out err)"
for name in one two; do
	printf '%s\n' '#!/bin/sh' 'echo TAP version 13' 'echo 1..1' "echo ok 1 case of $name" \
		>"root/$dir/kselftest/klin/$name.sh"
	chmod +x "root/$dir/kselftest/klin/$name.sh"
	echo "klin:$name.sh" >>"root/$dir/kselftest/kselftest-list.txt"
done
KLIN_KO=none root/"$dir"/run -t klin:one.sh -t klin:two.sh >out 2>&1
cat >want <<'END'
TAP version 13
1..2
# selftests: klin: one.sh
# TAP version 13
# 1..1
# ok 1 case of one
ok 1 selftests: klin: one.sh
# selftests: klin: two.sh
# TAP version 13
# 1..1
# ok 1 case of two
ok 2 selftests: klin: two.sh
END
ktap_result "$(cmp -s out want; echo $?)" "no line of the results is lost in a file" "$(cat out)"

# In the root, where busybox's timeout would not do.  add_test NAME LINE...: add a test.
add_test()
{
	added=$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"root/$dir/kselftest/klin/$added"
	chmod +x "root/$dir/kselftest/klin/$added"
	echo "klin:$added" >>"root/$dir/kselftest/kselftest-list.txt"
}
add_test skip.sh 'exit 4'
add_test hang.sh 'trap "echo cleaned; exit 1" TERM' 'sleep 1000' 'sleep 1000'
[ ! -e "root/$dir/modules" ] || mv "root/$dir/modules" modules
mkdir -p "root/$dir/modules/1.2.3-other" root/dev root/proc root/tmp
: >root/dev/null
: >"root/$dir/modules/1.2.3-other/klin.ko"
inside ./run -t klin:one.sh
[ $status -eq 2 ] && grep -q '/dev/stdout does not open.*mount /proc' err
ktap_result $? "run refuses a root in which results would be lost" "$(cat out err)"
rm -f root/dev/std* root/dev/fd

# with_proc COMMAND...: as inside, with /proc.
with_proc()
{
	unshare -m sh -c 'mount --rbind /proc root/proc && exec chroot root /bin/sh -c "$0"' \
		"cd /$dir && $*" >out 2>err
	status=$?
}
with_proc true
if [ $status -ne 0 ]; then
	ktap_skip "run in a root with /proc" "cannot mount: $(cat err)"
else
	with_proc ./run -t klin:one.sh -t klin:skip.sh
	[ $status -eq 0 ] && grep -qxF '# ok 1 case of one' out &&
		[ "$(readlink root/dev/stdout)" = /proc/self/fd/1 ]
	ktap_result $? "run makes /dev/stdout, and no result of a case is lost" "$(cat out err)"
	grep -q 'no klin.ko for the running kernel .*, only for: 1.2.3-other;' err
	ktap_result $? "run warns that klin.ko is of another kernel" "$(cat out err)"
	with_proc ./run -t klin:skip.sh
	[ $status -eq 4 ] && grep -q "nothing was tested" err
	ktap_result $? "run tells apart that all tests were skipped" "$(cat out err)"
	with_proc KLIN_TIMEOUT=1 ./run -t klin:hang.sh
	[ $status -eq 1 ] && grep -qxF '# cleaned' out && grep -q '^not ok 1 .*TIMEOUT 1 seconds' out
	ktap_result $? "run ends a test that hangs, without coreutils" "$(cat out err)"
	with_proc KLIN_FAIL=record.sh KLIN_ARTIFACTS=/kept ./run -t klin:record.sh
	[ $status -eq 1 ] && grep -q '^not ok 1 selftests: klin: record.sh' out &&
		[ -s root/kept/record/wrong.klh.cert ] && [ -s root/kept/record/wrong.klh.html ]
	ktap_result $? "KLIN_FAIL makes a test fail and leave its files" "$(cat out err)"
	with_proc KLIN_FAIL=record.sh ./run -t klin:one.sh
	[ $status -eq 2 ] && grep -q 'KLIN_FAIL=record.sh: .* not among those that ran' err
	ktap_result $? "KLIN_FAIL must name a test that runs" "$(cat out err)"
fi
for wrong in control klin lib_counts nothing.sh; do
	inside KLIN_FAIL=$wrong ./run -t klin:one.sh
	[ $status -eq 2 ] && [ ! -s out ] && grep -q "KLIN_FAIL=$wrong: expected a test" err
	ktap_result $? "KLIN_FAIL=$wrong is refused" "$(cat out err)"
done
inside ./run --help
[ $status -eq 0 ] && grep -q KLIN_ARTIFACTS out && grep -q -- '--collection' out
ktap_result $? "run --help tells its variables and kselftest's options" "$(cat out err)"
for name in one two skip hang; do
	rm "root/$dir/kselftest/klin/$name.sh"
done
rm -r "root/$dir/modules"
[ ! -e modules ] || mv modules "root/$dir/modules"
for program in root/"$dir"/kselftest/klin/* root/"$dir"/bin/*; do
	! readelf -d "$program" 2>/dev/null | grep NEEDED || echo "$program"
done >needed
ktap_result "$([ ! -s needed ]; echo $?)" "no program of the archive needs a library" "$(cat needed)"

if [ "${KLIN_RUNS:-0}" -ge 20000 ]; then
	# tools/vm carries what is in klin's tree.  Virtual processors may be slow.
	carried=$(mktemp -d "$top/build/bundle.XXXXXX") && mv "root/$dir" "$carried" &&
		echo timeout=1200 >"$carried/$dir/kselftest/klin/settings" &&
		"$top/tools/vm" --timeout 1200 --add "$carried" -- "${carried#"$top"/}/$dir/run" \
			-t klin:module.sh -t klin:record.sh >out 2>err
	rm -rf "$carried"
	ktap_result "$([ "$(grep -c '^ok [12] selftests: klin: .*\.sh$' out)" -eq 2 ]; echo $?)" \
		"kselftests of the archive pass in the virtual machine" "$(tail -n 30 out err)"
	kernel=$("$top/tools/kernel")
	ACCEL=tcg,thread=single KLIN_TIMEOUT=1200 timeout -k 5 1800 "$top/selftests/ci/initramfs" \
		"$kernel/boot/vmlinuz-${kernel##*/}" klin.tar.zst -t klin:locks.sh >out 2>err
	[ $? -eq 0 ] && grep -qx 'ok 1 selftests: klin: locks.sh' out &&
		grep -q '^# ok 1 spin' out
	ktap_result $? "a kselftest of the archive passes in a root of busybox" "$(tail -n 30 out err)"
fi
ktap_finish
