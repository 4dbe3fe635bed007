// SPDX-License-Identifier: GPL-2.0
/*
 * Stories of violations without store buffers.  The cast of each story is a violation by itself,
 * as the brute-force oracle confirms; and small histories have the expected headlines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "check/check.h"
#include "history_util.h"
#include "story/reason.h"
#include "story_casts.h"

static const struct {
	const char *spec, *history, *headline;
} table[] = {
	{ "queue",
	  "t1 @1 0 10 enq 1\nt2 @1 20 30 deq -> 5\n",
	  "t2's deq() -> 5 took 5, which was never added" },
	{ "queue",
	  "t2 @1 20 30 deq -> 5\nt1 @1 40 50 enq 5\n",
	  "t2's deq() -> 5 took 5 and returned at 30, before t1's enq(5) was called at 40" },
	{ "queue",
	  "t1 @1 0 10 enq 1\nt1 @1 20 30 deq -> 1\nt2 @1 40 50 deq -> 1\n",
	  "t2's deq() -> 1 took 1 a second time; t1's deq() -> 1 had taken it by 30" },
	{ "queue",
	  "t1 @1 0 10 enq 1\nt1 @1 20 45 deq -> 1\nt2 @1 40 50 deq -> 1\n",
	  "t1's deq() -> 1 and t2's deq() -> 1 both took 1, which was added once" },
	{ "queue",
	  "t1 @1 0 10 enq 1\nt1 @1 20 30 enq 1\nt1 @1 40 50 deq -> 1\nt2 @1 41 50 deq -> 1\n"
	  "t3 @1 42 50 deq -> 1\n",
	  "t3's deq() -> 1 took 1, which was taken 3 times but added 2 times" },
	{ "queue",
	  "t1 @1 0 10 enq 1\nt2 @1 20 30 deq -> empty\nt1 @1 40 50 deq -> 1\n",
	  "t2's deq() -> empty found nothing, while 1 was inside from 10 to 30" },
	{ "queue",
	  "t1 @1 0 10 enq 1\nt1 @1 20 30 enq 2\nt2 @1 40 50 deq -> 2\nt2 @1 60 70 deq -> 1\n",
	  "t2's deq() -> 2 took 2 while 1, which is added earlier, was inside" },
	{ "stack",
	  "t1 @1 0 10 push 1\nt1 @1 20 30 push 2\nt2 @1 40 50 pop -> 1\nt2 @1 60 70 pop -> 2\n",
	  "t2's pop() -> 1 took 1 while 2, which is added later, was inside" },
	{ "pqueue",
	  "t1 @1 0 10 push 1\nt1 @1 20 30 push 2\nt2 @1 40 50 pop -> 2\n",
	  "t2's pop() -> 2 took 2 while 1, which is smaller, was inside" },
	{ "queue",
	  "t1 @1 0 10 enq 3\nt1 @1 20 30 deq -> 3\nt2 @1 40 50 peek -> 3\n",
	  "t2's peek() -> 3 saw 3, which was gone: t1's deq() -> 3 had taken it by 30" },
	{ "multiset",
	  "t1 @1 0 10 add 3\nt2 @1 20 30 contains 3 -> 0\n",
	  "t2's contains(3) -> 0 did not find 3, which was inside from 10 to 30" },
	{ "multiset",
	  "t1 @1 0 10 add 3\nt1 @1 20 30 remove 3 -> 1\nt2 @1 40 50 remove 3 -> 1\n",
	  "t2's remove(3) -> 1 took 3 a second time; t1's remove(3) -> 1 had taken it by 30" },
	{ "bounded_queue",
	  "t1 @1 0 10 enq 1 -> 0\nt2 @1 20 30 enq 2 -> full\n",
	  "t2's enq(2) -> full found no room, while at most 1 of 4 values were inside" },
	{ "bpf_queue",
	  "t1 @1 0 10 push 1 1 0 -> 0\nt2 @1 20 30 push 2 1 0 -> 0\nt2 @1 40 50 pop -> 1\n",
	  "t2's push(2, 1, 0) -> 0 found room, while at least 1 of 1 values were inside" },
	{ "bpf_queue",
	  "t1 @1 0 10 push 1 4 0 -> 0\nt2 @1 20 30 push 2 4 1 -> 0\nt2 @1 40 50 pop -> 2\n"
	  "t2 @1 60 70 pop -> 1\nt2 @1 80 90 pop -> 1\n",
	  "t2's pop() -> 1 took 1 a second time; t2's pop() -> 1 had taken it by 70" },
	{ "register",
	  "t1 @1 0 10 write 1\nt2 @1 20 30 read -> 7\n",
	  "t2's read() -> 7 saw 7, which no operation writes" },
	{ "register",
	  "t1 @1 0 10 write 1\nt1 @1 20 30 write 2\nt2 @1 40 50 read -> 1\n",
	  "t2's read() -> 1 saw 1, which t1's write(2) had overwritten by 30" },
	{ "register",
	  "t1 @1 0 10 write 1\nt1 @1 20 60 write 2\nt2 @1 30 40 read -> 2\n"
	  "t3 @1 50 55 read -> 1\n",
	  "t3's read() -> 1 saw 1, although t2's read() -> 2 had seen another value by 40" },
	{ "set",
	  "t1 @1 0 40 add 3 -> 1\nt2 @1 10 30 add 3 -> 1\nt3 @1 50 60 remove 3 -> 1\n",
	  "t1's add(3) -> 1 and t2's add(3) -> 1 both added 3" },
	{ "register",
	  "t1 @1 0 40 cas 0 1 -> 1\nt2 @1 10 30 cas 0 2 -> 1\nt3 @1 50 60 write 0\n",
	  "t1's cas(0, 1) -> 1 and t2's cas(0, 2) -> 1 both changed the value from 0" },
	{ "map",
	  "t1 @1 0 40 insert 3 1 -> 1\nt2 @1 10 30 insert 3 2 -> 1\nt3 @1 50 - remove 3 -> ?\n",
	  "t1's insert(3, 1) -> 1 and t2's insert(3, 2) -> 1 both put a value where there was none" },
	{ "register",
	  "t1 @1 0 10 write 1\nt3 @1 5 - cas 2 3 -> ?\nt2 @1 20 30 cas 1 2 -> 0\n",
	  "t2's cas(1, 2) -> 0 is wrong, since the value was 1 from 10 to 30" },
	{ "register",
	  "t1 @1 0 - write 1\nt2 @1 10 20 read -> 1\nt3 @1 21 - write 2\nt2 @1 30 40 read -> 2\n"
	  "t2 @1 41 45 write 5\nt2 @1 46 48 cas 5 1 -> 0\n",
	  "t2's cas(5, 1) -> 0 failed, though it could have succeeded: x = 5 while it ran" },
	{ "register",
	  "t1 @1 0 10 read -> 3\nt2 @1 20 30 write 3\n",
	  "t1's read() -> 3 saw 3 and returned at 10, before t2's write(3) was called at 20" },
	{ "set",
	  "t1 @1 0 10 contains 3 -> 1\nt2 @1 20 30 add 3 -> 1\n",
	  "t1's contains(3) -> 1 found 3 and returned at 10, before t2's add(3) -> 1 was called at "
	  "20" },
	{ "register",
	  "t1 @1 0 10 write 3\nt1 @1 20 30 write 1\nt2 @1 15 - cas 4 3 -> ?\nt3 @1 40 50 read -> 3\n",
	  "t3's read() -> 3 saw 3, which t1's write(1) had overwritten by 30" },
	{ "register",
	  "t1 @1 0 10 write 1\nt2 @1 5 - cas 4 3 -> ?\nt3 @1 40 50 read -> 3\n",
	  "t3's read() -> 3 saw 3, which no operation can have written" },
	{ "register",
	  "t1 @1 0 - write 2\nt2 @1 10 20 read -> 2\nt2 @1 30 40 read -> 0\n"
	  "t2 @1 50 60 read -> 2\n",
	  "t2's read() -> 0 saw 0, although t2's read() -> 2 had seen another value by 20" },
	{ "register",
	  "t1 @1 0 - write 2\nt2 @1 10 20 read -> 2\nt3 @1 25 - write 4\n"
	  "t2 @1 30 40 read -> 4\nt2 @1 50 60 read -> 2\n",
	  "t2's read() -> 2 saw 2, although t2's read() -> 4 had seen another value by 40; t1's "
	  "write(2) had taken effect before, since t2's read() -> 2 saw 2 by 20" },
	{ "register",
	  "t1 @1 0 10 write 1\nt2 @1 20 60 write 4\nt3 @1 30 70 cas 4 3 -> 1\n"
	  "t1 @1 80 90 read -> 4\n",
	  "t1's read() -> 4 saw 4, which t3's cas(4, 3) -> 1 had overwritten by 70; t2's write(4) "
	  "had taken effect before, since t3's cas(4, 3) -> 1 succeeded on 4 by 70" },
	{ "register",
	  "t1 @1 0 - write 1\nt2 @1 1 - write 1\nt3 @1 2 - write 2\nt4 @1 3 - write 2\n"
	  "t5 @1 10 20 read -> 1\nt5 @1 30 40 read -> 2\nt5 @1 50 60 read -> 1\n"
	  "t5 @1 70 80 read -> 2\nt5 @1 90 95 read -> 1\n",
	  "t5's read() -> 1 saw 1, although t5's read() -> 2 had seen another value by 80; it was "
	  "seen 3 times after other values, but only 2 operations can have left it in time" },
	{ "map",
	  "t1 @1 0 - put 3 7\nt2 @1 10 20 get 3 -> 7\nt2 @1 30 40 remove 3 -> 7\n"
	  "t2 @1 50 60 has 3 -> 0\nt2 @1 70 80 get 3 -> 7\n",
	  "t2's get(3) -> 7 saw 7, which t2's remove(3) -> 7 had removed by 40; t1's put(3, 7) "
	  "had taken effect before, since t2's remove(3) -> 7 saw 7 by 40" },
	{ "set",
	  "t1 @1 0 10 add 3 -> 1\nt2 @1 20 30 contains 3 -> 0\n",
	  "t2's contains(3) -> 0 did not find 3, which t1's add(3) -> 1 had added by 10" },
	{ "register",
	  "t1 @1 0 10 cas 0 1 -> 1\nt2 @1 5 30 cas 0 2 -> 1\n",
	  "t1's cas(0, 1) -> 1 and t2's cas(0, 2) -> 1 both changed the value from 0" },
	{ "register",
	  "t1 @1 0 10 write 1\nt2 @1 20 30 cas 1 2 -> 0\n",
	  "t2's cas(1, 2) -> 0 is wrong, since the value was 1 from 10 to 30" },
	{ "register",
	  "t1 @1 25 50 write 1\nt2 @1 0 20 cas 0 2 -> 0\n",
	  "t2's cas(0, 2) -> 0 is wrong, since the value was 0 until 20" },
	{ "register",
	  "t1 @1 0 10 write 1\nt1 @1 20 30 write 3\nt2 @1 40 50 cas 1 2 -> 1\n",
	  "t2's cas(1, 2) -> 1 succeeded on 1, which t1's write(3) had overwritten by 30" },
	{ "register",
	  "t2 @1 40 50 cas 1 2 -> 1\n",
	  "t2's cas(1, 2) -> 1 succeeded on 1, which no operation writes" },
	{ "queue",
	  "t1 @1 0 10 enq 3\nt1 @1 20 30 deq -> 3\nt2 @1 40 50 deq -> 3\nt3 @1 60 70 enq 3\n",
	  "t2's deq() -> 3 took 3, which was gone: t1's deq() -> 3 had taken it by 30" },
	{ "map",
	  "t1 @1 0 10 put 3 7\nt2 @1 20 30 get 3 -> absent\n",
	  "t2's get(3) -> absent found nothing, although t1's put(3, 7) had put 7 there by 10" },
	{ "map",
	  "t1 @1 0 10 put 3 7\nt1 @1 20 30 remove 3 -> 7\nt2 @1 40 50 get 3 -> 7\n",
	  "t2's get(3) -> 7 saw 7, which t1's remove(3) -> 7 had removed by 30" },
	{ "map",
	  "t1 @1 0 50 put 3 7\nt2 @1 5 10 get 3 -> 7\nt3 @1 20 30 get 3 -> absent\n",
	  "t3's get(3) -> absent found nothing, although t2's get(3) -> 7 had seen another value by "
	  "10" },
	{ "map",
	  "t1 @1 0 50 put 3 7\nt2 @1 5 10 has 3 -> 1\nt3 @1 20 30 remove 3 -> absent\n",
	  "t3's remove(3) -> absent found nothing, although t2's has(3) -> 1 had found a value there "
	  "by 10" },
	{ "map",
	  "t1 @1 0 10 put 3 7\nt2 @1 20 60 remove 3 -> 7\nt3 @1 30 40 get 3 -> absent\n"
	  "t1 @1 50 55 get 3 -> 7\n",
	  "t1's get(3) -> 7 saw 7, although t3's get(3) -> absent had found nothing by 40" },
	{ "map",
	  "t1 @1 0 10 put 3 6\nt2 @1 20 30 get 3 -> 7\n",
	  "t2's get(3) -> 7 saw 7, which no operation writes" },
	{ "map",
	  "t1 @1 0 20 insert 3 7 -> 1\nt2 @1 10 30 insert 3 8 -> 1\n",
	  "t1's insert(3, 7) -> 1 and t2's insert(3, 8) -> 1 both put a value where there was none" },
	{ "map",
	  "t1 @1 0 10 put 3 7\nt1 @1 20 30 remove 3 -> 7\nt2 @1 40 50 has 3 -> 1\n",
	  "t2's has(3) -> 1 is wrong, since nothing was there from 30 to 50" },
	{ "map",
	  "t1 @1 0 10 put 3 7\nt2 @1 20 30 insert 3 8 -> 1\n",
	  "t2's insert(3, 8) -> 1 found nothing, although t1's put(3, 7) had put 7 there by 10" },
	{ "kv",
	  "t1 @1 0 10 put 3 7\nt2 @1 20 30 append 3 7 8 9\nt3 @1 40 50 get 3 -> 6\n",
	  "t3's get(3) -> 6 saw 6, which no operation writes" },
	{ "array",
	  "t1 @1 0 10 write 3 1\nt1 @1 20 30 write 3 2\nt2 @1 40 50 read 3 -> 1\n",
	  "t2's read(3) -> 1 saw 1, which t1's write(3, 2) had overwritten by 30" },
	{ "xarray",
	  "t1 @1 0 10 store 3 1 -> 0\nt2 @1 20 30 cas 3 1 2 -> 0\n",
	  "t2's cas(3, 1, 2) -> 0 is wrong, since the value was 1 from 10 to 30" },
	{ "rhashtable",
	  "t1 @1 0 10 insert 3 1 -> 1\nt1 @1 20 30 remove 3 -> 1\nt2 @1 40 50 remove 3 -> 1\n",
	  "t2's remove(3) -> 1 is wrong, since the value was 0 from 30 to 50" },
	{ "rwlock",
	  "t1 @1 0 10 read_lock\nt2 @1 20 30 write_lock\n",
	  "t2's write_lock() took hold while it was held: readers = 1 while it ran" },
	{ "rwlock",
	  "t1 @1 0 10 read_lock\nt2 @1 5 15 read_lock\nt3 @1 8 40 read_unlock\n"
	  "t4 @1 20 30 write_trylock -> 1\n",
	  "t4's write_trylock() -> 1 took hold while it was held: readers = 1 to 2 while it ran" },
	{ "rwlock",
	  "t1 @1 0 10 write_lock\nt1 @1 20 30 write_unlock\nt2 @1 40 50 write_trylock -> 0\n",
	  "t2's write_trylock() -> 0 failed, though it could have succeeded: readers = 0 and "
	  "writer = false while it ran" },
	{ "mutex",
	  "t1 @1 10 20 trylock -> 1\nt3 @1 0 - trylock\nt2 @1 30 40 trylock -> 1\n"
	  "t2 @1 50 60 unlock\n",
	  "t2's trylock() -> 1 took hold while it was held: held = true while it ran" },
	{ "rwsem",
	  "t1 @1 0 10 read_lock\nt2 @1 20 30 write_unlock\n",
	  "t2's write_unlock() released what nobody held: writer = false while it ran" },
	{ "semaphore",
	  "t1 @1 0 10 down\nt2 @1 20 30 try_down -> 1\n",
	  "t2's try_down() -> 1 took a permit, though none was left: n = 0 while it ran" },
	{ "semaphore",
	  "t1 @1 0 10 down\nt1 @1 20 30 up\nt2 @1 40 50 try_down -> 0\n",
	  "t2's try_down() -> 0 failed, though it could have succeeded: n = 1 while it ran" },
	{ "spinlock",
	  "t1 @1 0 10 lock\nt1 @1 20 30 unlock\nt2 @1 40 50 lock\nt3 @1 45 80 trylock -> 0\n"
	  "t1 @1 60 70 trylock -> 1\n",
	  "t1's trylock() -> 1 took hold while it was held: held = true while it ran" },
	{ "mntput",
	  "t1 @1 0 10 put -> 1\nt1 @1 20 30 legitimize -> 1\n",
	  "t1's legitimize() -> 1 is wrong, since freed = true while it ran" },
	{ "ida",
	  "t1 @1 0 10 alloc -> 0\nt2 @1 20 30 alloc -> 2\n",
	  "t2's alloc() -> 2 skipped 1, which was free" },
	{ "refsum",
	  "t1 @1 0 10 get\nt2 @1 20 30 put -> 1\n",
	  "t2's put() -> 1 is wrong, since n = 2 while it ran" },
	{ "eventsem",
	  "t1 @1 0 10 post 2\nt2 @1 20 30 take -> 0\n",
	  "t2's take() -> 0 is wrong, since n = 2 while it ran" },
	{ "clock",
	  "t1 @1 0 10 read -> 5\nt2 @1 20 30 read -> 4\n",
	  "t2's read() -> 4 went back: t1's read() -> 5 had returned at 10" },
	{ "clock",
	  "t1 @1 0 10 read -> 5\nt2 @1 20 30 read -> 0\n",
	  "t2's read() -> 0 saw now = 0 of the first state, which had gone by 10, "
	  "with t1's read() -> 5" },
	{ "ida",
	  "t1 @1 0 10 alloc -> 0\nt2 @1 20 30 alloc -> 0\n",
	  "t2's alloc() -> 0 gave 0 a second time; t1's alloc() -> 0 had given it by 10" },
	{ "ida",
	  "t1 @1 0 20 alloc -> 0\nt2 @1 10 30 alloc -> 0\n",
	  "t1's alloc() -> 0 and t2's alloc() -> 0 both gave 0" },
	{ "ida",
	  "t1 @1 0 20 alloc -> 0\nt2 @1 10 30 alloc -> 2\n",
	  "t2's alloc() -> 2 skipped 1, which was free" },
	{ "bpf_lpm",
	  "t2 @1 20 30 lookup -> 8\n",
	  "t2's lookup() -> 8 is not possible in the first state, and no operation was called before "
	  "30" },
	{ "rwlock",
	  "t1 @1 0 10 write_lock\nt2 @1 20 30 read_lock\n",
	  "t2's read_lock() took hold while it was held: writer = true while it ran" },
	{ "stack_height",
	  "t1 @1 0 10 push 1 -> 1\nt2 @1 20 30 push 2 -> 1\n",
	  "t2's push(2) -> 1 is not possible after t1's push(1) -> 1, which had returned at 10, "
	  "with nothing between; only 2 was right" },
	{ "stack_height",
	  "t1 @1 0 20 push 1 -> 1\nt2 @1 10 30 push 2 -> 1\n",
	  "t1's push(1) -> 1 and t2's push(2) -> 1 cannot both be right: neither can follow the "
	  "other, whatever came between" },
	{ "stack_height",
	  "t1 @1 0 10 push 1 -> 1\nt3 @1 5 40 push 3 -> 2\nt2 @1 20 30 push 2 -> 1\n",
	  "t2's push(2) -> 1 is not possible after t1's push(1) -> 1, which had returned at 10, "
	  "whatever came between; only 3 was right" },
	/* A write_trylock() that failed need not have found a writer. */
	{ "rwlock",
	  "t1 @1 0 8 read_lock\nt1 @1 23 45 write_trylock -> 0\nt2 @1 65 82 read_unlock\n"
	  "t2 @1 83 106 read_lock\nt1 @1 86 105 write_lock\n",
	  "t1's write_lock() and t2's read_lock() cannot both be right: neither can follow the "
	  "other, whatever came between" },
	{ "bpf_lpm",
	  "t1 @1 0 10 update 4 7\nt2 @1 20 30 lookup -> 8\n",
	  "t2's lookup() -> 8 is not possible after t1's update(4, 7), which had returned at 10, "
	  "with nothing between; only 7 was right" },
	{ "bounded_queue",
	  "t1 @1 0 10 enq 1 -> 6\n",
	  "t1's enq(1) -> 6 returned what no state allows" },
	{ "pair",
	  "t1 @1 0 10 write 1 1\nt1 @1 20 30 write 2 2\nt2 @1 15 40 read -> 1 2\n",
	  "t2's read() -> (1, 2) is torn: a = 1 comes from t1's write(1, 1), "
	  "b = 2 comes from t1's write(2, 2)" },
	{ "pair",
	  "t1 @1 0 10 write 1 1\nt1 @1 11 12 write 1 3\nt2 @1 15 40 read -> 1 0\n",
	  "t2's read() -> (1, 0) is torn: a = 1 may come from t1's write(1, 3), "
	  "b = 0 comes from the first state" },
	{ "pair",
	  "t1 @1 0 10 write 1 1\nt2 @1 15 40 read -> 1 0\n",
	  "t2's read() -> (1, 0) is torn: a = 1 comes from t1's write(1, 1), "
	  "b = 0 comes from the first state" },
	{ "pair",
	  "t1 @1 0 10 write 1 1\nt2 @1 15 40 read -> 1 9\n",
	  "t2's read() -> (1, 9) saw b = 9, which no operation wrote before" },
	{ "pair",
	  "t1 @1 0 10 write 1 1\nt1 @1 20 30 write 2 2\nt2 @1 40 50 read -> 1 1\n",
	  "t2's read() -> (1, 1) saw what t1's write(1, 1) had left, "
	  "although t1's write(2, 2) showed other values by 30" },
	{ "lock",
	  "t1 @1 0 10 lock\nt2 @1 5 30 lock\n",
	  "t1's lock() and t2's lock() both changed held = false" },
	{ "set",
	  "t1 @1 0 10 add 3 -> 1\nt2 @1 5 30 add 3 -> 1\n",
	  "t1's add(3) -> 1 and t2's add(3) -> 1 both added 3" },
	{ "set",
	  "t2 @1 20 30 contains 3 -> 1\n",
	  "t2's contains(3) -> 1 found 3, which no operation adds" },
	{ "set",
	  "t1 @1 0 10 add 3 -> 1\nt1 @1 20 30 remove 3 -> 1\nt2 @1 40 50 contains 3 -> 1\n",
	  "t2's contains(3) -> 1 found 3, which t1's remove(3) -> 1 had removed by 30" },
};

