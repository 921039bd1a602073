# SPDX-License-Identifier: GPL-2.0-only
build/test/tables: $(wildcard test/guest/tables/*.c) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest/tables -pthread -o $@ $^ $(LIBS)

test-tables: build/test/tables

.PHONY: test-tables
