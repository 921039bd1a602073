// SPDX-License-Identifier: GPL-2.0-only
/*
 * starve [POINT...]: counters at these points are put in and taken out, or a word of threads if
 * none is named, with the n-th allocation of the driver failing, for each n until none is left to
 * fail (a driver built with KI_TEST_FAIL). Prints a line for each attempt of which something was
 * wrong: no error, or one of several lines, or what is left in the driver. At the end, on a line,
 * how many attempts failed, how many there were, and if the last one, with no allocation failing,
 * succeeded: "FAILED ATTEMPTS 1".
 *
 * The kernel's code is read once, not for each attempt as a tool would.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kerninst/points.h"
#include "uapi/kerninst.h"

#define KNOB	 "/sys/module/kerninst/parameters/ki_fail_at"
#define ATTEMPTS 500
#define POLLS	 6000 /* of 10 ms: windows go once no task can be in them */

static struct ki_target *target;

/* Sets the knob, or reads it: how many allocations there are still to be before one fails. */
static void knob_set(unsigned int n)
{
	FILE *f = fopen(KNOB, "w");

	if (!f || fprintf(f, "%u\n", n) < 0 || fclose(f)) {
		perror(KNOB);
		exit(2);
	}
}

static unsigned int knob_get(void)
{
	FILE *f = fopen(KNOB, "r");
	unsigned int n;

	if (!f || fscanf(f, "%u", &n) != 1) {
		perror(KNOB);
		exit(2);
	}
	fclose(f);
	return n;
}

/* A session of its own for each attempt, in the place of the last one: what a session takes only
   once is to fail too. */
static int begin_session(struct ki_err *err)
{
	int fd = open(KI_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return ki_err_set(err, -errno, 0, "%s: %s", KI_DEVICE, strerror(errno));
	if (dup2(fd, ki_target_fd(target)) < 0)
		exit(2);
	close(fd);
	return 0;
}

/* A word of threads: it goes with its session. */
static int take_word(struct ki_err *err)
{
	struct ki_inside_row row;
	uint32_t first;
	uint64_t now;
	int ret = begin_session(err);

	if (!ret)
		ret = ki_words_take(target, 1, &first, err);
	if (!ret)
		ret = ki_words_inside(target, &(struct ki_words_run){KI_CLOCK_TSC, first, 1}, &row,
				      &now, err);
	return ret;
}

/* Counters at the points, in and out again. */
static int count_points(char **points, struct ki_err *err)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = {.metrics = {ki_metric_find("calls")}, .n = 1}};
	struct ki_points p = {0};
	struct ki_asked asked = {0};
	int ret = begin_session(err);

	for (; !ret && *points; points++)
		ret = ki_points_ask(&asked, *points, err);
	if (!ret)
		ret = ki_points_resolve(&p, target, &asked, &how, err);
	if (!ret)
		ret = ki_measure_start(p.measure, err);
	for (size_t i = 0; !ret && i < p.cells.n; i++)
		if (p.cells.v[i].reason)
			ret = ki_err_set(err, -1, 0, "a point is refused, and nothing failed");
	ki_points_free(&p);
	ki_asked_free(&asked);
	return ret;
}

static bool windows_go(void)
{
	struct ki_info info;

	for (int i = 0; i < POLLS; i++) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (ioctl(ki_target_fd(target), KI_IOC_INFO, &info))
			return false;
		if (!info.windows)
			return true;
		usleep(10000);
	}
	return false;
}

int main(int argc, char **argv)
{
	unsigned int n, failed = 0, left = 0;
	struct ki_err err = {0};
	int ret = ki_target_new_live(&target, &err);

	if (ret) {
		fprintf(stderr, "starve: %s\n", err.msg);
		return 2;
	}
	for (n = 1; !left && n <= ATTEMPTS; n++) {
		err = (struct ki_err){0};
		knob_set(n);
		ret = argc > 1 ? count_points(argv + 1, &err) : take_word(&err);
		left = knob_get();
		knob_set(0);
		failed += ret && !left;
		if (ret && (!err.msg[0] || strchr(err.msg, '\n')))
			printf("%u: %d, '%s'\n", n, ret, err.msg);
		if (!windows_go())
			printf("%u: windows are left\n", n);
	}
	printf("%u %u %d\n", failed, n - 1, left && !ret);
	ki_target_free(target);
	return 0;
}
