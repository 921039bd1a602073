# SPDX-License-Identifier: GPL-2.0-only
# The modules of functions to be specialized and of page sizes, built for one kernel in a copy of
# their sources:
#
#   make special-module [KERNEL=6.1]	build/special/RELEASE/ki_special.ko, ki_level.ko

special-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/special/$$release; mkdir -p $$dir; \
	    cp -u test/guest/evolve/Kbuild test/guest/evolve/ki_special.c \
	        test/guest/evolve/ki_level.c $$dir; \
	    echo "  KBUILD  $$dir/ki_special.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir CC=$(KMOD_CC) CONFIG_DEBUG_INFO_BTF_MODULES= modules

.PHONY: special-module
