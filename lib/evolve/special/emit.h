/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is left of functions as machine code.
 */
#ifndef KI_EVOLVE_EMIT_H
#define KI_EVOLVE_EMIT_H

#include "evolve/special/fold.h"
#include "module/module.h"
#include "util/vec.h"

/* A call or jump in a copy that leads to another copy instead. */
struct ki_emit_link {
	uint32_t insn; /* of the function */
	uint32_t copy; /* the other's number */
};

struct ki_emit_copy {
	struct ki_folded folded;
	ki_vec(struct ki_emit_link) links;
	uint32_t off, size; /* out: where it stands */
};

/* An instruction's place, and of which instruction it is made. */
struct ki_emit_origin {
	uint32_t off;
	uint64_t addr;
};

/* What the kernel must be told of the instruction that stands there. */
struct ki_emit_site {
	uint32_t off;
	uint8_t site;		    /* enum ki_site: BRANCH, CALL, FAULT, BUG */
	uint64_t addr;		    /* of the original's instruction */
	struct ki_module_place way; /* where a static branch, or a fault, leads to */
};

/* All of them, one after the other, each at a multiple of 16. */
struct ki_emitted {
	uint8_t *code;
	size_t len;
	ki_vec(struct ki_module_fix) fixes;
	ki_vec(struct ki_emit_origin) origins;
	ki_vec(struct ki_emit_site) sites;
};

int ki_emit(struct ki_emit_copy *copies, size_t n, struct ki_emitted *out);
void ki_emit_free(struct ki_emitted *e);

#endif
