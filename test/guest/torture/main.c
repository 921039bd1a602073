// SPDX-License-Identifier: GPL-2.0-only
/*
 * torture: the library, driven harder than any tool does. Runs in a guest.
 *
 *	torture once SEED SECONDS [FROM]
 *		all windows of all functions, a few thousand at a time; SECONDS 0: until all are
 *		done; FROM: where an earlier run with this seed has ended
 *	torture hot FUNCTIONS SECONDS SEED
 *		all blocks of the functions called most, at once
 *	torture sessions SEED SECONDS
 *		processes that change the same windows, and are killed
 *	torture hold [+]GLOB...
 *		all windows of these, until there is no more input; with +: one must be reached
 *	torture refuse
 *		nothing in entry code and its like may be accepted
 *
 * Exits 0 if all went as it must.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torture/torture.h"

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	uint64_t number = argc >= 4 ? strtoull(argv[2], NULL, 0) : 0;
	double seconds = argc >= 4 ? strtod(argv[3], NULL) : 0;
	uint64_t more = argc >= 5 ? strtoull(argv[4], NULL, 0) : 0;

	if (!strcmp(kind, "hold") && argc > 2)
		return hold(argv + 2);
	if (!strcmp(kind, "refuse"))
		return refuse();
	if (!strcmp(kind, "once") && argc >= 4 && seconds >= 0)
		return once(number, seconds, more);
	if (!strcmp(kind, "hot") && seconds > 0)
		return hot(number, seconds, more);
	if (!strcmp(kind, "sessions") && seconds > 0)
		return sessions(number, seconds);
	fprintf(stderr,
		"usage: torture once|hot|sessions NUMBER SECONDS [NUMBER] | hold GLOB... | refuse\n");
	return 2;
}
