# SPDX-License-Identifier: GPL-2.0-only
# QEMU plugins of the tests: build/test/NAME.so of test/plugin/NAME.c. Their interface is QEMU's
# program itself, so nothing is linked.

PLUGINS := $(patsubst test/plugin/%.c,build/test/%.so,$(wildcard test/plugin/*.c))

build/test/%.so: test/plugin/%.c $(wildcard test/plugin/*.h)
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -fPIC \
	    -fvisibility=hidden -shared -pthread -o $@ $<

test-plugins: $(PLUGINS)
.PHONY: test-plugins
