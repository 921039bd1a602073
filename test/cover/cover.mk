# SPDX-License-Identifier: GPL-2.0-only
# build/test/coverage/make: makes coverages for test/cover/run.sh.
build/test/coverage/make: test/cover/make.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $^ $(LIBS)

test-cover: build/test/coverage/make
.PHONY: test-cover
