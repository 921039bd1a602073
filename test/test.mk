# SPDX-License-Identifier: GPL-2.0-only
#
# make check ends with "N passed, N failed, N skipped". Its suites are the tables test/suites.host (no
# privilege, seconds) and test/suites.guest (virtual machines, minutes); `make check-host` and
# `make check-guest` run one of them. What takes longer: check-more, check-long, check-nightly.

# What test programs of the guest share.
COMMON := $(wildcard test/guest/common/*.[ch])

include test/modules.mk
include test/plugin/plugin.mk
include test/guest/prog/prog.mk
include test/guest/race/race.mk
include test/guest/mate/mate.mk
include test/guest/torture/torture.mk
include test/guest/long/long.mk
include test/guest/threads/threads.mk
include test/guest/events/events.mk
include test/guest/frames/frames.mk
include test/guest/replace/replace.mk
include test/guest/evolve/special.mk
include test/guest/tail_jumps/tail_jumps.mk
include test/guest/reasons/reasons.mk
include test/guest/metrics/metrics.mk
include test/guest/instruments/instruments.mk
include test/guest/transfers/transfers.mk
include test/guest/snippets/snippets.mk
include test/guest/records/records.mk
include test/guest/stacks/stacks.mk
include test/guest/tables/tables.mk
include test/guest/kcov/kcov.mk
include test/guest/permit/permit.mk
include test/guest/locks/locks.mk
include test/guest/full/full.mk
include test/fuzz/ioctl.mk
include test/oracles/oracles.mk
include test/lift/lift.mk
include test/bounces/bounces.mk
include test/cover/cover.mk
include test/process/process.mk
include test/words/words.mk
include test/fuzz/host.mk

GUEST_BIN := $(patsubst test/guest/linked/%.c,build/test/%,$(wildcard test/guest/linked/*.c))
build/test/%: test/guest/linked/%.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $^ $(LIBS)

deps:
	$(Q)test/deps.sh

# Each recipe line is its own make, so that the packages are there before anything is probed.
check: deps
	$(Q)$(MAKE) -j2 CI=1 check-build
	$(Q)mkdir -p build/test && test/part.sh > build/test/part
	$(Q)$(MAKE) -j2 CI=1 $$(cut -s -f 4 build/test/part) build/test/part
	$(Q)test/run.sh --again 4000 -j 2 build/test/part test/suites.guest test/suites.host
check-host: deps
	$(Q)$(MAKE) CI=1 all unit-bins test-fuzz-host test-oracles test-lift test-bounces test-cover test-process && $(MAKE) CI=1 BUILD=asan unit-bins all
	$(Q)test/run.sh test/suites.host
check-more: deps
	$(Q)$(MAKE) -j2 CI=1 more-build
	$(Q)test/run.sh -j 2 test/suites.parts test/suites.more
check-long: deps
	$(Q)$(MAKE) -j2 CI=1 more-build
	$(Q)test/run.sh -j 2 test/suites.long
check-nightly: deps
	$(Q)test/deps.sh --nightly
	$(Q)$(MAKE) -j2 CI=1 more-build
	$(Q)$(MAKE) -j2 CI=1 nightly-modules
	$(Q)test/run.sh -j 2 test/suites.nightly
# make soak S=stacks N=50 [BUSY=1]: one suite so many times, each in a machine of its own; BUSY: beside a
# CPU that is busy. make soak-all N=3 [BUSY=1]: each suite of make check, all parts.
soak:
	$(Q)[ -n '$(S)' ] || { echo "make soak S=NAME [N=10] [BUSY=1]: which suite?" >&2; exit 2; }
	$(Q)BUSY=$(BUSY) test/soak.sh $(or $(N),10) '$(S)'
soak-all:
	$(Q)BUSY=$(BUSY) test/soak.sh $(or $(N),3)
check-guest: deps
	$(Q)$(MAKE) -j2 CI=1 check-build
	$(Q)test/run.sh -j 2 test/suites.guest

CHECK_BUILD := all $(patsubst %,$(O)/test/unit/test_%,fill relocate_exec regexec) $(O)/test/fuzz/vetting test-plugins test-progs $(GUEST_BIN) test-long test-threads \
	test-events test-torture test-fuzz-ioctl test-oracles test-lift test-transfers \
	test-snippets test-records test-stacks test-tables test-kcov test-permit test-reasons test-locks test-full test-studies bench-peers test-bounces test-cover test-process test-words \
	build/examples/proxy examples-api
check-build: $(CHECK_BUILD) test-modules
	$(Q)$(MAKE) BUILD=asan unit-bins all
more-build: check-build unit-bins test-fuzz-host more-modules

# doc/promises.md, from the headers of the suites.
promises:
	$(Q)test/promises.py > build/promises.md && mv build/promises.md doc/promises.md
format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

.PHONY: deps soak soak-all check check-host check-guest check-more check-long check-nightly check-build more-build promises format

# One unit test, in seconds: make t T=point. Its name may be a part of one: make t T=snippet runs
# all test_snippet*.
T_BIN := $(filter $(O)/test/unit/test_$(T)%,$(UNIT_BIN))
T_ONE := $(filter $(O)/test/unit/test_$(T),$(UNIT_BIN))
t: $(or $(T_ONE),$(T_BIN))
	$(Q)[ -n "$^" ] || { echo "make t T=NAME: no test/unit/test_$(T)*" >&2; exit 2; }
	$(Q)for t in $^; do $$t || exit 1; done

# One suite of the tables, in the kernel that is wanted: make suite S=points KERNEL=6.12. What KERNEL
# is if nobody has said so is for the driver.
suite: all
	$(Q)test/suite.sh "$(S)" $(if $(filter file default undefined,$(origin KERNEL)),,$(KERNEL))

.PHONY: t suite
