/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file of chunks written by hand begins with: the driver's constants and three macros for
 * the assembler.
 */
#ifndef LONG_ASSEMBLE_H
#define LONG_ASSEMBLE_H

#include "uapi/kerninst.h"

/* Names for the assembler. */
__attribute__((used)) static void constants(void)
{
	asm(".set PERCPU, %c0; .set GLOBAL, %c1; .set HELPER, %c2; .set CALLEE, %c3;"
	    ".set SELF, %c4; .set FIELD, %c5; .set ABS32, %c6; .set WORD, %c7"
	    :
	    : "i"(KI_FIX_PERCPU), "i"(KI_FIX_GLOBAL), "i"(KI_FIX_HELPER), "i"(KI_FIX_CALLEE),
	      "i"(KI_FIX_SELF), "i"(KI_FIX_FIELD), "i"(KI_FIX_ABS32), "i"(KI_FIX_WORD));
	asm(".set TASK, %c0; .set CPU, %c1; .set WORDS, %c2; .set CLOCK, %c3"
	    :
	    : "i"(KI_SELF_TASK), "i"(KI_SELF_CPU), "i"(KI_SELF_WORDS), "i"(KI_SELF_CLOCK));
	asm(".set PID, %c0; .set TGID, %c1; .set COMM, %c2; .set MINFLT, %c3; .set MAJFLT, %c4;"
	    ".set NVCSW, %c5; .set NIVCSW, %c6"
	    :
	    : "i"(KI_FIELD_PID), "i"(KI_FIELD_TGID), "i"(KI_FIELD_COMM), "i"(KI_FIELD_MINFLT),
	      "i"(KI_FIELD_MAJFLT), "i"(KI_FIELD_NVCSW), "i"(KI_FIELD_NIVCSW));
	asm(".set LOAD64, %c0; .set NANOTIME, %c1; .set UID, %c2; .set CGROUP, %c3;"
	    ".set ENTER, %c4; .set LEAVE, %c5; .set UDIV, %c6; .set HELPERS, %c7"
	    :
	    : "i"(KI_HELPER_LOAD64), "i"(KI_HELPER_NANOTIME), "i"(KI_HELPER_UID),
	      "i"(KI_HELPER_CGROUP), "i"(KI_HELPER_ENTER), "i"(KI_HELPER_LEAVE),
	      "i"(KI_HELPER_UDIV), "i"(KI_HELPERS));
	asm(".set ENTER_RECORD, %c0; .set KCOV, %c1; .set TRACE, %c2"
	    :
	    : "i"(KI_HELPER_ENTER_RECORD), "i"(KI_HELPER_KCOV), "i"(KI_SELF_KCOV));
	asm(".set KCOV_COMPARISON, %c0; .set COMPARISONS, %c1"
	    :
	    : "i"(KI_HELPER_KCOV_COMPARISON), "i"(KI_SELF_KCOV_COMPARISONS));
	asm(".set SIGNAL, %c0; .set SIGNALS, %c1" : : "i"(KI_HELPER_SIGNAL), "i"(KI_SIGNALS));
	asm(".set OK, %c0; .set BAD, %c1; .set BAD_FIXUP, %c2; .set NOT_YOURS, %c3;"
	    ".set NO_FUNCTION, %c4"
	    :
	    : "i"(KI_R_OK), "i"(KI_R_BAD_CHUNK), "i"(KI_R_BAD_FIXUP), "i"(KI_R_NOT_YOUR_COUNTER),
	      "i"(KI_R_NOT_A_FUNCTION));
}

/*
 * sample NAME, REASON: its code follows, up to `done`; a row of struct long_sample is made of it.
 * fix KIND, TARGET, BEHIND, TAIL: the 32-bit field that ends BEHIND bytes before here. Registers
 * are all to be kept: who is interrupted there needs them.
 */
asm(R"(
	.macro sample name, reason
	.pushsection long_samples, "aw"
	.quad 8f, 7f, 6f, 9f, 5f, \reason
	.popsection
	.pushsection .rodata.names, "a"
8:	.asciz "\name"
	.popsection
	.pushsection .rodata.fixups, "a"
	.balign 8
9:
	.popsection
7:
	.endm
	.macro done
6:
	.pushsection .rodata.fixups, "a"
5:
	.popsection
	.endm
	.macro fix kind, target, behind=0, tail=0
4:
	.pushsection .rodata.fixups, "a"
	.byte \kind, \tail
	.short 0
	.long 4b - 4 - \behind - 7b
	.quad \target
	.popsection
	.endm
)");

#endif
