// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Words of threads: numbers that the driver hands out, and what it sees in them.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "kerninst/splice.h"
#include "target/process.h"

int ki_words_take(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err)
{
	struct ki_words req = {.size = sizeof(req), .count = count};
	int error;

	if (ki_target_kind(t) == KI_TARGET_PROCESS)
		return ki_process_words(t, count, first, err);
	if (ioctl(ki_target_fd(t), KI_IOC_WORDS, &req) == 0) {
		*first = req.first;
		return 0;
	}
	error = errno;
	if (req.reason && req.reason < KI_R_COUNT)
		return ki_err_reason(err, req.reason, 0, "%u words of threads", count);
	return ki_err_set(err, -error, 0, "%u words of threads: %s", count, strerror(error));
}

int ki_words_inside(struct ki_target *t, const struct ki_words_run *run, struct ki_inside_row *rows,
		    uint64_t *now, struct ki_err *err)
{
	struct ki_inside req = {.size = sizeof(req),
				.clock = run->clock,
				.first = run->first,
				.count = run->count,
				.rows = (uintptr_t)rows};
	int error;

	if (ki_target_kind(t) == KI_TARGET_PROCESS)
		return ki_process_inside(t, run->first, run->count, rows, now, err);
	if (ioctl(ki_target_fd(t), KI_IOC_INSIDE, &req)) {
		error = errno;
		return ki_err_set(err, -error, 0, "who is inside: %s", strerror(error));
	}
	*now = req.now;
	return 0;
}
