# SPDX-License-Identifier: GPL-2.0
#
# make              userspace, BPF objects and the kernel module
# make userspace    klin, klin-replay, klind and libklin; needs no kernel headers
# make bpf          the BPF objects and their skeletons; needs no kernel either
# make module       kmod/klin.ko for KDIR, with BTF
# make unit         build and run the unit tests
# make check        all tests, the kselftests in a virtual machine among them
# make check-long   the same, with more random histories
# make fuzz         fuzz every reader of foreign data; tools/fuzz --help tells its options
# make bench        measure the engines; tools/bench --help tells its options
# make demo         record a real kernel in a virtual machine and check it
# make install      DESTDIR= PREFIX=
#
# V=1 shows the commands; SAN=1 builds userspace with ASan and UBSan, apart,
# in build/san; SAN=fuzz with clang's and libFuzzer, in build/fuzz; KDIR= names the kernel to build the module for.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

V ?= 0
SAN ?= 0
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s%s\n' $(1) "$(2)"
endif

# ---- programs and flags --------------------------------------------------

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
INSTALL ?= install

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
DATADIR ?= $(PREFIX)/share/klin
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system

ifeq ($(SAN),1)
B := build/san
san_flags := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# The tests start thousands of these processes: without relocations and with the runtimes in
# the program each begins in two thirds of the time.  clang puts them there unasked.
san_ldflags := -no-pie $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)
# It is compiled more often than it is run; backtraces have lines with -g1, too.
CFLAGS ?= -O1 -g1
else ifeq ($(SAN),fuzz)
B := build/fuzz
CC := clang
# What clang warns of ends this build, which is a part of make check.
san_flags := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -Werror
# A finding's backtrace has lines, and the build takes a sixth less.
CFLAGS ?= -O1 -gline-tables-only
else
B := build
san_flags :=
endif

CFLAGS ?= -O2 -g
kl_cflags := -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wmissing-prototypes \
	-Wstrict-prototypes -fno-strict-aliasing -pthread -D_GNU_SOURCE \
	-DKLIN_DATADIR='"$(DATADIR)"' -Iuserspace -I. -Ibuild/bpf $(san_flags)
LDLIBS := -lbpf -ldw -lelf -ljansson -lnettle -lzstd -lz -lm
kl_ldflags := -pthread $(san_flags) $(san_ldflags)
# The test programs are many, and gold links one in half of the time.  With clang's ASan it
# warns of each symbol of the runtime.
TEST_LDFLAGS ?= $(if $(findstring clang,$(CC)),,-fuse-ld=gold)

# ---- what there is to build ----------------------------------------------

# The sources in folders of userspace/, and in folders in these.
sources = $(wildcard $(foreach d,$(1),userspace/$(d)/*.c userspace/$(d)/*/*.c \
	userspace/$(d)/*/*/*.c))

lib_dirs := base history dwarf spec check generate trusted tso verify watch
cmd_dirs := record report klin

