// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "util/user.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

void ki_user_name(uint32_t uid, char out[KI_USER_NAME])
{
	const struct passwd *p = getpwuid(uid);

	if (p)
		snprintf(out, KI_USER_NAME, "%s", p->pw_name);
	else
		snprintf(out, KI_USER_NAME, "%" PRIu32, uid);
}
