# SPDX-License-Identifier: GPL-2.0-only
# build/decoder/KERNEL: a kernel's own decoder of instructions, whose source vm/fetch brings.
# drv-KERNEL.o: the driver's check of chunks, and its copies, over it, for unit tests and fuzzers.

DECODERS  := 6.1 6.12
DRV_OBJ   := $(DECODERS:%=$(O)/test/decoder/drv-%.o)
DRV_FLAGS  = -DDRV_VET=drv_vet_$(subst .,_,$*) -DDRV_READ=drv_read_$(subst .,_,$*) \
             -DDRV_COPY=drv_copy_$(subst .,_,$*) \
             -Ibuild/decoder/$* -Itest/unit/shim -Itest/unit/common -Ikmod

build/decoder/%/inat-tables.c:
	$(call say,DECODER,$*)mkdir -p $(@D) && dir=$$(vm/kernel $* decoder) && \
	    cp -r $$dir/include/asm $$dir/lib/*.c $(@D) && \
	    awk -f $$dir/tools/gen-insn-attr-x86.awk $$dir/lib/x86-opcode-map.txt > $@.part && mv $@.part $@

# All but its three functions is hidden: a program has one of these for each kernel.
drv_object = mkdir -p $(@D) && $(1) -MMD -MP -MT $@ -c -o $(@:.o=.all) $< && \
    objcopy -G drv_vet_$(subst .,_,$*) -G drv_read_$(subst .,_,$*) -G drv_copy_$(subst .,_,$*) $(@:.o=.all) $@ && rm $(@:.o=.all)

$(O)/test/decoder/drv-%.o: test/decoder/drv.c build/decoder/%/inat-tables.c
	$(call say,CC,$@)$(call drv_object,$(CC) $(DRV_FLAGS) $(CPPFLAGS) $(CFLAGS))
build/fuzz/test/decoder/drv-%.o: test/decoder/drv.c build/decoder/%/inat-tables.c
	$(call say,CC,$@)$(call drv_object,$(FUZZ_CC) $(DRV_FLAGS) $(CPPFLAGS) $(FUZZ_CFLAGS))

$(O)/test/fuzz/vetting.o: CPPFLAGS += -Itest/unit/common
$(O)/test/fuzz/vetting: $(O)/test/fuzz/vetting.o $(O)/test/fuzz/encodings.o $(O)/test/unit/common/common_drv.o $(DRV_OBJ)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

.PRECIOUS: build/decoder/%/inat-tables.c
