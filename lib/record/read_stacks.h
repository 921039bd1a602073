/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The stacks of a recording that is being read.
 */
#ifndef KI_RECORD_READ_STACKS_H
#define KI_RECORD_READ_STACKS_H

#include "record/format.h"
#include "record/frames.h"

struct known_user {
	const struct file_user *row;
	const char *symbol, *path, *build;
};

struct known_stacks {
	ki_vec(const struct file_stack *) stacks; /* in order of number */
	ki_vec(struct known_user) users;	  /* in order of process and address */
};

/* Payloads of chunks. 0; -EBADMSG: this cannot be; -ENOMEM. */
int ki_known_stacks_read(struct known_stacks *k, const char *at, const char *end);
int ki_known_users_read(struct known_stacks *k, const char *at, const char *end);

void ki_known_stacks_sort(struct known_stacks *k);
void ki_known_stacks_free(struct known_stacks *k);

int ki_known_stack(const struct known_stacks *k, uint64_t number, struct ki_stack *out);
int ki_known_user(const struct known_stacks *k, const struct ki_stack *s, uint32_t i,
		  struct ki_user_frame *out);

#endif
