# SPDX-License-Identifier: GPL-2.0-only
# A kernel's functions lifted into a process: build/test/lift-layouts.

LIFT_OBJ := $(patsubst %,build/release/test/lift/%.o,lift call lay) \
            $(patsubst %,build/release/test/unit/common/common_%.o,exec link linker)
LIFT_BIN := build/test/lift-layouts

build/release/test/lift/%.o: CPPFLAGS += -Itest/unit/common -Itest/lift
build/test/lift-layouts: build/release/test/lift/layouts.o $(patsubst %,build/release/test/lift/%.o,state recorded) $(LIFT_OBJ) build/release/libkerninst.a
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -pthread

test-lift: $(LIFT_BIN)
.PHONY: test-lift
