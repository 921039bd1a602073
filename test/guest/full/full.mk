# SPDX-License-Identifier: GPL-2.0-only
build/test/full: $(wildcard test/guest/full/*.[ch]) test/guest/prog/slow.h $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-full: build/test/full

.PHONY: test-full
