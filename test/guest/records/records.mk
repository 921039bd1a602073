# SPDX-License-Identifier: GPL-2.0-only
build/test/records: $(wildcard test/guest/records/*.[ch]) $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-records: build/test/records

.PHONY: test-records
