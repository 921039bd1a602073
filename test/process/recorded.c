// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that knows what it does: for each line of its input each of its threads makes so many
 * calls of work(), of which six in seven read from /dev/zero; one line of OUTPUT for each call:
 *
 *	TID I LENGTH RESULT		length 0: it has not read
 *
 * work() gets what it needs in registers, on the stack, and in memory.
 *
 * usage: recorded THREADS CALLS OUTPUT
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS	 16

struct item {
	uint32_t before, number;
	char name[16];
};

struct line {
	long i, length, result;
};

static long calls;
static int zero;

static struct worker {
	pthread_t thread;
	int tid;
	struct line *lines;
} workers[THREADS];

NOINLINE long work(long i, const struct item *item, long third, char *to, int fd, long sixth,
		   long seventh)
{
	if (i % 7 == 0)
		return -third - sixth - item->number;
	return read(fd, to, (size_t)(i % 100 + 1)) + 1000 * i + seventh;
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct item item = {.before = 1};
	char to[128];

	w->tid = gettid();
	for (long i = 0; i < calls; i++) {
		item.number = (uint32_t)i ^ 0xdead0000;
		snprintf(item.name, sizeof(item.name), "item-%ld", i);
		w->lines[i] = (struct line){
			.i = i,
			.length = i % 7 ? i % 100 + 1 : 0,
			.result = work(i, &item, 3 * i, to, zero, 6, 7 * i),
		};
	}
	return NULL;
}

static void write_lines(const char *path, long threads)
{
	FILE *f = fopen(path, "w");

	for (long t = 0; f && t < threads; t++)
		for (long i = 0; i < calls; i++)
			fprintf(f, "%d %ld %ld %ld\n", workers[t].tid, workers[t].lines[i].i,
				workers[t].lines[i].length, workers[t].lines[i].result);
	if (!f || fclose(f))
		exit(1);
}

int main(int argc, char **argv)
{
	const long threads = argc > 3 ? atol(argv[1]) : 0;
	char line[64];

	calls = argc > 3 ? atol(argv[2]) : 0;
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (threads < 1 || threads > THREADS || calls < 1 || zero < 0)
		return 2;
	for (long t = 0; t < threads; t++) {
		workers[t].lines = calloc((size_t)calls, sizeof(*workers[t].lines));
		if (!workers[t].lines)
			return 1;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		for (long t = 0; t < threads; t++)
			pthread_create(&workers[t].thread, NULL, run, &workers[t]);
		for (long t = 0; t < threads; t++)
			pthread_join(workers[t].thread, NULL);
		write_lines(argv[3], threads);
		puts("done");
	}
	return 0;
}
