# SPDX-License-Identifier: GPL-2.0-only
#
# One makefile for user space; the driver is built by the kernel's own (kmod/Kbuild), in a copy of
# its sources below build/, so that several kernels can be built for from one tree.
#
#   make            library and tools          make check   all tests
#   make kmod       the driver                 make demo    see it work, in a virtual machine
#   make bench      cost per hit               make install on this machine (README: Safety)

VERSION := 0.1.0
SONAME  := libkerninst.so.0

BUILD   ?= release
O       := build/$(BUILD)
CC      ?= gcc
prefix  ?= /usr/local
bindir  ?= $(prefix)/bin
libdir  ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir  ?= $(prefix)/share/man

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s%s\n' '$(1)' '$(2)';)

# libdw: source lines of coverage; without it there are none.
HAVE_DW := $(shell pkg-config --exists libdw 2>/dev/null && echo 1)
# libbpf: types of the kernel, for D; without it programs know none.
BPF := $(shell pkg-config --libs-only-l libbpf 2>/dev/null)

WARN := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Wno-format-nonliteral $(if $(CI),-Werror)
CPPFLAGS += -Iinclude -Ilib -D_GNU_SOURCE -DKI_VERSION='"$(VERSION)"' $(if $(HAVE_DW),-DHAVE_DW)
CFLAGS_release := -O2 -g
CFLAGS_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS  += -std=gnu11 $(WARN) $(CFLAGS_$(BUILD))
LDFLAGS += $(filter -fsanitize=%,$(CFLAGS_$(BUILD)))
LIBS    := -Wl,--as-needed -lZydis -lZycore -lxxhash -ljansson $(if $(HAVE_DW),-ldw -lelf) $(BPF) -lm

LIB_SRC   := $(sort $(wildcard lib/*/*.c lib/*/*/*.c))
TOOLS     := $(notdir $(patsubst %/,%,$(wildcard tools/*/)))
UNIT_SRC  := $(sort $(wildcard test/unit/*/test_*.c))
UNIT_COMMON := $(wildcard test/unit/common/*.c)

LIB_OBJ   := $(LIB_SRC:%.c=$(O)/%.o)
# The programs stand side by side, wherever their sources are.
UNIT_BIN  := $(patsubst %.c,$(O)/test/unit/%,$(notdir $(UNIT_SRC)))
TOOL_BIN  := $(TOOLS:%=$(O)/bin/%)

all: $(O)/libkerninst.a $(O)/libkerninst.so $(TOOL_BIN) $(O)/kerninst.pc

$(O)/%.o: %.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<

$(O)/libkerninst.a: $(LIB_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(O)/$(SONAME): $(LIB_OBJ) lib/libkerninst.map
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script=lib/libkerninst.map -o $@ $(LIB_OBJ) $(LIBS)
$(O)/libkerninst.so: $(O)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

# Written each time: make install may have another prefix than make had.
$(O)/kerninst.pc: lib/kerninst.pc.in
	$(Q)mkdir -p $(@D) && sed -e 's|@prefix@|$(prefix)|;s|@libdir@|$(libdir)|;s|@includedir@|$(includedir)|;s|@version@|$(VERSION)|;s|@libs@|$(LIBS)|' $< > $@

define TOOL_RULE
$(O)/bin/$(1): $(patsubst %.c,$(O)/%.o,$(sort $(wildcard tools/$(1)/*.c tools/$(1)/*/*.c))) $(O)/libkerninst.a
	$$(call say,LD,$$@)mkdir -p $$(@D) && $$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS) $$(LIBS_$(1))
endef
LIBS_kerninstd := -lmicrohttpd -lz -pthread
$(foreach t,$(TOOLS),$(eval $(call TOOL_RULE,$(t))))
# What all verbs share is included without its folder.
$(O)/tools/kerninst/%.o: CPPFLAGS += -Itools/kerninst -Itools/kerninst/cli
$(O)/tools/kerninstd/assets.o: $(wildcard web/dist/*) # .incbin
$(O)/lib/render/cover_html_assets.o: $(wildcard lib/render/cover_report.*)

include test/decoder/decoder.mk

define UNIT_RULE
$(O)/test/unit/$(notdir $(1:.c=)): $(O)/$(1:.c=.o) $(UNIT_COMMON:%.c=$(O)/%.o) $(DRV_OBJ) $(O)/libkerninst.a
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ -lcmocka $$(LIBS) -lelf
endef
$(foreach t,$(UNIT_SRC),$(eval $(call UNIT_RULE,$(t))))
$(O)/test/unit/%.o: CPPFLAGS += -Itest/unit/common

# They compile files of the driver.
$(O)/test/unit/common/common_minmax.o $(O)/test/unit/kmod/test_alone.o $(O)/test/unit/kmod/test_fill.o $(O)/test/unit/kmod/test_heap.o $(O)/test/unit/kmod/test_mute.o $(O)/test/unit/kmod/test_record.o $(O)/test/unit/kmod/test_table.o $(O)/test/unit/kmod/test_table_shared.o: CPPFLAGS += -Itest/unit/shim -Ikmod
$(O)/test/unit/kmod/test_head.o: CPPFLAGS += -Ibuild/decoder/6.1 -Itest/unit/shim -Ikmod
$(O)/test/unit/kmod/test_head.o: build/decoder/6.1/inat-tables.c
# All of the driver's names are hidden: other tests compile other files of it.
$(O)/test/unit/common/common_linker.o: test/unit/common/common_linker.c build/decoder/6.1/inat-tables.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -Ibuild/decoder/6.1 -Itest/unit/shim -Ikmod $(CFLAGS) -MMD -MP -MT $@ -c -o $(@:.o=.all) $< && \
	    objcopy -w -G 'linker_*' $(@:.o=.all) $@ && rm $(@:.o=.all)

unit-bins: $(UNIT_BIN) $(O)/test/fuzz/vetting

include kmod/kmod.mk
include test/test.mk
-include bench/bench.mk
-include doc/install.mk
-include examples/demo.mk

clean:
	rm -rf build

.PHONY: all unit-bins clean $(O)/kerninst.pc
.SECONDARY:
# The compiler writes them: no rule makes one.
%.d: ;
-include $(shell find $(O) -name '*.d' 2>/dev/null)
