# SPDX-License-Identifier: GPL-2.0-only
# The modules with code that is refused, built in a copy of their sources:
#
#   make reasons-module [KERNEL=6.1]	build/reasons/RELEASE/{ki_reasons,ki_going,ki_tails}.ko

REASONS_MODULES := $(patsubst %,test/guest/reasons/%.c,module going tails_module)

build/test/reasons: $(filter-out $(REASONS_MODULES),$(wildcard test/guest/reasons/*.[ch])) \
	include/uapi/kerninst_reasons.def $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h %.def,$^) $(LIBS)

test-reasons: build/test/reasons

reasons-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/reasons/$$release; mkdir -p $$dir; \
	    cp -u test/guest/reasons/Kbuild $(REASONS_MODULES) test/guest/reasons/*.S $$dir; \
	    echo "  KBUILD  $$dir/ki_reasons.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir CC=$(KMOD_CC) CONFIG_DEBUG_INFO_BTF_MODULES= modules

.PHONY: test-reasons reasons-module
