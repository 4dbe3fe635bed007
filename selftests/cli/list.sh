#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# klin list on a kernel's files: the alternative of a clause that fits, and the reasons
# against the others.  A small object file with BTF replaces the kernel.  If there are real
# kernels (Debian's, of tools/vm), the whole catalogue must fit them.

. "$(dirname "$0")/common.sh"

# listed NAME: the output of klin list equals stdin.
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
	  no      new_way: new_way() has 3 parameters in kernel kernel.o, but the clause names 4
	  no      newer_way: the kernel has no such function (inlined, renamed, or not built in)
	  fentry  new_way
	  coverage unknown: new_way(): it is not known where it is inlined: there is no debugging information of kernel kernel.o; give --debug=FILE
	  unused  old_way
	set
	  no      vanished: the kernel has no such function (inlined, renamed, or not built in)
	  not attached: this kernel has none
	END
	run list -v --btf kernel.o '*_way'
	listed "klin list -v: prototypes and coverage" <<-'END'
	fentry  new_way
	  long int new_way(struct ring *r, int flags, long int *out)
	  coverage unknown: new_way(): it is not known where it is inlined: there is no debugging information of kernel kernel.o; give --debug=FILE
	fentry  old_way
	  int old_way(struct ring *r)
	  coverage unknown: old_way(): it is not known where it is inlined: there is no debugging information of kernel kernel.o; give --debug=FILE
	END
	sed '/^probe/,$d' spec.lin >bare.lin
	echo "probe get on old_way(r) { result v = r->size; }" >>bare.lin
	run list --btf kernel.o bare.lin
	ktap_result "$([ $status -eq 0 ] && grep -q '^  no object: all calls' out; echo $?)" \
		"a clause without an object is said" "$(cat out err)"
	echo "ffffffff81000000 T old_way" >symbols
	run list --btf kernel.o --symbols symbols spec.lin
	if [ $status -eq 0 ] && grep -q '^  fentry  old_way' out; then
		ktap_pass "--symbols overrides the functions of BTF"
	else
		ktap_fail "--symbols overrides the functions of BTF" "status $status" "$(cat out err)"
	fi
	sed -i 's/enumerator(RING_NEW)/enumerator(RING_NONE)/; s/ or nothing;//' spec.lin
	run list --btf kernel.o spec.lin
	if [ $status -eq 2 ] && grep -q "new_way: kernel kernel.o has no enumerator 'RING_NONE'" out &&
	   grep -q '^  fentry  old_way' out && grep -q '1 clauses .* cannot be attached' err; then
		ktap_pass "clauses that do not fit are reported"
	else
		ktap_fail "clauses that do not fit are reported" "status $status" "$(cat out err)"
	fi
	printf 'ffffffff81000000 T no_type\nffffffff81000100 T next\n' >symbols
	run list --btf kernel.o --symbols symbols no_type
	ktap_result "$(grep -q '^no  *no_type: no BTF for it$' out; echo $?)" \
		"a function without a type, in a kernel with BTF" "$(cat out err)"
	sed '/^probe/,$d' spec.lin >place.lin
	echo "probe get on no_type+0x4 { result v = return; }" >>place.lin
	run list --btf kernel.o --symbols symbols place.lin
	ktap_result "$([ $status -eq 2 ] && grep -q "the type of no_type()'s result is not" out; echo $?)" \
		"the result of a function without a type cannot be recorded" "$(cat out err)"
	refuse "a file of symbols in another format" "kernel.c: expected symbols" list --btf kernel.o \
		--symbols kernel.c old_way
else
	ktap_skip "a small object file as the kernel" "$no_btf"
fi
refuse "a file without BTF" "spec.lin: expected BTF" list --btf spec.lin old_way
refuse "a missing file" "gone: No such file" list --btf gone old_way
refuse "symbols without BTF" "--symbols requires --btf" list --symbols spec.lin old_way

