# SPDX-License-Identifier: GPL-2.0-only
# make studies [KERNEL=6.1] [STUDIES='dd forks stamps'] [JSON=FILE]: what measuring does to what is
# measured, and whether two tools say the same, with a test whether differences are proven.

STUDY_FLAGS := -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE

build/bench/ttest: bench/studies/ttest.c lib/util/welch.c lib/util/welch.h
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(STUDY_FLAGS) -Ilib -o $@ $(filter %.c,$^) -lm
build/bench/work: bench/studies/work.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(STUDY_FLAGS) -static -o $@ $<

test-studies: build/bench/ttest build/bench/work
studies: all test-studies kmod
	$(Q)bench/studies/run.sh --kernel $(KERNEL) $(if $(JSON),--json $(JSON)) $(STUDIES)

.PHONY: studies test-studies
