# SPDX-License-Identifier: GPL-2.0-only
# Clients of KCOV: build/test/kcov, and build/test/kcov_example and kcov_example_cmp, the
# documentation's, static, so that system calls are their own and not a loader's.
KCOV_SRC := $(filter-out test/guest/kcov/example%,$(wildcard test/guest/kcov/*.c))

build/test/kcov: $(KCOV_SRC) test/guest/kcov/client.h test/guest/prog/mark.h
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE \
	    -Itest/guest -static -pthread -o $@ $(KCOV_SRC)

build/test/kcov_example build/test/kcov_example_cmp: build/test/kcov_%: test/guest/kcov/%.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -Wno-unused-result -O2 -o $@ $<

test-kcov: build/test/kcov build/test/kcov_example build/test/kcov_example_cmp
.PHONY: test-kcov
