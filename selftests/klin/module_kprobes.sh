#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Functions that BPF may not attach to (lib/): klin.ko's kprobes run the programs.  Recorded
# operations equal klin.ko's count, a mutant is caught, and nothing is left behind.
#
# All CPUs run these functions all the time, and the kernel turns the breakpoints into jumps
# some time after klin has attached.  QEMU before 8.1 can execute a stale breakpoint forever
# if code is patched while another CPU runs it.  With TCG this test needs -accel
# tcg,thread=single.

here=$(dirname "$0")
. "$here/ktap.sh"
. "$here/klin.sh"

ops=${KLIN_OPS:-$(amount 20000 40000)}

# The kernel's functions get the address of a part of klin.ko's object.
xarray_spec()
{
	cat <<-END
	spec xarray {
		const KEYS = 8;
		word at[KEYS] = 0;
		method load(word k) -> word v { atomic { return at[k]; } }
		method store(word k, word v) -> word old {
			fence; atomic { word was = at[k]; at[k] = v; return was; }
		}
		method erase(word k) -> word old {
			fence; atomic { word was = at[k]; at[k] = 0; return was; }
		}
		method cas(word k, word old, word new) -> bool ok {
			fence; atomic { if (at[k] != old) return false; at[k] = new; return true; }
		}
		partition by k;
	}
	probe load on xa_load$1(xa, index) {
		coverage asserted "called from other files alone";
		object (unsigned long)xa - offsetof(struct klin_xarray, xa);
		argument k = index;
		result v = (unsigned long)return >> 1;
	}
	probe store on xa_store(xa, index, entry) {
		coverage asserted "called from other files alone";
		object (unsigned long)xa - offsetof(struct klin_xarray, xa);
		argument k = index, v = (unsigned long)entry >> 1;
		result old = (unsigned long)return >> 1;
	}
	probe erase on xa_erase(xa, index) {
		coverage asserted "called from other files alone";
		object (unsigned long)xa - offsetof(struct klin_xarray, xa);
		argument k = index;
		result old = (unsigned long)return >> 1;
	}
	probe cas on __xa_cmpxchg(xa, index, old, entry) {
		coverage asserted "called from other files alone";
		object (unsigned long)xa - offsetof(struct klin_xarray, xa);
		argument k = index, old = (unsigned long)old >> 1, new = (unsigned long)entry >> 1;
		result ok = return == old;
	}
	END
}

llist_spec()
{
	cat <<-END
	spec llist {
		stack<word> s = empty;
		method push(word v) { atomic_flush { s.push(v); } }
		method pop() -> (bool ok, word v) {
			atomic_flush {
				if (s.size() == 0)
					return (false, 0);
				return (true, s.pop());
			}
		}
	}
	probe push on llist_add_batch(first, last, head) {
		coverage asserted "called from other files alone";
		object (unsigned long)head - offsetof(struct klin_llist, head);
		argument v = ((struct klin_lnode *)first)->value;
	}
	probe pop on klin:llist.pop;
	END
}

again_spec()
{
	cat <<-END
	spec counter {
		word n = 0;
		method inc() -> word old { atomic_flush { n += 1; return n - 1; } }
		method get() -> word v { atomic { return n; } }
	}
	probe inc on klin_counter_again(n) {
		coverage asserted "noinline";
		object (unsigned long)n - offsetof(struct klin_counter, n);
		result old = return;
	}
	probe get on klin:counter.get;
	END
}

no_probes()
{
	! grep -qE 'xa_load|xa_store|xa_erase|__xa_cmpxchg|llist_add_batch|counter_again' \
		/sys/kernel/debug/kprobes/list
}

# of_load IN OUT: keep only the operations on the load's object, because the kernel uses the
# recorded functions on other objects, too.
of_load()
{
	"$KLIN" convert --to=text "$1" "$work/all.txt" &&
		awk 'FNR == NR { if (!/^#/ && ++n[$2] > n[most]) most = $2; next }
		     /^#/ || $2 == most' "$work/all.txt" "$work/all.txt" >"$2"
}

