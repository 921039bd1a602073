/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Stacks on their way to a file: each once, with what its frames are.
 */
#ifndef KI_RECORD_FRAMES_H
#define KI_RECORD_FRAMES_H

#include "record/buffer.h"
#include "kerninst/record.h"

struct ki_frames;

/* *out is NULL on -ENOMEM. The map lives as long. */
int ki_frames_new(const struct ki_stacks_map *map, struct ki_frames **out);
void ki_frames_free(struct ki_frames *f); /* NULL is allowed */

/*
 * A number was met. The first time, its row for CHUNK_STACKS is appended to `stacks`, and what is
 * known of a process's frames, for CHUNK_USERS, to `users`; *out is the stack then, else its n is
 * 0.
 */
int ki_frames_note(struct ki_frames *f, uint64_t number, ki_buffer *stacks, ki_buffer *users,
		   struct ki_stack *out);

/* What is known of an address of a process's, for CHUNK_USERS; nothing if that is nothing. */
struct ki_users;
int ki_frames_add_user(struct ki_users *u, uint32_t tgid, uint64_t addr, ki_buffer *to);

/* Look at the processes whose stacks are new in the table. */
void ki_frames_look(struct ki_frames *f);

/* The address by which a frame is found: a return address is after its call. */
static inline uint64_t ki_frame_place(const struct ki_stack *s, uint32_t i)
{
	return i ? s->addrs[i] - 1 : s->addrs[i];
}

#endif
