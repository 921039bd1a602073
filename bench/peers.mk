# SPDX-License-Identifier: GPL-2.0-only
# What the benchmark compares with: programs, and the kernel's own probes in a module that is
# built for one kernel in a copy of its sources:
#
#   make bench-peers [KERNEL=6.1]	build/bench/{reads,fentry,polls}, build/bench/RELEASE/{ki_bench,ki_bench_call}.ko

KERNEL ?= 6.1
BENCH_PROGS := build/bench/reads build/bench/fentry build/bench/polls

build/bench/%: bench/peers/%.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -static \
	    -o $@ $<

bench-peers: $(BENCH_PROGS) $(O)/bin/kerninst
	$(Q)set -e; headers=$$(vm/kernel $(KERNEL) headers); release=$$(vm/kernel $(KERNEL) release); \
	    dir=build/bench/$$release; mkdir -p $$dir; \
	    cp -u bench/peers/Kbuild bench/peers/ki_bench.c $$dir; \
	    echo "  KBUILD  $$dir/ki_bench.ko"; \
	    $(MAKE) -s -C $$headers M=$(CURDIR)/$$dir modules; \
	    $(O)/bin/kerninst build --cc $(KMOD_CC) --headers $$headers -o $$dir bench/peers/ki_bench_call.c

.PHONY: bench-peers
