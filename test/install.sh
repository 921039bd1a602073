#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/install.sh [driver]: make install, install-dkms and uninstall, into a directory of its own; or
# whether the driver that is installed so builds.
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL DESTDIR
# shellcheck source=test/lib.sh
. test/lib.sh
dest=$tmp/dest
out=$tmp/build # other suites use the tree's own at the same time

to_dest() { make "$@" O="$out" DESTDIR="$dest" prefix=/usr; }
state() { find "$out" -printf '%p %s %T@\n' | sort; }

# What the tree has built already is not compiled once more.
built() {
	mkdir -p "$out" && find build/release -mindepth 1 -maxdepth 1 ! -name test -exec cp -a {} "$out" \;
}

dry_run() {
	built
	make -s -j2 CI=1 O="$out" all || return
	state > "$tmp/before"
	to_dest -n install install-dkms > "$tmp/commands" || return
	grep -q "^install .*$dest/usr/bin" "$tmp/commands" || { echo "it does not say what it would do"; return 1; }
	[[ ! -e $dest ]] || { echo "$dest is there"; return 1; }
	state | diff "$tmp/before" -
}

tool() {
	"$dest/usr/bin/kerninst" --version && "$dest/usr/bin/kerninst" explain FTRACE_SITE > /dev/null
}

manual() {
	local m
	for m in man/*.[1-8]; do
		cmp "$m" "$dest/usr/share/man/man${m##*.}/${m##*/}" && mandoc -T lint -W warning "$m" || return
	done
}

# Each installed header by itself, with nothing of ours in the search path.
headers() {
	local h
	diff -r -x module include/kerninst "$dest/usr/include/kerninst" &&
		diff -r include/module "$dest/usr/include/kerninst/module" && diff -r include/uapi "$dest/usr/include/uapi" || return
	for h in "$dest"/usr/include/kerninst/*.h "$dest/usr/include/uapi/kerninst.h"; do
		gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$dest/usr/include" -x c "$h" || return
	done
}

# Were it not told to, pkg-config would leave out the paths that every compiler knows.
pc() {
	PKG_CONFIG_LIBDIR=$dest/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest \
		PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@" kerninst
}

version_is_the_tools() {
	local tool
	tool=$("$dest/usr/bin/kerninst" --version) && is "kerninst $(pc --modversion)" "${tool% (*}"
}

prefix_is_given() { is "$(grep ^prefix= "$dest/usr/lib/pkgconfig/kerninst.pc")" prefix=/usr; }

cat > "$tmp/user.c" <<'C'
#include <kerninst/code.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	struct ki_err err = {0};
	struct ki_target *t;
	struct ki_function *fn;
	const struct ki_symbol *s;
	if (argc < 2 || ki_target_new_image(argv[1], &t, &err))
		return printf("%s\n", err.msg), 1;
	s = ki_target_symbol_named(t, NULL, "main", NULL);
	if (!s || ki_function_analyze(t, s, &fn, &err))
		return printf("%s\n", err.msg), 1;
	printf("%s has %s blocks\n", s->name, fn->nblocks > 2 ? "several" : "few");
	return ki_function_free(fn), ki_target_free(t), 0;
}
C

shared() {
	# shellcheck disable=SC2046
	gcc -Wall -Werror -o "$tmp/user" "$tmp/user.c" $(pc --cflags --libs) || return
	readelf -d "$tmp/user" | grep -q 'NEEDED.*libkerninst\.so\.0' || { echo "not linked to the library"; return 1; }
	is "$(LD_LIBRARY_PATH=$dest/usr/lib "$tmp/user" "$tmp/user")" "main has several blocks"
}

static() {
	# shellcheck disable=SC2046
	gcc -Wall -Werror $(pc --cflags) -o "$tmp/user" "$tmp/user.c" "$dest/usr/lib/libkerninst.a" \
		$(pc --static --libs | sed 's/-lkerninst//') || return
	is "$("$tmp/user" "$tmp/user")" "main has several blocks"
}

# What DKMS does, with its variables.
# shellcheck disable=SC2034,SC2154,SC1091
driver() {
	local kernel_source_dir
	kernel_source_dir=$(vm/kernel 6.1 headers) || return
	. "$dkms/dkms.conf" && cd "$dkms" || return
	is "$PACKAGE_NAME-$PACKAGE_VERSION" "${dkms##*/}" || return
	eval "${MAKE[0]}" > "$tmp/driver.log" 2>&1 || { cat "$tmp/driver.log"; return 1; }
	! grep -i warning "$tmp/driver.log" && [[ -f ${BUILT_MODULE_NAME[0]}.ko ]]
}

# shellcheck disable=SC2034,SC2154,SC1091
cleaned() {
	local kernel_source_dir
	kernel_source_dir=$(vm/kernel 6.1 headers) || return
	. "$dkms/dkms.conf" && cd "$dkms" && eval "$CLEAN" && is "$(find . -name '*.ko' -o -name '*.o')" ""
}

removed() {
	to_dest uninstall && is "$(find "$dest" -not -type d -o -path '*kerninst*')" ""
}

check_driver() {
	check "the driver is built as DKMS does it, without warnings" driver
	check "DKMS's clean leaves nothing that was built" cleaned
}

check_tools() {
	check "the installed tool runs" tool
	check "the manual is installed" manual
	check "the headers are installed, and each compiles by itself" headers
	check "pkg-config has the tool's version" version_is_the_tools
	check "pkg-config has the prefix of this installation" prefix_is_given
	check "a program is built with pkg-config and runs with the shared library" shared
	check "a program is built with the static library and runs" static
	check "make uninstall removes everything" removed
}

check "make -n install says what it would do and changes nothing" dry_run
check "make install install-dkms" to_dest install install-dkms
dkms=$(echo "$dest"/usr/src/kerninst-*)
"check_${1:-tools}"
finish
