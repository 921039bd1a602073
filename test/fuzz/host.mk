# SPDX-License-Identifier: GPL-2.0-only
# build/fuzz/bin/NAME of test/fuzz/NAME.c: libFuzzer with the library, all built by clang with
# sanitizers. test/fuzz/run.sh runs them.

FUZZ_CC     ?= clang
FUZZ_CFLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
               -fno-sanitize-recover=undefined
FUZZ_NAMES  := decode image program sysmap

build/fuzz/%.o: %.c
	$(call say,CC,$@)mkdir -p $(@D) && $(FUZZ_CC) $(CPPFLAGS) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

build/fuzz/bin/%: build/fuzz/test/fuzz/%.o $(LIB_SRC:%.c=build/fuzz/%.o)
	$(call say,LD,$@)mkdir -p $(@D) && $(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

build/fuzz/bin/image build/fuzz/bin/program: \
    $(patsubst %.c,build/fuzz/%.o,$(wildcard test/fuzz/common_*.c))

$(FUZZ_NAMES:%=test-fuzz-%): test-fuzz-%: build/fuzz/bin/%
test-fuzz-host: $(FUZZ_NAMES:%=test-fuzz-%)

.PHONY: test-fuzz-host $(FUZZ_NAMES:%=test-fuzz-%)
-include $(shell find build/fuzz -name '*.d' 2>/dev/null)
