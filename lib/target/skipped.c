// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/skipped.h"

#include <sys/ioctl.h>

#include "util/listen.h"

static bool read_total(const struct ki_target *t, uint64_t *n)
{
	struct ki_info info = {.size = sizeof(info)};

	if (ioctl(ki_target_fd(t), KI_IOC_INFO, &info))
		return false;
	*n = info.skipped;
	return true;
}

void ki_skipped_begin(struct ki_skipped *s, const struct ki_target *t)
{
	s->known = read_total(t, &s->before);
}

void ki_skipped_end(struct ki_skipped *s, const struct ki_target *t, const struct ki_listener *l)
{
	uint64_t now;

	if (s->known && read_total(t, &now))
		s->n = now - s->before;
	if (s->n)
		ki_listener_warn(
			l,
			"%llu hits were skipped meanwhile, of all sessions: a helper or an "
			"instrument came to a point where it would have been called again",
			(unsigned long long)s->n);
}
