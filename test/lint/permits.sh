#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each request of which the driver says who may make it is made by the suite `permit`.
cd "$(dirname "$0")/../.." || exit 1
named() { grep -oE 'KI_IOC_[A-Z_]+' "$1" | sort -u; }
missing=$(comm -23 <(named kmod/vet/permit.c | grep -vx KI_IOC_EVICT) \
	<(named test/guest/permit/requests.c) | xargs)
[ -z "$missing" ] || { echo "test/guest/permit/requests.c does not make: $missing"; exit 1; }
