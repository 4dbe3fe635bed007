#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin list on a kernel's files: which alternative of a clause fits, and why not the
# others.  Here a small object file with BTF plays the kernel; where there are real
# ones (Debian's, of tools/vm), all of the catalogue fits them.

. "$(dirname "$0")/common.sh"

# listed NAME: what klin list said is what stdin says.
listed()
{
	if diff - out >difference; then
		ktap_pass "$1"
	else
		ktap_fail "$1" "status $status" "$(cat difference err)"
	fi
}

ktap_header
cat >spec.lin <<'END'
spec s {
	word x;
	method get() -> word v { atomic { return x; } }
	method set(word v) { atomic { x = v; } }
}
probe get on new_way(r, flags, out, more) or newer_way(r) {
	object r;
	result v = r->head;
} or new_way(r, flags, out) {
	object r;
	result v = flags == enumerator(RING_NEW) ? *out : user(*out);
} or old_way(r) {
	when current != NULL;
	object r;
	result v = return == 0 ? empty : r->size;
}
probe set on vanished(v) { argument v = v; } or nothing;
END
cat >kernel.c <<'END'
struct ring { long head; int size; };
struct task_struct { int pid; };
enum kind { RING_OLD, RING_NEW } kind;
struct task_struct *task;
long new_way(struct ring *r, int flags, long *out) { *out = r->head; return flags + kind; }
int old_way(struct ring *r) { return r->size; }
END
if gcc -gbtf -c kernel.c -o kernel.o 2>/dev/null; then
	run list --btf kernel.o spec.lin
	listed "the first alternative that fits" <<-'END'
	get
	  no      new_way: new_way() has 3 parameters in kernel kernel.o, the clause names 4
	  no      newer_way: the kernel has no such function (inlined, renamed, or not built in)
	  fentry  new_way
	  coverage unknown: new_way(): where it is inlined is not known: there is no debugging information of kernel kernel.o; give --debug=FILE
	  unused  old_way
	set
	  no      vanished: the kernel has no such function (inlined, renamed, or not built in)
	  not attached: this kernel has none
	END
	echo "ffffffff81000000 T old_way" >symbols
	run list --btf kernel.o --symbols symbols spec.lin
	if [ $status -eq 0 ] && grep -q '^  fentry  old_way' out; then
		ktap_pass "the symbols of a kernel"
	else
		ktap_fail "the symbols of a kernel" "status $status" "$(cat out err)"
	fi
	sed -i 's/enumerator(RING_NEW)/enumerator(RING_NONE)/; s/ or nothing;//' spec.lin
	run list --btf kernel.o spec.lin
	if [ $status -eq 2 ] && grep -q "new_way: kernel kernel.o has no enumerator 'RING_NONE'" out &&
	   grep -q '^  fentry  old_way' out && grep -q '1 clauses .* cannot be attached' err; then
		ktap_pass "what does not fit is told"
	else
		ktap_fail "what does not fit is told" "status $status" "$(cat out err)"
	fi
	refuse "symbols that are none" "kernel.c: expected symbols" list --btf kernel.o \
		--symbols kernel.c old_way
else
	ktap_skip "a small object file as the kernel" "$no_btf"
fi
refuse "a file without BTF" "spec.lin: expected BTF" list --btf spec.lin old_way
refuse "a file that is not there" "gone: No such file" list --btf gone old_way
refuse "symbols without BTF" "expected --btf" list --symbols spec.lin old_way

