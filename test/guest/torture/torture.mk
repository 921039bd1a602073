# SPDX-License-Identifier: GPL-2.0-only
# build/test/torture: what test/guest/torture/torture.sh drives. make torture: all of it, SEED= and MINUTES=.

TORTURE_C := $(wildcard test/guest/torture/*.c)
build/test/torture: $(TORTURE_C) test/guest/torture/torture.h $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -o $@ $(TORTURE_C) $(O)/libkerninst.a $(LIBS)

test-torture: build/test/torture

SEED ?= $(shell date +%s)
MINUTES ?= 50
KERNEL ?= 6.1
torture: all test-progs test-torture
	$(Q)$(MAKE) mate-module KERNEL=$(KERNEL)
	$(Q)vm/run --kernel $(KERNEL) --timeout $$(($(MINUTES) * 60 + 900)) -- test/guest/torture/torture.sh $(SEED) $$(($(MINUTES) * 60))

.PHONY: torture test-torture
