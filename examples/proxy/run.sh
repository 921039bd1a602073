#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# examples/proxy/run.sh [REQUESTS]: find what holds up a caching proxy, change it, and see what that
# brings. In a virtual machine; after make.
cd "$(dirname "$0")/../.." && make -s build/examples/proxy && exec vm/run --icount -- examples/proxy/guest.sh "$@"
