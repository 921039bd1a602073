# SPDX-License-Identifier: GPL-2.0-only
# The module of functions that take known times, built for one kernel in a copy of its sources:
#
#   make metrics-module [KERNEL=6.1]	build/metrics/RELEASE/ki_metrics.ko

KERNEL ?= 6.1

metrics-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/metrics/$$release; mkdir -p $$dir; \
	    cp -u test/guest/metrics/Kbuild test/guest/metrics/*.c $$dir; \
	    echo "  KBUILD  $$dir/ki_metrics.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir CC=$(KMOD_CC) CONFIG_DEBUG_INFO_BTF_MODULES= modules

.PHONY: metrics-module
