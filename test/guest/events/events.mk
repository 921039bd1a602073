# SPDX-License-Identifier: GPL-2.0-only
build/test/events: $(wildcard test/guest/events/*.[ch]) $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-events: build/test/events

.PHONY: test-events
