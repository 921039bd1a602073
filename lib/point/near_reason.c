// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/near_reason.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kerninst/pointspec.h"

/* Tags are in capitals, and people write dashes. */
static void as_tag(const char *text, char *tag, size_t len)
{
	size_t i = 0;

	for (; text[i] && i + 1 < len; i++)
		tag[i] = text[i] == '-' ? '_' : (char)toupper((unsigned char)text[i]);
	tag[i] = '\0';
}

static bool is_near(const char *wanted, const char *tag)
{
	size_t len = strlen(wanted);

	return ki_pointspec_distance(wanted, tag, 3) <= (len < 6 ? len / 2 : 3) ||
	       (len >= 3 && strstr(tag, wanted));
}

void ki_reasons_near(const char *text, char *list, size_t len)
{
	char wanted[64];
	size_t at = 0;

	*list = 0;
	as_tag(text, wanted, sizeof(wanted));
	for (unsigned int r = 0; r < KI_R_COUNT && at < len; r++)
		if (is_near(wanted, ki_reason_tag(r)))
			at += (size_t)snprintf(list + at, len - at, "%s%s",
					       at ? ", " : "; near: ", ki_reason_tag(r));
}
