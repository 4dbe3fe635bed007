// SPDX-License-Identifier: GPL-2.0
/*
 * Equality of EDN values is that of Clojure's `=', in maps, in a vector of maps, and in
 * Jepsen's log lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "history/formats/form.h"
#include "history/spell.h"
#include "history_util.h"

enum { MAPS, VECTOR, LOG, TEXTS };

static const char *const forms[TEXTS] = { "edn", "edn", "jepsen" };

/* Write an event of @process in form @text. */
static int put(char *to, int text, int process, const char *type, const char *f, const char *value)
{
	if (text == LOG)
		return sprintf(to, "INFO  jepsen.util - %d\t:%s\t:%s\t%s\n", process,
			       type, f, value);
	return sprintf(to, "{:process %d, :type :%s, :f :%s, :value %s}\n", process,
		       type, f, value);
}

static int parse(const char *text, int how, struct kl_history **h)
{
	int ret;

	*h = NULL;
	history_log_start();
	ret = kl_history_parse("t", text, strlen(text), kl_form_find(forms[how]), h);
	history_log_stop();
	return ret;
}

/* Read a history in which @a is written and @b is read. */
static int written_and_read(int how, const char *a, const char *b, struct kl_history **h)
{
	char text[2048], *p = text;

	if (how == VECTOR)
		*p++ = '[';
	p += put(p, how, 0, "invoke", "write", a);
	p += put(p, how, 0, "ok", "write", a);
	p += put(p, how, 1, "invoke", "read", "nil");
	p += put(p, how, 1, "ok", "read", b);
	if (how == VECTOR)
		strcpy(p, "]");
	return parse(text, how, h);
}

static const char *const equal[][2] = {
	{ "0x10", "16" }, { "0X1f", "31N" }, { "020", "16" }, { "-0x10", "-16" }, { "0x10N", "16" },
	{ "+010N", "8" }, { "007", "7" }, { "2r101", "5" }, { "36RZn", "1283" },
	{ "-16rff", "-255" },
	{ "-0x0", "0" }, { "00", "0" }, { "0xffffffffffffffff", "18446744073709551615" },
	{ "0x10000000000000000", "18446744073709551616" },
	{ "-36rzzzzzzzzzzzzzzzz", "-7958661109946400884391935" },
	{ "01000000000000000000000000000000000000N", "0x1000000000000000000000000000" },
	{ "1/1234567890123456789", "10/12345678901234567890" },
	{ "340282366920938463463374607431768211456/18446744073709551616",
	  "18446744073709551616" },
	{ "-36893488147419103230/110680464442257309693",
	  "-12297829382473034410/36893488147419103231" },
	{ "010/3", "10/3" }, { "0000000000000000000001/02", "1/2" }, { "[0x10]", "[16]" },
	{ "1", "1N" }, { "1", "+1" }, { "0", "-0" }, { "0", "+0" }, { "-1", "-1N" }, { "1", "2/2" },
	{ "-1/2", "-2/4" }, { "+1/2", "2/4" }, { "-1", "-1" },
	{ "999999999999999999", "999999999999999999N" },
	{ "9223372036854775807", "9223372036854775807N" },
	{ "-9223372036854775808", "-9223372036854775808N" },
	{ "18446744073709551616", "18446744073709551616N" },
	{ "1.0", "1.00" }, { "1e3", "1000.0" }, { "1E3", "1e+3" }, { "0.0", "-0.0" },
	{ "5e-1", "0.5" },
	{ "1.0M", "1.00M" }, { "1M", "1.0M" }, { "1e3M", "1000M" }, { "0M", "-0.0M" },
	{ "##Inf", "##Inf" }, { "true", "true" }, { "\\a", "\\u0061" }, { "\\space", "\\u0020" },
	{ "\"A\"", "\"\\u0041\"" }, { "\"\\n\"", "\"\\u000a\"" }, { ":a/b", ":a/b" },
	{ "a/b", "a/b" },
	{ "[1 2 3]", "(1 2 3)" }, { "[1 2 3]", "[1,2,,3]" }, { "[1 [2 3]]", "(1N (+2 3))" },
	{ "{:a 1 :b 2}", "{:b 2, :a 1}" }, { "{}", "{ }" }, { "{1 :a}", "{1N :a}" },
	{ "#{1 2}", "#{2 1}" }, { "#{[1] (2)}", "#{[2] (1)}" }, { "#:n{:a 1}", "{:n/a 1}" },
	{ "#:n{:_/a 1 _/b 2}", "{:a 1 b 2}" }, { "#:_{:a 1}", "{:_/a 1}" },
	{ "#:n{:m/a 1 b 2 \"c\" 3 -1 4}", "{:m/a 1 n/b 2 \"c\" 3 -1 4}" },
	{ "^{:m 1} [1]", "[1]" }, { "[1 #_ 2 3 4]", "[1 3 4]" }, { "#tag [1]", "#tag (1)" },
	{ "#queue [1 nil]", "#queue (1 nil)" },
	{ "#uuid \"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"",
	  "#uuid \"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6\"" },
	{ "#inst \"2020\"", "#inst \"2020-01\"" },
	{ "#inst \"2020-01-01\"", "#inst \"2020-01-01T00:00:00.000-00:00\"" },
	{ "#inst \"2020-01-01T00\"", "#inst \"2020-01-01T00:00Z\"" },
	{ "#inst \"2020-01-01T00:00:01.50\"", "#inst \"2020-01-01T00:00:01.5+00:00\"" },
	{ "#inst \"2020-01-01T01:30+01:30\"", "#inst \"2019-12-31T23:00-01:00\"" },
	{ "#inst \"2020-05:00\"", "#inst \"2020-01-01T05:00Z\"" },
	{ "#inst \"2016-12-31T23:59:60\"", "#inst \"2017\"" },
	{ "#inst \"0000-01-01T10:00\"", "#inst \"0000-01-01-10:00\"" },
};

