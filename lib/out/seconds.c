// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "out/seconds.h"

#include <math.h>
#include <stdio.h>

char *ki_seconds_text(double s, char text[KI_SECONDS_TEXT])
{
	static const struct {
		double from;
		const char *unit;
	} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {0, "ns"}};
	static const double scales[] = {1, 1e3, 1e6, 1e9};
	unsigned int u = 0;

	while (fabs(s) < units[u].from)
		u++;
	snprintf(text, KI_SECONDS_TEXT, s == 0 ? "%.0f %s" : "%.2f %s", s * scales[u],
		 units[u].unit);
	return text;
}
