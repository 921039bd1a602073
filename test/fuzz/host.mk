# SPDX-License-Identifier: GPL-2.0-only
# build/fuzz/bin/NAME of test/fuzz/NAME.c: libFuzzer with the library, all built by clang with
# sanitizers. test/fuzz/run.sh runs them. build/tsan/threads: no fuzzer, the thread sanitizer.

FUZZ_CC     ?= clang
FUZZ_CFLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
               -fno-sanitize-recover=undefined
FUZZ_NAMES  := coverage decode dlang image notes predicate program recording snippet sysmap

build/fuzz/%.o: %.c
	$(call say,CC,$@)mkdir -p $(@D) && $(FUZZ_CC) $(CPPFLAGS) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

build/fuzz/bin/%: build/fuzz/test/fuzz/%.o $(LIB_SRC:%.c=build/fuzz/%.o)
	$(call say,LD,$@)mkdir -p $(@D) && $(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

build/fuzz/bin/image build/fuzz/bin/program: \
    $(patsubst %.c,build/fuzz/%.o,$(wildcard test/fuzz/common_*.c))

build/fuzz/bin/snippet build/fuzz/bin/predicate: build/fuzz/test/unit/common/common_drv.o \
    $(DECODERS:%=build/fuzz/test/decoder/drv-%.o)
build/fuzz/test/fuzz/snippet.o build/fuzz/test/fuzz/predicate.o: CPPFLAGS += -Itest/unit/common

# The same code with the thread sanitizer.
TSAN_OBJ := $(patsubst %.c,build/tsan/%.o,$(LIB_SRC) test/fuzz/threads.c $(wildcard test/fuzz/common_*.c))
build/tsan/%.o: %.c
	$(call say,CC,$@)mkdir -p $(@D) && $(FUZZ_CC) $(CPPFLAGS) -std=gnu11 -O1 -g -fsanitize=thread -MMD -MP -c -o $@ $<
build/tsan/threads: $(TSAN_OBJ)
	$(call say,LD,$@)$(FUZZ_CC) -fsanitize=thread -o $@ $^ $(LIBS)

$(FUZZ_NAMES:%=test-fuzz-%): test-fuzz-%: build/fuzz/bin/%
test-fuzz-host: $(FUZZ_NAMES:%=test-fuzz-%) build/tsan/threads

.PHONY: test-fuzz-host $(FUZZ_NAMES:%=test-fuzz-%)
-include $(shell find build/fuzz build/tsan -name '*.d' 2>/dev/null)
