# SPDX-License-Identifier: GPL-2.0-only
# build/BUILD/test/ioctl_fuzz: random calls to the driver, to be run in a guest.

IOCTL_FUZZ_OBJ := $(patsubst %.c,$(O)/%.o,test/fuzz/ioctl_fuzz.c $(wildcard test/guest/long/samples*.c) $(wildcard test/fuzz/ioctl/*.c))

$(IOCTL_FUZZ_OBJ): CPPFLAGS += -Itest/fuzz -Itest

$(O)/test/ioctl_fuzz: $(IOCTL_FUZZ_OBJ) $(O)/libkerninst.a
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(LIBS)

test-fuzz-ioctl: $(O)/test/ioctl_fuzz
.PHONY: test-fuzz-ioctl
