/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors.
 *
 * Every call returns 0 or a negative errno; results come through out-parameters. What exactly
 * went wrong is in a struct ki_err that the caller may pass (or NULL): filled by the function
 * that knows most, never overwritten on the way up. The library never prints and never exits.
 *
 * A function ki_X_new, or ki_X_new_HOW, makes an X that the caller has to give back: from nothing,
 * a text, a file or what runs. ki_X_free gives it back. There is no other verb for either. The same
 * two fill and empty a structure of the caller's own. What a function finds out (a reading, a list)
 * has a ki_X_free alone, and an array or a text goes by ki_free. An X that is there changes the
 * kernel between install and remove, or start and stop; ki_X_free takes out what is still in.
 */
#ifndef KERNINST_ERR_H
#define KERNINST_ERR_H

#include <stdint.h>

#include "uapi/kerninst.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_ERR_MSG 240

struct ki_err {
	int code;	      /* negative errno; 0: nothing is wrong */
	unsigned int reason;  /* KI_R_*, or KI_R_OK if none of the table fits */
	uint64_t addr;	      /* the address it is about, or 0 */
	char msg[KI_ERR_MSG]; /* one line without newline: what, where, why */
};

/* Forget an earlier error, to use the structure again. */
void ki_err_clear(struct ki_err *err);

/*
 * Fill *err unless it is filled already; returns code, so that `return ki_err_set(...)` works.
 * err may be NULL.
 */
int ki_err_set(struct ki_err *err, int code, uint64_t addr, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The same with a reason of the table: code and text come from there; fmt says where. */
int ki_err_reason(struct ki_err *err, unsigned int reason, uint64_t addr, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The table of reasons. An unknown number gives "UNKNOWN", a general sentence, EINVAL. */
const char *ki_reason_tag(unsigned int reason);
const char *ki_reason_text(unsigned int reason);
const char *ki_reason_hint(unsigned int reason); /* may be "" */
int ki_reason_errno(unsigned int reason);	 /* positive; 0 for KI_R_OK */

/* The number of a tag (case does not matter): 0, or -ENOENT. */
int ki_reason_find(const char *tag, unsigned int *reason);

/* Free an array or a text that a function of the library has given. NULL is allowed. */
void ki_free(void *given);

#ifdef __cplusplus
}
#endif

#endif
