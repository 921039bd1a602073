# SPDX-License-Identifier: GPL-2.0-only
# make bench [KERNEL=6.1] [JSON=FILE]: cost per hit, ours and others'; of records by mode and rate; of
# 20,000 counters; of a switch between threads; of KCOV; of coverage of the whole kernel; time to know
# all code; how many calls stay where they are, and what the form of a displaced call costs where
# functions return, on this processor.
# What a layout gains in a real processor's time: make bench-native.
# make bench-analysis: only the time of the analysis; make bench-returns: only the last two. What a counter in a
# process costs, natively: make bench-process; beside uprobes: make bench-uprobe.

include bench/peers.mk
include bench/studies/studies.mk

bench: all bench-peers build/test/mass build/test/threads build/test/loops build/test/cputime build/bench/called test-records test-kcov
	$(Q)bench/run.sh --kernel $(KERNEL) $(if $(JSON),--json $(JSON))
	$(Q)vm/run --icount --kernel $(KERNEL) --timeout 200 -- build/test/records cost | sed 's/^ok //'
	$(Q)echo && bench/record.sh --kernel $(KERNEL)
	$(Q)echo && bench/mass.sh --kernel $(KERNEL)
	$(Q)echo && bench/switches.sh --kernel $(KERNEL)
	$(Q)echo && bench/kcov.sh --kernel $(KERNEL)
	$(Q)echo && bench/sampling.sh --kernel $(KERNEL)
	$(Q)echo && bench/coverage.sh --kernel $(KERNEL)
	$(Q)echo && bench/d.sh --kernel $(KERNEL)
	$(Q)echo && bench/uprobe.sh --kernel $(KERNEL)
	$(Q)echo && $(MAKE) -s bench-analysis
	$(Q)echo && $(MAKE) -s bench-returns
	$(Q)echo && $(MAKE) -s bench-process
	$(Q)echo && $(MAKE) -s bench-native

# What is not installed is found out only when the packages have been asked for.
bench-analysis: bench-deps kmod
	$(Q)$(MAKE) build/bench/analyze build/bench/plan
	$(Q)bench/analysis.sh --kernel $(KERNEL)

# What D clauses cost, beside bpftrace and dtrace.
bench-d: all bench-peers kmod
	$(Q)bench/d.sh --kernel $(KERNEL)

# What probes in a program cost, beside uprobes.
bench-uprobe: all build/bench/called kmod
	$(Q)bench/uprobe.sh --kernel $(KERNEL)

build/bench/called: bench/peers/called.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -no-pie -o $@ $<

bench-deps:
	$(Q)bench/deps.sh

ANALYZE_LIBS := $(if $(wildcard /usr/include/capstone/capstone.h),-lcapstone) \
                $(if $(wildcard /usr/include/distorm3/distorm.h),-ldistorm3)
build/bench/analyze: bench/analyze.c build/release/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -o $@ $^ \
	    $(ANALYZE_LIBS) $(LIBS) -pthread

build/bench/plan: bench/plan.c build/release/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -o $@ $^ $(LIBS) -pthread

# Native: emulators do not predict returns.
build/bench/returns: bench/returns.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -o $@ $<

build/bench/calls: bench/calls.c build/release/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -o $@ $^ $(LIBS) -pthread

bench-returns: build/bench/calls build/bench/returns
	$(Q)build/bench/calls "$$(vm/kernel $(KERNEL) vmlinux)" "$$(vm/kernel $(KERNEL) system-map)"
	$(Q)build/bench/returns

build/bench/process: bench/process.c build/release/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -o $@ $^ $(LIBS) -pthread

# What laying code out gains in time, natively: functions that only compute, lifted into a process.
build/release/bench/%.o: CPPFLAGS += -Itest/unit/common -Itest/lift
build/bench/native: build/release/bench/native.o build/release/bench/native_loads.o $(LIFT_OBJ) build/release/libkerninst.a
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -pthread

bench-native: build/bench/native
	$(Q)build/bench/native "$$(vm/kernel $(KERNEL) vmlinux)" "$$(vm/kernel $(KERNEL) system-map)"

bench-process: build/bench/process
	$(Q)build/bench/process && bench/process_peers.sh

# What laying code out changes, in a model of a processor. KERNEL=6.1
# LOADS='read open mkdir tcp fork nginx compile'
bench-fetch: all test-plugins test-progs kmod
	$(Q)bench/fetch.sh --kernel $(KERNEL) $(LOADS)

.PHONY: bench bench-d bench-uprobe bench-native bench-process bench-analysis bench-deps bench-returns bench-fetch
