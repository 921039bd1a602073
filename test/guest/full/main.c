// SPDX-License-Identifier: GPL-2.0-only
/*
 *	full SEED		what becomes of a session that ends among others, when there is no
 *				room
 *	full SEED SESSIONS	so many random ones, each of which is killed
 *
 * Prints "ok NAME" or "not ok NAME" for each case.
 */
#include <stdlib.h>

#include "full/full.h"

int main(int argc, char **argv)
{
	struct rng r = {.s = 0x9e3779b97f4a7c15ull};

	if (argc < 2)
		die("usage", "full SEED [SESSIONS]");
	r.s *= 1 + strtoull(argv[1], NULL, 0);
	state_open();
	if (argc > 2) {
		random_sessions(&r, (unsigned int)atoi(argv[2]));
		return report_status();
	}
	shared(&r);
	replaced(&r);
	returned(&r);
	probed(&r);
	return report_status();
}