# Two functions of one name, of which the kernel has one symbol.
cat >namesake.c <<'END'
#include <bpf/btf.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	struct btf *btf = btf__new_empty();
	int word = btf__add_int(btf, "long", 8, BTF_INT_SIGNED), i, proto;
	const void *data;
	unsigned int size;

	for (i = 0; i < 2; i++) {
		proto = btf__add_func_proto(btf, word);
		btf__add_func_param(btf, "a", word);
		if (i && argc > 1)
			btf__add_func_param(btf, "b", word);
		if (!i || argc > 1)
			btf__add_func(btf, "twin", BTF_FUNC_STATIC, proto);
	}
	data = btf__raw_data(btf, &size);
	return fwrite(data, 1, size, stdout) != size;
}
END
if gcc -o namesake namesake.c -lbpf 2>/dev/null; then
	echo "ffffffff81000000 t twin" >symbols
	./namesake >one.btf
	./namesake two >two.btf
	run list --btf one.btf --symbols symbols twin
	if grep -q '^fentry  twin$' out; then
		ktap_pass "a name with one prototype"
	else
		ktap_fail "a name with one prototype" "$(cat out err)"
	fi
	run list --btf two.btf --symbols symbols twin
	if grep -q '^no      twin: BTF has 2 functions of this name, with different types, and' out &&
	   grep -qE ': long twin\(long a\); long twin\(long a, long b\)$' out; then
		ktap_pass "a namesake's prototype is not taken"
	else
		ktap_fail "a namesake's prototype is not taken" "$(cat out err)"
	fi
	echo 'spec s { word x; method m() { atomic { x = 1; } } } probe m on twin(a) { object a; }' >t.lin
	run list --btf two.btf --symbols symbols t.lin
	if [ $status -eq 2 ] && grep -q '^  no      twin: .*: long twin(long a); long twin(long a, long b)$' out; then
		ktap_pass "nor by a clause"
	else
		ktap_fail "nor by a clause" "status $status" "$(cat out err)"
	fi

	# The types of this machine's modules are not those of the kernel that --btf names.
	printf 'ffffffffc0000000 t twin\t[../../..%s/one.btf]\n' "$PWD" >symbols
	run list --btf one.btf --symbols symbols twin
	if [ $status -eq 0 ] && grep -q '^no      twin .*: no BTF for it' out; then
		ktap_pass "no types of this machine's modules for another kernel"
	else
		ktap_fail "no types of this machine's modules for another kernel" "$(cat out err)"
	fi

	# Offsets are looked at by the symbols, of which another one may be in between.
	printf '%s\n' "ffffffff81000000 t twin" "ffffffff81000020 t other" \
		"ffffffff81000020 t twin.cold" "ffffffff81000010 t near [mod]" >symbols
	for offset in 0xf+yes 0x10+no 0x1f+no 0x20+no 0xffffffffff+no; do
		echo "spec s { word x; method m() { atomic { x = 1; } } }
			probe m on twin+${offset%+*}(a) { object a; }" >t.lin
		run list --btf one.btf --symbols symbols t.lin
		case $offset in
		*yes) [ $status -eq 0 ] ;;
		*) [ $status -eq 2 ] && grep -q "'twin' ends before +.*: the next symbol is at +0x10" out ;;
		esac
		ktap_result $? "twin+${offset%+*} is in the function: ${offset#*+}"
	done
else
	ktap_skip "two functions of one name" "no compiler, or no libbpf to compile with"
fi

kernel=
for btf in "$here"/../../build/vm/*-amd64/vmlinux.btf; do
	[ -e "$btf" ] || continue
	kernel=$(basename "$(dirname "$btf")")
	# PREEMPT_RT has _raw_spin_unlock() inlined everywhere.
	case $kernel in *-rt-*) without=spinlock_kernel ;; *) without= ;; esac
	for spec in $(awk '!/^#/ && ($2 ~ /^user:/ || $4 != "") { print $1 }' \
		      "$here/../klin/catalog.list" | sort -u) mutex rwsem; do
		[ "$spec" != "$without" ] || continue
		expect 0 "$spec fits $kernel" list --btf "$btf" "$specs/$spec.lin"
	done
done
[ -n "$kernel" ] || ktap_skip "the catalogue fits real kernels" "run tools/vm once, which downloads them"
ktap_finish