static const char *const different[][2] = {
	{ "1", "1.0" }, { "1", "1M" }, { "1.0", "1.0M" }, { "1", "\"1\"" }, { "1", ":1" },
	{ "1", "\\1" },
	{ "1", "-1" }, { "1", "[1]" }, { "1/2", "0.5" }, { "1", "true" }, { "0", "false" },
	{ "\"a\"", ":a" }, { "\"a\"", "a" }, { ":a", "a" }, { "\"a\"", "\\a" },
	{ "\"nil\"", ":nil" },
	{ ":a", ":a/a" }, { ":a", ":A" }, { "[]", "{}" }, { "[]", "#{}" }, { "{}", "#{}" },
	{ "[1 2]", "[2 1]" }, { "[1 2]", "#{1 2}" }, { "{1 2}", "[1 2]" }, { "{1 2}", "#{[1 2]}" },
	{ "[nil]", "[]" }, { "[nil]", "[false]" }, { "\"\"", "[]" }, { "\"[1 2]\"", "[1 2]" },
	{ "#:n{:_/a 1}", "{:_/a 1}" }, { "#:_{:a 1}", "{:a 1}" },
	{ "-1", "18446744073709551615" }, { "9223372036854775807", "9223372036854775808" },
	{ "-9223372036854775808", "9223372036854775808" }, { "1", "4294967297" },
	{ "0x10000000000000000", "0" }, { "1/18446744073709551617", "1" },
	{ "1/1234567890123456789", "1/1234567890123456788" },
	{ "1000000000000000000", "1000000000000000001" }, { "0", "18446744073709551616" },
	{ "#a [1]", "#b [1]" }, { "#a [1]", "[1]" }, { "#inst \"2020\"", "\"2020\"" },
	{ "#inst \"2020\"", "#inst \"2021\"" }, { "#inst \"2020-01\"", "#inst \"2020-01-02\"" },
	{ "#inst \"2020-01-01T01:00\"", "#inst \"2020-01-01T01:00-01:00\"" },
	{ "#uuid \"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"",
	  "\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"" },
};

static void check_pair(const char *a, const char *b, bool same)
{
	struct kl_history *h;
	int how;

	for (how = 0; how < TEXTS; how++) {
		if (written_and_read(how, a, b, &h))
			fail_msg("%s, %s: %s", a, b, history_log);
		/* The first operation is a write of nil. */
		assert_int_equal(h->nops, 3);
		if (kl_val_eq(kl_op_args(h, &h->ops[1])[0], kl_op_res(h, &h->ops[2])[0]) != same)
			fail_msg("%s and %s of %s: equal", a, b, forms[how]);
		kl_history_free(h);
	}
}

static void test_equality(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(equal) / sizeof(*equal); i++) {
		check_pair(equal[i][0], equal[i][1], true);
		check_pair(equal[i][1], equal[i][0], true);
	}
	for (i = 0; i < sizeof(different) / sizeof(*different); i++) {
		check_pair(different[i][0], different[i][1], false);
		check_pair(different[i][1], different[i][0], false);
	}
}