lib_src := $(call sources,$(lib_dirs))
cmd_src := $(call sources,$(cmd_dirs))
klind_src := $(wildcard userspace/klind/*.c)
# All that the program which checks certificates is linked with: no engine, no way around the
# specification, of its language only what histories need, and no reader of other programs' forms.
replay_src := $(filter-out userspace/spec/impl/% userspace/spec/probe/% \
	userspace/history/formats/% $(addprefix userspace/,base/threads.c \
	history/klh_write.c history/string_pool.c history/write.c \
	spec/interp/dump.c spec/interp/fast_path.c spec/interp/flow.c), \
	$(call sources,klin-replay trusted base history spec)) \
	$(addprefix userspace/history/formats/,form.c kv_spec.c registry.c unread.c) \
	$(addprefix userspace/check/,answer.c budget.c decide.c explain/omit.c \
	explain/omit_copies.c gaps.c part.c program_order.c) \
	userspace/tso/machine/machine.c userspace/klin/input.c userspace/klin/stop.c
bpf_src := $(wildcard bpf/*.bpf.c)
unit_src := $(wildcard selftests/unit/test_*.c)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
# Engines register themselves.  They are one member of the library with their list, as the
# linker would leave out a member that nothing names.
engine_src := userspace/check/registry.c $(shell grep -lw '^KL_ENGINE' $(lib_src))
# So do forms of histories.
form_src := userspace/history/formats/registry.c $(shell grep -lw '^KL_FORM' $(lib_src))
# The parser and the interpreter name optional parts by weak symbols, which the linker does not
# look for in the library.
language_src := $(addprefix userspace/spec/,lang/parse.c lang/parse_expr.c lang/parse_stmt.c \
	impl/impl.c impl/parse_impl.c probe/parse_probe.c interp/gen.c interp/run.c \
	interp/fast_path.c)
shipped := $(sort $(wildcard specs/*.lin))
engine_obj := $(call obj,$(engine_src))
form_obj := $(call obj,$(form_src))
language_obj := $(call obj,$(language_src))
lib_obj := $(call obj,$(filter-out $(engine_src) $(form_src) $(language_src),$(lib_src))) \
	$(B)/obj/engines.o $(B)/obj/forms.o $(B)/obj/language.o $(B)/obj/shipped.o
cmd_obj := $(call obj,$(cmd_src))
klind_obj := $(call obj,$(call sources,record report) $(klind_src))
replay_obj := $(call obj,$(replay_src)) $(B)/obj/shipped.o
unit_help := $(filter-out $(unit_src),$(wildcard selftests/unit/*.c))
# What a test program is linked with besides libklin: helpers, the reports it looks at,
# and of the recorder and the daemon what needs no kernel.
unit_with := $(call obj,$(unit_help) $(wildcard userspace/report/*.c) \
	$(addprefix userspace/record/,loss_bounds.c event_balance.c unwind.c cpulist.c \
	stack_size.c room.c expr/fetch_peephole.c attach/preemption.c attach/clone.c) \
	$(addprefix userspace/klind/,conf.c metrics.c notify.c socket.c reports.c report_write.c))
watcher_obj := $(call obj,$(addprefix userspace/klind/,watcher.c rate.c))
# Targets for libFuzzer, which SAN=fuzz links them with; else driver.c has main().  One
# source serves all forms of histories.
fuzz_forms := $(filter-out klh,$(shell sed -n 's/^KL_FORM.kl_form_\([a-z]*\).;/\1/p' $(form_src)))
fuzz_src := $(wildcard selftests/fuzz/fuzz_*.c)
fuzz_bin := $(fuzz_src:selftests/fuzz/%.c=$(B)/selftests/%) $(fuzz_forms:%=$(B)/selftests/fuzz_%)
fuzz_with := $(call obj,selftests/fuzz/common.c selftests/fuzz/spec_history.c \
	selftests/fuzz/stream.c userspace/klind/conf.c \
	$(addprefix userspace/record/attach/,btf_check.c kernel.c list.c suggest.c place.c \
	debugfile.c preemption.c prototypes.c))
ifeq ($(SAN),fuzz)
fuzz_main := -fsanitize=fuzzer
else
fuzz_with += $(call obj,selftests/fuzz/driver.c)
endif
unit_obj := $(call obj,$(unit_src) $(unit_help) $(fuzz_src)) $(fuzz_with) \
	$(fuzz_forms:%=$(B)/obj/selftests/fuzz/fuzz_%.o)
unit_bin := $(unit_src:selftests/unit/%.c=$(B)/selftests/%)

bpf_obj := $(bpf_src:bpf/%.bpf.c=build/bpf/%.bpf.o)
skel := $(bpf_src:bpf/%.bpf.c=build/bpf/%.skel.h)

.PHONY: all userspace bpf module replay-files unit unit-build fuzz fuzz-build check check-long \
	style lint bench demo install clean distclean FORCE
all: userspace bpf module
userspace: $(B)/libklin.a $(B)/klin $(B)/klin-replay $(B)/klind
bpf: $(bpf_obj) $(skel)

# Holds the flags of the last build; its time changes only when they do.
define remember
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(1))' >$@
endef

$(B)/.cflags: FORCE
	$(call remember,$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags))
$(B)/.ldflags: FORCE
	$(call remember,$(CC) $(LDFLAGS) $(kl_ldflags) $(TEST_LDFLAGS) $(LDLIBS))
# The members too: a file that was removed must leave the archive.
$(B)/.libobjs: FORCE
	$(call remember,$(AR) $(lib_obj) $(engine_obj) $(form_obj) $(language_obj))
$(B)/.cmdobjs: FORCE
	$(call remember,$(cmd_obj) $(klind_obj) $(replay_obj))

# ---- userspace -----------------------------------------------------------

$(B)/obj/%.o: %.c $(B)/.cflags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -MMD -MP -c -o $@ $<

# This one reads its own debugging information.
$(B)/obj/selftests/unit/test_sites.o: private kl_cflags += -g2

# The specifications that are shipped are in the library too.
$(B)/.shipped: FORCE
	$(call remember,$(shipped))
$(B)/obj/shipped.c: tools/embed $(shipped) $(B)/.shipped
	$(call say,EMBED,specs)
	$(Q)mkdir -p $(@D)
	$(Q)tools/embed $(shipped) >$@
$(B)/obj/shipped.o: $(B)/obj/shipped.c $(B)/.cflags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -MMD -MP -c -o $@ $<

$(B)/obj/engines.o: $(engine_obj)
$(B)/obj/forms.o: $(form_obj)
$(B)/obj/language.o: $(language_obj)
$(B)/obj/engines.o $(B)/obj/forms.o $(B)/obj/language.o: $(B)/.libobjs
	$(call say,LD,$@)
	$(Q)$(CC) -r -nostdlib -o $@ $(filter %.o,$^)

# Only the first build needs this order; later ones know from the .d files.
$(cmd_obj): | $(skel)

$(B)/libklin.a: $(lib_obj) $(B)/.libobjs
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(lib_obj)

$(B)/klin: $(cmd_obj) $(B)/libklin.a $(B)/.ldflags $(B)/.cmdobjs
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) -o $@ $(cmd_obj) $(B)/libklin.a $(LDLIBS)

$(B)/klind: $(klind_obj) $(B)/libklin.a $(B)/.ldflags $(B)/.cmdobjs
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) -o $@ $(klind_obj) $(B)/libklin.a $(LDLIBS)

$(B)/klin-replay: $(replay_obj) $(B)/.ldflags $(B)/.cmdobjs
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) -o $@ $(replay_obj) $(LDLIBS)

$(unit_bin): $(B)/selftests/%: $(B)/obj/selftests/unit/%.o $(unit_with) \
		$(B)/libklin.a $(B)/.ldflags
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) $(TEST_LDFLAGS) -o $@ $< $(unit_with) $(B)/libklin.a \
		-lcmocka $(LDLIBS)

$(fuzz_forms:%=$(B)/obj/selftests/fuzz/fuzz_%.o): $(B)/obj/selftests/fuzz/fuzz_%.o: \
		selftests/fuzz/history.c $(B)/.cflags
	$(call say,CC,$< for $*)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -DFORM='"$*"' -MMD -MP -c -o $@ $<

$(fuzz_bin): $(B)/selftests/%: $(B)/obj/selftests/fuzz/%.o $(fuzz_with) $(B)/libklin.a \
		$(B)/.ldflags
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) $(TEST_LDFLAGS) $(fuzz_main) -o $@ $< $(fuzz_with) $(B)/libklin.a \
		$(LDLIBS)

-include $(lib_obj:.o=.d) $(engine_obj:.o=.d) $(form_obj:.o=.d) $(language_obj:.o=.d) $(cmd_obj:.o=.d) \
	$(klind_obj:.o=.d) $(replay_obj:.o=.d) \
	$(unit_obj:.o=.d)

# The files of klin-replay, for the test that looks at them.
replay-files:
	@printf '%s\n' $(replay_src)

# ---- BPF: CO-RE against bpf/vmlinux-min.h, so no kernel is needed --------

BPF_CFLAGS ?= -O2 -g
kl_bpf_cflags := -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Wno-unused-parameter \
	-I. -Ibpf -idirafter /usr/include/x86_64-linux-gnu

build/bpf/.cflags: FORCE
	$(call remember,$(CLANG) $(BPF_CFLAGS) $(kl_bpf_cflags))

build/bpf/%.bpf.o: bpf/%.bpf.c build/bpf/.cflags
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(kl_bpf_cflags) -MMD -MP -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

build/bpf/%.skel.h: build/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf >$@

-include $(bpf_obj:.o=.d)

# ---- the kernel module ---------------------------------------------------

all_headers := $(filter-out %-rt-amd64 %-cloud-amd64,$(wildcard /usr/src/linux-headers-6.1.*-amd64))
newest_headers := $(shell printf '%s\n' $(all_headers) | sort -V | tail -n 1)
KDIR ?= $(newest_headers)
kmod_src := Kbuild bpf/klin_event.h $(wildcard kmod/Kbuild kmod/*.c kmod/*.h kmod/*/*.c kmod/*/*.h)
kbuild_args = $(if $(filter 1,$(V)),,-s) -C '$(KDIR)' M='$(CURDIR)' V=$(V) \
	CONFIG_DEBUG_INFO_BTF_MODULES=
no_headers = no kernel headers in KDIR='$(KDIR)': run tools/deps, or give KDIR=

module: kmod/klin.ko

build/.kdir: FORCE
	$(call remember,$(KDIR))

kmod/klin.ko: $(kmod_src) build/.kdir tools/btf
	$(if $(wildcard $(KDIR)/Makefile),,$(error $(no_headers)))
	$(call say,KMOD,$@ for $(notdir $(KDIR)))
	$(Q)rm -f $@
	$(Q)$(MAKE) $(kbuild_args) modules
	$(call say,BTF,$@)
	$(Q)tools/btf $@

# ---- tests ---------------------------------------------------------------

# What the command's tests preload, to make the system refuse.
build/inject.so: selftests/inject.c selftests/inject_disk.c selftests/inject.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -Wextra -D_GNU_SOURCE -shared -fPIC -o $@ $(filter %.c,$^)

# The daemon's watcher, with a recorder that the test has in place of the kernel's.
$(B)/selftests/test_watcher: unit_with += $(watcher_obj)
$(B)/selftests/test_watcher: $(watcher_obj)

unit-build: $(unit_bin) $(fuzz_bin) build/inject.so

fuzz-build: $(fuzz_bin)

fuzz:
	$(Q)tools/deps fuzz
	$(Q)tools/fuzz

unit: unit-build
	$(Q)tools/run-tap $(unit_bin) $(fuzz_bin)

check:
	$(Q)tools/deps
	$(Q)$(MAKE) --no-print-directory -j$(shell nproc) all unit-build
	$(Q)selftests/check

check-long: export KLIN_RUNS := 80000
check-long: check

style:
	$(Q)tools/deps style
	$(Q)tools/style $(BASE)

lint:
	$(Q)tools/deps lint
	$(Q)tools/lint

demo:
	$(Q)tools/deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/demo

# ---- measuring -----------------------------------------------------------

# The program that makes recordings of real sets for tools/bench.
$(B)/bench/record-set: tools/bench.d/record-set.c userspace/base/hash.h $(B)/.cflags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -pthread -o $@ $<

# Streams without end, for tools/bench-online.
$(B)/bench/online: tools/bench.d/online.c $(B)/obj/selftests/unit/stream.o $(B)/libklin.a
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -o $@ $^ $(LDLIBS)

# What tools/bench-record calls, in the guest.
$(B)/bench/calls: tools/bench.d/calls.c $(B)/.cflags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -o $@ $<

bench: userspace $(B)/bench/record-set
	$(Q)tools/bench

# ---- install -------------------------------------------------------------

install: userspace
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(DATADIR)/specs/explore' '$(DESTDIR)$(DATADIR)/specs/verify'
	$(Q)$(INSTALL) -m 755 $(B)/klin $(B)/klin-replay '$(DESTDIR)$(BINDIR)'
	$(Q)$(INSTALL) -d '$(DESTDIR)$(SBINDIR)' '$(DESTDIR)$(UNITDIR)'
	$(Q)$(INSTALL) -m 755 $(B)/klind '$(DESTDIR)$(SBINDIR)/klind'
	$(Q)$(INSTALL) -m 644 userspace/klind/klind.conf '$(DESTDIR)$(DATADIR)/klind.conf'
	$(Q)sed 's|@SBINDIR@|$(SBINDIR)|; s|@DATADIR@|$(DATADIR)|' userspace/klind/klind.service.in \
		>'$(DESTDIR)$(UNITDIR)/klind.service'
	$(Q)for f in $(wildcard specs/*.lin specs/explore/*.lin specs/verify/*.lin); do \
		$(INSTALL) -m 644 $$f '$(DESTDIR)$(DATADIR)/'$$f || exit 1; done
	$(Q)for f in $(wildcard userspace/man/*.[158]); do \
		$(INSTALL) -D -m 644 $$f '$(DESTDIR)$(MANDIR)'/man$${f##*.}/$${f##*/} || exit 1; done
	$(Q)if [ -e kmod/klin.ko ]; then \
		release=$$(PATH=$$PATH:/sbin:/usr/sbin modinfo -F vermagic kmod/klin.ko | cut -d' ' -f1) && \
		$(INSTALL) -D -m 644 kmod/klin.ko \
			"$(DESTDIR)/lib/modules/$$release/extra/klin.ko"; fi

# ---- clean ---------------------------------------------------------------

# Kernels that were downloaded stay; distclean removes them too.
clean:
	$(call say,CLEAN,build kmod)
	$(Q)find build -mindepth 1 -maxdepth 1 ! -name vm -exec rm -rf {} + 2>/dev/null || true
	$(Q)find kmod \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name '.*.cmd' -o -name modules.order -o -name groups.h \) -delete 2>/dev/null || true
	$(Q)rm -f modules.order Module.symvers .*.cmd

distclean: clean
	$(Q)rm -rf build
