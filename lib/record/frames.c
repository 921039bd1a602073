// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which stacks and frames a file has already, and what is said of new ones.
 */
#include "record/frames.h"

#include <search.h>
#include <stdlib.h>

#include "record/format.h"
#include "record/stacks.h"

#define TEXT_MOST 4095 /* bytes of a name, or of a path */

struct place {
	uint32_t tgid;
	uint64_t addr;
};

struct ki_frames {
	const struct ki_stacks_map *map;
	uint8_t *seen; /* numbers: a bit for each */
	void *places;  /* tree of struct place: frames of processes that the file has */
};

int ki_frames_new(const struct ki_stacks_map *map, struct ki_frames **out)
{
	struct ki_frames *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->map = map;
	f->seen = calloc(1, KI_STACKS_ROWS / 8 + 1);
	if (!f->seen) {
		ki_frames_free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void ki_frames_free(struct ki_frames *f)
{
	if (!f)
		return;
	tdestroy(f->places, free);
	free(f->seen);
	free(f);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Is it new? 1, 0, or -ENOMEM. */
static int is_new(struct ki_frames *f, uint32_t tgid, uint64_t addr)
{
	struct place *p = malloc(sizeof(*p)), **there;

	if (!p)
		return -ENOMEM;
	*p = (struct place){tgid, addr};
	there = tsearch(p, &f->places, by_place);
	if (there && *there == p)
		return 1;
	free(p);
	return there ? 0 : -ENOMEM;
}

/* A text of a process's, who may have chosen any. */
static int add_text(ki_buffer *to, const char *text)
{
	int ret = ki_buffer_add(to, text, strnlen(text, TEXT_MOST));

	return ret ? ret : ki_buffer_add(to, "", 1);
}

int ki_frames_add_user(struct ki_users *u, uint32_t tgid, uint64_t addr, ki_buffer *to)
{
	struct ki_user_frame frame;
	struct file_user row = {.tgid = tgid, .addr = addr};
	int ret;

	if (!ki_users_find(u, tgid, addr, &frame))
		return 0;
	row.file_offset = frame.file_offset;
	row.offset = frame.offset;
	ret = ki_buffer_add(to, &row, sizeof(row));
	if (!ret)
		ret = add_text(to, frame.symbol);
	if (!ret)
		ret = add_text(to, frame.path);
	if (!ret)
		ret = add_text(to, frame.build);
	return ret ? ret : ki_buffer_pad(to);
}

static int add_user(struct ki_frames *f, uint32_t tgid, uint64_t addr, ki_buffer *to)
{
	const int ret = is_new(f, tgid, addr);

	return ret > 0 ? ki_frames_add_user(f->map->looked->users, tgid, addr, to) : ret;
}

int ki_frames_note(struct ki_frames *f, uint64_t number, ki_buffer *stacks, ki_buffer *users,
		   struct ki_stack *out)
{
	struct file_stack row;
	int ret;

	out->n = 0;
	if (!number || number > KI_STACKS_ROWS || f->seen[number / 8] & 1 << number % 8 ||
	    ki_stacks_get(f->map, number, out))
		return 0;
	f->seen[number / 8] |= (uint8_t)(1 << number % 8);
	row = (struct file_stack){number, out->tgid, out->n};
	ret = ki_buffer_add(stacks, &row, sizeof(row));
	if (!ret)
		ret = ki_buffer_add(stacks, out->addrs, out->n * sizeof(*out->addrs));
	for (uint32_t i = 0; !ret && out->tgid && i < out->n; i++)
		ret = add_user(f, out->tgid, ki_frame_place(out, i), users);
	return ret;
}

void ki_frames_look(struct ki_frames *f)
{
	ki_stacks_look(f->map);
}
