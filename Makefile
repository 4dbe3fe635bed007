# SPDX-License-Identifier: GPL-2.0
#
# make              userspace, BPF objects and the kernel module
# make userspace    klin, klin-replay, klind and libklin; needs no kernel headers
# make bpf          the BPF objects and their skeletons; needs no kernel either
# make module       kmod/klin.ko for KDIR, with BTF
# make unit         build and run the unit tests
# make check        all tests, the kselftests in a virtual machine among them
# make check-long   all tests, with more random histories
# make fuzz         fuzz every reader of foreign data; tools/fuzz --help tells its options
# make bench        measure the engines; tools/bench --help tells its options
# make demo         record a real kernel in a virtual machine and check it
# make install      install what is built; DESTDIR= PREFIX=
# make uninstall    remove it again, with the same DESTDIR and PREFIX
# make package      the Debian packages, in build/package
# make help         this list
#
# V=1 shows the commands; SAN=1 builds userspace with clang, ASan, UBSan and libFuzzer, apart,
# in build/san; KDIR= names the kernel to build the module for.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

V ?= 0
SAN ?= 0
$(if $(filter 0 1,$(SAN)),,$(error SAN=$(SAN): expected 0 or 1))
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s%s\n' $(1) "$(2)"
endif

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

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
LIBEXECDIR ?= $(PREFIX)/libexec/klin
DATADIR ?= $(PREFIX)/share/klin
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
CATALOGDIR ?= $(PREFIX)/lib/systemd/catalog
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
# The header for modules that announce their operations, see kmod/README.
KSRCDIR ?= $(PREFIX)/src/klin

ifeq ($(SAN),1)
B := build/san
# libFuzzer is clang's, so one build serves the tests and the fuzzers.
CC := $(CLANG)
# A warning of clang fails this build, so `make check' finds it.
san_flags := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -Werror -D__SANITIZE_ADDRESS__=1
# The tests start thousands of processes.  A program without relocations starts sooner.
pic_cflags := -fno-pie
san_ldflags := -no-pie
# Programs are compiled more often than run, and backtraces still have line numbers.
CFLAGS ?= -O1 -gline-tables-only
else
B := build
san_flags :=
# The programs and libklin.so are made from the same objects.
pic_cflags := -fPIC -fvisibility=hidden
endif

CFLAGS ?= -O2 -g
kl_cflags := -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wmissing-prototypes \
	-Wstrict-prototypes -fno-strict-aliasing -pthread -D_GNU_SOURCE \
	-Iuserspace -I. -Ibuild/bpf $(san_flags) $(pic_cflags)
# The screen of `klin top'.
CURSES_LIBS ?= $(shell pkg-config --libs ncursesw 2>/dev/null || echo -lncursesw)
# The filter of system calls of klind, which is left out where libseccomp is missing.
SECCOMP_LIBS ?= $(shell $(CC) -E -x c -include seccomp.h /dev/null >/dev/null 2>&1 && echo -lseccomp)
LDLIBS := -lbpf -ldw -lelf -ljansson -lnettle -lzstd -lz -lm
kl_ldflags := -pthread -Wl,--build-id $(san_flags) $(san_ldflags)
# gold links each of the many test programs in half of the time, and lld in a third.  ASan of clang
# makes gold warn of each symbol of the runtime.  New binutils come without gold.
test_linker := $(if $(findstring clang,$(CC)),lld,gold)
TEST_LDFLAGS ?= $(if $(shell command -v ld.$(test_linker)),-fuse-ld=$(test_linker))

# ---- what there is to build ----------------------------------------------

# The sources in the given folders of userspace/, and in their subfolders.
sources = $(wildcard $(foreach d,$(1),userspace/$(d)/*.c userspace/$(d)/*/*.c \
	userspace/$(d)/*/*/*.c))

lib_dirs := base history dwarf spec records check story generate trusted tso verify watch
cmd_dirs := record report page top klin

