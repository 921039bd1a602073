/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What blocks and comparisons do for KCOV, the kernel's interface for coverage (kmod/kcov/kcov.c):
 * compiled for a place, as snippets are. Both free with ki_long_code_free.
 */
#ifndef KERNINST_KCOV_H
#define KERNINST_KCOV_H

#include "kerninst/snippet.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a block at addr does: if the blocks of the current task are traced, addr goes into its
 * trace.
 *
 *	cmpq $0, %gs:trace; je 1f; push %rax; mov $addr, %eax; call KCOV; pop %rax; 1:
 *
 * %rax is kept unless the site says that it is dead; live flags are kept as in ki_snippet_count.
 * -ERANGE: addr is no sign-extended 32-bit number.
 */
int ki_snippet_kcov(uint64_t addr, const struct ki_site_regs *site, struct ki_long_code *out,
		    struct ki_err *err);

/*
 * What comes right before a comparison at addr: if comparisons of the current task are traced,
 * both values go into its trace. Those in memory are what a load of the same size finds there a
 * moment before the instruction. What cannot be read leaves no record.
 *
 *	cmpq $0, %gs:trace; je 1f; push %rax; push SECOND; push FIRST; mov $what, %rax; push %rax;
 *	call KCOV_COMPARISON; pop %rax (three times); pop %rax; 1:
 *
 * A value that is no register comes by %rax (mov $number, %rax or lea address, %rax, before the
 * push; and mov 8(%rsp), %rax if the first needs %rax and the second one has overwritten it).
 * %rax is kept unless the site says that it is dead; flags are not: the comparison writes them.
 * -ERANGE as above.
 */
int ki_snippet_kcov_comparison(uint64_t addr, const struct ki_insn_comparison *cmp,
			       const struct ki_site_regs *site, struct ki_long_code *out,
			       struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
