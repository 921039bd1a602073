# SPDX-License-Identifier: GPL-2.0-only
build/test/tables: $(wildcard test/guest/tables/*.[ch]) $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-tables: build/test/tables

.PHONY: test-tables
