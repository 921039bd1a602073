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

/* All of them, one behind the other, each at a multiple of 16. */
struct ki_emitted {
	uint8_t *code;
	size_t len;
	ki_vec(struct ki_module_fix) fixes;
	ki_vec(struct ki_emit_origin) origins;
};

int ki_emit(struct ki_emit_copy *copies, size_t n, struct ki_emitted *out);
void ki_emit_free(struct ki_emitted *e);

#endif
