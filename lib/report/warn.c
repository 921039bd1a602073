// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/report.h"
#include "util/listen.h"

void ki_report_warn(struct ki_recording *r, const char *file, const struct ki_listener *l)
{
	const struct ki_recording_state *s = ki_recording_state(r);

	if (s->cut)
		ki_listener_warn(l,
				 "%s: the file ends at byte %llu: its writer did not finish it, "
				 "or it is spoilt behind that",
				 file, (unsigned long long)s->good);
	if (s->lost)
		ki_listener_warn(l, "%s: %llu records were lost", file,
				 (unsigned long long)s->lost);
}
