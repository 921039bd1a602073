# SPDX-License-Identifier: GPL-2.0-only
#
# The modules that the tests load, a line for each: the goal, the kernel, and for the driver built
# in another way what is put behind its folder's name and what is defined.

TEST_KERNELS := 6.1 6.1-cloud 6.1-rt 6.12
TEST_MODULES := $(TEST_KERNELS:%=kmod/%) $(TEST_KERNELS:%=mate-module/%) \
	kmod/6.1/-nowait/KI_TEST_NO_WAIT \
	kmod/6.1/-fail/KI_TEST_FAIL \
	kmod/6.1-rt/-fail/KI_TEST_FAIL \
	kmod/6.12/-fail/KI_TEST_FAIL \
	kmod/6.1/-abi/KI_ABI_VERSION=99 \
	kmod/6.1/-anycode/KI_TEST_ANY_CODE \
	kmod/6.1/-noorc/KI_TEST_NO_ORC \
	kmod/6.1/-wide/KI_WIDE \
	race-module/6.1 race-module/6.12 race-module/6.1-rt \
	replace-module/6.1 replace-module/6.12 replace-module/6.1-rt \
	tail-module/6.1 tail-module/6.12 tail-module/6.1-rt \
	instruments-module/6.1 \
	metrics-module/6.1 metrics-module/6.12 metrics-module/6.1-rt \
	frames-module/6.1 frames-module/6.12 frames-module/6.1-rt
NIGHTLY_MODULES := $(patsubst %,%/6.1-debug,kmod race-module replace-module frames-module mate-module \
	tail-module metrics-module instruments-module) kmod/6.1-debug/-fail/KI_TEST_FAIL

module-goals := $(TEST_MODULES:%=module/%) $(NIGHTLY_MODULES:%=module/%)
$(module-goals): part = $(word $(1),$(subst /, ,$@))
$(module-goals): | $(O)/bin/kerninst
	$(Q)$(MAKE) $(call part,2) KERNEL=$(call part,3) KMOD_VARIANT=$(call part,4) \
	    $(if $(call part,5),KI_CFLAGS=-D$(call part,5))

test-modules: $(TEST_MODULES:%=module/%)
nightly-modules: $(NIGHTLY_MODULES:%=module/%)

.PHONY: test-modules nightly-modules $(module-goals)
