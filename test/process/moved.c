// SPDX-License-Identifier: GPL-2.0-only
/*
 * moved: memory is copied for ever, forwards and backwards, between addresses of all distances from
 * a multiple of 16; and so much at once that the C library does it otherwise.
 */
#include <string.h>

#define SHORT 150
#define LONG  0x4100 /* more than the least threshold that can be asked of the library */

static char from[LONG + 16], to[LONG + 16];

int main(void)
{
	void *(*volatile move)(void *, const void *, size_t) = memmove;

	for (unsigned int i = 0;; i++) {
		for (unsigned int k = 0; k < 16; k++) {
			move(to + i % 16, from + k, SHORT);
			move(to + 16, to + k, SHORT);
		}
		move(to, from + i % 16, LONG);
	}
}
