# SPDX-License-Identifier: GPL-2.0-only
# build/BUILD/test/oracles: the analysis of whole files against objdump and others.

ORACLES_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard test/oracles/*.c)))

$(O)/test/oracles-bin: $(ORACLES_OBJ) $(O)/libkerninst.a
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(LIBS) -lelf

test-oracles: $(O)/test/oracles-bin
.PHONY: test-oracles
