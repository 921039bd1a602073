# SPDX-License-Identifier: GPL-2.0-only
#
# The modules that the tests load, a line for each: the goal, the kernel, and for the driver built
# in another way what is put behind its folder's name and what is defined.

# What the suites of make check load; the parts say what it needs besides (suites.parts).
CHECK_MODULES := kmod/6.1 kmod/6.12 \
	mate-module/6.1 mate-module/6.12 \
	$(patsubst %,%-module/6.1,race replace reasons tail instruments metrics frames special)
# What check-more and check-long load besides.
MORE_MODULES := kmod/6.1-cloud kmod/6.1-rt kmod/6.1/-anycode/KI_TEST_ANY_CODE kmod/6.1/-fail/KI_TEST_FAIL \
	mate-module/6.1-cloud mate-module/6.1-rt \
	kmod/6.1/-nowait/KI_TEST_NO_WAIT \
	kmod/6.1-rt/-fail/KI_TEST_FAIL \
	kmod/6.12/-fail/KI_TEST_FAIL \
	kmod/6.1/-abi/KI_ABI_VERSION=99 \
	kmod/6.1/-noorc/KI_TEST_NO_ORC \
	$(foreach m,race replace tail metrics frames special,$m-module/6.12 $m-module/6.1-rt)
NIGHTLY_MODULES := $(patsubst %,%/6.1-debug,kmod race-module replace-module frames-module mate-module \
	tail-module metrics-module instruments-module) kmod/6.1-debug/-fail/KI_TEST_FAIL

module-goals := $(CHECK_MODULES:%=module/%) $(MORE_MODULES:%=module/%) $(NIGHTLY_MODULES:%=module/%)
$(module-goals): part = $(word $(1),$(subst /, ,$@))
$(module-goals): | $(O)/bin/kerninst
	$(Q)$(MAKE) $(call part,2) KERNEL=$(call part,3) KMOD_VARIANT=$(call part,4) \
	    $(if $(call part,5),KI_CFLAGS=-D$(call part,5))

test-modules: $(CHECK_MODULES:%=module/%)
more-modules: $(MORE_MODULES:%=module/%)
nightly-modules: $(NIGHTLY_MODULES:%=module/%)

.PHONY: test-modules more-modules nightly-modules $(module-goals)
