# SPDX-License-Identifier: GPL-2.0-only
# The same program in all forms that it comes in.
PROCESS := build/test/process
PROCESS_CC := $(CC) -std=gnu11 -O2 -g -Wall -Wextra -D_GNU_SOURCE -pthread

$(PROCESS)/oracle: test/process/oracle.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $<
$(PROCESS)/pie: test/process/target.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/cet: test/process/target.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -O3 -fcf-protection=full -fPIE -pie -o $@ $<
$(PROCESS)/static: test/process/target.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -static -o $@ $<
$(PROCESS)/nopie: test/process/target.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -O1 -fno-pie -no-pie -o $@ $<
$(PROCESS)/stripped: $(PROCESS)/pie
	$(call say,STRIP,$@)strip -s -o $@ $<

$(PROCESS)/bounds: test/process/bounds.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/timed: test/process/timed.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/sequence: test/process/sequence.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -o $@ $<
$(PROCESS)/written: test/process/written.c test/process/note.h
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -o $@ $<
$(PROCESS)/noted: test/process/noted.c test/process/note.h
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/later: test/process/later.c test/process/note.h
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $< -ldl
$(PROCESS)/moved: test/process/moved.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -o $@ $<
$(PROCESS)/recorded: test/process/recorded.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<

$(PROCESS)/replaced: test/process/replaced.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/replaced-static: test/process/replaced.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -static -o $@ $<
$(PROCESS)/churn: test/process/churn.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $< -ldl
$(PROCESS)/libturned.so: test/process/turned.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIC -shared -o $@ $<
$(PROCESS)/lingers: test/process/lingers.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/planted: test/process/planted.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/proxy: test/process/proxy.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -o $@ $<

# Where there is a compiler for it.
$(PROCESS)/thrown: test/process/thrown.cc
	$(Q)mkdir -p $(@D) && g++ -std=c++17 -O2 -g -Wall -Wextra -pthread -o $@ $< 2> /dev/null || rm -f $@
$(PROCESS)/narrow: test/process/narrow.c
	$(Q)mkdir -p $(@D) && $(CC) -m32 -o $@ $< 2> /dev/null || rm -f $@

$(PROCESS)/names: test/process/names.c
	$(call say,CC,$@)mkdir -p $(@D) && $(PROCESS_CC) -fPIE -pie -Wl,--build-id=sha1 -o $@ $<
$(PROCESS)/reach: test/process/reach.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $^ $(LIBS)
$(PROCESS)/jumps: test/process/jumps.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $^ $(LIBS)
$(PROCESS)/standing: test/process/standing.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $^ $(LIBS)
$(PROCESS)/priced: test/process/priced.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $^ $(LIBS)

# Its callers are found by the tables for exceptions alone.
CHAINS_CC := $(PROCESS_CC) -fomit-frame-pointer
$(PROCESS)/chains: test/process/chains.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CHAINS_CC) -fPIE -pie -o $@ $<
$(PROCESS)/chains-nopie: test/process/chains.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CHAINS_CC) -fno-pie -no-pie -o $@ $<
$(PROCESS)/chains-static: test/process/chains.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CHAINS_CC) -static -o $@ $<
$(PROCESS)/stacks: test/process/stacks.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $^ $(LIBS)

PROCESS_BIN := $(addprefix $(PROCESS)/,oracle bounds pie cet static nopie stripped written noted later sequence timed recorded replaced replaced-static standing churn libturned.so moved reach jumps names priced chains chains-nopie chains-static stacks planted lingers proxy)
test-process: $(PROCESS_BIN) $(PROCESS)/narrow $(PROCESS)/thrown
.PHONY: test-process
