// SPDX-License-Identifier: GPL-2.0
/*
 * Decoded instructions compared with objdump: lengths and jump targets, for a sample of this
 * program.  For a whole kernel (minutes):
 *
 *	KLIN_OBJECT=build/vm/6.1.0-56-amd64/vmlinux build/selftests/test_disassembler
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/insn.h"

#define SAMPLE	100000

static const char *const prefixes[] = {
	"bnd ", "notrack ", "repz ", "repnz ", "lock ", "data16 ", "cs ", "ds ", "es ", "ss ",
	"fs ", "gs ", "rex.W ", "addr32 ",
};

#define PREFIXES	(sizeof(prefixes) / sizeof(*prefixes))

/* Return: true if @text is only a prefix. */
static bool is_prefix(const char *text)
{
	const size_t n = strcspn(text, " \n");
	size_t i;

	if (text[strspn(text + n, " ") + n] != '\n')
		return false;
	for (i = 0; i < PREFIXES; i++)
		if (n == strlen(prefixes[i]) - 1 && !strncmp(text, prefixes[i], n))
			return true;
	return !strncmp(text, "rex", 3);
}

/* Return: the control flow of a mnemonic; *to receives the target of a jump. */
static enum kl_flow flow_of(const char *text, uint64_t *to)
{
	char name[32] = "", arg[32] = "";
	size_t i = 0;

	while (i < PREFIXES) {
		const size_t n = strlen(prefixes[i]);
		const bool is = !strncmp(text, prefixes[i], n);

		text += is ? n : 0;
		i = is ? 0 : i + 1;
	}
	if (sscanf(text, "%31[^, \n]%*[ ]%31s", name, arg) < 1)
		return KL_FLOW_NEXT;
	*to = strtoull(arg, NULL, 16);
	if (!strncmp(name, "ret", 3) || !strncmp(name, "lret", 4) || !strncmp(name, "iret", 4) ||
	    !strncmp(name, "sysret", 6) || !strcmp(name, "int3"))
		return KL_FLOW_END;
	if (!strncmp(name, "jmp", 3) || !strncmp(name, "ljmp", 4))
		return strchr(text, '*') ? KL_FLOW_INDIRECT : KL_FLOW_JUMP;
	if (name[0] == 'j' || !strncmp(name, "loop", 4))
		return KL_FLOW_BRANCH;
	return KL_FLOW_NEXT;
}

/* Compare a line "ADDRESS:\tBYTES\tTEXT".  Return: false if it is not an instruction. */
static bool compare(const char *line, unsigned int *wrong)
{
	const char *p = strchr(line, ':'), *text;
	uint64_t at = strtoull(line, NULL, 16), to = 0;
	uint8_t code[32] = { 0 };
	unsigned int n = 0, byte;
	struct kl_insn insn;
	enum kl_flow flow;
	bool ok;

	if (!p || p[1] != '\t')
		return false;
	for (p += 2; n < sizeof(code) && isxdigit(*p) && sscanf(p, "%2x", &byte) == 1; p += 3)
		code[n++] = byte;
	text = strchr(p, '\t');
	/* A lone prefix or an invalid instruction: objdump decodes data there. */
	if (!text || strstr(text, "(bad)") || is_prefix(text + 1))
		return false;
	/* objdump shows fwait and the next instruction as one. */
	if (n > 1 && code[0] == 0x9b)
		memmove(code, code + 1, --n);
	flow = flow_of(text + 1, &to);
	ok = !kl_insn_decode(code, n, &insn) && insn.len == n && insn.flow == flow;
	if (ok && (flow == KL_FLOW_JUMP || flow == KL_FLOW_BRANCH))
		ok = !to || at + n + insn.rel == to;
	if (!ok && ++*wrong <= 20)
		print_message("length %u, flow %u: %s", insn.len, insn.flow, line);
	return true;
}

static void test_agrees_with_objdump(void **state)
{
	const char *object = getenv("KLIN_OBJECT");
	unsigned long n = 0, most = object ? UINT64_MAX : SAMPLE;
	unsigned int wrong = 0;
	char command[4200], line[1024];
	FILE *f;

	snprintf(command, sizeof(command), "objdump -d -w %s", object ? object : "/proc/$PPID/exe");
	f = popen(command, "r");
	assert_non_null(f);
	while (n < most && fgets(line, sizeof(line), f))
		n += compare(line, &wrong);
	pclose(f);
	print_message("%lu instructions compared, %u differ\n", n, wrong);
	assert_true(n >= 10000);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_objdump),
	};

	return cmocka_run_group_tests_name("disassembler", tests, NULL, NULL);
}
