# SPDX-License-Identifier: GPL-2.0-only
build/test/long: $(wildcard test/guest/long/*.c) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $^ $(LIBS)

test-long: build/test/long

.PHONY: test-long