# correct NAME SUBJECT SPEC: a recording has exactly klin.ko's operations, and is linearizable.
correct()
{
	if ! record "$work/c.klh" --load "subject=$2,ops=$ops" "$3"; then
		ktap_fail "$1" "$(cat "$work/record")"
		return
	fi
	# The last step of a thread may make one operation more than requested.
	counted=$(status_of ops)
	if ! grep -q "kprobe+kretprobe of klin.ko" "$work/record" ||
	   ! of_load "$work/c.klh" "$work/c.txt" ||
	   [ "$(grep -vc '^#' "$work/c.txt")" -ne "$counted" ]; then
		ktap_fail "$1" "klin.ko counts $counted, recorded of its object are \
			$(grep -vc '^#' "$work/c.txt")" "$(awk '$4 == "-"' "$work/c.txt" | head)" \
			"$(cat "$work/record")"
	else
		verdict "$1" "$work/c.txt" "$counted"
	fi
}

test_list()
{
	name="klin list reports that functions of lib/ need klin.ko"
	if "$KLIN" list "$work/xarray.lin" >"$work/out" 2>&1 &&
	   [ "$(grep -c '^  klin.ko' "$work/out")" -eq 4 ]; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/out")"
	fi
}

test_mutant()
{
	caught llist.several_take "$work/llist.lin"
}

# A stack map takes locks, which the interrupted code may hold.
test_stacks()
{
	record "$work/s.txt" --stacks --load subject=counter_again,ops=1000 "$work/again.lin" &&
		grep -q 'warning: --stacks: klin_counter_again() has no stacks' "$work/record" &&
		grep -q ' inc ->' "$work/s.txt" && ! grep ' inc ' "$work/s.txt" | grep -q 'stack=' &&
		grep ' get ' "$work/s.txt" | grep -q 'stack='
	ktap_result $? "--stacks leaves out what klin.ko's kprobes record, and says so" \
		"$(cat "$work/record")"
}

# A killed klin cannot detach; the kernel closes the files.
test_killed()
{
	name="no probe is left after klin was killed"
	"$KLIN" record $clock_error -o "$work/k.klh" "$work/xarray.lin" >"$work/out" 2>&1 </dev/null &
	pid=$!
	for _ in $(seq 100); do
		[ "$(grep -cE 'xa_load|xa_store|xa_erase|__xa_cmpxchg' /sys/kernel/debug/kprobes/list)" -lt 8 ] || break
		sleep 0.1
	done
	no_probes && before=none
	kill -KILL $pid
	wait $pid 2>/dev/null
	for _ in $(seq 50); do
		no_probes && break
		sleep 0.1
	done
	if [ "${before:-}" != none ] && no_probes && unload && load; then
		ktap_pass "$name"
	else
		ktap_fail "$name" "$(cat "$work/out" /sys/kernel/debug/kprobes/list)"
	fi
}

ktap_header
need_root
need_klin
need_btf
need_module
need_function xa_load
need_function __xa_cmpxchg
need_function llist_add_batch
ktap_plan 9
xarray_spec >"$work/xarray.lin"
xarray_spec +0x0 >"$work/place.lin"
llist_spec >"$work/llist.lin"
again_spec >"$work/again.lin"
test_list
correct "xarray by its functions: every operation is recorded, linearizable" \
	xarray "$work/xarray.lin"
correct "xarray, one function by an offset: every operation is recorded, linearizable" \
	xarray "$work/place.lin"
correct "llist_add_batch(): every operation is recorded, linearizable" llist "$work/llist.lin"
correct "a function that begins with a loop: every call is recorded once, linearizable" \
	counter_again "$work/again.lin"
test_mutant
test_stacks
if no_probes; then
	ktap_pass "no probe is left after recording"
else
	ktap_fail "no probe is left after recording" "$(cat /sys/kernel/debug/kprobes/list)"
fi
test_killed
ktap_finish
