# SPDX-License-Identifier: GPL-2.0-only
# The module of the tail jumps and a livepatch of it, built for one kernel in a copy of their sources:
#
#   make tail-module [KERNEL=6.1]	build/tail/RELEASE/ki_tail.ko, ki_tail_patch.ko

KERNEL ?= 6.1

tail-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/tail/$$release; mkdir -p $$dir; \
	    cp -u test/guest/tail_jumps/Kbuild test/guest/tail_jumps/*.c $$dir; \
	    echo "  KBUILD  $$dir/ki_tail.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir CC=$(KMOD_CC) CONFIG_DEBUG_INFO_BTF_MODULES= modules

.PHONY: tail-module
