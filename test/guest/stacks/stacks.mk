# SPDX-License-Identifier: GPL-2.0-only
# Frame pointers, no inlining between them, no tail calls: its own stack must be known.
build/test/stacks: $(wildcard test/guest/stacks/*.[ch]) $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -fno-omit-frame-pointer -fno-optimize-sibling-calls -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-stacks: build/test/stacks

.PHONY: test-stacks
