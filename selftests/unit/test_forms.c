// SPDX-License-Identifier: GPL-2.0
/* Forms of other tools: reading, refusing and writing them. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "history/formats/form.h"
#include "generate/generate.h"
#include "history_util.h"

/* The header of every history read here. */
#define HEADER	"# klin history 1\n# clock seq error 0\n# first init\n# memory sc\n"

static const struct sample {
	const char *form, *text, *read;
} samples[] = {
	{ "linp",
	  "# stack\n"
	  "push 1 1 2\n"
	  "pop 1 2 4\n"
	  "peek -1 3 9\n",
	  "# spec stack\n"
	  "t0 @0 3 4 push 1 drain=4\n"
	  "t0 @0 5 8 pop -> 1 drain=8\n"
	  "t1 @0 7 18 peek -> empty drain=18\n" },
	{ "linp",
	  "# priorityqueue\n"
	  "insert 3 1 3\n"
	  "insert 5 2 4\n"
	  "poll 5 5 6\n"
	  "poll -1 5 7\n",
	  "# spec pqueue\n"
	  "t0 @0 3 6 push -4 drain=6\n"
	  "t1 @0 5 8 push -6 drain=8\n"
	  "t0 @0 11 12 pop -> -6 drain=12\n"
	  "t1 @0 11 14 pop -> empty drain=14\n" },
	{ "linp",
	  "# set\n"
	  "insert 7 1 2\n"
	  "contains_true 7 2 2\n"
	  "remove 7 2 5\n"
	  "contains_false 7 6 8\n",
	  "# spec set\n"
	  "t0 @0 1 2 add 7 -> 1 drain=2\n"
	  "t1 @0 2 2 has 7 -> 1 drain=2\n"
	  "t2 @0 2 5 remove 7 -> 1 drain=5\n"
	  "t0 @0 6 8 has 7 -> 0 drain=8\n" },
	{ "linp",
	  "# set\n"
	  "insert 7 1 1 2\n"
	  "contains 7 1 2 2\n"
	  "insert 7 0 2 5\n"
	  "remove 7 6 8\n"
	  "remove 7 0 9 10\n",
	  "# spec set\n"
	  "t0 @0 1 2 add 7 -> 1 drain=2\n"
	  "t1 @0 2 2 has 7 -> 1 drain=2\n"
	  "t2 @0 2 5 add 7 -> 0 drain=5\n"
	  "t0 @0 6 8 remove 7 -> 1 drain=8\n"
	  "t1 @0 9 10 remove 7 -> 0 drain=10\n" },
	{ "linp",
	  "# deque\n"
	  "push_front 7 1 2\n"
	  "pop_back 7 3 5\n",
	  "# spec deque\n"
	  "t0 @0 3 4 push_front 7 drain=4\n"
	  "t0 @0 7 10 pop_back -> 7 drain=10\n" },
	{ "fptlin",
	  "# set\n"
	  "2 0 2 CONTAINS 2 0\n"
	  "0 0 4 INSERT 2 1\n"
	  "2 2 6 REMOVE 2 1\n",
	  "# spec set\n"
	  "t2 @0 1 4 has 2 -> 0 drain=4\n"
	  "t0 @0 1 8 add 2 -> 1 drain=8\n"
	  "t2 @0 5 12 remove 2 -> 1 drain=12\n" },
	{ "fptlin",
	  "# rmw\n"
	  "0 1 10 READ_MODIFY_WRITE 0 2\n"
	  "1 1 10 READ_MODIFY_WRITE 2 3\n",
	  "# spec register\n"
	  "t0 @0 3 20 cas 0 2 -> 1 drain=20\n"
	  "t1 @0 3 20 cas 2 3 -> 1 drain=20\n" },
	{ "events",
	  "2 invokes add 23\n"
	  "0 invokes contains 3\n"
	  "2 returns true\n"
	  "1 invokes remove -4\n"
	  "0 returns false\n",
	  "# spec set\n"
	  "t2 @0 1 3 add 23 -> 1 drain=3\n"
	  "t0 @0 2 5 has 3 -> 0 drain=5\n"
	  "t1 @0 4 - remove -4 -> ?\n" },
	{ "limo",
	  "# by hand\n"
	  "# @object atomic-stack\n"
	  "\n"
	  "[1] call push(a)\n"
	  "    [2] call pop()\n"
	  "[1] return\n"
	  "[2] return a\n"
	  "[3] call push 7\n"
	  "[4] call remove\n"
	  "[4] return empty\n"
	  "[4] call pop\n"
	  "[4] return\n"
	  "[5] call pop(?<0,1>)\n"
	  "[4] call pop(7)\n"
	  "[4] return\n",
	  "# spec stack\n"
	  "# spelling 0x4000000000000000 a\n"
	  "t1 @0 1 3 push 0x4000000000000000 drain=3\n"
	  "t2 @0 2 4 pop -> 0x4000000000000000 drain=4\n"
	  "t3 @0 5 - push 7\n"
	  "t4 @0 6 7 pop -> empty drain=7\n"
	  "t4 @0 8 9 pop -> empty drain=9\n"
	  "t5 @0 10 - pop\n"
	  "t4 @0 11 12 pop -> 7 drain=12\n" },
	{ "limo",
	  "# @object queue\n"
	  "  [1] call enqueue(a)   # a comment\n"
	  "[2] call offer(7)\n"
	  "[1] ret # another\n"
	  "[2] return true\n"
	  "[3] call peek()\n"
	  "[3] return a\n"
	  "[4] call poll # one\n"
	  "[4] return null\n",
	  "# spec queue\n"
	  "# spelling 0x4000000000000000 a\n"
	  "t1 @0 1 3 enq 0x4000000000000000 drain=3\n"
	  "t2 @0 2 4 enq 7 drain=4\n"
	  "t3 @0 5 6 peek -> 0x4000000000000000 drain=6\n"
	  "t4 @0 7 8 deq -> empty drain=8\n" },
	{ "limo",
	  "# @object atomic-set\n"
	  "[1] call insert(7)\n"
	  "[1] return empty\n"
	  "[2] call insert(7)\n"
	  "[3] call contains(7)\n"
	  "[3] return 7\n"
	  "[2] return 7\n"
	  "[4] call remove(7)\n"
	  "[4] return true\n"
	  "[5] call contains(7)\n"
	  "[5] return empty\n"
	  "[6] call add(8)\n",
	  "# spec set\n"
	  "t1 @0 1 2 add 7 -> 1 drain=2\n"
	  "t2 @0 3 6 add 7 -> 0 drain=6\n"
	  "t3 @0 4 5 has 7 -> 1 drain=5\n"
	  "t4 @0 7 8 remove 7 -> 1 drain=8\n"
	  "t5 @0 9 10 has 7 -> 0 drain=10\n"
	  "t6 @0 11 - add 8\n" },
	{ "limo",
	  "# @object stack\n"
	  "[1] call push(-5)\n"
	  "[1] return\n"
	  "[1] call pop(empty)\n"
	  "[1] return\n"
	  "[1] call pop(?<0,1>)\n"
	  "[1] return\n"
	  "[1] call pop\n"
	  "[1] return (empty)\n"
	  "[1] call pop(-5)\n"
	  "[1] return -5\n"
	  "[1] call pop(?)\n"
	  "[1] return 3\n"
	  "[1] call push(+5)\n"
	  "[1] return\n"
	  "[1] call push(05)\n"
	  "[1] return\n"
	  "[1] call pop(05)\n"
	  "[1] return 05\n"
	  "[1] call push(5)\n",
	  "# spec stack\n"
	  "# spelling 0x4000000000000000 +5\n"
	  "# spelling 0x4000000000000001 05\n"
	  "t1 @0 1 2 push -5 drain=2\n"
	  "t1 @0 3 4 pop -> empty drain=4\n"
	  "t1 @0 5 6 pop -> ? drain=6\n"
	  "t1 @0 7 8 pop -> empty drain=8\n"
	  "t1 @0 9 10 pop -> -5 drain=10\n"
	  "t1 @0 11 12 pop -> 3 drain=12\n"
	  "t1 @0 13 14 push 0x4000000000000000 drain=14\n"
	  "t1 @0 15 16 push 0x4000000000000001 drain=16\n"
	  "t1 @0 17 18 pop -> 0x4000000000000001 drain=18\n"
	  "t1 @0 19 - push 5\n" },
	{ "limo",
	  "# @object deque\n"
	  "[1] call addFirst(1)\n"
	  "[1] return\n"
	  "[2] call offerLast(2)\n"
	  "[2] return true\n"
	  "[1] call pollLast\n"
	  "[1] return 2\n",
	  "# spec deque\n"
	  "t1 @0 1 2 push_front 1 drain=2\n"
	  "t2 @0 3 4 push_back 2 drain=4\n"
	  "t1 @0 5 6 pop_back -> 2 drain=6\n" },
	{ "jepsen",
	  "INFO  jepsen.core - setting up\n"
	  "INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n"
	  "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n"
	  "INFO  jepsen.util - 2\t:invoke\t:write\t4\n"
	  "INFO  jepsen.util - 0\t:ok\t:read\tnil\n"
	  "INFO  jepsen.util - 1\t:invoke\t:cas\t[4 2]\n"
	  "INFO  jepsen.util - 1\t:fail\t:cas\t[4 2]\n"
	  "INFO  jepsen.util - 2\t:info\t:write\t:timed-out\n"
	  "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n"
	  "INFO  jepsen.util - 0\t:fail\t:read\t:timed-out\n"
	  "INFO  jepsen.util - 1\t:invoke\t:cas\t[4 2]\n"
	  "INFO  jepsen.util - 1\t:ok\t:cas\t[4 2]\n",
	  "# spec register\n"
	  "# spelling 0x8000000000000000 nil\n"
	  "t3 @0 0 0 write 0x8000000000000000 drain=0\n"
	  "t0 @0 1 3 read -> 0x8000000000000000 drain=3\n"
	  "t2 @0 2 - write 4\n"
	  "t1 @0 4 5 cas 4 2 -> 0 drain=5\n"
	  "t1 @0 7 8 cas 4 2 -> 1 drain=8\n" },
	{ "jepsen",
	  "INFO  jepsen.util - 0\t:invoke\t:read\t[7 nil]\n"
	  "INFO  jepsen.util - 1\t:invoke\t:write\t[\"a\" {:b [1.0 -1]}]\n"
	  "INFO  jepsen.util - 0\t:ok\t:read\t[7 nil]\n"
	  "INFO  jepsen.util - 1\t:ok\t:write\t[\"a\" {:b (1.00 -1N)}]\n"
	  "INFO  jepsen.util - 2\t:invoke\t:cas\t[7 [nil -1]]\n"
	  "INFO  jepsen.util - 2\t:fail\t:cas\t[7 [nil -1]]\n"
	  "INFO  jepsen.util - 0\t:invoke\t:write\t[\"a\" 2]\n"
	  "INFO  jepsen.util - 0\t:fail\t:write\t[\"a\" nil]\n"
	  "INFO  jepsen.util - 2\t:invoke\t:write\t[7 1]\n"
	  "INFO  jepsen.util - 2\t:info\t:write\t[:error \"x\"]\tindeterminate\n",
	  "# spec register\n"
	  "# objects keys\n"
	  "# spelling 0x8000000000000000 nil\n"
	  "# spelling 0x4000000000000000 \"a\"\n"
	  "# spelling 0x4000000000000001 {:b [1.0 -1]}\n"
	  "t3 @7 0 0 write 0x8000000000000000 drain=0\n"
	  "t3 @0x4000000000000000 0 0 write 0x8000000000000000 drain=0\n"
	  "t0 @7 1 3 read -> 0x8000000000000000 drain=3\n"
	  "t1 @0x4000000000000000 2 4 write 0x4000000000000001 drain=4\n"
	  "t2 @7 5 6 cas 0x8000000000000000 -1 -> 0 drain=6\n"
	  "t2 @7 8 - write 1\n" },
	{ "jepsen",
	  "INFO  jepsen.util - 0\t:invoke\t:enqueue\t:a\n"
	  "INFO  jepsen.util - 0\t:ok\t:enqueue\t:a\n"
	  "INFO  jepsen.util - 1\t:invoke\t:dequeue\tnil\n"
	  "INFO  jepsen.util - 1\t:ok\t:dequeue\t:a\n",
	  "# spec queue\n"
	  "# spelling 0x4000000000000000 :a\n"
	  "t0 @0 1 2 enq 0x4000000000000000 drain=2\n"
	  "t1 @0 3 4 deq -> 0x4000000000000000 drain=4\n" },
	{ "edn",
	  "; by hand\n"
	  "[{:process 0, :type :invoke, :f :write, :value 3}\n"
	  " {:process :nemesis, :type :info, :f :kill, :value [\"n1\" \"n2\"]}\n"
	  " {:type :invoke, :f :cas, :value [3 4],\n"
	  "  :process 1, :time 5}\n"
	  "{:process 0, :type :ok, :f :write, :value 3}\n"
	  "{:process 1 :type :fail :f :cas :value [3 4]}\n"
	  "{:process 2, :type :invoke, :f :read, :value nil} #jepsen.history.Op"
	  "{:process 3, :type :invoke, :f :read}\n"
	  "{:process 2, :type :ok, :f :read, :value 3}{:process 3, :type :ok, :f :read, "
	  ":value nil}\n"
	  "{:process 4, :type :invoke, :f :write, :value nil}\n"
	  "{:process 4, :type :info, :f :write, :error {:a #{1 2} :c \\x}}]\n",
	  "# spec register\n"
	  "# spelling 0x8000000000000000 nil\n"
	  "t5 @0 0 0 write 0x8000000000000000 drain=0\n"
	  "t0 @0 1 3 write 3 drain=3\n"
	  "t2 @0 4 6 read -> 3 drain=6\n"
	  "t3 @0 5 7 read -> ? drain=7\n"
	  "t4 @0 8 - write 0x8000000000000000\n" },
	{ "edn",
	  "{:process 0, :type :invoke, :f :enqueue, :value 3}\n"
	  "{:process 0, :type :ok, :f :enqueue, :value 3}\n"
	  "{:process 0, :type :invoke, :f :dequeue}\n"
	  "{:process 0, :type :ok, :f :dequeue, :value 3}\n"
	  "{:process 1, :type :invoke, :f :dequeue}\n"
	  "{:process 1, :type :fail, :f :dequeue, :error :empty}\n",
	  "# spec queue\n"
	  "t0 @0 1 2 enq 3 drain=2\n"
	  "t0 @0 3 4 deq -> 3 drain=4\n" },
	{ "edn",
	  "{:process 0, :type :invoke, :f :acquire}\n"
	  "{:process 0, :type :ok, :f :acquire}\n"
	  "{:process 0, :type :invoke, :f :release}\n"
	  "{:process 0, :type :info, :f :release}\n",
	  "# spec lock\n"
	  "t0 @0 1 2 lock drain=2\n"
	  "t0 @0 3 - unlock\n" },
	{ "edn",
	  "{:process 9, :type :invoke, :f :append, :key \"0\", :value \"x 9 0 y\"}\n"
	  "{:process 1, :type :invoke, :f :put, :key \"a b\", :value \"x 1 0 y\"}\n"
	  "{:process 9, :type :ok, :f :append, :key \"0\", :value \"x 9 0 y\"}\n"
	  "{:process 1, :type :ok, :f :put, :key \"a b\", :value \"x 1 0 y\"}\n"
	  "{:process 9, :type :invoke, :f :append, :key \"0\", :value \"x 9 1 y\"}\n"
	  "{:process 1, :type :invoke, :f :get, :key \"0\", :value nil}\n"
	  "{:process 1, :type :ok, :f :get, :key \"0\", :value \"x 9 0 yx 9 1 y\"}\n"
	  "{:process 2, :type :invoke, :f :append, :key \"0\", :value \"x 2 0 y\"}\n",
	  "# spec kv\n"
	  "# spelling 0x4000000000000000 \"a b\"\n"
	  "# spelling 0x0 \"\"\n"
	  "# spelling 0x5000000000000000 \"0\"\n"
	  "# spelling 0x4000010000000013 \"x 9 0 y\"\n"
	  "# spelling 0x4000010000000008 ...\"x 9 0 y\"\n"
	  "# spelling 0x4000010000000023 \"x 1 0 y\"\n"
	  "# spelling 0x400001000000001a \"x 9 0 yx 9 1 y\"\n"
	  "# spelling 0x400001000000000b ...\"x 9 1 y\"\n"
	  "# spelling 0x400001000000001f ...\"x 2 0 y\"\n"
	  "t9 @0 1 3 append 0x5000000000000000 0 0x4000010000000013 0x4000010000000008 drain=3\n"
	  "t1 @0 2 4 put 0x4000000000000000 0x4000010000000023 drain=4\n"
	  "t9 @0 5 - append 0x5000000000000000 0x4000010000000013 0x400001000000001a 0x400001000000000b\n"
	  "t1 @0 6 7 get 0x5000000000000000 -> 0x400001000000001a drain=7\n"
	  "t2 @0 8 - append 0x5000000000000000 0x400001000000001f 0x400001000000001f "
	  "0x400001000000001f\n" },
	{ "edn",
	  "{:process 0, :type :invoke, :f :put, :key \"0\", :value \"12\"}\n"
	  "{:process 0, :type :ok, :f :put, :key \"0\", :value \"12\"}\n"
	  "{:process 0, :type :invoke, :f :get, :key \"0\", :value nil}\n"
	  "{:process 0, :type :ok, :f :get, :key \"0\", :value \"12\"}\n"
	  "{:process 0, :type :invoke, :f :put, :key \"0\", :value \"\"}\n"
	  "{:process 0, :type :ok, :f :put, :key \"0\", :value \"\"}\n"
	  "{:process 0, :type :invoke, :f :get, :key \"0\", :value nil}\n"
	  "{:process 0, :type :ok, :f :get, :key \"0\", :value \"\"}\n"
	  "{:process 1, :type :invoke, :f :get, :key \"k\\\"q\", :value nil}\n"
	  "{:process 1, :type :info, :f :get, :key \"k\\\"q\", :value nil}\n",
	  "# spec map\n"
	  "# spelling 0x4000000000000000 \"k\\\"q\"\n"
	  "# spelling 0x0 \"0\"\n"
	  "# spelling 0xc \"12\"\n"
	  "t0 @0 1 2 put 0 12 drain=2\n"
	  "t0 @0 3 4 get 0 -> 12 drain=4\n"
	  "t0 @0 5 6 remove 0 -> ? drain=6\n"
	  "t0 @0 7 8 get 0 -> absent drain=8\n"
	  "t1 @0 9 - get 0x4000000000000000\n" },
};

