// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Keys of kerninst stat --by as they are shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/users.h"
#include "aggregate/inside.h"

static const char *symbol_of(void *arg, uint64_t addr, uint64_t *offset)
{
	const struct ki_symbol *sym =
		ki_target_symbol_at(((struct ki_aggregate *)arg)->target, addr);

	if (sym)
		*offset = addr - sym->addr;
	return sym ? sym->name : NULL;
}

static bool stack_of(void *arg, uint64_t number, struct ki_stack *out)
{
	return !ki_stacks_get(((struct ki_aggregate *)arg)->stacks, number, out);
}

/* Of a process: the file where no function is known. */
static char *user_frame(const struct ki_aggregate *b, const struct ki_stack *s, uint32_t k,
			char *text, size_t size)
{
	struct ki_user_frame f;
	const char *slash;

	if (!b->users || !ki_users_find(b->users, s->tgid, s->addrs[k] - (k > 0), &f))
		return ki_field_code(NULL, 0, s->addrs[k], text, size);
	if (*f.symbol)
		return ki_field_code(f.symbol, f.offset + (k > 0), s->addrs[k], text, size);
	slash = strrchr(f.path, '/');
	return ki_field_code(slash ? slash + 1 : f.path, f.file_offset + (k > 0), s->addrs[k], text,
			     size);
}

/* After the first stand return addresses: what called is before them. */
static char *frame_of(void *arg, const struct ki_stack *s, uint32_t k, char *text, size_t size)
{
	uint64_t offset = 0;
	const char *name;

	if (s->tgid)
		return user_frame(arg, s, k, text, size);
	name = symbol_of(arg, s->addrs[k] - (k > 0), &offset);
	return ki_field_code(name, offset + (k > 0), s->addrs[k], text, size);
}

static struct ki_field_names names_of(struct ki_aggregate *b)
{
	return (struct ki_field_names){.arg = b,
				       .khz = ki_target_info(b->target)->tsc_khz,
				       .symbol = symbol_of,
				       .stack = stack_of,
				       .frame = frame_of};
}

const char *ki_aggregate_key_text(struct ki_aggregate *b, const uint64_t *key, unsigned int i,
				  char buf[KI_FIELD_TEXT])
{
	const struct ki_field_names names = names_of(b);

	return ki_field_text(&names, &b->key.fields[i], key + i,
			     ki_field_words(b->key.fields, b->key.n, i), buf);
}

char *ki_aggregate_frames(struct ki_aggregate *b, const struct ki_stack *s)
{
	char frame[4096], *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	bool failed;

	if (!f)
		return NULL;
	for (uint32_t k = 0; k < s->n; k++)
		fprintf(f, "%s;", frame_of(b, s, k, frame, sizeof(frame)));
	failed = ferror(f);
	if (!fclose(f) && !failed)
		return text;
	free(text);
	return NULL;
}
