#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install the Debian packages that building, testing and the demo need and that are missing.
#
# usage: test/deps.sh [--nightly]: for make check-nightly too, which builds a kernel
set -u

build="gcc gcc-12 make libc6-dev binutils pkg-config libzydis-dev libzycore-dev libelf-dev libdw-dev libxxhash-dev libmicrohttpd-dev libjansson-dev zlib1g-dev"
test="libcmocka-dev libbpf-dev python3 clang libclang-rt-14-dev clang-format shellcheck sparse mandoc jq procps curl prometheus libasan8 libubsan1 chromium lcov dkms"
command -v npm > /dev/null || test="$test nodejs npm"
machine="cpio gzip xz-utils zstd kmod util-linux apt dpkg ca-certificates"
load="nginx wrk bpftrace tar stress-ng"
[ "${1-}" != --nightly ] || build="$build bc bison flex perl libssl-dev"

missing=
for p in $build $test $machine $load; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "deps: packages are missing; run as root: apt-get install$missing" >&2
	exit 1
fi
echo "deps: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# nginx and prometheus must not be started on this machine, now or when it boots: they are for tests.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' > $policy && chmod +x $policy
fi
install() {
	# shellcheck disable=SC2086
	apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends --no-remove $missing \
		> "$log" 2>&1
}
if ! install; then
	apt-get update -qq > /dev/null 2>&1
	if ! install; then
		tail -n 5 "$log" >&2
		echo "deps: apt-get could not install$missing" >&2
		exit 1
	fi
fi
for p in nginx prometheus; do
	case " $missing " in *" $p "*) update-rc.d $p disable > /dev/null 2>&1 ;; esac
done
rm -f "$log"