#define NSAMPLES	(sizeof(samples) / sizeof(*samples))

static void check_read(const char *text, size_t len, const struct kl_form *form,
		       const char *expected)
{
	struct kl_history *h = NULL;
	size_t n;
	char *got;

	assert_int_equal(kl_history_parse("t", text, len, form, &h), 0);
	got = history_text(h, &n);
	assert_memory_equal(got, HEADER, strlen(HEADER));
	assert_string_equal(got + strlen(HEADER), expected);
	free(got);
	kl_history_free(h);
}

/* Each form is recognized by its first lines, and other line ends change nothing. */
static void test_recognized_by_head(void **state)
{
	char other[4096];
	size_t i, n, k;

	for (i = 0; i < NSAMPLES; i++) {
		const struct sample *s = &samples[i];
		const struct kl_form *form = kl_form_find(s->form);
		size_t len = strlen(s->text);

		assert_ptr_equal(kl_form_tell(s->text, len), form);
		check_read(s->text, len, KL_FORM_AUTO, s->read);
		check_read(s->text, len, form, s->read);
		check_read(s->text, len - 1, KL_FORM_AUTO, s->read);
		for (n = 0, k = 0; k < len; k++) {
			if (s->text[k] == '\n')
				other[n++] = '\r';
			other[n++] = s->text[k];
		}
		check_read(other, n, KL_FORM_AUTO, s->read);
		n = snprintf(other, sizeof(other), "\n\n%s\n\n", s->text);
		check_read(other, n, KL_FORM_AUTO, s->read);
	}
}