#define D10	"9999999999"
#define D100	D10 D10 D10 D10 D10 D10 D10 D10 D10 D10

/* Invalid and ambiguous values are refused, never taken for another value. */
static void test_refused_values(void **state)
{
	static const char *const cases[][2] = {
		{ "08", "an octal number after the zero" }, { "0x", "hexadecimal digits after" },
		{ "0x1g", "hexadecimal digits after" }, { "2r", "digits of the radix" },
		{ "2r2", "digits of the radix" }, { "2r101N", "digits of the radix" },
		{ "37r1", "a radix from 2 to 36" }, { "1r1", "a radix from 2 to 36" },
		{ "02r1", "a radix from 2 to 36" }, { "100r1", "a radix from 2 to 36" },
		{ "36r" D100 D100, "a number below 2^1024" }, { "1/" D100 D100 D100 D100,
								"a number below 2^1024" },
		{ "0x1.5", "hexadecimal digits" },
		{ "1/00000000000000000000", "another number than 0" },
		{ "1a", "a number as in" }, { "1e", "a number as in" },
		{ "1/", "a number as in" }, { "1/0", "another number than 0" },
		{ "1N2", "a number as in" }, { "##NaN", "equals itself" },
		{ "\\abc", "a character" }, { "::a", "a keyword with a name" },
		{ ":", "a keyword with" },
		{ "{:a 1 :a 2}", "each key of a map once" }, { "{:a}", "a value for each key" },
		{ "#{1 1N}", "each member of a set once" }, { "#\"re\"", "Clojure code" },
		{ "'a", "Clojure code" }, { "\"\\x\"", "one of the escapes" },
		{ "#inst \"2020-13\"", "a time as in" }, { "#inst \"2021-02-29\"", "a time as in" },
		{ "#inst \"2020-01-01T24\"", "a time as in" },
		{ "#inst \"2020-1-1\"", "a time as in" },
		{ "#inst \"2020-01T00\"", "a time as in" }, { "#inst \"20200\"", "a time as in" },
		{ "#inst \"2020-01-01T00:00:60\"", "a time as in" },
		{ "#inst 2020", "a time as in" },
		{ "#inst \"2020-01-01T00:00:00.\"", "a time as in" },
		{ "#inst \"\"", "a time as in" },
		{ "#inst \"2020Z \"", "a time as in" }, { "#uuid \"1-2-3-4-5\"", "a UUID of" },
	};
	struct kl_history *h;
	size_t i;
	int how;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (how = 0; how < TEXTS; how++) {
			assert_int_equal(written_and_read(how, cases[i][0], "1", &h), -EINVAL);
			assert_null(h);
			if (!strstr(history_log, cases[i][1]))
				fail_msg("%s: %s", cases[i][0], history_log);
			/* The message names the place. */
			if (memcmp(history_log, "t:1:", 4))
				fail_msg("%s: %s", cases[i][0], history_log);
		}
	}
}

/*
 * An operation that fails may have a remark instead of a value: something that is neither a
 * number nor the invoked value.  A remark never becomes a value of the history.
 */
