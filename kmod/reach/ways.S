/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ki_returned: breakpoints that functions return to (returns.c). Nothing but the return address is on
 * the stack there, which the unwinder is told.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/unwind_hints.h>

#include "reach/ways.h"

	.text
SYM_CODE_START(ki_returned)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR
	.skip	KI_RETURNS, 0xcc
	RET
SYM_CODE_END(ki_returned)