static void test_blank_files_refused(void **state)
{
	static const char *const forms[] = {
		"events", "limo", "edn", "jepsen", "text", "linp", "fptlin", "klh",
	};
	static const char *const texts[] = { "", "\n", " \r\n\t", "\xef\xbb\xbf" };
	struct kl_history *h = NULL;
	size_t i, k;

	for (i = 0; i < 4 * sizeof(forms) / sizeof(*forms); i++) {
		k = i % 4;
		history_log_start();
		assert_int_equal(kl_history_parse("t", texts[k], strlen(texts[k]),
						  kl_form_find(forms[i / 4]), &h), -EINVAL);
		history_log_stop();
		assert_null(h);
		assert_memory_equal(history_log, "t: error: the file is empty: expected", 37);
	}
	assert_ptr_equal(kl_form_tell("", 0), kl_form_find("text"));
	assert_ptr_equal(kl_form_tell("# set\n", 6), kl_form_find("linp"));
	assert_ptr_equal(kl_form_tell("# set\nt1 @0 1 2 a\n", 18), kl_form_find("text"));
	assert_ptr_equal(kl_form_tell("# klin history 1\n", 17), kl_form_find("text"));
	assert_null(kl_form_find("xml"));
	assert_null(kl_form_tell("a,b\n", 4));
}

