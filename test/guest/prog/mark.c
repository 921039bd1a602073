// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark: executes the begin mark, for scripts that tell a plugin where their next part begins.
 */
#include "mark.h"

int main(void)
{
	MARK_BEGIN();
	return 0;
}
