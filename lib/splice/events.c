// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Events: numbers that the driver hands out.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "kerninst/splice.h"

int ki_event_take(struct ki_target *t, const struct ki_event_spec *spec, uint32_t flags,
		  uint32_t *number, struct ki_err *err)
{
	struct ki_event_req req = {
		.size = sizeof(req), .type = spec->type, .config = spec->config, .flags = flags};
	int error;

	if (ioctl(ki_target_fd(t), KI_IOC_EVENT, &req) == 0) {
		*number = req.number;
		return 0;
	}
	error = errno;
	if (req.reason && req.reason < KI_R_COUNT)
		return ki_err_reason(err, req.reason, 0, "%s", spec->name);
	return ki_err_set(err, -error, 0, "%s: %s", spec->name, strerror(error));
}
