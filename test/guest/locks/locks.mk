# SPDX-License-Identifier: GPL-2.0-only
build/test/locks: $(wildcard test/guest/locks/*.[ch]) $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-locks: build/test/locks

.PHONY: test-locks
