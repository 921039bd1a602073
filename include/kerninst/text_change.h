/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What has changed in the kernel's text: in words, and whether it is what it was before something
 * was put in.
 */
#ifndef KERNINST_TEXT_CHANGE_H
#define KERNINST_TEXT_CHANGE_H

#include "kerninst/page.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_text_words {
	char place[256]; /* [MODULE:]FUNCTION+0xOFFSET, or the address */
	char was[64], is[64];
};

/* The first difference. */
void ki_text_words(const struct ki_target *t, const struct ki_text_change *c,
		   struct ki_text_words *w);

/* The comparison; quiet: nothing, if the text is equal, but as JSON. 0, or -errno. */
int ki_text_change_show(const struct ki_target *t, const struct ki_text_change *c, bool quiet,
			const struct ki_page *page);

/* The text before anything is put in, and when all is out. */
struct ki_text_watch {
	char before[KI_TEXT_HASH_LEN], after[KI_TEXT_HASH_LEN];
	char path[32]; /* where the text is kept, so that a difference has a place */
	int fd;	       /* of that; open until this process ends */
};

/* 0, or -errno. */
int ki_text_watch_begin(struct ki_text_watch *x, struct ki_target *t, struct ki_err *err);
int ki_text_watch_end(struct ki_text_watch *x, struct ki_target *t, struct ki_err *err);

/* Are both equal? Else -EIO, and err names the first difference. */
int ki_text_watch_check(const struct ki_text_watch *x, struct ki_target *t, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
