// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "cover/strings.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#define CHUNK 65536 /* bytes of strings at a time */

static const char **find_slot(const struct ki_strings *s, const char *text, size_t len)
{
	size_t i = XXH3_64bits(text, len) & (s->slots - 1);

	while (s->table[i] && strcmp(s->table[i], text) != 0)
		i = (i + 1) & (s->slots - 1);
	return &s->table[i];
}

static int grow_table(struct ki_strings *s)
{
	struct ki_strings more = *s;

	if (s->used * 2 < s->slots)
		return 0;
	more.slots = s->slots ? s->slots * 2 : 1024;
	more.table = calloc(more.slots, sizeof(*more.table));
	if (!more.table)
		return -ENOMEM;
	for (size_t i = 0; i < s->slots; i++)
		if (s->table[i])
			*find_slot(&more, s->table[i], strlen(s->table[i])) = s->table[i];
	free(s->table);
	*s = more;
	return 0;
}

/* A copy of len bytes and a zero. */
static const char *keep(struct ki_strings *s, const char *text, size_t len)
{
	char *copy;

	if (s->left <= len) {
		size_t size = len + 1 > CHUNK ? len + 1 : CHUNK;
		char *chunk = malloc(size);

		if (!chunk || ki_vec_push(&s->chunks, chunk)) {
			free(chunk);
			return NULL;
		}
		s->at = chunk;
		s->left = size;
	}
	copy = memcpy(s->at, text, len + 1);
	s->at += len + 1;
	s->left -= len + 1;
	return copy;
}

const char *ki_strings_keep(struct ki_strings *s, const char *text)
{
	size_t len = strlen(text);
	const char **slot;

	if (grow_table(s))
		return NULL;
	slot = find_slot(s, text, len);
	if (!*slot) {
		*slot = keep(s, text, len);
		s->used += *slot != NULL;
	}
	return *slot;
}

void ki_strings_free(struct ki_strings *s)
{
	for (size_t i = 0; i < s->chunks.n; i++)
		free(s->chunks.v[i]);
	ki_vec_free(&s->chunks);
	free(s->table);
	s->table = NULL;
	s->slots = s->used = s->left = 0;
}
