# SPDX-License-Identifier: GPL-2.0-only
build/test/permit: $(wildcard test/guest/permit/*.[ch]) $(COMMON) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-permit: build/test/permit

.PHONY: test-permit
