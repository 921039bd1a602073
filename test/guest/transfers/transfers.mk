# SPDX-License-Identifier: GPL-2.0-only
# build/BUILD/test/check_transfers: QEMU's trace of a kernel against our graph of its code.

CHECK_TRANSFERS_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard test/guest/transfers/*.c)))

$(CHECK_TRANSFERS_OBJ): CPPFLAGS += -Itest/plugin

$(O)/test/check_transfers: $(CHECK_TRANSFERS_OBJ) $(O)/libkerninst.a
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lelf

test-transfers: $(O)/test/check_transfers
.PHONY: test-transfers