/* A non-empty file without operations is refused, unless it says that it is a history. */
static void test_files_without_operations(void **state)
{
	static const struct {
		const char *text, *message;
	} refused[] = {
		{ "a,b\n1,2\n", "t:1: error: the file has no form that klin reads: expected `t3" },
		{ "# hi\n# there", "t:1: error: the file has no operation: expected the form text, "
				   "as in `t3" },
		{ "\n; hi\n", "t:1: error: the file has no operation: expected the form edn" },
		{ "#_{:process 0}\n",
		  "t:1: error: the file has no operation: expected the form edn" },
		{ "{:process :nemesis, :type :info}\n",
		  "klin: warning: t: skipped 1 entries of processes without a number, as :nemesis "
		  "(first: line 1: {:process :nemesis, :type :info})\nt:1: error: the file has no "
		  "operation: expected the form edn, as in `{" },
		{ "INFO  jepsen.core - up\n", "klin: warning: t: skipped 1 lines of other programs "
					      "(first: line 1: INFO  jepsen.core - up)\nt:1: "
					      "error: the file has no operation: expected the form "
					      "jepsen" },
		{ "\x1f\x8b\x08", "t: error: the file is compressed by gzip: decompress it" },
		{ "\x28\xb5\x2f\xfd$", "t: error: the file is compressed by zstd" },
		{ "BZh9", "t: error: the file is compressed by bzip2" },
		{ "\xff\xfe#", "t: error: the file is UTF-16: convert it" },
		{ "\177ELF\2", "t: error: the file is a program" },
		{ "# set\n# queue\nenq 1 1 2\n",
		  "t:2:3: error: 'queue': expected a comment: a file has one type" },
	};
	static const char *const empty[] = {
		"# klin history 1\n", "# first init\n", "# gap from 5 to 8\n", "[]",
		"; hi\n()\n", "# set\n", "# @object atomic-stack\n",
		"[{:process 0, :type :invoke, :f :read} {:process 0, :type :fail, :f :read}]",
		"INFO  jepsen.util - 0 :invoke :read nil\nINFO  jepsen.util - 0 :fail :read :x\n",
	};
	struct kl_history *h = NULL;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const char *text = refused[i].text;

		history_log_start();
		assert_int_equal(kl_history_parse("t", text, strlen(text), KL_FORM_AUTO, &h),
				 -EINVAL);
		history_log_stop();
		assert_null(h);
		if (strncmp(history_log, refused[i].message, strlen(refused[i].message)))
			fail_msg("case %zu: %s", i, history_log);
	}
	for (i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		if (kl_history_parse("t", empty[i], strlen(empty[i]), KL_FORM_AUTO, &h))
			fail_msg("%s", empty[i]);
		/* The history of a register begins with a write. */
		assert_in_range(h->nops, 0, 1);
		kl_history_free(h);
		h = NULL;
	}
}

/* A UTF-8 byte order mark is ignored, in memory and in a file. */
static void test_byte_order_mark(void **state)
{
	char path[] = "/tmp/klin-forms-XXXXXX", text[512];
	struct kl_history *h, *from_file;
	int fd = mkstemp(path);
	size_t i, n;

	assert_true(fd >= 0);
	for (i = 0; i < NSAMPLES; i++) {
		const struct sample *s = &samples[i];

		n = snprintf(text, sizeof(text), "\xef\xbb\xbf%s", s->text);
		if (n >= sizeof(text))
			continue;
		check_read(text, n, KL_FORM_AUTO, s->read);
		check_read(text, n, kl_form_find(s->form), s->read);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, text, n, 0), n);
		assert_int_equal(kl_history_parse("t", s->text, n - 3, KL_FORM_AUTO, &h), 0);
		assert_int_equal(kl_history_read(path, &from_file), 0);
		assert_same_history(h, from_file);
		kl_history_free(h);
		kl_history_free(from_file);
	}
	close(fd);
	unlink(path);
}

/* Lines that other programs wrote at the begin of a log do not hide its form, and are counted. */
static void test_skipped_lines(void **state)
{
	static const char text[] =
		"starting up\n17:02 INFO  jepsen.core - up\n"
		"INFO  jepsen.util - 1 :info :read nil\n"
		"INFO  jepsen.util - :nemesis :info :start nil\n"
		"INFO  jepsen.util - Waiting for 5 nodes\n"
		"INFO  jepsen.util - 0 :invoke :enqueue 1\nthe end\n";
	struct kl_history *h = NULL;

	history_log_start();
	assert_int_equal(kl_history_parse("t", text, strlen(text), KL_FORM_AUTO, &h), 0);
	history_log_stop();
	assert_int_equal(h->nops, 1);
	assert_int_equal(h->skipped, 6);
	assert_string_equal(h->skipped_why, "4 lines of other programs, 1 entries of processes "
					    "without a number, as :nemesis, 1 :info entries of "
					    "processes without a pending :invoke (first: line 1: "
					    "starting up)");
	kl_history_free(h);
}

