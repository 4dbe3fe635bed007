#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The Debian packages, made from what is built, are installed in a root of their own, used there,
# and removed without a trace.  With KLIN_RUNS of 20000 or more, they are also built from source, which
# lintian must find right, and DKMS builds the module.

. "$(dirname "$0")/common.sh"

top=$(cd "$here/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin
if [ ! -e "$top/tools/package" ] || [ ! "$(dirname "$KLIN")/klin" -ef "$top/build/klin" ]; then
	ktap_skip_all "packages are made in klin's tree, of the usual build"
fi
for tool in dpkg-buildpackage dh dh_dkms busybox git; do
	command -v $tool >/dev/null || ktap_skip_all "$tool not found: run tools/deps package vm"
done
[ "$(id -u)" -eq 0 ] || ktap_skip_all "dpkg needs root for another root"

ktap_header
if [ ! -e "$top/build/kselftest/run_kselftest.sh" ] && ! "$top/tools/kselftest" >out 2>&1; then
	ktap_skip "packages" "the kselftests are not built: $(head -n 1 out)"
	ktap_finish
	exit
fi
"$top/tools/package" --prebuilt >debs 2>err
ktap_result "$([ $? -eq 0 ] && [ ! -s err ]; echo $?)" "tools/package --prebuilt" \
	"$(head -n 20 err)"
sed 's,.*/,,; s/_.*//' debs | sort >names
sed -n 's/^Package: //p' "$top/tools/debian/control.in" | sort | cmp -s - names
ktap_result $? "each package of debian/control is made" "$(cat debs)"

# A root with a shell for the packages' scripts, and with a DKMS that writes what it is asked.
root=$work/root
mkdir -p root/bin root/tmp root/usr/lib/dkms root/var/log \
	root/var/lib/dpkg/updates root/var/lib/dpkg/info
cp "$(command -v busybox)" root/bin/busybox
for tool in sh echo cat rm test rmdir; do
	ln -s busybox root/bin/$tool
done
printf '#!/bin/sh\necho "$@" >>/tmp/dkms\n' >root/usr/lib/dkms/common.postinst
chmod +x root/usr/lib/dkms/common.postinst
: >root/var/lib/dpkg/status
files()
{
	(cd root && find . ! -type d ! -path './var/lib/dpkg/*' ! -path './var/log/*' | sort)
}
files >before
# dpkg does not know which of this system's packages the root would have.
(cd "$top" && xargs dpkg --root="$root" --force-depends -i) <debs >out 2>&1
ktap_result $? "the packages are installed" "$(tail -n 20 out)"

klin=root/usr/bin/klin
version=$("$KLIN" --version | sed -n '1s/klin //p')
grep '^Version: ' root/var/lib/dpkg/status | sort -u >versions
ktap_result "$([ "$(cat versions)" = "Version: $version" ]; echo $?)" \
	"all packages have the version of klin --version" "$version" "$(cat versions)"
$klin gen --type=queue --ops=200 --mutate=3 -o h.txt &&
	$klin check --certificate=h.cert queue h.txt >out 2>&1
[ $? -eq 1 ] && $klin replay h.cert >out 2>&1
ktap_result $? "the installed klin finds a violation, and proves it" "$(cat out)"
cat >user.c <<'END'
#include <klin/klin.h>
#include <stdio.h>

int main(void)
{
	return puts(klin_version()) < 0;
}
END
library=$(dirname root/usr/lib/*/libklin.so.0)
gcc -Iroot/usr/include -o user user.c -L"$library" -lklin >out 2>&1 &&
	[ "$(LD_LIBRARY_PATH=$library ./user)" = "$version" ]
ktap_result $? "a program is built with the installed libklin, and runs" "$(cat out)"
root/usr/sbin/klind --check-config --config root/usr/share/klin/klind.conf >out 2>&1
ktap_result $? "the installed klind reads the example of its configuration" "$(cat out)"
grep -q '^ExecStart=/usr/sbin/klind ' root/lib/systemd/system/klind.service
ktap_result $? "the unit runs the installed klind"
sh root/usr/libexec/klin/kselftest/run_kselftest.sh -l >out 2>&1
grep -qx klin:module.sh out
ktap_result $? "the installed kselftests are listed" "$(head -n 5 out)"
(cd "$top" && git ls-files kmod | grep -E '\.[ch]$|Kbuild$') | while read -r file; do
	[ -s "root/usr/src/klin-$version/$file" ] || echo "$file"
done >missing
ktap_result "$([ ! -s missing ]; echo $?)" "klin-dkms has the whole source of klin.ko" \
	"$(cat missing)"
ktap_result "$(grep -q "^klin $version " root/tmp/dkms; echo $?)" "DKMS is asked to build klin.ko" \
	"$(cat root/tmp/dkms)"
rm -f root/tmp/dkms
for page in man1/klin.1 man5/klind.conf.5 man8/klind.8; do
	ktap_result "$([ -s root/usr/share/man/$page.gz ]; echo $?)" "installed: $page"
done
for name in $(sed -n 's/^Documentation=//p' root/lib/systemd/system/klind.service); do
	page=$(echo "$name" | sed 's/^man:\(.*\)(\(.\))$/man\2\/\1.\2/')
	[ -s "root/usr/share/man/$page.gz" ] || echo "$name"
done >missing
ktap_result "$([ ! -s missing ]; echo $?)" "the pages that klind.service names are installed" \
	"$(cat missing)"
gzip -dc root/usr/share/man/man8/klind.8.gz | tr -d '\\' |
	sed -n '/^\.SH FILES/,/^\.SH SEE/s,^    \(/usr/[^ ]*\|/lib/[^ ]*\).*,\1,p' >places
while read -r place; do
	[ -e "root$place" ] || echo "$place"
done <places >missing
ktap_result "$([ "$(wc -l <places)" -ge 5 ] && [ ! -s missing ]; echo $?)" \
	"the files that klind(8) lists are installed" "$(cat places missing)"
# The steps that the package's README names lead to a configuration that is right.
sed -n 's/^    \(mkdir\|cp\) /\1 /p' root/usr/share/doc/klind/README.Debian |
	sed "s, /, $root/,g" >steps
sh -e steps >out 2>&1 &&
	root/usr/sbin/klind --check-config --config root/etc/klin/klind.conf >>out 2>&1
ktap_result $? "README.Debian says how to begin" "$(cat steps out)"
prom=root/var/lib/prometheus/node-exporter/klin.prom
mkdir -p root/var/lib/klin/report "$(dirname $prom)"
: >root/var/lib/klin/report/history.klh
: >$prom
dpkg --root="$root" --force-depends -r klind >out 2>&1 && [ -s root/etc/klin/klind.conf ] &&
	[ -e root/var/lib/klin/report/history.klh ] && [ ! -e $prom ]
ktap_result $? "removing klind keeps its configuration and reports, and no metrics" "$(tail -n 20 out)"
dpkg --root="$root" --force-depends -P klind >out 2>&1 && [ ! -e root/etc/klin ] &&
	[ ! -e root/var/lib/klin ] && [ ! -e $prom ]
ktap_result $? "purging klind removes them" "$(tail -n 20 out)"

xargs dpkg --root="$root" --force-depends -P <names >out 2>&1
status=$?
files >after
ktap_result "$([ $status -eq 0 ] && cmp -s before after; echo $?)" \
	"the packages are removed, with all files" "$(tail -n 20 out)" "$(diff before after)"

if [ "${KLIN_RUNS:-0}" -lt 20000 ]; then
	ktap_finish
	exit
fi
name="the packages are built from source, and lintian finds nothing wrong"
if command -v lintian >/dev/null; then
	"$top/tools/package" --lint >out 2>&1
	ktap_result $? "$name" "$(tail -n 30 out)"
else
	ktap_skip "$name" "no lintian: run tools/deps release"
fi

release=$(modinfo -F vermagic "$top/kmod/klin.ko" 2>/dev/null | cut -d' ' -f1)
headers=/usr/src/linux-headers-$release
name="DKMS builds klin.ko from the source of klin-dkms"
if command -v dkms >/dev/null && [ -n "$release" ] && [ -e "$headers" ]; then
	dpkg-deb -x "$top"/build/package.prebuilt/klin-dkms_*.deb source
	# dkms_it ACTION OPTION...: in trees of the test's own.
	dkms_it()
	{
		action=$1
		shift
		dkms "$action" -m klin -v "$version" --sourcetree "$work/source/usr/src" \
			--dkmstree "$work/dkms" --installtree "$work/modules" "$@"
	}
	mkdir dkms modules
	(dkms_it add && dkms_it build -k "$release" --kernelsourcedir "$headers") >out 2>&1
	status=$?
	built=dkms/klin/$version/$release/x86_64
	[ $status -eq 0 ] && grep -q klin_method_register "$built/Module.symvers" &&
		ls "$built"/module/klin.ko* >/dev/null
	ktap_result $? "$name" "status $status" "$(tail -n 20 out)"
else
	ktap_skip "$name" "no dkms, no klin.ko or no $headers: run tools/deps release"
fi
ktap_finish
