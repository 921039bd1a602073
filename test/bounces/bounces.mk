# SPDX-License-Identifier: GPL-2.0-only
build/test/bounces: test/bounces/bounces.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $^ $(LIBS)

test-bounces: build/test/bounces
.PHONY: test-bounces
