/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Long chunks: taken from user memory (long.c), checked (vet_long.c), linked (patch.c).
 */
#ifndef KI_LONG_H
#define KI_LONG_H

#include "ki.h"

struct ki_long_code {
	u32 len, nfix;
	bool words;   /* it uses threads' words */
	bool writes;  /* it writes to a process's memory */
	bool signals; /* it sends processes signals */
	u8 nowners;
	struct module *owner[KI_LONG_OWNERS]; /* of functions that it calls: a reference each */
	struct ki_fixup *fix;
	u8 *code;
	u8 *depth; /* words on the stack before the instruction, for each byte of it */
};

/* What a request has of one of its chunks. */
struct ki_long_taken {
	struct ki_long req;
	struct ki_long_code *code; /* NULL: no long chunk, refused, or already a piece's */
	u16 reason;		   /* why it was not taken */
};

/* From user memory: the code of all long chunks of a request, whose chunks are there. */
struct ki_request;
int __must_check ki_long_take(struct ki_request *q);
/* They are as they came, to be vetted again. */
void ki_long_again(struct ki_request *q);
void ki_long_forget(struct ki_request *q);
/* Of code that no task can be in; NULL is allowed. */
void ki_long_free(struct ki_long_code *c);
/* It has been taken out: its modules go when no task can be in it any more. */
void ki_long_retire(struct ki_long_code *c) __must_hold(&ki_lock); /* NULL is allowed */

/* vet_long.c: KI_R_OK, or why it may not run. Fills depth, words and
 * owners. ki_lock held. */
u16 __must_check ki_vet_long(const struct ki_session *s, struct ki_long_code *c);

/*
 * long.c: is c byte for byte what ki_vet_long() has accepted for the same session, while ki_lock
 * was held all the time? Then it has been told of c what was found of `vetted`. Neither calls
 * functions: each would need its own references.
 */
bool __must_check ki_long_is_vetted(const struct ki_long_code *vetted, struct ki_long_code *c);

#endif
