# SPDX-License-Identifier: GPL-2.0-only
build/test/snippets: $(wildcard test/guest/snippets/*.c) \
    $(patsubst %,test/unit/common_%.c,exec step snippet grow) $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/unit -Itest/guest/snippets -o $@ $^ $(LIBS)

test-snippets: build/test/snippets

.PHONY: test-snippets
