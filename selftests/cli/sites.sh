#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin sites: its output for an object with inlined functions, and its refusals.
# selftests/unit/test_sites.c checks that the output is true.

. "$(dirname "$0")/common.sh"

CC=${CC:-gcc}
command -v "$CC" >/dev/null || ktap_skip_all "$CC not found: set CC to a compiler"

cat >inlined.c <<'EOF'
struct pair { long lock, a; };
extern void other(void);

static inline __attribute__((always_inline)) void put(struct pair *o, long v)
{
	*(volatile long *)&o->lock = 1;
	*(volatile long *)&o->a = v;
}

void first(struct pair *o, long v)
{
	put(o, v);
}

void second(struct pair *o)
{
	other();
	put(o, 42);
	other();
}

void copied(struct pair *o, long v)
{
#pragma GCC unroll 2
	for (int i = 0; i < 2; i++)
		put(o, v + i);
}
EOF
"$CC" -O2 -g -c inlined.c -o inlined.o || ktap_skip_all "$CC does not compile"
"$CC" -O2 -g0 -c inlined.c -o bare.o
# The files of the running kernel.
sed '/extern void other/s/.*/void other(void) { }/' inlined.c >kernel.c
"$CC" -O2 -g -mcmodel=kernel -fno-pie -no-pie -nostdlib -static -Wl,-e,first \
	-Wl,-Ttext=0xffffffff81000000 -Wl,--build-id=none kernel.c -o kernel.elf ||
	ktap_skip_all "$CC does not link"
head -c 3000 inlined.o >short.o
echo text >text.o

# says NAME PATTERN ARGUMENT...: klin succeeds, and its output has the pattern.
says()
{
	name=$1 pattern=$2
	shift 2
	run "$@"
	if [ $status -eq 0 ] && grep -qE -- "$pattern" out; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "status $status, expected '$pattern'" "$(head -n 20 out err)"
	fi
}

ktap_header
ktap_plan 15
says "each place, with its line" '^first\+0x[0-9a-f]+ .*inlined.c:12$' sites --debug=inlined.o put
says "a parameter in a register" '^ +v +long int +rsi$' sites --debug=inlined.o --in=first put
says "a constant" '^ +v +long int +constant 42$' sites --debug=inlined.o --in=second put
says "copies are told" '^ +not recordable: ' sites --debug=inlined.o --in=copied put
says "JSON" '"in":"second","symbol":"second",.*"known":true,"where":"constant 42".*"recordable":true' \
	sites --debug=inlined.o --in=second --json put
says "addresses of the kernel are not negative" \
	'"entry":"184467440[0-9]{11}",.*"ranges":\[\["184467440[0-9]{11}","184467440' \
	sites --debug=kernel.elf --in=first --json put
says "a function that is not inlined" '^first\+0x0  the function itself' sites --debug=inlined.o first
refuse "an unknown function" "no function 'none'" sites --debug=inlined.o none
refuse "an unknown outer function" "no function 'put' inlined in 'none'" \
	sites --debug=inlined.o --in=none put
refuse "a misspelt function" "no function 'frist'; did you mean 'first'\?" \
	sites --debug=inlined.o frist
refuse "a misspelt outer function" "inlined in 'secnd'; did you mean 'second'\?" \
	sites --debug=inlined.o --in=secnd put
refuse "a file without debugging information" "bare.o: no debugging information" \
	sites --debug=bare.o put
refuse "a truncated file" "short.o: " sites --debug=short.o put
refuse "a file that is not ELF" "text.o: expected an ELF file" sites --debug=text.o put
refuse "a missing file" "none.o: No such file" sites --debug=none.o put
ktap_finish