# Functions of the same name, with one symbol in the kernel; each argument is the number of
# parameters of the next one.
cat >namesake.c <<'END'
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	struct btf *btf = btf__new_empty();
	int word = btf__add_int(btf, "long", 8, BTF_INT_SIGNED), i, proto[3];
	const void *data;
	unsigned int size;

	for (i = 1; i < 3; i++) {
		proto[i] = btf__add_func_proto(btf, word);
		btf__add_func_param(btf, "a", word);
		if (i > 1)
			btf__add_func_param(btf, "b", word);
	}
	for (i = 1; i < argc; i++)
		btf__add_func(btf, "twin", BTF_FUNC_STATIC, proto[atoi(argv[i])]);
	data = btf__raw_data(btf, &size);
	return fwrite(data, 1, size, stdout) != size;
}
END
if gcc -o namesake namesake.c -lbpf 2>/dev/null; then
	echo "ffffffff81000000 t twin" >symbols
	./namesake 1 >one.btf
	./namesake 1 2 >two.btf
	./namesake 1 2 1 >three.btf
	run list --btf one.btf --symbols symbols twin
	if grep -q '^fentry  twin$' out; then
		ktap_pass "a name with one prototype"
	else
		ktap_fail "a name with one prototype" "$(cat out err)"
	fi
	run list --btf two.btf --symbols symbols twin
	if grep -q '^no      twin: BTF has 2 functions of this name, with different types, and' out &&
	   grep -qE ': long twin\(long a\); long twin\(long a, long b\)$' out; then
		ktap_pass "two functions of one name: no prototype is used"
	else
		ktap_fail "two functions of one name: no prototype is used" "$(cat out err)"
	fi
	run list --btf three.btf --symbols symbols twin
	if grep -q '^no      twin: BTF has 2 functions of this name, with different types, and' out &&
	   grep -qE ': long twin\(long a\); long twin\(long a, long b\)$' out; then
		ktap_pass "functions of one name: each prototype is listed once"
	else
		ktap_fail "functions of one name: each prototype is listed once" "$(cat out err)"
	fi
	echo 'spec s { word x; method m() { atomic { x = 1; } } } probe m on twin(a) { object a; }' >t.lin
	run list --btf two.btf --symbols symbols t.lin
	if [ $status -eq 2 ] && grep -q '^  no      twin: .*: long twin(long a); long twin(long a, long b)$' out; then
		ktap_pass "two functions of one name: a clause does not fit"
	else
		ktap_fail "two functions of one name: a clause does not fit" "status $status" "$(cat out err)"
	fi

	# The types of this machine's modules do not belong to the kernel that --btf names.
	printf 'ffffffffc0000000 t twin\t[../../..%s/one.btf]\n' "$PWD" >symbols
	run list --btf one.btf --symbols symbols twin
	if [ $status -eq 0 ] && grep -q '^no      twin .*: no BTF for it' out; then
		ktap_pass "types of this machine's modules are not used for another kernel"
	else
		ktap_fail "types of this machine's modules are not used for another kernel" "$(cat out err)"
	fi

	# Offsets are checked by the symbols; another symbol may be in between.
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
	# PREEMPT_RT inlines _raw_spin_unlock() everywhere.
	case $kernel in *-rt-*) without=spinlock_kernel ;; *) without= ;; esac
	for spec in $(awk '!/^#/ && ($2 ~ /^user:/ || $4 != "") { print $1 }' \
		      "$here/../klin/catalog.list" | sort -u) mutex rwsem; do
		[ "$spec" != "$without" ] || continue
		expect 0 "$spec fits $kernel" list --btf "$btf" "$specs/$spec.lin"
	done
done
[ -n "$kernel" ] || ktap_skip "the catalogue fits real kernels" "run tools/vm once, which downloads them"
# Hide the kernel's BTF, if the system lets.
if unshare -m mount -t tmpfs none /sys/kernel/btf 2>/dev/null &&
   grep -qw schedule /proc/kallsyms; then
	unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" list schedule' "$KLIN" \
		>out 2>err
	ktap_result "$(grep -q "schedule: the kernel has no BTF, .*CONFIG_DEBUG_INFO_BTF" out &&
		! grep -q libbpf err; echo $?)" "a kernel without BTF" "$(cat out err)"
else
	ktap_skip "a kernel without BTF" "its BTF cannot be hidden"
fi
ktap_finish
