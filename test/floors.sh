#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver's rooms are floors (kmod/Kbuild lists them, the highest first): an object names functions and
# data of its own room and of those below. Each that names one above is told.
#
# usage: test/floors.sh KERNEL...	the driver is built for them
# shellcheck disable=SC2016 # make's words, not ours
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.." || exit 1
mapfile -t floors < <(sed -n 's/^kerninst-y += $(addprefix \([a-z]*\)\/,.*/\1/p' kmod/Kbuild)
objects_in() { sed -n "s/^kerninst-y += \$(addprefix $1\/,\(.*\))/\1/p" kmod/Kbuild; } # ROOM

# DIR: lines "UPPER LOWER-OR-HIGHER object name", of each name that an object takes from above
climbs() {
	local room object
	for room in "${floors[@]}"; do
		for object in $(objects_in "$room"); do
			nm "$1/$room/$object" | awk -v room="$room" -v object="$object" '
				NF == 3 && $2 ~ /[TDBRVW]/ { print "has", room, $3 }
				NF == 2 && $1 == "U" { print "takes", room, $2, object }'
		done
	done | awk -v floors="${floors[*]}" '
		BEGIN { n = split(floors, v, " "); for (i = 1; i <= n; i++) rank[v[i]] = i }
		$1 == "has" { home[$3] = $2 }
		$1 == "takes" { room[++m] = $2; name[m] = $3; object[m] = $4 }
		END {
			for (i = 1; i <= m; i++)
				if (name[i] in home && rank[home[name[i]]] < rank[room[i]])
					print room[i] "/" object[i] " takes " name[i] " from " home[name[i]]
		}'
}
no_climbs() {
	local found
	found=$(climbs "$1")
	[ -z "$found" ] || { echo "$found"; false; }
}
# The same floors in the other order: it must be seen.
upside_down() {
	local floors
	mapfile -t floors < <(sed -n 's/^kerninst-y += $(addprefix \([a-z]*\)\/,.*/\1/p' kmod/Kbuild | tac)
	[ -n "$(climbs "$1")" ]
}

check "the driver has floors" test ${#floors[@]} -gt 10
for kernel; do
	dir=build/kmod/$(vm/kernel "$kernel" release)/obj
	check "$kernel: each room names only what is below it" no_climbs "$dir"
	check "$kernel: another order is seen" upside_down "$dir"
done
finish