static void test_error_messages(void **state)
{
	static const struct {
		const char *form, *text, *message;
	} cases[] = {
		{ "linp", "push 1 1 2\n", "t:1: error: 'push': expected a first line `# TYPE'" },
		{ "linp", "# heap\n", "t:1: error: 'heap': expected set, stack" },
		{ "linp", "# stack\nenq 1 1 2\n", "t:2: error: 'enq': expected push, pop or peek" },
		{ "linp", "# stack\npush one 1 2\n", "t:2: error: 'one': expected a value" },
		{ "linp", "# stack\npush -1 1 2\n", "t:2: error: '-1': expected a value other" },
		{ "linp", "# pqueue\ninsert -2 1 2\n", "t:2: error: '-2': expected a priority" },
		{ "linp", "# stack\npush 1 2 2\n", "t:2: error: '2': expected an end after" },
		{ "linp", "# set\ninsert 1 2 1\n", "t:2: error: '1': expected an end not before" },
		{ "linp", "# set\ninsert 1 2 1 2\n", "t:2: error: '2': expected 1 or 0, what the" },
		{ "linp", "# set\ncontains 1 1 2\n",
		  "t:2: error: the end of the line: expected the time of the end" },
		{ "linp", "# stack\npush 1 1\n",
		  "t:2: error: the end of the line: expected the time of the end" },
		{ "linp", "# stack\npush 1 1 2 3\n",
		  "t:2: error: '3': expected the end of the line" },
		{ "linp", "# stack\npush 1 1 9223372036854775807\n",
		  "t:2: error: '9223372036854775807': expected a time below" },
		{ "linp", "# stack\npop 18446744073709551615 1 2\n",
		  "t:2: error: '18446744073709551615': expected a number below 2^63" },
		{ "linp", "# set\ninsert 9223372036854775808 1 2\n",
		  "t:2: error: '9223372036854775808': expected a number below 2^63" },
		{ "linp", "# set\ninsert -9223372036854775809 1 2\n",
		  "t:2: error: '-9223372036854775809': expected a number not below -2^63" },
		{ "linp", "# set\ninsert +1 1 2\n", "t:2: error: '+1': expected a value" },
		{ "linp", "# set\ninsert 1e3 1 2\n", "t:2: error: '1e3': expected a value" },
		{ "linp", "# set\ninsert 1.0 1 2\n", "t:2: error: '1.0': expected a value" },
		{ "fptlin", "# rmw\n0 0 1 READ_MODIFY_WRITE 0 18446744073709551615\n",
		  "t:2: error: '18446744073709551615': expected a number below 2^63" },
		{ "events", "1 invokes add 18446744073709551615\n",
		  "t:1: error: '18446744073709551615': expected a number below 2^63" },
		{ "events", "1 invokes add 1N\n", "t:1: error: '1N': expected a number" },
		{ "fptlin", "# set\nx 0 1 INSERT 1 1\n", "t:2: error: 'x': expected a process" },
		{ "fptlin", "# set\n0 0 1 insert 1 1\n", "t:2: error: 'insert': expected INSERT" },
		{ "fptlin", "# set\n0 0 1 INSERT 1 2\n", "t:2: error: '2': expected 1 or 0" },
		{ "fptlin", "# set\n0 0 1 INSERT 1\n",
		  "t:2: error: the end of the line: expected 1 or 0, what the method returned" },
#define CRS	"\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r"
		{ "fptlin", "# set\n0 0" CRS CRS CRS CRS CRS CRS "\n",
		  "t:2: error: the end of the line: expected the time of the end" },
		{ "fptlin", "# semaphore\n0 0 1 INCR 1\n",
		  "t:1: error: 'semaphore': expected set" },
		{ "fptlin", "# set\n0 0 5 INSERT 1 1\n0 1 7 INSERT 2 1\n",
		  "t:3:1: error: process 0 is called at 1 during another operation of its thread, "
		  "from 0 to 5\n  0 1 7 INSERT 2 1\n  ^" },
		{ "events", "1 returns true\n", "t:1: error: '1': expected a call before" },
		{ "events", "1 invokes add 2\n1 invokes add 3\n",
		  "t:2: error: '1': expected the return of the previous operation" },
		{ "events", "1 invokes put 2\n", "t:1: error: 'put': expected add, remove or" },
		/* The return of a call in error, and the call after a return in error. */
		{ "events", "1 invokes add\n1 returns true\n",
		  "t:1: error: the end of the line: expected a number" },
		{ "events", "1 invokes add 1\n1 returns yes\n1 invokes add 2\n1 returns true\n",
		  "t:2: error: 'yes': expected true or false" },
		{ "limo", "# @object stack\n[1] push(1)\n[1] return\n",
		  "t:2: error: 'push(1)': expected call or return" },
		{ "events", "1 invokes add two\n", "t:1: error: 'two': expected a number" },
		{ "events", "1 invokes add 1\n1 returns maybe\n",
		  "t:2: error: 'maybe': expected true" },
		{ "events", "1 calls add 1\n", "t:1: error: 'calls': expected invokes or returns" },
		{ "limo", "# @object atomic-bag\n", "t:1: error: 'bag': expected atomic-stack" },
		{ "limo", "[1] call push 1\n", "t:1: error: '[1]': expected a line `# @object" },
		{ "limo", "# @object stack\n1 call push 1\n",
		  "t:2: error: '1': expected a thread" },
		{ "limo", "# @object stack\n[1] calls push 1\n",
		  "t:2: error: 'calls': expected call" },
		{ "limo", "# @object stack\n[1] call enq(1)\n",
		  "t:2: error: 'enq(1)': expected push" },
		{ "limo", "# @object stack\n[1] call push\n",
		  "t:2: error: the end of the line: expected a value" },
		{ "limo", "# @object stack\n[1] call push(a b)\n",
		  "t:2: error: '(a': expected a value" },
		{ "limo", "# @object stack\n[1] call push(1)\n[1] return 1\n",
		  "t:3: error: '1': expected the end of the line: an operation that adds" },
		{ "limo", "# @object queue\n[1] call offer(1)\n[1] return false\n",
		  "t:3: error: 'false': expected the end of the line: an operation that adds" },
		{ "limo", "# @object set\n[1] call insert(1)\n[1] return\n",
		  "t:3: error: the end of the line: expected true or false, the value, or empty" },
		{ "limo", "# @object set\n[1] call remove(1)\n[1] return 2\n",
		  "t:3: error: '2': expected true or false, the value, or empty" },
		{ "limo", "# @object stack\n[1] call push(empty)\n",
		  "t:2: error: '(empty)': expected a value that differs from" },
		{ "limo", "# @object stack\n[1] call push(?)\n",
		  "t:2: error: '(?)': expected a value that" },
		{ "limo", "# @object set\n[1] call insert false\n",
		  "t:2: error: 'false': expected a value that differs from" },
		{ "limo", "# @object stack\n[1] call pop(1)\n[1] return 2\n",
		  "t:3: error: '2': expected the value of its call" },
		{ "limo", "# @object stack\n[1] call pop(empty)\n[1] return 2\n",
		  "t:3: error: '2': expected the value of its call" },
		{ "limo", "# @object stack\n[1] call pop(1)\n[1] return empty\n",
		  "t:3: error: 'empty': expected the value of its call" },
		{ "limo", "# @object queue\n# @object stack\n",
		  "t:2: error: 'stack': expected the object of the first line" },
		{ "limo", "# @object stack\n[1] return\n",
		  "t:2: error: '[1]': expected a call before" },
		{ "jepsen", "INFO  jepsen.util - x :invoke :read nil\n",
		  "t:1: error: 'x': expected a process" },
		{ "jepsen", "INFO  jepsen.util - 1 :call :read nil\n",
		  "t:1: error: ':call': expected :invoke" },
		{ "jepsen", "INFO  jepsen.util - 1 :invoke :pop nil\n",
		  "t:1: error: ':pop': expected read, write or cas" },
		{ "jepsen", "INFO  jepsen.util - 1 :invoke :write 1 2\n",
		  "t:1: error: '2': expected the end of the line" },
		{ "jepsen", "INFO  jepsen.util - 1 :invoke :cas [1 2\n",
		  "t:1: error: '[1': expected a closing bracket" },
		{ "jepsen", "INFO  jepsen.util - 1 :invoke :cas 1\n",
		  "t:1: error: ':cas': expected a :value as in [1 2]" },
		{ "jepsen", "INFO  jepsen.util - 1 :invoke :write #_ #_ 1\n",
		  "t:1: error: the end of the line: expected a value" },
		{ "jepsen",
		  "INFO  jepsen.util - 1 :invoke :write\n"
		  "INFO  jepsen.util - 1 :ok :write 1\n",
		  "t:1: error: ':write': expected a value behind it, as in `:write 4'" },
		{ "edn", "{:process 0, :type :invoke, :f :write, :vlaue 3}\n",
		  "t:1: error: ':vlaue': expected :value" },
		{ "edn", "[{:process 0, :type :invoke, :f :read]\n",
		  "t:1: error: ']': expected `}' here, which closes the last `{'" },
		{ "edn", "{:process 0, :type :invoke, :f :cas, :value [1 2}}\n",
		  "t:1: error: '}}': expected `]' here, which closes the last `['" },
		{ "edn", "{:process 0, :type :invoke, :f :write, :value #{1 2)}\n",
		  "t:1: error: ')}': expected `}' here, which closes the last `{'" },
		{ "jepsen", "INFO  jepsen.util - 1 :invoke :write [1 2]\n",
		  "t: error: cannot tell whether values like [1 2] are [KEY VALUE]" },
		{ "jepsen",
		  "INFO  jepsen.util - 1 :invoke :read nil\n"
		  "INFO  jepsen.util - 2 :invoke :read [7 nil]\n",
		  "t:2: error: ':read': expected an operation without a key, as in "
		  "line 1; --independent" },
		{ "jepsen",
		  "INFO  jepsen.util - 1 :invoke :read [7 nil]\n"
		  "INFO  jepsen.util - 1 :ok :read 3\n",
		  "t:2: error: '3': expected a :value as in [KEY" },
		{ "jepsen",
		  "INFO  jepsen.util - 1 :invoke :read [7 nil]\n"
		  "INFO  jepsen.util - 1 :ok :read [8 nil]\n",
		  "t:2: error: ':read': expected the key" },
		{ "jepsen", "INFO  jepsen.util - 1 :ok :read 1\n",
		  "t:1: error: ':read': expected an :invoke of this process" },
		{ "jepsen",
		  "INFO  jepsen.util - 1 :invoke :read nil\nINFO  jepsen.util - 1 :ok :write 1\n",
		  "t:2: error: ':write': expected a completion of" },
		{ "edn", "{:process 0\n", "t:1: error: '{:process': expected a closing bracket" },
		{ "edn", "[{:process 0, :type :invoke, :f :read}\n",
		  "t:1: error: '[{:process': expected a closing bracket" },
		{ "edn", "{:process 0, :type :invoke, :f}\n",
		  "t:1: error: ':f': expected a value for" },
		{ "edn", "{:type :invoke, :f :read}\n",
		  "t:1: error: '{:type': expected an operation with a :process" },
		{ "edn", "{:process 0, :f :read}\n",
		  "t:1: error: '{:process': expected an operation with a :type" },
		{ "edn", "\n{:process 0, :type :invoke, :f 7}\n",
		  "t:2: error: '7}': expected an operation with an :f" },
		{ "edn", "{:process 0, :type :invoke, :f :txn}\n",
		  "t:1: error: ':txn': expected read" },
		{ "edn", "{:process 0, :type :invoke, :f :write, :value [1 2]}\n",
		  "t: error: cannot tell whether values like [1 2] are [KEY VALUE]" },
		{ "edn", "{:process 0, :type :invoke, :f :cas, :value 1}\n",
		  "t:1: error: ':cas': expected a :value as in [1 2]" },
		{ "edn",
		  "{:process 0, :type :invoke, :f :transfer, :value 1}\n"
		  "{:process 1, :type :invoke, :f :transfer, :value 1}\n",
		  "t:1: error: ':transfer': expected read, write or cas, enqueue or dequeue, "
		  "acquire or release; klin reads other logs by a spec with a history block" },
		{ "jepsen",
		  "INFO  jepsen.util - 1 :invoke :pop nil\n"
		  "INFO  jepsen.util - 2 :invoke :pop nil\n",
		  "t:1: error: ':pop': expected read, write or cas" },
		{ "edn", "{:process 0, :type :invoke, :f :cas, :value [1 \"x]}\n",
		  "t:1: error: '\"x]}': expected a string with a closing quote" },
		{ "edn",
		  "{:process 0, :type :invoke, :f :read}\n"
		  "{:process 1, :type :invoke, :f :enqueue, :value 1}\n",
		  "t:2: error: ':enqueue': expected a method of the same structure" },
		{ "edn", "{:process 0, :type :invoke, :f :write, :key 7, :value 3}\n",
		  "t:1: error: '7,': expected a :key only of put, get and append" },
		{ "edn", "17\n", "t:1: error: '17': expected an operation as in" },
		{ "edn", "[] {}\n", "t:1: error: '{}': expected the end of the file" },
		{ "edn", "{:process 0, :type :invoke, :f :put, :key \"a\", :value 7}\n",
		  "t:1: error: '7}': expected a :value, a string" },
		{ "edn", "{:process 0, :type :invoke, :f :get, :value nil}\n",
		  "t:1: error: ':get': expected a :key" },
		{ "edn", "{:process 0, :type :invoke, :f :put, :key nil, :value \"a\"}\n",
		  "t:1: error: 'nil,': expected a :key" },
		{ "edn", "{:process 0, :type :invoke, :f :put, :key ^:a \"0\", :value \"a\"}\n",
		  "t:1: error: '^:a': expected a :key without metadata" },
		{ "edn",
		  "{:process 0, :type :invoke, :f :put, :key \"0\", :value \"a\"}\n"
		  "{:process 0, :type :ok, :f :put, :key 0, :value \"a\"}\n",
		  "t:2: error: '0,': expected the :key that its :invoke has" },
		{ "edn",
		  "{:process 0, :type :invoke, :f :get, :key 0, :value nil}\n"
		  "{:process 0, :type :info, :f :get, :key 1, :value :timed-out}\n",
		  "t:2: error: '1,': expected the :key that its :invoke has" },
		{ "edn",
		  "{:process 0, :type :invoke, :f :append, :key 0, :value \"a\"}\n"
		  "{:process 0, :type :ok, :f :append, :key 0, :value \"b\"}\n",
		  "t:2: error: '\"b\"}': expected the :value that its :invoke has" },
	};
	struct kl_history *h = NULL;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i].text;

		history_log_start();
		assert_int_equal(kl_history_parse("t", text, strlen(text),
						  kl_form_find(cases[i].form), &h), -EINVAL);
		history_log_stop();
		assert_null(h);
		history_log_place(text);
		if (strncmp(history_log, cases[i].message, strlen(cases[i].message)))
			fail_msg("case %zu: %s", i, history_log);
		/* There is only one message. */
		if (strstr(strstr(history_log, "error: ") + 1, "error: "))
			fail_msg("case %zu: %s", i, history_log);
	}
}

