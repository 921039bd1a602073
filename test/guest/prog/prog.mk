# SPDX-License-Identifier: GPL-2.0-only
# Workloads of the guest tests: build/test/prog/NAME of test/guest/prog/NAME.c, static, so that a
# run's system calls are the program's own and not a loader's.

PROGS := $(patsubst test/guest/prog/%.c,build/test/prog/%,$(wildcard test/guest/prog/*.c))

build/test/prog/%: test/guest/prog/%.c test/guest/prog/mark.h test/guest/prog/slow.h include/uapi/kerninst.h
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE \
	    -Iinclude -static -pthread -o $@ $<

test-progs: $(PROGS)
.PHONY: test-progs
