#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Inside the virtual machine, for examples/demo.sh: some load, and kerninstd, which serves the page at
# PORT. The machine has no other way in than that port, from this computer.
set -u
work() {
	while :; do
		tar cf - /usr/share/doc 2> /dev/null | gzip -1 > /dev/null
		ls -lR /usr/lib > /dev/null
		sleep 0.5
	done
}
work &
"$(dirname "$0")/../build/release/bin/kerninstd" --listen "0.0.0.0:$PORT" --socket none | sed -u 's/0\.0\.0\.0/127.0.0.1/'
