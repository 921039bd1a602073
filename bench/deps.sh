#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install what the benchmark of the analysis compares with, and what is missing of it.
set -u
missing=
for p in libcapstone-dev libdistorm3-dev llvm time; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "bench: packages are missing, their rows will be empty: apt-get install$missing" >&2
	exit 0
fi
echo "bench: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends --no-remove $missing >/dev/null 2>&1 ||
	echo "bench: apt-get could not install$missing" >&2
exit 0
