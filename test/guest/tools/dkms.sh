#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian's DKMS: what make install-dkms installs is what modprobe loads, also when it is installed
# again from other sources; make uninstall leaves nothing, and hides no failure.
#
# The driver is cut down to a file here, because it is built twice in emulation: test/install.sh builds
# the whole one as DKMS does.
# promise: What make install-dkms installs is what modprobe loads, and make uninstall leaves
#   nothing. [install.sh]
# shellcheck disable=SC2016,SC2317 # makefiles and scripts as text; functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
tree=/tmp/tree
install_dkms() { make -s -C $tree install-dkms; }
uninstall() { make -s -C $tree uninstall prefix=/tmp/prefix; }
# What of it is anywhere.
left() { find /lib/modules/*/updates /var/lib/dkms/kerninst /usr/src/kerninst-* 2> /dev/null; }

# source_of NAME: a driver whose only parameter has that name
source_of() {
	cat > $tree/kmod/main.c <<-END
		#include <linux/module.h>
		#include "uapi/kerninst.h"
		static int $1 = KI_ABI_VERSION;
		module_param($1, int, 0444);
		MODULE_LICENSE("GPL");
	END
}

# The name of the parameter of what modprobe finds.
loaded() {
	modprobe kerninst && ls /sys/module/kerninst/parameters
	rmmod kerninst
}

fails_to_build() { ! install_dkms; }
fails_to_remove() { ! PATH=/tmp/bin:$PATH uninstall; }

# The kernel's own modules are four thousand, and each depmod reads them all.
mount -t tmpfs none "/lib/modules/$(uname -r)/kernel"
mkdir $tree /tmp/bin
(cd "$top" && find . -path ./build -prune -o -path ./.git -prune -o \( -name Makefile -o -name '*.mk' -o -path './kmod/*.in' \
	-o -path './kmod/Makefile.dkms' -o -path './include/uapi/*' \) -type f -exec cp --parents {} $tree \;)
printf 'obj-m := kerninst.o\nkerninst-y := main.o\nccflags-y := -I$(src)/include\n' > $tree/kmod/Kbuild
printf '#!/bin/sh\n[ "$1" != remove ] || exit 5\nexec /usr/sbin/dkms "$@"\n' > /tmp/bin/dkms
chmod +x /tmp/bin/dkms

ok "nothing is there to be removed" uninstall
source_of first
ok "it is installed" install_dkms
is "modprobe loads it" "$(loaded)" first
source_of second
ok "it is installed again" install_dkms
is "modprobe loads what was installed last" "$(loaded)" second
ok "what DKMS cannot remove is an error" fails_to_remove
ok "and stays" grep -q second /usr/src/kerninst-*/main.c
is "modprobe loads it still" "$(loaded)" second
echo '#error no' >> $tree/kmod/main.c
ok "sources that cannot be built are an error" fails_to_build
is "and nothing old is loaded for them" "$(modprobe kerninst 2> /dev/null; echo $?)" 1
ok "all is removed" uninstall
is "nothing is left" "$(left)" ""
echo "1..$tests"
[ "$failures" = 0 ]
