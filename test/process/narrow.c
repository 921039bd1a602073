// SPDX-License-Identifier: GPL-2.0-only
/* A program for 32 bits. */
#include <unistd.h>

int main(void)
{
	pause();
	return 0;
}
