#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin new: skeletons of specifications, which `klin spec' accepts and `klin list' attaches.

. "$(dirname "$0")/common.sh"

# has NAME PATTERN...: the output has a line that matches each pattern.
has()
{
	name=$1
	shift
	for pattern; do
		if ! grep -q -- "$pattern" out; then
			ktap_fail "$name" "no line with: $pattern" "status $status" "$(cat out err)"
			return
		fi
	done
	ktap_pass "$name"
}

ktap_header
cat >kernel.c <<'END'
typedef unsigned int u32;
enum kind { ONE, TWO };
struct ring { long head; };
struct pair { long a, b, c; };
u32 ring_put(void *from, struct ring *r, u32 thread, const char *text) { return r->head + thread; }
_Bool ring_get(struct ring *r, u32 *out, const u32 *in, enum kind kind) { return kind; }
struct ring *ring_find(struct pair *p, struct ring *r, long ret) { return r; }
void whole(struct pair p, long after) { }
void spec(void) { }
long plain(long a, long b, long c, long d, long e, long f, long g) { return g; }
void nothing(void) { }
int any_of(int (*callback)(int), ...) { return 0; }
struct pt_regs { unsigned long di, si, dx, r10, r8, r9; };
long __x64_sys_put(const struct pt_regs *regs) { return regs->di; }
END
if gcc -w -gbtf -c kernel.c -o kernel.o 2>/dev/null; then
	run new --btf=kernel.o ring_put ring_get ring_find
	has "arguments, results and objects" '^spec ring {$' \
		'^	method ring_put(word thread_) -> word ret {$' \
		'^	method ring_get(word kind) -> bool ret {$' \
		'^	method ring_find(word ret) -> word result_ {$' \
		'^// u32 ring_put(void \*from, struct ring \*r, u32 thread, const char \*text)$' \
		'^probe ring_put on ring_put(from, r, thread_, text) {$' '^	object r;' \
		'^	argument thread_ = thread_;$' '^	// \*out is a number, which' \
		'^	// in is a pointer\.$' '^	// p->MEMBER is a value of a pair\.$' \
		'^	// The result is a pointer; ' '^	result result_ = return;$'
	ktap_result "$([ "$(grep -c '^	object r;' out)" -eq 3 ]; echo $?)" \
		"the object is the structure that all functions take" "$(cat out)"
	run new --btf=kernel.o -o all.lin ring_put ring_get ring_find whole plain nothing any_of
	ktap_result $status "a skeleton in a file" "$(cat err)"
	expect 0 "klin spec accepts it" spec all.lin
	cp all.lin out
	has "what no clause can read" '^spec structure {$' '^probe whole on whole() {$' \
		'^	// The function has further parameters' '^	object 0;' \
		'^probe plain on plain(a, b, c, d, e, f) {$'
	run new --btf=kernel.o ring_get plain __x64_sys_put
	has "what else a clause may need" 'coverage asserted "REASON";$' \
		'^	// If calls that fail are no operations: when return;$' \
		'^	// If calls that fail are no operations: when return >= 0;$' \
		'^	// If a number tells objects apart, it is the object: object a;$' \
		'^	// The arguments are regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9.$'
	ktap_result "$(grep -q 'object regs' out; [ $? -eq 1 ]; echo $?)" \
		"registers are no object" "$(cat out)"
	sed '/^probe __x64_sys_put/,/^}/s/^	result/	when return >= 0;\n	argument a = regs->di;\n&/
		s/__x64_sys_put()/__x64_sys_put(word a)/' out >call.lin
	run list --btf=kernel.o call.lin
	ktap_result "$(grep -q 'argument a = regs' call.lin && [ $status -eq 0 ]; echo $?)" \
		"arguments of a system call can be read" "$(cat out err)"
	run list --btf=kernel.o all.lin
	ktap_result "$([ "$(grep -cE '^  (fentry|kprobe) ' out)" -eq 7 ]; echo $?)" \
		"klin list finds all functions" "$(cat out err)"
	"$KLIN" gen --type=all.lin --ops=300 -o h.txt
	run check all.lin h.txt
	ktap_result $status "it allows every history" "$(cat out err)"
	run new --btf=kernel.o --name=mine nothing
	has "a name of one's own" '^spec mine {$'
	refuse "an existing file is not replaced" "all.lin exists" new --btf=kernel.o -o all.lin plain
	refuse "a mistyped function" "no function 'ring_gte'.*did you mean ring_get?" new \
		--btf=kernel.o -o gone.lin ring_put ring_gte
	refuse "a reserved word" "cannot name 'spec'" new --btf=kernel.o spec
	ktap_result "$([ ! -e gone.lin ]; echo $?)" "nothing is written after an error"
else
	ktap_skip "functions of a small object file" "$no_btf"
fi
refuse "no function" "expected FUNCTION" new
refuse "a reserved name" "--name=spec: expected a name" new --name=spec f
refuse "symbols without BTF" "--symbols requires --btf" new --symbols=x f

# Each 500th function of real kernels (Debian's, of tools/vm).
kernel=
for btf in "$here"/../../build/vm/*-amd64/vmlinux.btf; do
	[ -e "$btf" ] || continue
	kernel=$(basename "$(dirname "$btf")")
	"$KLIN" list --btf="$btf" '*' 2>err | awk '$1 != "no" && $2 !~ /[.:]/ && ++n % 500 == 0 {
		print $2 }' | xargs -n 24 >groups
	n=0 bad=
	while read -r functions; do
		n=$((n + 1))
		# shellcheck disable=SC2086 # several functions
		run new --btf="$btf" $functions
		cp out some.lin
		[ $status -eq 0 ] && run spec some.lin && [ $status -eq 0 ] &&
			run list --btf="$btf" some.lin && [ $status -eq 0 ] || bad="$bad$functions
"
	done <groups
	if [ -z "$bad" ] && [ $n -gt 0 ]; then
		ktap_pass "functions of $kernel" "$n skeletons"
	else
		ktap_fail "functions of $kernel" "$n skeletons; wrong:" "$bad" "$(cat out err)"
	fi
done
[ -n "$kernel" ] || ktap_skip "functions of real kernels" \
	"run tools/vm once, which downloads them"
ktap_finish
