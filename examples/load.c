// SPDX-License-Identifier: GPL-2.0-only
/* What the demo has compiled again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "kerninst/splice.h"

int main(void)
{
	printf("%zu\n", sizeof(struct ki_insn));
	return EXIT_SUCCESS;
}
