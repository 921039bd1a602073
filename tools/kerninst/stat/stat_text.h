/* SPDX-License-Identifier: GPL-2.0-only */
/* --text-hash: the text before anything is put in, and when all is out. */
#ifndef KERNINST_STAT_TEXT_H
#define KERNINST_STAT_TEXT_H

#include "kerninst/target.h"

struct stat_text {
	char before[KI_TEXT_HASH_LEN], after[KI_TEXT_HASH_LEN];
	char path[32]; /* where the text is kept, so that a difference has a place */
	int fd;
};

/* They return an exit status, and say what is wrong. */
int stat_text_begin(struct stat_text *x, struct ki_target *t);
int stat_text_end(struct stat_text *x, struct ki_target *t);

/* Are both equal? Else the first difference is named. */
int stat_text_check(const struct stat_text *x, struct ki_target *t);

#endif