/* Reasons that try all orders. */
static const struct {
	const char *spec, *history, *headline;
} by_orders[] = {
	{ "queue",
	  "t1 @1 0 10 enq 1\nt1 @1 20 30 enq 1\nt1 @1 40 50 enq 2\nt2 @1 60 70 deq -> 1\n"
	  "t2 @1 80 90 deq -> 2\n",
	  "t2's deq() -> 2 took 2, which was not next: only 1 was right" },
	{ "queue",
	  "t1 @1 0 10 enq 1\nt1 @1 20 30 enq 2\nt2 @1 40 50 deq -> ?\nt2 @1 60 70 deq -> empty\n",
	  "t2's deq() -> empty found nothing, while a value was inside: only 2 was right" },
	{ "mqueue",
	  "t1 @1 0 10 send 1 1 9 -> 0\nt1 @1 20 30 send 1 2 9 -> 0\nt2 @1 40 50 receive -> ?\n"
	  "t2 @1 60 70 receive -> empty\n",
	  "t2's receive() -> empty is not possible in any order of the operations called before "
	  "70; only 1 was right" },
	{ "rwlock",
	  "t1 @1 5 10 read_trylock -> ?\nt2 @1 6 11 read_lock\nt2 @1 12 15 write_trylock -> 1\n"
	  "t1 @1 13 18 read_unlock\n",
	  "t2's write_trylock() -> 1 took hold while it was held: readers = 1 to 2 while it ran" },
};

