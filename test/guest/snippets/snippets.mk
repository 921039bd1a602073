# SPDX-License-Identifier: GPL-2.0-only
build/test/snippets: $(wildcard test/guest/snippets/*.[ch]) $(COMMON) \
    $(patsubst %,test/unit/common/common_%.c,exec step snippet snippet_helpers grow grow_stmts) $(O)/test/unit/common/common_minmax.o $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Itest/unit/common -Itest/guest -pthread -o $@ $(filter-out %.h,$^) $(LIBS)

test-snippets: build/test/snippets

.PHONY: test-snippets
