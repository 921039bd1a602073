#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The commands of the documents that are for the host and take seconds, run as they stand there;
# those of the machine are the suites words and words-manual.
# promise: Commands of the documents run as they stand and end as they should. [words.sh]
# not shown: All commands of the documents in one run (doc/known-issues.md).
cd "$(dirname "$0")/../.." || exit 1
set -o pipefail
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
mkdir -p build/test
test/words/rows.sh > build/test/words.rows
test/words/documents.sh | test/words/run.py test/words/table build/test/words.rows host |
	awk '/^(not )?ok / { sub(/ok/, "ok " ++n) } { print }'