/* Return: the text of a history in a form; free() it. */
static char *form_text(const struct kl_history *h, const char *form, int *ret)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	*ret = kl_form_find(form)->write(h, f);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* A written history reads back in the same order, and is written the same again. */
static void test_written_reads_back(void **state)
{
	static const struct {
		const char *form, *spec, *methods;
		unsigned int pending;
	} cases[] = {
		{ "linp", "set", "add remove has", 0 }, { "linp", "queue", "enq deq peek", 0 },
		{ "linp", "stack", "push pop peek", 0 }, { "linp", "pqueue", "push pop peek", 0 },
		{ "events", "set", "add remove has", 5 },
		{ "jepsen", "register", "read write cas", 5 },
		{ "edn", "register", "read write", 5 }, { "edn", "map", "put get", 5 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t weight[32] = { 0 };
		struct kl_gen_config c = {
			.weight = weight, .ops = 500, .threads = 5, .objects = 1, .delay = 20,
			.seed = i + 1, .pending = cases[i].pending,
		};
		struct kl_history *h = NULL, *back = NULL;
		char *text, *again, *word, *save, methods[64];
		struct kl_spec *spec;
		size_t k;
		int ret;

		assert_int_equal(kl_spec_load(cases[i].spec, &spec), 0);
		c.spec = spec;
		strcpy(methods, cases[i].methods);
		for (word = strtok_r(methods, " ", &save); word; word = strtok_r(NULL, " ", &save))
			weight[kl_spec_find_method(spec, word)] = 1;
		assert_int_equal(kl_gen(&c, &h), 0);
		kl_spec_free(spec);
		h->spec_path = strdup(cases[i].spec);
		text = form_text(h, cases[i].form, &ret);
		assert_int_equal(ret, 0);
		assert_int_equal(kl_history_parse("t", text, strlen(text), KL_FORM_AUTO, &back), 0);
		again = form_text(back, cases[i].form, &ret);
		assert_int_equal(ret, 0);
		/* A register's first write adds an operation, but only once. */
		k = back->nops - h->nops;
		assert_in_range(k, 0, 2);
		assert_int_equal(k, strcmp(cases[i].spec, "register") ? 0 : 2);
		assert_string_equal(text, again);
		free(text);
		free(again);
		kl_history_free(h);
		kl_history_free(back);
	}
}

/*
 * The operation that showed that values like [1 2] have no keys may no longer be in the history.
 * So the writer states it in another way.
 */
static void test_pairs_without_keys(void **state)
{
	static const char text[] =
		"{:process 0, :type :invoke, :f :read, :value nil}\n"
		"{:process 0, :type :fail, :f :read, :value nil}\n"
		"{:process 1, :type :invoke, :f :write, :value [1 2]}\n"
		"{:process 1, :type :ok, :f :write, :value [1 2]}\n";
	static const char *const forms[] = { "edn", "jepsen" };
	struct kl_history *h = NULL, *back = NULL;
	unsigned int i;
	char *again;
	int ret;

	assert_int_equal(kl_history_parse("t", text, strlen(text), KL_FORM_AUTO, &h), 0);
	for (i = 0; i < 2; i++) {
		again = form_text(h, forms[i], &ret);
		assert_int_equal(ret, 0);
		assert_int_equal(kl_history_parse("t", again, strlen(again), KL_FORM_AUTO, &back),
				 0);
		assert_int_equal(back->nops, 2);
		kl_history_free(back);
		free(again);
	}
	kl_history_free(h);
}

static void test_unwritable_histories(void **state)
{
	static const struct {
		const char *form, *text, *message;
	} cases[] = {
		{ "linp", "t1 @0 1 2 read -> 0\n", "the form linp has sets" },
		{ "linp", "t1 @0 1 - enq 1\n", "enq(1): the form linp has no operations without" },
		{ "linp", "t1 @0 1 2 enq -3\n", "enq(-3): the form linp has only numbers" },
		{ "linp", "t1 @0 1 2 enq 3 4\n", "enq(3, 4): the form linp has no such operation" },
		{ "events", "t1 @0 1 2 add 3 -> empty\n",
		  "add(3) -> empty: the form events has only" },
		{ "events", "t1 @0 1 2 enq 3\n", "enq(3): the form events has only" },
		{ "events", "t1 @0 1 2 add 1 -> 1\nt1 @1 1 2 add 1 -> 1\n",
		  "the history has several" },
		{ "events", "# gap from 1 to 2\n", "the history has gaps" },
		{ "events", "t1 @0 - 2 add 1 -> 1\n", "the history has calls that were not seen" },
		{ "events", "t1 @0 1 9 add 1 -> 1\nt1 @0 2 3 add 1 -> 0\n",
		  "the history has nested operations" },
		{ "events", "t1 @0 1 - add 1\nt1 @0 2 3 add 1 -> 0\n", "a thread goes on after" },
		{ "events", "t1 @0 1 2 add 1 -> 1\nt1 @0 2 3 add 1 -> 0\nt2 @0 1 2 add 1 -> 0\n"
		  "t2 @0 2 3 add 1 -> 0\n", "some times are nearer to each other" },
		{ "edn", "t1 @0 1 2 cas 1 2 -> 0\n", "cas(1, 2) -> 0: the form edn has no failed" },
		{ "edn", "t1 @0 1 2 deq -> empty\n",
		  "deq() -> empty: the form edn has only removals" },
		{ "jepsen", "t1 @0 1 2 put 1 2\n",
		  "put(1, 2): the form jepsen has only read, write" },
		{ "edn", "# spelling 0x4000000000000000 a b\nt1 @0 1 2 write 0x4000000000000000\n",
		  "write(a b): the form edn has only numbers" },
		{ "jepsen", "# spelling 0x4000000000000000 5\nt1 @0 1 2 write 0x4000000000000000\n",
		  "write(5): the form jepsen has only numbers" },
		{ "jepsen", "# spelling 0x4000000000000000 [1]\n# spelling 0x4000000000000001 (1)\n"
		  "t1 @0 1 2 write 0x4000000000000000\nt1 @0 3 4 write 0x4000000000000001\n",
		  "write((1)): the form jepsen has only numbers" },
	};
	struct kl_history *h;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		h = NULL;
		assert_int_equal(kl_text_read("t", cases[i].text, strlen(cases[i].text), &h), 0);
		h->fresh = true;
		history_log_start();
		free(form_text(h, cases[i].form, &ret));
		history_log_stop();
		assert_int_equal(ret, -EINVAL);
		if (!strstr(history_log, cases[i].message))
			fail_msg("case %zu: %s", i, history_log);
		kl_history_free(h);
	}
	h = kl_history_new();
	history_log_start();
	free(form_text(h, "events", &ret));
	assert_int_equal(ret, -EINVAL);
	assert_non_null(strstr(history_log, "first state"));
	assert_int_equal(kl_history_write(h, "/dev/null", kl_form_find("limo")), -EINVAL);
	assert_non_null(strstr(history_log, "does not write the form limo"));
	history_log_stop();
	kl_history_free(h);
}

