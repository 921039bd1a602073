#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A layer includes only what is on its left (doc/design.md, section 1). Fails naming each
# include that points the other way. `out` is for the tools and for files; `util` is for everybody.
set -u
layers="util out target module code snippet predicate splice process table record metric callees point budget aggregate report cover evolve crosswalk render run dlang"
# Public headers that are not called as their layer is.
headers="err.h util steps.h util callable.h target calls.h code cfg.h code program.h code
	coverage.h cover path.h cover speed.h metric match.h point points.h point pointspec.h point
	presets.h point split.h point kcov.h snippet kcov_places.h splice cost.h budget
	predict.h budget record_values.h record listing.h render cfg_view.h render special.h evolve
	cover_report.h render measured.h render springboards.h render totals.h render
	value_text.h render windows.h render page.h out catalog.h render overview.h render
	sessions.h target reset.h render call_tree.h render function_list.h render listener.h util
	top.h run top_keys.h run skipped.h target recorder.h run opened.h point path_table.h render
	text_change.h render instruments_build.h module asked.h point stat.h run
	replacement_text.h point select.h point evolve_text.h render own.h process
	process_points.h point near_reason.h point special_text.h render thread_stacks.h process"
failed=0

awk -v layers="$layers" -v headers="$headers" '
BEGIN {
	n = split(layers, v, " ")
	for (i = 1; i <= n; i++)
		rank[v[i]] = i
	n = split(headers, v, " ")
	for (i = 1; i < n; i += 2)
		public[v[i]] = v[i + 1]
}
function layer_of(header) {
	if (header in public)
		return public[header]
	sub(/\.h$/, "", header)
	return header
}
FNR == 1 {
	split(FILENAME, path, "/")
	is_public = path[1] == "include"
	own = is_public ? layer_of(path[3]) : path[2]
}
/^#include "/ {
	split($0, quoted, "\"")
	other = quoted[2]
	if (other ~ /^kerninst\//)
		other = layer_of(substr(other, 10))
	else if (is_public || other !~ /\// || other ~ /^(uapi|linux)\//)
		next
	else
		sub(/\/.*/, "", other)
	if (!(other in rank) || rank[other] > rank[own]) {
		print "layers: " FILENAME " (layer " own ") includes " quoted[2]
		bad = 1
	}
}
END { exit bad }' lib/*/*.[ch] lib/*/*/*.[ch] include/kerninst/*.h || failed=1

# A tool knows the public headers, and what output is made of; each header of its own by its folder.
while IFS=: read -r file include; do
	header=${include#*\"}
	header=${header%\"*}
	[[ $header =~ ^(kerninst|uapi|linux|out|util)/ || -f ${file%%/"${file#tools/*/}"}/$header ]] && continue
	echo "layers: $file includes $header, which is inside of the library"
	failed=1
done < <(grep -HE '^#include "[a-z]+/' tools/*/*.[ch] tools/*/*/*.[ch])

# What asks the driver is the library's.
if grep -rnE 'KI_IOC_|sys/ioctl\.h' tools --include='*.[ch]'; then
	echo "layers: a tool speaks with the driver itself"
	failed=1
fi

if grep -rnE '#include "(lib|tools|kerninst)/' kmod --include='*.[ch]'; then
	echo "layers: the driver includes user-space headers"
	failed=1
fi
exit $failed
