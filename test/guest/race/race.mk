# SPDX-License-Identifier: GPL-2.0-only
# The race module, built for one kernel in a copy of its sources:
#
#   make race-module [KERNEL=6.1]	build/race/RELEASE/ki_race.ko

KERNEL ?= 6.1

race-module:
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/race/$$release; mkdir -p $$dir; \
	    cp -u test/guest/race/Kbuild test/guest/race/*.[cS] $$dir; \
	    echo "  KBUILD  $$dir/ki_race.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir modules

.PHONY: race-module
