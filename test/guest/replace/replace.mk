# SPDX-License-Identifier: GPL-2.0-only
# The module of the replacements, built for one kernel in a copy of its sources:
#
#   make replace-module [KERNEL=6.1]	build/replace/RELEASE/ki_replace.ko

KERNEL ?= 6.1

replace-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/replace/$$release; mkdir -p $$dir; \
	    cp -u test/guest/replace/Kbuild test/guest/replace/*.c $$dir; \
	    echo "  KBUILD  $$dir/ki_replace.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir CC=$(KMOD_CC) CONFIG_DEBUG_INFO_BTF_MODULES= modules

.PHONY: replace-module
