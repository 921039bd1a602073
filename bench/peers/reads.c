// SPDX-License-Identifier: GPL-2.0-only
/*
 * reads FILE: the workload of the benchmark. RUNS times N reads of one byte of /dev/zero; the
 * ticks of each run (rdtsc) are written to FILE, one a line, when all is over. Under QEMU's
 * -icount shift=0 a tick is an instruction of the guest, whoever executed it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define N    20000
#define RUNS 9

static inline long sys_read(long fd, void *buf, long len)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_read), "D"(fd), "S"(buf), "d"(len)
			 : "rcx", "r11", "memory");
	return ret;
}

static uint64_t run(int fd)
{
	uint64_t start = __rdtsc();
	char byte;
	int i;

	for (i = 0; i < N; i++)
		if (sys_read(fd, &byte, 1) != 1)
			return 0;
	return __rdtsc() - start;
}

int main(int argc, char **argv)
{
	int i, fd = open("/dev/zero", O_RDONLY);
	uint64_t ticks[RUNS];
	FILE *f;

	if (argc != 2 || fd < 0) {
		fprintf(stderr, "usage: reads FILE\n");
		return 2;
	}
	for (i = 0; i < RUNS; i++) {
		ticks[i] = run(fd);
		if (!ticks[i])
			return 1;
	}
	f = fopen(argv[1], "w");
	for (i = 0; f && i < RUNS; i++)
		fprintf(f, "%llu\n", (unsigned long long)ticks[i]);
	return !f || fclose(f) ? 1 : 0;
}
