# SPDX-License-Identifier: GPL-2.0-only
# make bench [KERNEL=6.1] [JSON=FILE]: cost per hit, ours and others'.

include bench/peers.mk

bench: all bench-peers
	$(Q)bench/run.sh --kernel $(KERNEL) $(if $(JSON),--json $(JSON))

.PHONY: bench
