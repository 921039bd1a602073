// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

static int refused(const struct ki_evict *e, int error, struct ki_err *err)
{
	if (error == ENOENT)
		return ki_err_set(err, -error, 0,
				  "no session %" PRIu64 "; kerninst sessions lists them",
				  (uint64_t)e->session);
	if (!e->reason)
		return ki_err_set(err, -error, 0, "sessions cannot be evicted: %s",
				  strerror(error));
	if (e->flags & KI_EVICT_ALL)
		return ki_err_reason(err, e->reason, 0, "all sessions");
	return ki_err_reason(err, e->reason, 0, "session %" PRIu64, (uint64_t)e->session);
}

int ki_session_evict(int fd, uint64_t session, uint64_t *count, struct ki_err *err)
{
	struct ki_evict e = {.size = sizeof(e), .session = session};
	int ret;

	e.flags = session ? 0 : KI_EVICT_ALL;
	ret = ioctl(fd, KI_IOC_EVICT, &e) ? refused(&e, errno, err) : 0;
	*count += e.evicted;
	return ret;
}

int ki_sessions_fd(struct ki_err *err)
{
	int fd = open(KI_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return ki_err_reason(err, KI_R_NO_DEVICE, 0, KI_DEVICE);
	if (errno == EPERM)
		return ki_err_reason(err, KI_R_LOCKDOWN, 0, KI_DEVICE);
	return ki_err_reason(err, KI_R_NO_PERMISSION, 0, KI_DEVICE);
}

int ki_sessions_info(int fd, struct ki_info *info)
{
	*info = (struct ki_info){.size = sizeof(*info)};
	return ioctl(fd, KI_IOC_INFO, info) ? -errno : 0;
}

static int told(int ret)
{
	return !ret ? 1 : errno == ENOENT ? 0 : -errno;
}

int ki_session_next(int fd, struct ki_session_row *r)
{
	*r = (struct ki_session_row){.size = sizeof(*r), .session = r->session};
	return told(ioctl(fd, KI_IOC_SESSION, r));
}

int ki_session_window(int fd, uint64_t session, uint32_t flags, struct ki_session_window *w)
{
	*w = (struct ki_session_window){
		.size = sizeof(*w), .session = session, .addr = w->addr, .flags = flags};
	return told(ioctl(fd, KI_IOC_SESSION_WINDOW, w));
}
