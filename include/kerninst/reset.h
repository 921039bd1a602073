/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Everything of every session is taken out, and the text is looked at.
 */
#ifndef KERNINST_RESET_H
#define KERNINST_RESET_H

#include "kerninst/page.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_reset {
	/* given */
	struct ki_page page;
	bool dry;   /* only say what would go */
	bool quiet; /* say only what is wrong */
	/* found */
	unsigned int sessions, out; /* how many there were, and how many of them are out */
	bool others;		    /* one is another user's, and stays */
	bool wrong;		    /* not all is out, or the text is not what it was */
	/* inside */
	struct ki_target *t;
	bool admin;
	char kept[32]; /* a file of the text, as it is to be */
};

/* Of a live kernel; says of each session what became of it. 0, or -errno. It takes CAP_SYS_ADMIN
   for sessions of other users. */
int ki_reset(struct ki_reset *r, struct ki_target *t, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
