#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# make install takes what is built, whatever flags are given, and compiles nothing.  What it
# installs runs from there, and serves modules that announce their operations.  make uninstall
# removes it.

. "$(dirname "$0")/common.sh"

top=$(cd "$here/../.." && pwd)
command -v make >/dev/null || ktap_skip_all "make not found"
if [ ! -e "$top/Makefile" ] || [ ! "$(dirname "$KLIN")/klin" -ef "$top/build/klin" ]; then
	ktap_skip_all "make install takes the usual build of klin's tree"
fi
root=$work/a-root

# A depmod that must not be called, because the root is another one.
mkdir bin
printf '#!/bin/sh\necho depmod "$@" >>%s/depmod\n' "$work" >bin/depmod
chmod +x bin/depmod

# make_it TARGET VARIABLE...: run make in klin's tree; the output is in out.
make_it()
{
	target=$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL PATH="$work/bin:$PATH" make -C "$top" --no-print-directory \
		"$target" PREFIX=/usr "$@" >out 2>&1
}

ktap_header
make_it install DESTDIR="$root" CC=false CLANG=false BPFTOOL=false CFLAGS=-O0
ktap_result $? "make install succeeds with other flags and without a compiler" "$(tail -n 5 out)"
ktap_result "$(grep -qE '^  (CC|LD|AR|BPF|SKEL|KMOD) ' out; echo $((!$?)))" \
	"make install compiles nothing" "$(head -n 5 out)"
ktap_result "$([ ! -e depmod ]; echo $?)" "make install with DESTDIR leaves the kernel's modules" \
	"$(cat depmod 2>/dev/null)"

if [ -e "$top/kmod/klin.ko" ]; then
	make_it install --dry-run
	grep -q 'depmod -a [0-9]' out
	ktap_result $? "make install without DESTDIR runs depmod"
fi

# All that README and manual pages name.
for file in bin/klin bin/klin-replay sbin/klind share/klin/klind.conf \
		share/klin/klin-1.schema.json share/klin/specs/queue.lin share/klin/specs/explore/treiber.lin \
		share/man/man1/klin-check.1 share/man/man5/klin-spec.5 share/man/man8/klind.8 \
		share/bash-completion/completions/klin share/zsh/site-functions/_klin \
		share/fish/vendor_completions.d/klin.fish share/vim/vimfiles/syntax/klin.vim \
		share/vim/vimfiles/ftdetect/klin.vim share/klin/editors/klin.tmLanguage.json lib/systemd/system/klind.service \
		lib/systemd/catalog/klind.catalog src/klin/klin.h; do
	ktap_result "$([ -s "$root/usr/$file" ]; echo $?)" "installed: $file"
done
grep -rIlE "@[A-Z]+@|$root" "$root" >left
ktap_result "$([ ! -s left ]; echo $?)" "no installed file names DESTDIR or has a blank to fill" \
	"$(cat left)"
grep -q '^ExecStart=/usr/sbin/klind ' "$root/usr/lib/systemd/system/klind.service"
ktap_result $? "klind.service runs the installed klind"

cd "$work" || exit 1
"$root/usr/bin/klin" gen --type=queue --ops=200 --mutate=3 -o h.txt &&
	"$root/usr/bin/klin" check --certificate=h.cert queue h.txt >out 2>&1
[ $? -eq 1 ] && "$root/usr/bin/klin" replay h.cert >out 2>&1
ktap_result $? "the installed klin checks, and runs the installed klin-replay" "$(cat out)"
"$root/usr/sbin/klind" --check-config --config "$root/usr/share/klin/klind.conf" >out 2>&1
ktap_result $? "the installed klind reads the installed klind.conf" "$(cat out)"

# A module of somebody else, as kmod/README tells to build it.
cat >mystack.c <<-'END'
	#include <linux/module.h>
	#include <klin.h>

	static KLIN_METHOD(pop, "mystack.pop");

	static int __init mystack_init(void)
	{
		int err = klin_method_register(&pop);

		if (err)
			return err;
		klin_call(&pop, &pop, 1, 2, 3);
		klin_point(&pop, &pop);
		klin_return(&pop, &pop, 4, 5, 6);
		klin_drain(0);
		return 0;
	}

	static void __exit mystack_exit(void)
	{
		klin_method_unregister(&pop);
	}

	module_init(mystack_init);
	module_exit(mystack_exit);
	MODULE_LICENSE("GPL");
END
symbols=$(echo "$root"/usr/src/klin/*/Module.symvers)
release=$(basename "$(dirname "$symbols")")
headers=/usr/src/linux-headers-$release
name="a module is built with the installed klin.h and Module.symvers"
if [ ! -e "$symbols" ]; then
	ktap_skip "$name" "kmod/klin.ko is not built"
elif [ ! -e "$headers/Makefile" ]; then
	ktap_skip "$name" "no $headers"
else
	mkdir module && mv mystack.c module
	printf 'obj-m := mystack.o\nccflags-y += -I%s/usr/src/klin\n' "$root" >module/Kbuild
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$headers" M="$work/module" \
		CONFIG_DEBUG_INFO_BTF_MODULES= KBUILD_EXTRA_SYMBOLS="$symbols" modules >out 2>&1
	status=$?
	[ $status -eq 0 ] && [ ! -s out ] &&
		PATH=$PATH:/usr/sbin:/sbin modinfo -F depends module/mystack.ko | grep -qx klin
	ktap_result $? "$name" "status $status" "$(head -n 5 out)"
fi

make_it uninstall DESTDIR="$root"
status=$?
find "$root" ! -type d >left
find "$root" -type d -name 'klin*' >>left
ktap_result "$([ $status -eq 0 ] && [ ! -s left ]; echo $?)" "make uninstall removes everything" \
	"$(head -n 5 out left)"
ktap_finish