static void look_at_row(const char *name, const char *ops, const char *headline)
{
	const struct kl_options opt = { .classical = true, .max_shrink = 1, .threads = 1 };
	struct kl_spec *spec = shipped_spec(name);
	struct kl_history *h;
	struct kl_report *r;
	struct kl_story *s;
	char text[1024];

	snprintf(text, sizeof(text), "# klin history 1\n# first init\n# memory sc\n%s", ops);
	assert_int_equal(kl_text_read("table", text, strlen(text), &h), 0);
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_int_equal(r->verdict, KL_VIOLATION);
	assert_int_equal(kl_story_tell(spec, h, &r->parts[0], &s), 0);
	if (!s)
		fail_msg("no story of %s:\n%s", name, ops);
	/* The headline begins with the names of structure and object. */
	assert_memory_equal(s->headline, name, strlen(name));
	assert_non_null(strstr(s->headline, " @1"));
	assert_string_equal(strstr(s->headline, ": ") + 2, headline);
	kl_story_free(s);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* The proof has one of several wrong operations, of which the story tells. */
static void test_proved(void **state)
{
	look_at_row("bounded_queue",
		    "t1 @1 0 10 enq 1 -> 0\nt1 @1 20 30 deq -> 1\nt2 @1 40 50 deq -> 1\n"
		    "t3 @1 60 70 enq 2 -> 7\n",
		    "t3's enq(2) -> 7 returned what no state allows");
	look_at_row("queue",
		    "t1 @1 0 10 enq 2\nt1 @1 20 30 deq -> 2\nt2 @1 40 50 deq -> 2\n"
		    "t1 @1 60 70 enq 1\nt1 @1 80 90 deq -> 1\nt2 @1 100 110 deq -> 1\n",
		    "t2's deq() -> 2 took 2 a second time; t1's deq() -> 2 had taken it by 30");
	look_at_row("queue", "t1 @1 0 10 deq -> 9\nt1 @1 20 30 deq -> 8\n",
		    "t1's deq() -> 9 took 9, which was never added");
}

/* If a writer that the counterexample lacks is cast, so are those that took what it wrote. */
static void test_whole_cast(void **state)
{
	const struct kl_options opt = { .classical = true, .max_shrink = 100, .threads = 1 };
	const char text[] = "# klin history 1\n# first init\nt1 @1 0 10 push 4\n"
			    "t1 @1 20 30 push 1\nt1 @1 40 59 pop -> 4\nt2 @1 50 70 pop -> 4\n"
			    "t2 @1 80 90 push 4\n";
	struct kl_spec *spec = shipped_spec("stack");
	struct kl_history *h;
	struct kl_report *r;
	struct kl_story *s;

	assert_int_equal(kl_text_read("whole", text, strlen(text), &h), 0);
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_int_equal(kl_story_tell(spec, h, &r->parts[0], &s), 0);
	assert_non_null(s);
	assert_string_equal(strstr(s->headline, ": ") + 2,
			    "t2's pop() -> 4 took 4, which was not next: only 1 was right");
	assert_int_equal(s->ncast, 4);
	kl_story_free(s);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* Is an operation of this name in the cast? */
static bool casts(const char *spec_name, const char *ops, const char *method)
{
	const struct kl_options opt = { .classical = true, .max_shrink = 100, .threads = 1 };
	struct kl_spec *spec = shipped_spec(spec_name);
	struct kl_history *h;
	struct kl_report *r;
	struct kl_story *s;
	bool found = false;
	size_t i;

	assert_int_equal(kl_text_read("casts", ops, strlen(ops), &h), 0);
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_int_equal(kl_story_tell(spec, h, &r->parts[0], &s), 0);
	assert_non_null(s);
	for (i = 0; i < s->ncast; i++)
		found |= !strcmp(h->methods[kl_op_method(h, &h->ops[s->cast[i].op])], method);
	kl_story_free(s);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
	return found;
}

/* An index is no value that an operation wrote; a bound that may be exchanged is. */
static void test_writers(void **state)
{
	assert_false(casts("bpf_lpm",
			   "# klin history 1\n# first init\nt1 @1 0 10 lookup -> 1\n"
			   "t2 @1 20 30 remove 1\n",
			   "remove"));
	assert_true(casts("ping_range",
			  "# klin history 1\nt1 @1 0 10 may 3 -> 1\n"
			  "t1 @1 20 30 get -> 1 0\nt2 @1 25 40 set 1 2\n",
			  "set"));
}

static void test_headlines(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++)
		look_at_row(table[i].spec, table[i].history, table[i].headline);
	for (i = 0; i < sizeof(by_orders) / sizeof(*by_orders); i++)
		look_at_row(by_orders[i].spec, by_orders[i].history, by_orders[i].headline);
}

/* Return: the operation as the proof has it, which may have forgotten its return; or NULL. */
static const struct kl_op *find_proved(const struct kl_counterexample *c, uint32_t op)
{
	uint32_t i;

	for (i = 0; i < c->h->nops && c->ops[i] != op; i++)
		;
	return i < c->h->nops ? &c->h->ops[i] : NULL;
}

/*
 * Each story tells of the proof's operations, and says what was allowed in the place of one that
 * it tells of.  A value that was "never added" is no argument.
 */
static void look_at_story(const struct kl_history *h, const struct kl_part_result *p,
			  const struct kl_story *s)
{
	const struct kl_op *op = &h->ops[s->cast[0].op];
	bool proved = false, allowed = false;
	uint64_t v;
	size_t i;

	for (i = 0; i < s->ncast; i++) {
		proved |= find_proved(p->cex, s->cast[i].op) != NULL;
		allowed |= s->allowed.op == s->cast[i].op;
	}
	assert_true(proved);
	assert_non_null(s->allowed.sentence);
	assert_true(allowed);
	/* An operation of a multiset names the value. */
	if (!strstr(s->headline, "never added") || kl_op_sig(h, op)->nargs)
		return;
	v = kl_op_res(h, op)[kl_op_sig(h, op)->nres - 1].v;
	for (i = 0; i < h->nops; i++) {
		const struct kl_opsig *sig = kl_op_sig(h, &h->ops[i]);

		/* A push that returned `full' added nothing. */
		if (h->ops[i].object == op->object && sig->nargs == 1 &&
		    kl_op_args(h, &h->ops[i])[0].v == v &&
		    (!sig->nres || kl_op_res(h, &h->ops[i])[0].tag != KL_FULL)) {
			size_t len;
			char *text = history_text(h, &len);

			fail_msg("`%s' in\n%s", s->headline, text);
		}
	}
}

/* All reasons, which the random histories must reach. */
static const char *const reasons[] = {
	"never_added",
	"added_later",
	"taken_twice",
	"empty_while_inside",
	"order_inverted",
	"never_written",
	"written_later",
	"overwritten",
	"changed_twice",
	"torn",
	"impossible_result",
	"went_back",
	"came_back",
	"unchanged",
	"cannot_follow",
	"exclude_each_other",
	"never_possible",
	"given_twice",
	"skipped",
	"two_holders",
	"no_permit_left",
	"not_held",
	"failed_while_free",
	"wrong_count",
	"missed_while_inside",
	"full_with_room",
	"room_while_full",
	"gone",
	"wrong_state",
	"not_there",
	"no_order",
};

#define NREASONS	(sizeof(reasons) / sizeof(*reasons))

static const char *const specs[] = {
	"queue", "stack", "pqueue", "deque", "register", "set", "bounded_queue", "pair",
	"seqlock", "ping_range", "lock", "rwlock", "semaphore", "mutex", "clock", "map", "kv",
	"array", "rhashtable", "ida", "refsum", "stack_height", "multiset",
	"bpf_queue",
};

#define NSPECS	(sizeof(specs) / sizeof(*specs))

static void test_casts(void **state)
{
	story_casts_test(&(struct story_casts){
		.specs = specs,
		.nspecs = NSPECS,
		.reasons = reasons,
		.nreasons = NREASONS,
		.runs = 1000,
		.max_ops = 14,
		.look = look_at_story,
	});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headlines),  cmocka_unit_test(test_proved),
		cmocka_unit_test(test_whole_cast), cmocka_unit_test(test_writers),
		cmocka_unit_test(test_casts),
	};

	return cmocka_run_group_tests_name("story", tests, NULL, NULL);
}
