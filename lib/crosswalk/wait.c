// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <time.h>

#include "crosswalk/walk.h"

bool ki_crosswalk_wait(struct ki_crosswalk *w, double seconds)
{
	struct timespec left = {.tv_sec = (time_t)seconds};

	if (w->o.wait) {
		w->stopped |= !w->o.wait(w->o.arg, seconds);
		return !w->stopped;
	}
	left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	return true;
}
