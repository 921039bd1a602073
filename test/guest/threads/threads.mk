# SPDX-License-Identifier: GPL-2.0-only
build/test/threads: $(wildcard test/guest/threads/*.[ch]) $(COMMON) test/guest/long/hand.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-threads: build/test/threads

.PHONY: test-threads
