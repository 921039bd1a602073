#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
cd "$(dirname "$0")/../.." || exit 1
test/ktap.sh "layers include only what is on their left" test/lint/layers.sh
layers=$?
test/ktap.sh "reasons are provoked where the table of cases says" test/lint/reasons.sh || layers=1
test/ktap.sh "each request is tried by who may and who may not" test/lint/permits.sh || layers=1
test/ktap.sh "what is called with a lock held asserts it" test/lint/held.py || layers=1
test/ktap.sh "each folder says what is in it, and where to begin" test/lint/rooms.sh || layers=1
test/ktap.sh "sentences of documents and headers are short, and name things" test/lint/english.py || layers=1
test/ktap.sh "the stable tier is small, sized and enough for its examples" test/lint/tiers.sh || layers=1
test/ktap.sh "doc/promises.md is what the suites' headers promise" test/promises.py --check || layers=1
test/ktap.sh "one verb makes what is to be freed, and one frees it" test/lint/verbs.py || layers=1
test/ktap.sh "names and comments have the field's words" test/lint/words.py || layers=1
test/ktap.sh "the README's numbers are held by tests" test/lint/numbers.sh || layers=1
test/ktap.sh "licences, format, sizes, scripts, manual, version map" test/lint/source.sh && exit $layers
