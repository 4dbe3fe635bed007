#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A new engine, form or sub-command is one new file.  The test adds toys of each kind to a
# copy of the tree; after make they exist, and no other file was changed.

. "$(dirname "$0")/common.sh"

top=$here/../..
ktap_header
if [ ! -e "$top/Makefile" ] || [ ! -d "$top/build/obj" ]; then
	ktap_skip "toys" "the tests are not in a tree of klin's that was built"
	ktap_finish
	exit
fi

# Copy the build, too, so that it need not be repeated.
mkdir -p tree/build
(cd "$top" && cp -a Makefile userspace bpf kmod specs tools "$work/tree" &&
	cp -a build/.[a-z]* build/bpf build/obj build/libklin.a "$work/tree/build")
mkdir -p tree/selftests

cat >tree/userspace/check/toy.c <<-END
	#include <stdio.h>

	#include "check/engine.h"

	static int toy_decide(const struct kl_part *p, const struct kl_limits *lim,
	                      struct kl_answer *a)
	{
	        a->engine = "toy";
	        snprintf(a->reason, sizeof(a->reason), "toy: knows nothing");
	        return 0;
	}

	static const struct kl_engine kl_toy_engine = {
	        .name = "toy", .help = "nothing at all", .decide = toy_decide,
	};
	KL_ENGINE(kl_toy_engine);
END
cat >tree/userspace/history/toy.c <<-END
	#include <errno.h>

	#include "history/formats/form.h"

	static bool is_toy(const struct kl_head *head)
	{
	        const char *p = head->first;

	        return kl_head_is(head, &p, "toy");
	}

	static int read_toy(struct kl_input *in, struct kl_history **out)
	{
	        return -EINVAL;
	}

	static int write_toy(const struct kl_history *h, FILE *f)
	{
	        return fprintf(f, "toy\n") < 0 ? -EIO : 0;
	}

	static const struct kl_form kl_form_toy = {
	        .name = "toy", .rank = 90, .help = "a toy's", .example = "toy", .header = true,
	        .is = is_toy, .read = read_toy, .write = write_toy,
	};
	KL_FORM(kl_form_toy);
END
cat >tree/userspace/klin/cmd_toy.c <<-END
	#include <stdio.h>

	#include "klin/cmd.h"

	static int toy(int argc, char **argv)
	{
	        puts("a toy was run");
	        return 0;
	}
	KL_COMMAND("toy", toy, "run a toy");
END
make -C tree --no-print-directory build/klin >make.out 2>&1
ktap_result $? "a tree with a new engine, form and sub-command builds" "$(cat make.out)"
ktap_result "$([ "$(grep -c '^  CC' make.out)" -eq 3 ]; echo $?)" \
	"only the three new files are compiled" "$(cat make.out)"
KLIN=$work/tree/build/klin

cat >h.txt <<-END
	# klin history 1
	t1 @0 10 20 write 1
END
run check --engine=help
ktap_result "$(grep -q '^toy  *nothing at all$' out; echo $?)" "--engine=help lists the new engine" "$(cat out)"
run check --engine=toy "$specs/register.lin" h.txt
ktap_result "$([ $status -eq 3 ] && grep -q 'toy: knows nothing' out; echo $?)" \
	"the new engine is asked" "status $status" "$(cat out err)"
run convert --to=help
ktap_result "$(grep -q "^toy  *\*  a toy's$" out; echo $?)" "--to=help lists the new form" "$(cat out)"
run convert --to=toy h.txt -
ktap_result "$([ $status -eq 0 ] && [ "$(cat out)" = toy ]; echo $?)" "the new form is written" \
	"status $status" "$(cat out err)"
run --help
ktap_result "$(grep -q '^  toy  *run a toy$' out; echo $?)" "klin --help lists the new sub-command" "$(cat out)"
run toy
ktap_result "$([ $status -eq 0 ] && grep -q 'a toy was run' out; echo $?)" \
	"the new sub-command runs" "status $status" "$(cat out err)"
ktap_finish
