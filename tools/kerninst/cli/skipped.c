// SPDX-License-Identifier: GPL-2.0-only
#include "skipped.h"

#include <sys/ioctl.h>

#include "cli.h"

static bool read_total(const struct ki_target *t, uint64_t *n)
{
	struct ki_info info = {.size = sizeof(info)};

	if (ioctl(ki_target_fd(t), KI_IOC_INFO, &info))
		return false;
	*n = info.skipped;
	return true;
}

void skipped_begin(struct skipped *s, const struct ki_target *t)
{
	s->known = read_total(t, &s->before);
}

void skipped_end(struct skipped *s, const struct ki_target *t, bool quiet)
{
	uint64_t now;

	if (s->known && read_total(t, &now))
		s->n = now - s->before;
	if (s->n && !quiet)
		cli_warn("%llu hits were skipped meanwhile, of all sessions: a helper or an "
			 "instrument came to a point where it would have been called again",
			 (unsigned long long)s->n);
}
