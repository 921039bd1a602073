# SPDX-License-Identifier: GPL-2.0-only
build/test/events: $(wildcard test/guest/events/*.c) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $^ $(LIBS)

test-events: build/test/events

.PHONY: test-events
