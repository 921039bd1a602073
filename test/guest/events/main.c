// SPDX-License-Identifier: GPL-2.0-only
/*
 * events abi|cost: what the driver makes of requests; prints a line for each case, "ok NAME: ..."
 * or "not ok NAME: ...". events faults PAGES THREADS, sleeps N, moves N, burn MS THREADS: work.
 */
#include "events.h"

#include <stdlib.h>
#include <string.h>

static unsigned int number(int argc, char **argv, int i)
{
	return i < argc ? (unsigned int)strtoul(argv[i], NULL, 10) : 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int a = number(argc, argv, 2), b = number(argc, argv, 3);

	if (!strcmp(what, "abi"))
		test_abi();
	else if (!strcmp(what, "cost"))
		test_cost();
	else if (!strcmp(what, "faults"))
		work_faults(a, b);
	else if (!strcmp(what, "sleeps"))
		work_sleeps(a);
	else if (!strcmp(what, "moves"))
		work_moves(a);
	else if (!strcmp(what, "burn"))
		work_burn(a, b);
	else
		return 2;
	return report_status();
}
