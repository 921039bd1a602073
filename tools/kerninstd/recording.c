// SPDX-License-Identifier: GPL-2.0-only
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than that does not wait: the recording then has no samples any more. */
#define WAITING_MAX (4u << 20)

/* Not every file system makes files without a name. */
static int open_nameless(const char *dir)
{
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 ||
	    (size_t)snprintf(path, sizeof(path), "%s/kerninstd.XXXXXX", dir) >= sizeof(path))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

void recording_open(struct recording *r, const char *dir, uint64_t max)
{
	*r = (struct recording){.max = max};
	r->fd = open_nameless(dir);
}

/* All of it, or nothing. */
static bool append(struct recording *r, const char *s, size_t n)
{
	size_t done = 0;

	if (r->fd < 0 || r->size + n > r->max)
		return false;
	while (done < n) {
		ssize_t k = pwrite(r->fd, s + done, n - done, (off_t)(r->size + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			if (ftruncate(r->fd, (off_t)r->size)) {
				/* readers end at size in any case */
			}
			return false;
		}
		done += (size_t)k;
	}
	r->size += n;
	return true;
}

static void make_line(struct text *line, double t, const char *event, const char *data, size_t n)
{
	text_printf(line, "{\"t\":%.6f,\"event\":\"%s\",\"data\":", t, event);
	text_put(line, data, n);
	text_put(line, "}\n", 2);
}

void recording_catch_up(struct recording *r, double t)
{
	struct text gap = {0};
	char data[64];
	int n = snprintf(data, sizeof(data), "{\"samples\":%" PRIu64 "}", r->missing);

	if (r->waiting.n && append(r, r->waiting.v, r->waiting.n))
		text_free(&r->waiting);
	if (r->missing && !r->waiting.n) {
		make_line(&gap, t, "gap", data, (size_t)n);
		if (!gap.failed && append(r, gap.v, gap.n))
			r->missing = 0;
	}
	text_free(&gap);
}

void recording_add(struct recording *r, double t, const char *event, const char *data, size_t n)
{
	bool sample = !strcmp(event, "sample");
	struct text line = {0};

	recording_catch_up(r, t);
	make_line(&line, t, event, data, n);
	if (line.failed || r->waiting.n || (sample && r->missing) || !append(r, line.v, line.n)) {
		r->missing += sample;
		if (!sample && r->waiting.n < WAITING_MAX)
			text_put(&r->waiting, line.v ? line.v : "", line.n);
	}
	text_free(&line);
}

void recording_close(struct recording *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	text_free(&r->waiting);
}
