# SPDX-License-Identifier: GPL-2.0-only
#
# test-words: the modules that the documents' commands name, for the suite words, which builds only the
# one of README itself: that takes a minute in a machine.

WORDS_MODULES := build/test/words/mymod.ko build/test/words/reads.ko
build/test/words/mymod.ko: test/words/mymod.c
build/test/words/reads.ko: examples/instrument/reads.c
$(WORDS_MODULES): include/module/kerninst/instrument.h | $(O)/bin/kerninst
	$(call say,KMOD,$@)mkdir -p $(@D) && $(O)/bin/kerninst build --headers "$$(vm/kernel 6.1 headers)" -o $(@D) $(filter %.c,$^)
test-words: $(WORDS_MODULES)
.PHONY: test-words
