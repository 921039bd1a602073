# SPDX-License-Identifier: GPL-2.0-only
# The frames module, built for one kernel in a copy of its sources:
#
#   make frames-module [KERNEL=6.1]	build/frames/RELEASE/ki_frames.ko

KERNEL ?= 6.1

frames-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/frames/$$release; mkdir -p $$dir; \
	    cp -u test/guest/frames/Kbuild test/guest/frames/*.[ch] $$dir; \
	    echo "  KBUILD  $$dir/ki_frames.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir CC=$(KMOD_CC) CONFIG_DEBUG_INFO_BTF_MODULES= modules

.PHONY: frames-module