/* At equal times calls come first, except before the next operation of the same thread. */
static void test_order_at_equal_times(void **state)
{
	static const char text[] =
		"t1 @0 1 5 add 1 -> 1\nt2 @0 2 5 add 2 -> 1\nt1 @0 5 8 has 1 -> 1\n"
		"t3 @0 5 9 has 2 -> 1\nt4 @0 8 9 has 3 -> 0\n";
	struct kl_history *h = NULL;
	char *got;
	int ret;

	assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
	h->fresh = true;
	got = form_text(h, "events", &ret);
	assert_int_equal(ret, 0);
	assert_string_equal(got,
			    "1 invokes add 1\n2 invokes add 2\n3 invokes contains 2\n"
			    "1 returns true\n1 invokes contains 1\n2 returns true\n"
			    "4 invokes contains 3\n1 returns true\n3 returns true\n"
			    "4 returns false\n");
	free(got);
	/* An error of 3 makes close operations concurrent; then t1 has two at once. */
	h->nops--;
	h->ops[2].thread = h->ops[3].thread = 3;
	h->ops[3].call = h->ops[3].ret = 12;
	h->error = 3;
	history_log_start();
	free(form_text(h, "events", &ret));
	history_log_stop();
	assert_int_equal(ret, 0);
	kl_history_free(h);
}

