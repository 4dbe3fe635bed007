// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of litmus tests on tests that were changed at random: it must neither
 * crash nor read what is not its own (build with SAN=1), and what it accepts must run
 * to an end, or to a message.  Usage: fuzz_litmus [ROUNDS [SEED]]; deterministic.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "tso/litmus.h"

#define MAX_SIZE	8192

static uint64_t seed = 1;

static const char *const tests[] = {
	"X86 SB\n\"Fre PodWR {x}\"\n(* a (* nested *) comment *)\nCom=Rf\n"
	"{ x=0; y=0x10; int z = -3; 0:EAX=1; 1:EBX=x };\n"
	" P0            | P1            ;\n MOV [x],$1    | LOCK INC [y]  ;\n"
	" MFENCE        | L: CMP EAX,$1 ;\n MOV EAX,[y]   | JNE L         ;\n"
	" XCHG EAX,[z]  | MOV EAX,[x]   ;\n"
	"locations [z; 0:EBX;]\nfilter (x=1 \\/ x=2)\n"
	"exists (0:EAX=0 /\\ not (1:EAX=0 => [y]<>3))\n",
	"X86_64 all\n{ int64_t t[2] = {7, -1}; char c = -1; uint16_t w; int *p = &x; int x;\n"
	"  uint64_t 1:rax = t; volatile unsigned long q; }\n"
	" P0                   | P1                    ;\n"
	" movq $1,(t)          | movq t+8(%rip),%rbx   ;\n"
	" movb %cl,(c)         | movzbl (c),%eax       ;\n"
	" lock ;\n"
	" orl $0,(%rsp)        | CMPXCHG (x),%edx      ;\n"
	" subw $3,(w)          | cmovle (x),%esi       ;\n"
	" setne %al            | XADD %edi,(x)         ;\n"
	" jge out              | lea (x),%r8           ;\n"
	" negl %r9d            | shll $2,%r10d         ;\n"
	" out: ret             | testq %r8,%r8         ;\n"
	"locations [t[0]; t[1]; c; w;]\nforall (0:rax=0 /\\ true \\/ 1:r8=x)\n",
	("X86 kinds\n{ x=0; };\n P0 | P1 ;\n UXCH [x],EAX | ADD [x],$2 ;\n"
	 "final (0:EAX=0)\nwith tso: ~exists; default: exists;\n<<\nshow 0\n>>\n"),
};

static const char *const words[] = {
	"(*", "*)", "\"", "{", "}", "[", "]", "(", ")", ";", "|", ":", "%", "$", "=", "<<", ">>",
	"P0", "P1", "P9", "X86", "X86_64", "int ", "int64_t ", "char ", "x", "y", "t[1]", "&x", "*p",
	"EAX", "%rax", "%al", "%r15w", "(%rsp)", "8(t)", "x+8(%rip)", "lock ", "exists ", "forall ",
	"~", "/\\", "\\/", "=>", "<>", "-1", "0x7fffffff", "18446744073709551615",
	"99999999999999999999", "locations [", "filter ", "with ", "L:", "jmp L", "movsbq ", "cmovll ",
	"setb ", "xchgb ", "\n", "true", "not ",
};

static void silent(enum kl_level level, const char *line)
{
}

static size_t change(char *s, size_t len)
{
	const char *word = words[kl_rand_below(&seed, sizeof(words) / sizeof(*words))];
	const size_t at = kl_rand_below(&seed, len + 1);
	size_t n = strlen(word);

	switch (kl_rand_below(&seed, 4)) {
	case 0:		/* put a word in */
		if (len + n >= MAX_SIZE)
			return len;
		memmove(s + at + n, s + at, len - at);
		memcpy(s + at, word, n);
		return len + n;
	case 1:		/* over what is there */
		n = n < len - at ? n : len - at;
		memcpy(s + at, word, n);
		return len;
	case 2:		/* take something out */
		n = kl_rand_below(&seed, 8) + 1;
		n = n < len - at ? n : len - at;
		memmove(s + at, s + at + n, len - at - n);
		return len - n;
	default:	/* any byte but the end's */
		if (at < len)
			s[at] = 1 + kl_rand_below(&seed, 255);
		return len;
	}
}

/* Is the text accepted? */
static bool try_text(const char *text)
{
	struct kl_litmus_options o = { .memory = 1u << 20 };
	struct kl_litmus_result r = { 0 };
	struct kl_litmus *l = NULL;
	unsigned int i, k;
	char buf[32];
	int ret = kl_litmus_parse("fuzz", text, &l);

	if (ret == -ENOMEM) {
		puts("Bail out! out of memory");
		exit(1);
	}
	if (ret)
		return false;
	ret = kl_litmus_run(l, &o, &r);
	for (i = 0; !ret && i < r.nstates; i++)
		for (k = 0; k < l->nitems; k++)
			kl_litmus_value(l, k, r.states[i * l->nitems + k], buf);
	kl_litmus_result_free(&r);
	kl_litmus_free(l);
	return true;
}

int main(int argc, char **argv)
{
	const unsigned int n = sizeof(tests) / sizeof(*tests);
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 4000, accepted, i;
	char text[MAX_SIZE + 1];
	unsigned int t, changes;
	size_t len;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	kl_log_sink = silent;
	printf("1..%u\n", n);
	for (t = 0; t < n; t++) {
		accepted = 0;
		for (i = 0; i < rounds; i++) {
			len = strlen(tests[t]);
			memcpy(text, tests[t], len);
			for (changes = kl_rand_below(&seed, 4); changes; changes--)
				len = change(text, len);
			text[len] = 0;
			accepted += try_text(text);
		}
		/* Changes that are all rejected, or all without effect, would test little. */
		printf("%s %u - test %u: %" PRIu64 " of %" PRIu64 " accepted\n",
		       accepted > rounds / 4 && accepted < rounds ? "ok" : "not ok", t + 1, t, accepted,
		       rounds);
	}
	return 0;
}
