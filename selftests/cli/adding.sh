#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A new engine, monitor, form, reason, sub-command or subject is one new file.  The test adds toys of
# each kind to a copy of the tree; after make they exist, and no other file was changed.

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
(cd "$top" && cp -a Makefile Kbuild userspace bpf kmod specs tools "$work/tree" &&
	cp -a build/.[a-z]* build/bpf build/obj build/libkl.a "$work/tree/build")
mkdir -p tree/selftests
root=$(cd "$top" && pwd -P)
# Kbuild compiles again what was compiled by another command, and its commands have paths.
find tree/kmod -name '.*.cmd' -exec sed -i "s|$root|$(cd tree && pwd -P)|g" {} +
# tools/btf would download a kernel that is here already.
[ ! -d "$root/build/vm" ] || ln -s "$root/build/vm" tree/build/vm

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
cat >tree/userspace/check/loglinear/toy.c <<-END
	#include "check/loglinear/loglinear.h"

	static int toy_decide(struct loglinear *m)
	{
	        return 1;
	}

	static int toy_order(struct loglinear *m)
	{
	        uint32_t i;

	        for (i = 0; i < m->nitems; i++)
	                if (ll_kind(m->op[i]) < LL_FREE)
	                        ll_put(m, i);
	        return 0;
	}

	static const struct ll_type ll_toy = {
	        .kind = KL_CONTAINER_DEQUE, .decide = toy_decide, .order = toy_order,
	};
	LL_MONITOR(ll_toy);
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
cat >tree/userspace/story/toy.c <<-END
	#include <errno.h>
	#include "story/reason.h"

	static int tell(const struct kl_scene *s, struct kl_story *story)
	{
	        if (kl_story_cast(story, 0, "played"))
	                return -ENOMEM;
	        return kl_story_headline(story, "a toy says so");
	}

	static const struct kl_reason toy = { .name = "toy", .rank = 1, .tso = true, .tell = tell };
	KL_REASON(toy);
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
# The line of KLIN_GROUP() is as in kmod/README; others have a line for each member.
cat >tree/kmod/subjects/toy2.c <<-END
	#include <linux/slab.h>

	#include "subject.h"

	static KLIN_METHOD(method_get, "toy2.get");

	static struct klin_method *const methods[] = { &method_get };

	static void step(struct klin_object *object, struct klin_worker *w)
	{
	        klin_call(object, &method_get, 0, 0, 0);
	        klin_return(object, &method_get, 0, 0, 0);
	        klin_count(w, 0);
	}

	static struct klin_object *create(const struct klin_subject *subject)
	{
	        return kzalloc(sizeof(struct klin_object), GFP_KERNEL);
	}

	static void destroy(struct klin_object *object)
	{
	        kfree(object);
	}

	static const struct klin_subject subjects[] = { { "toy2", "a toy", NULL, NULL } };

	KLIN_GROUP(klin_toy2_group) = { .name = "toy2", .methods = methods, .nmethods = 1,
	        .subjects = subjects, .nsubjects = 1, .create = create, .destroy = destroy,
	        .step = step };
END

cat >d.txt <<-END
	# klin history 1
	# first init
	t1 @0 10 20 push_front 1
	t1 @0 30 40 push_back 2
	t1 @0 50 60 pop_front -> 1
END
run check --engine=log-linear "$specs/deque.lin" d.txt
ktap_result "$([ $status -eq 3 ] && grep -q 'no log-linear monitor' out; echo $?)" \
	"deques have no monitor before" "status $status" "$(cat out err)"
make -C tree --no-print-directory build/klin >make.out 2>&1
ktap_result $? "a tree with a new engine, monitor, form, reason and sub-command builds" "$(cat make.out)"
ktap_result "$([ "$(grep -c '^  CC' make.out)" -eq 5 ]; echo $?)" \
	"only the five new files are compiled" "$(cat make.out)"
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
run check --engine=log-linear "$specs/deque.lin" d.txt
ktap_result "$([ $status -eq 0 ] && grep -q LINEARIZABLE out; echo $?)" \
	"the new monitor decides its container" "status $status" "$(cat out err)"
printf '# first init\nt1 @0 10 20 read -> 7\n' >wrong.txt
run check "$specs/register.lin" wrong.txt
ktap_result "$([ $status -eq 1 ] && grep -q '^What is wrong: register @0: a toy says so.$' out; echo $?)" \
	"the new reason tells its story" "status $status" "$(cat out err)"
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

name="the module with a new subject builds without warnings, and lists it"
make -C tree --no-print-directory kmod/klin.ko >module.out 2>&1
status=$?
if [ $status -ne 0 ] && grep -q 'no kernel headers' module.out; then
	ktap_skip "$name" "$(sed -n 's/.*\(no kernel headers in [^:]*\).*/\1/p' module.out)"
else
	ktap_result "$([ $status -eq 0 ] && ! grep -qi 'warning:' module.out &&
		nm tree/kmod/subject.o | grep -q ' U klin_toy2_group$'; echo $?)" \
		"$name" "status $status" "$(cat module.out)"
fi
ktap_finish