/*
 * Reading a file in several runs gives the same history as reading memory, even if a run is
 * one line.
 */
static void test_file_equals_memory(void **state)
{
	char path[] = "/tmp/klin-forms-XXXXXX", *text;
	size_t size = 3u << 20, n = 0;
	struct kl_history *h = NULL, *from_memory = NULL;
	int fd = mkstemp(path), i;

	assert_true(fd >= 0);
	text = malloc(size + 100);
	n = sprintf(text, "# queue\n");
	memset(text + n, ' ', 700u << 10);
	n += 700u << 10;
	for (i = 0; n < size; i++)
		n += sprintf(text + n, "enq %d %d %d%s", i, 2 * i, 2 * i + 3,
			     n > size - 30 ? "" : "\n");
	assert_int_equal(write(fd, text, n), n);
	close(fd);
	assert_int_equal(kl_history_read(path, &h), 0);
	assert_int_equal(h->nops, i);
	assert_int_equal(kl_history_parse("t", text, n, KL_FORM_AUTO, &from_memory), 0);
	assert_same_history(h, from_memory);
	unlink(path);
	free(text);
	kl_history_free(h);
	kl_history_free(from_memory);
	history_log_start();
	assert_int_equal(kl_history_read("/nonexistent/file", &h), -ENOENT);
	assert_non_null(strstr(history_log, "cannot read history '/nonexistent/file': No such"));
	assert_int_equal(kl_history_read("/", &h), -EISDIR);
	history_log_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recognized_by_head),
		cmocka_unit_test(test_blank_files_refused),
		cmocka_unit_test(test_files_without_operations),
		cmocka_unit_test(test_byte_order_mark),
		cmocka_unit_test(test_skipped_lines),
		cmocka_unit_test(test_error_messages),
		cmocka_unit_test(test_written_reads_back),
		cmocka_unit_test(test_pairs_without_keys),
		cmocka_unit_test(test_unwritable_histories),
		cmocka_unit_test(test_order_at_equal_times),
		cmocka_unit_test(test_file_equals_memory),
	};

	return cmocka_run_group_tests_name("forms", tests, NULL, NULL);
}
