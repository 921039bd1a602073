// SPDX-License-Identifier: GPL-2.0-only
/* Has the probes of written.d in it; also C++. Prints whether one of them is enabled. */
#include <stdio.h>
#include <unistd.h>

#include "written.h"

int main(int argc, char **argv)
{
	const long big = argc + (1l << 40);
	const char dash[] = {(char)('c' + argc), 'a', 's', 'h', 0}; /* of a page that is there */

	for (int i = 0; i < 3; i++)
		TEST_PROV_GO();
	TEST_PROV_STOP(-5, argv[0]);
	TEST_PROV_U_NDER("under");
	TEST_PROV_D_ASH(argv, dash, 200, NULL);
	TEST_PROV_PLACE(10, 4);
	TEST_PROV_NONE(argc);
	TEST_PROV_MANY(1, 2, 3, 4, 5, 6, 7, -8, big, 0xfffffff0, 11, 12);
	if (OTHER_GO_ENABLED())
		OTHER_GO();
	printf("%d\n", OTHER_GO_ENABLED() != 0);
	return 0;
}
