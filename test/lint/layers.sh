#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A layer includes only what is on its left (doc/design.md, section 1). Fails naming each
# include that points the other way. `out` is for the tools and for files; `util` is for everybody.
set -u
layers=(util out target code snippet predicate splice process table record metric point budget aggregate report cover render dlang)
failed=0

rank() {
	local i
	for i in "${!layers[@]}"; do
		[ "${layers[i]}" = "$1" ] && echo "$i" && return
	done
	echo -1
}

public_layer() {
	case $1 in
	err.h) echo util ;;
	callable.h) echo target ;;
	calls.h | cfg.h | program.h) echo code ;;
	coverage.h | path.h) echo cover ;;
	speed.h) echo metric ;;
	match.h | points.h | pointspec.h | presets.h | split.h) echo point ;;
	cost.h | predict.h) echo budget ;;
	record_values.h) echo record ;;
	listing.h) echo render ;;
	*) basename "$1" .h ;;
	esac
}

check() { # FILE OWN-LAYER INCLUDED-LAYER INCLUDE
	local own other
	own=$(rank "$2")
	other=$(rank "$3")
	if [ "$other" = -1 ] || [ "$other" -gt "$own" ]; then
		echo "layers: $1 (layer $2) includes $4"
		failed=1
	fi
}

for f in lib/*/*.[ch]; do
	own=$(basename "$(dirname "$f")")
	while read -r inc; do
		case $inc in
		kerninst/*) check "$f" "$own" "$(public_layer "${inc#kerninst/}")" "$inc" ;;
		uapi/* | linux/*) ;;
		*/*) [ -d "lib/${inc%%/*}" ] && check "$f" "$own" "${inc%%/*}" "$inc" ;;
		esac
	done < <(sed -n 's/^#include "\(.*\)"/\1/p' "$f")
done
for f in include/kerninst/*.h; do
	own=$(public_layer "$(basename "$f")")
	while read -r inc; do
		check "$f" "$own" "$(public_layer "${inc#kerninst/}")" "$inc"
	done < <(sed -n 's/^#include "\(kerninst\/.*\)"/\1/p' "$f")
done
if grep -nE '#include "(lib|tools|kerninst)/' kmod/*.[ch]; then
	echo "layers: the driver includes user-space headers"
	failed=1
fi
exit $failed
