// SPDX-License-Identifier: GPL-2.0-only
/*
 * restored FILE: keep the kernel's text as it is now.
 * restored FILE PID: kill -9 it, and print how many seconds after that the text was so again, and
 * the text heap empty, and how much slower than at its best the machine was: "TEXT HEAP SLOW"; a
 * time is "never" after a minute.
 *
 * Places that the kernel rewrites itself are left out. Nothing is asked of the driver before the
 * kill: it would answer when the request that is to be interrupted is over.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "slow.h"
#include "uapi/kerninst.h"

#define MOST 60.0

static int fd;
static struct ki_info info = {.size = sizeof(info)};
static unsigned char *was, *is, *skip;
static size_t len;
static double best;

static void die(const char *what)
{
	fprintf(stderr, "restored: %s: %s\n", what, strerror(errno));
	exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void read_text(enum ki_view view, unsigned char *out)
{
	struct ki_read r = {.size = sizeof(r), .view = view};

	for (size_t at = 0; at < len; at += r.len) {
		r.addr = info.text_start + at;
		r.len = len - at < KI_READ_MAX ? len - at : KI_READ_MAX;
		r.buf = (__u64)(out + at);
		if (ioctl(fd, KI_IOC_READ, &r))
			die("text");
	}
}

static void skip_rewritten(void)
{
	struct ki_reserved r = {.size = sizeof(r), .start = info.text_start, .end = info.text_end};
	struct ki_reserved_row *rows;

	ioctl(fd, KI_IOC_RESERVED, &r);
	rows = calloc(r.count, sizeof(*rows));
	r.max = r.count;
	r.rows = (__u64)rows;
	if (!rows || ioctl(fd, KI_IOC_RESERVED, &r))
		die("reserved text");
	for (size_t i = 0; i < r.count; i++)
		if (rows[i].reason == KI_R_JUMP_LABEL || rows[i].reason == KI_R_STATIC_CALL ||
		    rows[i].reason == KI_R_FTRACE_SITE)
			memset(skip + (rows[i].addr - info.text_start), 1, rows[i].len);
	free(rows);
}

static int text_is_right(void)
{
	read_text(KI_VIEW_LIVE, is);
	for (size_t i = 0; i < len; i++)
		if (is[i] != was[i] && !skip[i])
			return 0;
	return 1;
}

static int heap_is_empty(void)
{
	if (ioctl(fd, KI_IOC_INFO, &info))
		die("info");
	return !info.heap_used;
}

static void print_until(int (*right)(void), double from)
{
	int good;

	while (!(good = right()) && now() - from < MOST)
		usleep(2000);
	if (good)
		printf("%.3f ", now() - from);
	else
		printf("never ");
}

static void use_device(void)
{
	fd = open(KI_DEVICE, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, KI_IOC_INFO, &info))
		die(KI_DEVICE);
}

static void keep(const char *path)
{
	FILE *f = fopen(path, "w");

	best = slow_best();
	use_device();
	len = info.text_end - info.text_start;
	was = malloc(len);
	skip = calloc(len, 1);
	if (!was || !skip)
		die("memory");
	read_text(KI_VIEW_LIVE, was);
	skip_rewritten();
	if (!f || fwrite(was, 1, len, f) != len || fwrite(skip, 1, len, f) != len ||
	    fwrite(&best, sizeof(best), 1, f) != 1 || fclose(f))
		die(path);
}

static void recall(const char *path)
{
	FILE *f = fopen(path, "r");
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) <= 0)
		die(path);
	rewind(f);
	len = ((size_t)size - sizeof(best)) / 2;
	was = malloc(len);
	skip = malloc(len);
	is = malloc(len);
	if (!was || !is || !skip)
		die("memory");
	memset(is, 0, len); /* its pages are there */
	if (fread(was, 1, len, f) != len || fread(skip, 1, len, f) != len ||
	    fread(&best, sizeof(best), 1, f) != 1)
		die(path);
	fclose(f);
}

int main(int argc, char **argv)
{
	double from, before, behind;

	if (argc == 2) {
		keep(argv[1]);
		return 0;
	}
	if (argc != 3)
		return 2;
	recall(argv[1]);
	before = slow_now(&best);
	if (kill(atoi(argv[2]), SIGKILL))
		die("kill");
	from = now();
	use_device();
	print_until(text_is_right, from);
	print_until(heap_is_empty, from);
	behind = slow_now(&best);
	printf("%.2f\n", before > behind ? before : behind);
	return 0;
}