static void test_remarks_are_not_values(void **state)
{
	enum { PENDING = 1, DROPPED, FALSE, REFUSED };
	static const struct {
		const char *f, *invoked, *type, *value;
		int maps, log;
	} cases[] = {
		{ "write", "3", "info", ":timed-out", PENDING, PENDING },
		{ "write", "3", "info", "\"timed out\"", PENDING, PENDING },
		{ "write", "3", "info", "{:cause \"x\" :n 1}", PENDING, PENDING },
		{ "write", "3", "info", "[1 \"x\"]", PENDING, PENDING },
		{ "write", "3", "info", "nil", PENDING, PENDING },
		{ "write", "3", "info", "3", PENDING, PENDING },
		{ "write", "3", "info", "4", REFUSED, REFUSED },
		{ "write", "\"a\"", "info", "\"b\"", PENDING, PENDING },
		{ "write", "3", "fail", "\"refused\"", DROPPED, PENDING },
		{ "write", "3", "fail", ":not-leader", DROPPED, PENDING },
		{ "write", "3", "fail", "3", DROPPED, DROPPED },
		{ "write", "3", "fail", "4", REFUSED, REFUSED },
		{ "write", "\"a\"", "fail", "\"\\u0061\"", DROPPED, DROPPED },
		{ "write", "3", "ok", "\"done\"", REFUSED, REFUSED },
		{ "write", "3", "ok", ":done", REFUSED, REFUSED },
		{ "cas", "[1 2]", "info", "[:timeout \"x\"]", PENDING, PENDING },
		{ "cas", "[1 2]", "info", "\"x\"", PENDING, PENDING },
		{ "cas", "[1 2]", "info", "[1 3]", REFUSED, REFUSED },
		{ "cas", "[1 2]", "fail", "[1 2]", DROPPED, FALSE },
		{ "cas", "[1 2]", "fail", "[1 3]", REFUSED, REFUSED },
		{ "cas", "[1 2]", "fail", "\"x\"", DROPPED, PENDING },
		{ "cas", "[\"a\" -1]", "fail", "(\"a\" -1)", DROPPED, FALSE },
		{ "cas", "[\"a\" -1]", "fail", "[\"a\" -1N]", DROPPED, FALSE },
		{ "cas", "[nil 3]", "fail", "[nil 3]", DROPPED, FALSE },
		{ "cas", "(1 2)", "fail", "[1 2]", DROPPED, FALSE },
		{ "read", "nil", "info", "\"x\"", PENDING, PENDING },
		{ "read", "nil", "fail", "\"x\"", DROPPED, DROPPED },
		/* Text that is not EDN is a remark, as long as no value depends on it. */
		{ "write", "3", "info", "java.net.Exception: Read (timed out", 0, PENDING },
		{ "write", "3", "info", "5 seconds", 0, PENDING },
		{ "write", "3", "info", "#<Exception \"", 0, PENDING },
		{ "write", "3", "fail", "#<Exception \"", 0, REFUSED },
	};
	struct kl_history *h;
	char text[512], *p;
	size_t i;
	int how, ret, want, got;

	for (i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		how = i % 2 ? LOG : MAPS;
		want = i % 2 ? cases[i / 2].log : cases[i / 2].maps;
		if (!want)
			continue;
		p = text + put(text, how, 0, "invoke", cases[i / 2].f, cases[i / 2].invoked);
		put(p, how, 0, cases[i / 2].type, cases[i / 2].f, cases[i / 2].value);
		ret = parse(text, how, &h);
		got = ret == -EINVAL ? REFUSED : h->nops == 1 ? DROPPED :
		      h->ops[1].flags & KL_OP_PENDING ? PENDING :
		      h->nops == 2 && !kl_op_res(h, &h->ops[1])->v ? FALSE : 0;
		if (got != want)
			fail_msg("%s%s: %d, not %d", text, history_log, got, want);
		if (got == PENDING && *cases[i / 2].invoked == '3')
			assert_null(kl_history_spelling(h, (uint64_t)1 << 62));
		kl_history_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equality),
		cmocka_unit_test(test_refused_values),
		cmocka_unit_test(test_remarks_are_not_values),
	};

	return cmocka_run_group_tests_name("edn values", tests, NULL, NULL);
}
