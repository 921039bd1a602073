# SPDX-License-Identifier: GPL-2.0-only
# A module that others change too, and a livepatch of it, built in a copy of their sources:
#
#   make mate-module [KERNEL=6.1]	build/mate/RELEASE/ki_mate.ko, ki_mate_patch.ko

mate-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/mate/$$release; mkdir -p $$dir; \
	    cp -u test/guest/mate/Kbuild test/guest/mate/*.c $$dir; \
	    echo "  KBUILD  $$dir/ki_mate.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir modules

.PHONY: mate-module
