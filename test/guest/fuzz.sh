#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# At least 200,000 mutated calls of the driver.
. "$(dirname "$0")/lib.sh"
start
ok "200,000 mutated calls" bash -o pipefail -c "'$top/build/release/test/ioctl_fuzz' --calls 200000 2>&1 | tee /tmp/fuzz"
sed 's/^/# /' /tmp/fuzz | tail -n 40
finish
