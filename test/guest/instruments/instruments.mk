# SPDX-License-Identifier: GPL-2.0-only
# The modules of the test of instruments, by the documented way, and one of another version:
#
#   make instruments-module [KERNEL=6.1]	build/instruments/RELEASE/{ki_kit,ki_old}.ko

KERNEL ?= 6.1

instruments-module: $(O)/bin/kerninst
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/instruments/$$release; mkdir -p $$dir; \
	    echo "  KBUILD  $$dir/ki_kit.ko"; \
	    for f in test/guest/instruments/ki_kit.c test/guest/instruments/ki_old.c; do \
	        $(O)/bin/kerninst build --cc $(KMOD_CC) --headers $$headers -o $$dir $$f; done

.PHONY: instruments-module