lib_src := $(call sources,$(lib_dirs))
cmd_src := $(call sources,$(cmd_dirs))
klind_src := $(wildcard userspace/klind/*.c)
# The sources of klin-replay, which checks certificates.  They contain no engine, no shortcut
# around the specification, and no reader of other programs' history formats.  Of the specification
# language they contain only the part that histories need.
replay_src := $(filter-out userspace/spec/advice/% userspace/spec/impl/% userspace/spec/mapping/% \
	userspace/spec/probe/% \
	userspace/history/formats/% $(addprefix userspace/,base/suggest.c base/threads.c \
	base/outfile.c base/shipped_near.c history/wrong_file.c \
	history/klh_feed.c history/klh_write.c history/source_text.c history/spell_out.c \
	history/stream.c base/clock_skew.c \
	history/string_pool.c history/text_wanted.c history/write.c spec/classify/failing_push.c \
	spec/interp/dump.c spec/interp/fast_path.c spec/interp/flow.c), \
	$(call sources,klin-replay trusted base history spec)) \
	$(addprefix userspace/history/formats/,form.c kv_spec.c registry.c unread.c) \
	$(addprefix userspace/check/,answer.c budget.c decide.c explain/omit.c \
	explain/omit_copies.c gaps.c part.c program_order.c) \
	userspace/tso/machine/machine.c userspace/klin/input.c userspace/klin/stop.c
bpf_src := $(wildcard bpf/*.bpf.c)
unit_src := $(wildcard selftests/unit/test_*.c)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
# Engines register themselves, as do the monitors of the engine log-linear.  All of these and the
# registry are one member of the library, because the linker leaves out a member to which nothing
# refers.
engine_src := userspace/check/registry.c $(shell grep -lwE '^(KL_ENGINE|LL_MONITOR)' $(lib_src))
# Forms of histories register themselves in the same way.
form_src := userspace/history/formats/registry.c userspace/history/formats/examples.c $(shell grep -lw '^KL_FORM' $(lib_src))
# So do reasons of violations.
reason_src := userspace/story/story.c $(shell grep -lw '^KL_REASON' $(lib_src))
# The parser and the interpreter refer to optional parts by weak symbols.  The linker searches no
# library for weak symbols, so all these files are one member, too.
language_src := $(addprefix userspace/spec/,advice/advice.c advice/sign.c advice/token.c \
	lang/parse.c lang/parse_expr.c lang/parse_stmt.c \
	impl/impl.c impl/parse_impl.c mapping/parse_mapping.c probe/parse_probe.c interp/gen.c \
	interp/run.c interp/fast_path.c) userspace/records/file.c \
	userspace/history/text_wanted.c userspace/history/wrong_file.c
shipped := $(sort $(wildcard specs/*.lin specs/*/*.lin))
schema := userspace/report/klin-1.schema.json
# The page's files.  Of the scripts, base.js comes first, since others use its constants when they
# are read, and main.js, which starts, comes last.
page_dir := userspace/page
page_files := $(page_dir)/page.html $(page_dir)/style.css $(page_dir)/base.js \
	$(filter-out %/base.js %/main.js,$(sort $(wildcard $(page_dir)/*.js))) $(page_dir)/main.js
engine_obj := $(call obj,$(engine_src))
form_obj := $(call obj,$(form_src))
reason_obj := $(call obj,$(reason_src))
language_obj := $(call obj,$(language_src))
lib_obj := $(call obj,$(filter-out $(engine_src) $(form_src) $(reason_src) $(language_src), \
	$(lib_src))) $(addprefix $(B)/obj/,engines.o forms.o reasons.o language.o shipped.o)
cmd_obj := $(call obj,$(cmd_src)) $(B)/obj/page.o
klind_obj := $(call obj,$(call sources,record report page) userspace/top/text.c \
	userspace/top/wire.c $(klind_src)) $(B)/obj/page.o
replay_obj := $(call obj,$(replay_src)) $(B)/obj/shipped.o
version := $(shell sed -n 's/^.define KLIN_VERSION "\(.*\)"/\1/p' userspace/base/version.h)
# libklin, for programs of others: its interface, and what that needs of libkl.a.  With sanitizers,
# only the tests have it.
libklin_dir := userspace/libklin
libklin_name := libklin.so.0
libklin_so := $(B)/libklin.so.$(version)
libklin_api_obj := $(call obj,$(wildcard $(libklin_dir)/*.c))
libklin_obj := $(libklin_api_obj) $(call obj,$(call sources,report))
libklin := $(if $(filter 1,$(SAN)),,$(B)/libklin.a $(libklin_so))
# Those of LDLIBS that it needs.
libklin_libs := -ljansson -lnettle -lzstd -lz -lm
unit_help := $(filter-out $(unit_src),$(wildcard selftests/unit/*.c))
# A test program is linked with libkl.a and these: helpers, the reports that it reads, and the
# files of the recorder and the daemon that need no kernel.
unit_with := $(B)/obj/page.o $(call obj,$(unit_help) \
	$(wildcard userspace/report/*.c userspace/page/*.c) \
	$(addprefix userspace/record/,lives.c loss_bounds.c event_balance.c unwind.c cpulist.c \
	stack_size.c member.c room.c expr/fetch_peephole.c attach/preemption.c attach/clone.c) \
	$(addprefix userspace/top/,client.c model.c table.c text.c wire.c) \
	$(addprefix userspace/klind/,conf.c journal.c machine.c metrics.c notify.c socket.c \
	reports.c report_write.c))
watcher_obj := $(call obj,$(addprefix userspace/klind/,watcher.c rate.c))
# Fuzz targets: with SAN=1 main() is libFuzzer's, else driver.c's.  One source serves all forms
# of histories.
fuzz_forms := $(filter-out klh,$(shell sed -n 's/^KL_FORM.kl_form_\([a-z]*\).;/\1/p' $(form_src)))
fuzz_src := $(wildcard selftests/fuzz/fuzz_*.c)
fuzz_bin := $(fuzz_src:selftests/fuzz/%.c=$(B)/selftests/%) $(fuzz_forms:%=$(B)/selftests/fuzz_%)
fuzz_with := $(call obj,selftests/fuzz/common.c selftests/fuzz/spec_history.c \
	selftests/fuzz/stream.c userspace/klind/conf.c \
	$(addprefix userspace/record/attach/,btf_check.c kernel.c list.c suggest.c place.c \
	debugfile.c preemption.c prototypes.c))
ifeq ($(SAN),1)
fuzz_main := -fsanitize=fuzzer
else
fuzz_with += $(call obj,selftests/fuzz/driver.c)
endif
unit_obj := $(call obj,$(unit_src) $(unit_help) $(fuzz_src)) $(fuzz_with) \
	$(fuzz_forms:%=$(B)/obj/selftests/fuzz/fuzz_%.o)
unit_bin := $(unit_src:selftests/unit/%.c=$(B)/selftests/%)

bpf_obj := $(bpf_src:bpf/%.bpf.c=build/bpf/%.bpf.o)
skel := $(bpf_src:bpf/%.bpf.c=build/bpf/%.skel.h)

programs = $(1)/klin $(1)/klin-replay $(1)/klind
# Groups of installed files.
groups := klin klind libklin libklin-dev kmod
targets := all help userspace static bpf module replay-files unit unit-build fuzz fuzz-build \
	check check-long style lint bench demo install install-dkms install-selftests \
	$(groups:%=install-%) uninstall package clean distclean
.PHONY: $(targets) FORCE
ifneq ($(filter-out /%,$(PREFIX)),)
$(error PREFIX=$(PREFIX): expected an absolute path; DESTDIR= names the root of the installation)
endif
# Names of files have a slash.
$(foreach t,$(filter-out $(targets),$(MAKECMDGOALS)),$(if $(findstring /,$(t)),,$(error \
	no target '$(t)': `make help' lists the targets)))
# Warn of a misspelt variable, which no line of this file names and which has no effect.
given := $(foreach v,$(filter-out -%,$(MAKEOVERRIDES)),$(if $(findstring =,$(v)),$(firstword \
	$(subst =, ,$(v)))))
# Variables of the kernel's Kbuild, which klin.ko is built by.
for_kbuild := ARCH AR AS C CF CHECK CONFIG_% CROSS_COMPILE DEPMOD HOSTC% INSTALL_MOD_% KAFLAGS \
	KBUILD_% KCFLAGS LD LLVM LLVM_IAS LOCALVERSION NM OBJCOPY OBJDUMP PAHOLE READELF \
	RUSTC STRIP V W
$(foreach v,$(filter-out $(for_kbuild),$(given)),$(if $(shell grep -w '$(v)' Makefile),,$(warning \
	$(v)= has no effect: the Makefile has no such variable)))
all: userspace bpf module
userspace: $(B)/libkl.a $(call programs,$(B)) $(libklin)
bpf: $(bpf_obj) $(skel)

# Write the text $(1) into the target, only if it differs from the last build's text.  What depends
# on the target is so rebuilt exactly when the text changes.
define remember
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(1))' >$@
endef

# The same for a compiler and its flags.  `make install' takes what was built with other flags, too:
# root often installs with another environment than the one of the build.
goals := $(MAKECMDGOALS)
installs := $(if $(goals),$(if $(filter-out install% uninstall,$(goals)),,1))
remember_flags = $(if $(and $(installs),$(wildcard $@)),,$(call remember,$(1)))

$(B)/.cflags: FORCE
	$(call remember_flags,$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags))
$(B)/.ldflags: FORCE
	$(call remember_flags,$(CC) $(LDFLAGS) $(kl_ldflags) $(TEST_LDFLAGS) $(LDLIBS) $(CURSES_LIBS) \
		$(SECCOMP_LIBS))
# The list of the archive's members: when a source file is removed, the archive must be rebuilt.
$(B)/.libobjs: FORCE
	$(call remember,$(AR) $(lib_obj) $(engine_obj) $(form_obj) $(reason_obj) $(language_obj))
$(B)/.cmdobjs: FORCE
	$(call remember,$(cmd_obj) $(klind_obj) $(replay_obj))

# ---- userspace -----------------------------------------------------------

$(B)/obj/%.o: %.c $(B)/.cflags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -MMD -MP -c -o $@ $<

# cmocka 2 deprecates macros for which cmocka 1 has no other.
$(call obj,$(unit_src) $(unit_help)): private kl_cflags += -Wno-deprecated-declarations

# With sanitizers clang takes three times as long to optimize a file.  That pays only for code in
# which tests spend their time: the language, histories, engines, and oracles; and for four tests
# that look at the instructions of their own code, or step through them.  Stories are of a few
# operations, and the readers of other programs' histories get short ones.
ifeq ($(SAN),1)
$(call obj,$(call sources,record report page top klin klind dwarf libklin story history/formats \
	spec/impl spec/mapping spec/probe tso/litmus) \
	$(filter-out %/test_clock.c %/test_sites.c %/test_slots.c %/test_slots_two.c, \
	$(unit_src))): private kl_cflags += -O0

# Comparisons that libFuzzer watches help it to find the words and numbers that readers of foreign
# data expect.  Watching calls a function at each comparison and at each call by a pointer, which
# takes half of the time of engines and tests.  It helps little there, since engines compare the
# input with few constants.  libFuzzer still sees which of their code runs.
$(call obj,$(call sources,check generate story verify watch spec/interp tso/engine tso/explore \
	tso/machine report page top klin libklin) $(wildcard userspace/trusted/enumerate.c \
	userspace/trusted/oracle*.c) $(unit_src) $(unit_help)): private kl_cflags += \
	-fno-sanitize-coverage=trace-cmp,indirect-calls
endif

# test_sites reads its own debugging information.
$(B)/obj/selftests/unit/test_sites.o: private kl_cflags += -g2

# The shipped specifications are also embedded in the library.
$(B)/.shipped: FORCE
	$(call remember,$(shipped))
$(B)/obj/shipped.c: tools/embed $(shipped) $(B)/.shipped
	$(call say,EMBED,specs)
	$(Q)mkdir -p $(@D)
	$(Q)tools/embed $(shipped) >$@
# So is the page that `klin report' writes.
$(B)/.page: FORCE
	$(call remember,$(page_files))
$(B)/obj/page.c: tools/embed-page $(page_files) $(B)/.page
	$(call say,EMBED,page)
	$(Q)mkdir -p $(@D)
	$(Q)tools/embed-page $(page_files) >$@
$(B)/obj/page.o: $(B)/obj/page.c $(B)/.cflags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -MMD -MP -c -o $@ $<
$(B)/obj/shipped.o: $(B)/obj/shipped.c $(B)/.cflags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -MMD -MP -c -o $@ $<

$(B)/obj/engines.o: $(engine_obj)
$(B)/obj/forms.o: $(form_obj)
$(B)/obj/reasons.o: $(reason_obj)
$(B)/obj/language.o: $(language_obj)
$(addprefix $(B)/obj/,engines.o forms.o reasons.o language.o): $(B)/.libobjs
	$(call say,LD,$@)
	$(Q)$(CC) -r -nostdlib -o $@ $(filter %.o,$^)

# The first build makes the skeletons first; later builds know the dependencies from the .d files.
$(cmd_obj): | $(skel)

$(B)/libkl.a: $(lib_obj) $(B)/.libobjs
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(lib_obj)

# One object, of which other objects see no symbol but those of the interface.
$(B)/obj/libklin.o: $(libklin_obj) $(B)/libkl.a
	$(call say,LD,$@)
	$(Q)$(CC) -r -nostdlib -o $@ $^
	$(Q)objcopy --wildcard --keep-global-symbol='klin_*' $@
$(B)/libklin.a: $(B)/obj/libklin.o
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $<
# The links have the names that programs are started and linked with.
$(libklin_so): $(B)/obj/libklin.o $(libklin_dir)/libklin.map $(B)/.ldflags
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(LDFLAGS) $(kl_ldflags) -Wl,-soname,$(libklin_name) -Wl,-z,defs \
		-Wl,--version-script=$(libklin_dir)/libklin.map -o $@ $< $(libklin_libs)
	$(Q)ln -sf $(@F) $(B)/$(libklin_name)
	$(Q)ln -sf $(libklin_name) $(B)/libklin.so

# The programs, and the same without shared libraries, for systems that lack these: tools/bundle.
# The flag -static tells the linker to take archives, whose own libraries have to be named.
static := $(call programs,$(B)/static)
$(static): private kl_ldflags += -static
$(static): private static_libs := $(shell pkg-config --static --libs libdw ncursesw 2>/dev/null)
static: $(static)

$(B)/klin $(B)/static/klin: $(cmd_obj) $(B)/libkl.a $(B)/.ldflags $(B)/.cmdobjs
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) -o $@ $(cmd_obj) $(B)/libkl.a $(LDLIBS) $(CURSES_LIBS) \
		$(static_libs)

$(B)/klind $(B)/static/klind: $(klind_obj) $(B)/libkl.a $(B)/.ldflags $(B)/.cmdobjs
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) -o $@ $(klind_obj) $(B)/libkl.a $(LDLIBS) $(SECCOMP_LIBS) \
		$(static_libs)

$(B)/klin-replay $(B)/static/klin-replay: $(replay_obj) $(B)/.ldflags $(B)/.cmdobjs
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) -o $@ $(replay_obj) $(LDLIBS) $(static_libs)

$(unit_bin): $(B)/selftests/%: $(B)/obj/selftests/unit/%.o $(unit_with) \
		$(B)/libkl.a $(B)/.ldflags
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) $(TEST_LDFLAGS) -o $@ $< $(unit_with) $(B)/libkl.a \
		-lcmocka $(LDLIBS)

$(fuzz_forms:%=$(B)/obj/selftests/fuzz/fuzz_%.o): $(B)/obj/selftests/fuzz/fuzz_%.o: \
		selftests/fuzz/history.c $(B)/.cflags
	$(call say,CC,$< for $*)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -DFORM='"$*"' -MMD -MP -c -o $@ $<

$(fuzz_bin): $(B)/selftests/%: $(B)/obj/selftests/fuzz/%.o $(fuzz_with) $(B)/libkl.a \
		$(B)/.ldflags
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(kl_ldflags) $(TEST_LDFLAGS) $(fuzz_main) -o $@ $< $(fuzz_with) $(B)/libkl.a \
		$(LDLIBS)

-include $(lib_obj:.o=.d) $(engine_obj:.o=.d) $(form_obj:.o=.d) $(reason_obj:.o=.d) \
	$(language_obj:.o=.d) $(libklin_api_obj:.o=.d) $(cmd_obj:.o=.d) $(klind_obj:.o=.d) \
	$(replay_obj:.o=.d) $(unit_obj:.o=.d)

# Print the files of klin-replay, for the test that checks them.
replay-files:
	@printf '%s\n' $(replay_src)

# ---- BPF: CO-RE against bpf/vmlinux-min.h, so no kernel is needed --------

BPF_CFLAGS ?= -O2 -g
kl_bpf_cflags := -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Wno-unused-parameter \
	-I. -Ibpf -idirafter /usr/include/x86_64-linux-gnu

build/bpf/.cflags: FORCE
	$(call remember_flags,$(CLANG) $(BPF_CFLAGS) $(kl_bpf_cflags))

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

# The library that tests of klin preload, to make system and library calls fail.
build/inject.so: selftests/inject.c selftests/inject_disk.c selftests/inject.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -Wextra -D_GNU_SOURCE -shared -fPIC -o $@ $(filter %.c,$^)

# The test of the daemon's watcher, which brings a recorder of its own in place of the kernel's.
$(B)/selftests/test_watcher: unit_with += $(watcher_obj)
$(B)/selftests/test_watcher: $(watcher_obj)

# The test of missed probes, which brings the kernel's counts.
losses_obj := $(call obj,userspace/record/losses.c)
$(B)/selftests/test_losses: unit_with += $(losses_obj)
$(B)/selftests/test_losses: $(losses_obj)

# The test of dropped privileges.
confine_obj := $(call obj,userspace/klind/confine.c)
$(B)/selftests/test_confine: unit_with += $(confine_obj)
$(B)/selftests/test_confine: LDLIBS += $(SECCOMP_LIBS)
$(B)/selftests/test_confine: $(confine_obj)

# The tests of libklin have its interface.
libklin_tests := $(B)/selftests/test_libklin $(B)/selftests/test_record
$(libklin_tests): unit_with += $(libklin_api_obj)
$(libklin_tests): $(libklin_api_obj)

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

# The program of tools/bench-online, which checks a stream of operations while making it.
$(B)/bench/online: tools/bench.d/online.c $(B)/obj/selftests/unit/stream.o $(B)/libkl.a
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -o $@ $^ $(LDLIBS)

# The program of tools/bench-libklin.
$(B)/bench/lanes: tools/bench.d/lanes.c $(B)/libklin.a
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -o $@ $^ $(libklin_libs)

# The program of tools/bench-beside, for klin's side.
$(B)/bench/check: tools/bench.d/beside/check.c $(B)/libklin.a
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -o $@ $^ $(libklin_libs)

# The program that tools/bench-record records, in the guest.
$(B)/bench/calls: tools/bench.d/calls.c $(B)/.cflags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(kl_cflags) -o $@ $<

bench: userspace $(B)/bench/record-set
	$(Q)tools/bench

# ---- install -------------------------------------------------------------

# The files that are installed, each as MODE:FILE:PLACE.  In a FILE.in, @NAME@ stands for a
# directory.  With the mode `link', PLACE becomes a symbolic link to FILE.  Each group has a target
# install-GROUP, and tools/debian/rules makes packages of the groups.
to = $(foreach f,$(3),$(1):$(f):$(2)/$(notdir $(f)))
kept = $(foreach f,$(3),$(1):$(f):$(2)/$(f))
pages = $(foreach f,$(1),$(call to,644,$(MANDIR)/man$(subst .,,$(suffix $(f))),$(f)))
man_pages := $(wildcard userspace/man/*.[1-9])
klind_pages := $(filter userspace/man/klind.%,$(man_pages))
library_pages := $(filter %.3,$(man_pages))
share := $(PREFIX)/share
libklin_docs := $(share)/doc/libklin-dev
installed_klin := $(call to,755,$(BINDIR),$(B)/klin $(B)/klin-replay) \
	$(call to,644,$(DATADIR),$(schema)) \
	$(call kept,644,$(DATADIR),$(shipped)) \
	$(call pages,$(filter-out $(klind_pages) $(library_pages),$(man_pages))) \
	644:userspace/completion/klin.bash:$(share)/bash-completion/completions/klin \
	$(call to,644,$(ZSHDIR),userspace/completion/_klin) \
	$(call to,644,$(share)/fish/vendor_completions.d,userspace/completion/klin.fish) \
	$(call to,644,$(share)/vim/vimfiles/syntax,userspace/editors/klin.vim) \
	644:userspace/editors/ftdetect.vim:$(share)/vim/vimfiles/ftdetect/klin.vim \
	$(call to,644,$(DATADIR)/editors,userspace/editors/klin.tmLanguage.json)
installed_klind := $(call to,755,$(SBINDIR),$(B)/klind) \
	$(call to,644,$(DATADIR),userspace/klind/klind.conf) \
	644:userspace/klind/klind.service.in:$(UNITDIR)/klind.service \
	$(call to,644,$(CATALOGDIR),userspace/klind/klind.catalog) \
	$(call pages,$(klind_pages)) \
	$(call to,644,$(DATADIR)/prometheus,$(wildcard userspace/klind/prometheus/*))
installed_libklin := $(call to,644,$(LIBDIR),$(libklin_so)) \
	link:$(notdir $(libklin_so)):$(LIBDIR)/$(libklin_name)
installed_libklin-dev := $(call to,644,$(LIBDIR),$(B)/libklin.a) \
	link:$(libklin_name):$(LIBDIR)/libklin.so \
	$(call to,644,$(INCLUDEDIR)/klin,$(wildcard $(libklin_dir)/include/klin/*.h)) \
	644:$(libklin_dir)/klin.pc.in:$(LIBDIR)/pkgconfig/klin.pc \
	$(call to,644,$(libklin_docs)/examples,$(wildcard $(libklin_dir)/examples/*)) \
	$(call pages,$(library_pages))
installed_kmod := $(call to,644,$(KSRCDIR),kmod/klin.h)
installed := $(foreach group,$(groups),$(installed_$(group)))

find_kmod = PATH=$$PATH:/usr/sbin:/sbin;
release = $(if $(wildcard kmod/klin.ko),$(shell $(find_kmod) \
	modinfo -F vermagic kmod/klin.ko | cut -d' ' -f1))
# The module, and the versions of its symbols, where it is built.
installed_module = $(if $(wildcard kmod/klin.ko), \
	644:kmod/klin.ko:/lib/modules/$(release)/extra/klin.ko \
	644:Module.symvers:$(KSRCDIR)/$(release)/Module.symvers)
# A kernel elsewhere makes its own list of modules.
depmod = $(if $(DESTDIR),true,$(find_kmod) depmod)
fill := s|@SBINDIR@|$(SBINDIR)|g; s|@DATADIR@|$(DATADIR)|g; s|@VERSION@|$(version)|g; \
	s|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|g; s|@INCLUDEDIR@|$(INCLUDEDIR)|g; \
	s|@LIBS@|$(libklin_libs)|g
# Install the list $(1).
put = printf '%s\n' $(1) | while IFS=: read -r mode file place; do \
	case $$mode:$$file in \
	link:*) $(INSTALL) -d "$$(dirname "$(DESTDIR)$$place")" && \
		ln -sf $$file "$(DESTDIR)$$place" ;; \
	*.in) $(INSTALL) -D -m $$mode /dev/null "$(DESTDIR)$$place" && \
		sed '$(fill)' $$file >"$(DESTDIR)$$place" ;; \
	*) $(INSTALL) -D -m $$mode $$file "$(DESTDIR)$$place" ;; \
	esac || exit 1; done

install: userspace
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)$(call put,$(installed) $(installed_module))
	$(Q)[ ! -e kmod/klin.ko ] || { $(depmod) -a $(release); }

$(groups:%=install-%): install-%: userspace
	$(call say,INSTALL,$* in $(DESTDIR)$(PREFIX))
	$(Q)$(call put,$(installed_$*))

# The module is removed for all kernels, since klin.ko may now be built for another one.
uninstall:
	$(call say,REMOVE,$(DESTDIR)$(PREFIX))
	$(Q)printf '%s\n' $(installed) | while IFS=: read -r mode file place; do \
		rm -f "$(DESTDIR)$$place" || exit 1; done
	$(Q)for ko in "$(DESTDIR)"/lib/modules/*/extra/klin.ko; do \
		[ -e "$$ko" ] || continue; \
		release=$${ko%/extra/*}; release=$${release##*/}; \
		rm -f "$$ko" "$(DESTDIR)$(KSRCDIR)/$$release/Module.symvers" && \
			{ $(depmod) -a "$$release"; } || exit 1; done
	$(Q)rm -rf '$(DESTDIR)$(LIBEXECDIR)/kselftest' '$(DESTDIR)$(dkms_dir)'
	$(Q)for dir in $(DATADIR) $(LIBEXECDIR) $(KSRCDIR) $(INCLUDEDIR)/klin $(libklin_docs); do \
		[ ! -d "$(DESTDIR)$$dir" ] || \
			find "$(DESTDIR)$$dir" -depth -type d -empty -delete || exit 1; done

# The module's source, for DKMS to build it for each kernel.
dkms_dir := $(PREFIX)/src/klin-$(version)
install-dkms:
	$(call say,INSTALL,$(DESTDIR)$(dkms_dir))
	$(Q)$(call put,$(call kept,644,$(dkms_dir),$(filter-out %/groups.h %.mod.c,$(kmod_src))) \
		$(call kept,755,$(dkms_dir),tools/btf tools/vmlinux) \
		644:kmod/dkms.conf.in:$(dkms_dir)/dkms.conf)

# The kselftests with their runner, where tools/kselftest has built them.
install-selftests:
	$(call say,INSTALL,$(DESTDIR)$(LIBEXECDIR)/kselftest)
	$(Q)[ -e build/kselftest/run_kselftest.sh ] || tools/kselftest
	$(Q)$(INSTALL) -d '$(DESTDIR)$(LIBEXECDIR)'
	$(Q)cp -r build/kselftest '$(DESTDIR)$(LIBEXECDIR)'
	$(Q)chmod -R u+w,a+rX '$(DESTDIR)$(LIBEXECDIR)/kselftest'
	$(Q)$(INSTALL) -m 644 selftests/klin/settings '$(DESTDIR)$(LIBEXECDIR)/kselftest/klin'

package:
	$(Q)tools/deps package
	$(Q)tools/package

# ---- clean ---------------------------------------------------------------

# clean keeps downloaded kernels; distclean removes them, too.
clean:
	$(call say,CLEAN,build kmod)
	$(Q)find build -mindepth 1 -maxdepth 1 ! -name vm -exec rm -rf {} + 2>/dev/null || true
	$(Q)find kmod \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name '.*.cmd' -o -name modules.order -o -name groups.h \) -delete 2>/dev/null || true
	$(Q)rm -f modules.order Module.symvers .*.cmd

distclean: clean
	$(Q)rm -rf build
