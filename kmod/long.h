/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Long chunks: read from the user (long.c), checked (vet_long.c), linked (patch.c).
 */
#ifndef KI_LONG_H
#define KI_LONG_H

#include "ki.h"

struct ki_long_code {
	u32 len, nfix;
	bool words; /* it uses threads' words */
	u8 nowners;
	struct module *owner[KI_LONG_OWNERS]; /* of functions that it calls: a reference each */
	struct ki_fixup *fix;
	u8 *code;
	u8 *depth; /* words on the stack before the instruction, for each byte of it */
};

/* The code at a user's struct ki_long. KI_R_OK, or why not; *out with ki_long_free. */
u16 ki_long_read(u64 user, struct ki_long_code **out);
/* Of code that nobody can be in; NULL is allowed. */
void ki_long_free(struct ki_long_code *c);
/* It has been taken out: its modules go when no task can be in it any more. ki_lock held. */
void ki_long_bury(struct ki_long_code *c); /* NULL is allowed */

/* vet_long.c: KI_R_OK, or why it may not run. Fills depth, words and
 * owners. ki_lock held. */
u16 ki_vet_long(const struct ki_session *s, struct ki_long_code *c);

#endif
