#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The commands of all documents that a person who uses or builds kerninst reads, and of --help.
cd "$(dirname "$0")/../.." || exit 1
bin=build/release/bin
help=$(mktemp -d)
trap 'rm -rf "$help"' EXIT
for verb in $($bin/kerninst --help | awk '/^  [a-z]+  /{ print $1 }'); do
	$bin/kerninst "$verb" --help > "$help/kerninst $verb.help"
done
for tool in kdtrace kerninstd; do $bin/$tool --help > "$help/$tool.help"; done
test/words/commands.py README.md test/README.md web/README.md examples/*/README.md doc/*.md man/*.[58] "$help"/*
