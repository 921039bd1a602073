// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads [counts|clocks|traced|sessions|take|cost]: what threads' words are, seen from threads.
 * Prints a line for each case, "ok NAME: ..." or "not ok NAME: ..."; `traced` prints numbers for
 * who traces it.
 */
#include "words.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{"counts", test_counts},     {"clocks", test_clocks}, {"traced", test_traced},
		{"sessions", test_sessions}, {"take", test_take},     {"cost", test_cost},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (argc != 2 || strcmp(argv[1], parts[i].name) != 0)
			continue;
		parts[i].run();
		return report_status();
	}
	fprintf(stderr, "usage: threads counts|clocks|traced|sessions|take|cost\n");
	return 2;
}
