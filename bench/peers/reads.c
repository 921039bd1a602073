// SPDX-License-Identifier: GPL-2.0-only
/*
 * reads FILE [futex]: the workload of the benchmark. RUNS times N reads of one byte of /dev/zero,
 * after which "ten bytes." stands; futex: each wakes nobody from a futex, instead. The ticks of
 * each run (rdtsc) are written to FILE, one a line, when all is over. Under QEMU's -icount shift=0
 * a tick is an instruction of the guest, whoever executed it.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define N    20000
#define RUNS 9

static inline long call(long number, long a, void *b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

static uint64_t reads(int fd)
{
	uint64_t start = __rdtsc();
	char bytes[] = "?ten bytes.";
	int i;

	for (i = 0; i < N; i++)
		if (call(SYS_read, fd, bytes, 1) != 1)
			return 0;
	return __rdtsc() - start;
}

static uint64_t wakes(void)
{
	uint64_t start = __rdtsc();
	static int word;
	int i;

	for (i = 0; i < N; i++)
		if (call(SYS_futex, (long)&word, (void *)FUTEX_WAKE_PRIVATE, 1))
			return 0;
	return __rdtsc() - start;
}

int main(int argc, char **argv)
{
	int i, fd = open("/dev/zero", O_RDONLY);
	uint64_t ticks[RUNS];
	FILE *f;

	if (argc < 2 || argc > 3 || fd < 0) {
		fprintf(stderr, "usage: reads FILE [futex]\n");
		return 2;
	}
	for (i = 0; i < RUNS; i++) {
		ticks[i] = argc == 3 ? wakes() : reads(fd);
		if (!ticks[i])
			return 1;
	}
	f = fopen(argv[1], "w");
	for (i = 0; f && i < RUNS; i++)
		fprintf(f, "%llu\n", (unsigned long long)ticks[i]);
	return !f || fclose(f) ? 1 : 0;
}
