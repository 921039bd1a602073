// SPDX-License-Identifier: GPL-2.0-only
/* What the examples look at in processes: ./program, and squid, which goes on for ever. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int clientProcessRequest(int n);

int __attribute__((noinline)) clientProcessRequest(int n)
{
	char *text = malloc(100 + n % 100);
	int used = text ? snprintf(text, 100, "request %d", n) : 0;
	ssize_t got = read(0, text, 1);

	free(text);
	return used + (int)got;
}

int main(int argc, char **argv)
{
	int n = 0;

	(void)argv;
	do {
		clientProcessRequest(n++);
		usleep(10000);
	} while (argc > 1 || n < 10);
	return 0;
}
