# SPDX-License-Identifier: GPL-2.0-only
#
# The driver, for one of the virtual machine's kernels (KERNEL=6.1) or for the running one
# (KERNEL=host; what `make install` uses). The kernel's build writes next to its sources, so it
# works on a copy of them. KMOD_VARIANT names a separate build with other KI_CFLAGS (tests).

KERNEL ?= 6.1
KMOD_VARIANT ?=
ifeq ($(KERNEL),host)
kmod-release = $(shell uname -r)
kmod-headers = /lib/modules/$(kmod-release)/build
else
kmod-release = $(shell vm/kernel $(KERNEL) release)
kmod-headers = $(shell vm/kernel $(KERNEL) headers)
endif

KMOD_OWN := $(wildcard kmod/*.[ch] kmod/*/*.[chS] kmod/Kbuild)
KMOD_SRC := $(KMOD_OWN) $(wildcard include/uapi/*)

kmod: $(KMOD_SRC)
	$(Q)rel="$(kmod-release)"; hdr="$(kmod-headers)"; \
	[ -n "$$rel" ] && [ -d "$$hdr" ] || { echo "kmod: no kernel headers for '$(KERNEL)'" >&2; exit 1; }; \
	out="build/kmod/$$rel$(KMOD_VARIANT)"; mkdir -p "$$out"; \
	exec 9> "$$out/.lock"; flock 9; \
	new=; for f in $(KMOD_SRC); do [ "$$out/kerninst.ko" -nt "$$f" ] || new=1; done; \
	[ -n "$$new" ] || exit 0; \
	$(if $(V),,printf '  %-8s%s\n' KMOD "$$out/kerninst.ko" >&2;) \
	mkdir -p "$$out/obj/include/uapi" && (cd kmod && cp -pu --parents $(KMOD_OWN:kmod/%=%) "$(CURDIR)/$$out/obj/") && \
	cp -pu include/uapi/* "$$out/obj/include/uapi/" && \
	$(MAKE) $(if $(V),,-s) -C "$$hdr" M="$(CURDIR)/$$out/obj" CC=$(KMOD_CC) KI_CFLAGS="$(KI_CFLAGS)" \
	    $(KMOD_FLAGS) modules >&2 && \
	cp "$$out/obj/kerninst.ko" "$$out/kerninst.ko.new" && mv "$$out/kerninst.ko.new" "$$out/kerninst.ko"

KMOD_CC ?= $(if $(filter host,$(KERNEL)),gcc-12,$(shell vm/kernel $(KERNEL) cc))
KMOD_FLAGS ?= W=1 CONFIG_DEBUG_INFO_BTF_MODULES=

.PHONY: kmod
