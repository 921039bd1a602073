# SPDX-License-Identifier: GPL-2.0-only
# make demo [FUNC=tcp_v4_rcv] [DEMO_ARGS='--kernel 6.12 --cpus 4'] [KEEP=1] [PORT=7072]

demo: deps
	$(Q)$(MAKE) -s all build/bench/reads
	$(Q)FUNC=$(FUNC) KEEP=$(KEEP) PORT=$(PORT) examples/demo.sh $(DEMO_ARGS)

.PHONY: demo

# The load of examples/proxy/.
build/examples/proxy: examples/proxy/proxy.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -o $@ $<

# Programs that use the library, linked with nothing else of this tree.
API_EXAMPLES := $(patsubst examples/api/%.c,build/examples/api/%,$(wildcard examples/api/*.c))
build/examples/api/%: examples/api/%.c $(O)/libkerninst.a
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 $(WARN) -O2 -g -Iinclude -o $@ $^ $(LIBS)
examples-api: $(API_EXAMPLES)
.PHONY: examples-api
