# SPDX-License-Identifier: GPL-2.0-only
#
# make install [prefix=/usr/local] [DESTDIR=]: library, tools, headers, manual, and the driver's
# sources for DKMS, which builds it for each kernel. `make -n install` is the dry run; nothing is
# loaded: that is `modprobe kerninst`, the user's decision.

unitdir ?= $(prefix)/lib/systemd/system
DKMS_DIR := $(DESTDIR)/usr/src/kerninst-$(VERSION)

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/kerninst \
	    $(DESTDIR)$(includedir)/uapi $(DESTDIR)$(mandir)/man5 $(DESTDIR)$(mandir)/man8
	install $(TOOL_BIN) $(DESTDIR)$(bindir)
	install -m 644 $(O)/libkerninst.a $(O)/$(SONAME) $(DESTDIR)$(libdir)
	ln -sf $(SONAME) $(DESTDIR)$(libdir)/libkerninst.so
	install -m 644 $(O)/kerninst.pc $(DESTDIR)$(libdir)/pkgconfig
	install -m 644 include/kerninst/*.h $(DESTDIR)$(includedir)/kerninst
	install -m 644 include/uapi/* $(DESTDIR)$(includedir)/uapi
	install -d $(DESTDIR)$(includedir)/kerninst/module/kerninst
	install -m 644 include/module/kerninst/instrument.h \
	    $(DESTDIR)$(includedir)/kerninst/module/kerninst
	install -d $(DESTDIR)$(unitdir)
	sed 's|@bindir@|$(bindir)|' tools/kerninstd/kerninstd.service > $(DESTDIR)$(unitdir)/kerninstd.service
	install -m 644 man/*.5 $(DESTDIR)$(mandir)/man5
	install -m 644 man/*.8 $(DESTDIR)$(mandir)/man8
	@printf '%s\n' 'Installed. The driver is not: it changes the code of the running kernel. To have it,' \
	    'read "Safety" in README.md, then: make install-dkms && modprobe kerninst'

# Of a version that DKMS has built it takes what was built, whatever the sources are now; and it reads
# the sources' dkms.conf to find what that was: so the old one goes before its sources do.
DKMS_REMOVE = if command -v dkms > /dev/null; then old=$$(dkms status kerninst/$(VERSION)) || exit; \
	[ -z "$$old" ] || dkms remove kerninst/$(VERSION) --all; fi

install-dkms:
	$(if $(DESTDIR),,$(DKMS_REMOVE))
	rm -rf $(DKMS_DIR)
	install -d $(DKMS_DIR)/include/uapi
	cd kmod && umask 022 && cp --parents $(KMOD_OWN:kmod/%=%) $(abspath $(DKMS_DIR))
	install -m 644 include/uapi/* $(DKMS_DIR)/include/uapi
	sed 's|@version@|$(VERSION)|' kmod/dkms.conf.in > $(DKMS_DIR)/dkms.conf
	sed 's|@version@|$(VERSION)|' kmod/Makefile.dkms > $(DKMS_DIR)/Makefile
	$(if $(DESTDIR),,dkms install --force kerninst/$(VERSION))

uninstall:
	$(if $(DESTDIR),,$(DKMS_REMOVE))
	rm -f $(TOOL_BIN:$(O)/bin/%=$(DESTDIR)$(bindir)/%) $(DESTDIR)$(libdir)/libkerninst.* \
	    $(DESTDIR)$(libdir)/pkgconfig/kerninst.pc $(DESTDIR)$(mandir)/man5/kerninst*.5 \
	    $(DESTDIR)$(mandir)/man8/kerninst*.8 $(DESTDIR)$(mandir)/man8/kdtrace.8
	rm -f $(DESTDIR)$(unitdir)/kerninstd.service
	rm -rf $(DESTDIR)$(includedir)/kerninst $(DESTDIR)$(includedir)/uapi/kerninst* $(DKMS_DIR)

.PHONY: install install-dkms uninstall
