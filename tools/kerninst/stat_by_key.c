// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of kerninst stat --by as they are shown.
 */
#include "stat_by.h"

static const char *symbol_of(void *arg, uint64_t addr, uint64_t *offset)
{
	const struct ki_symbol *sym = ki_target_symbol_at(((struct stat_by *)arg)->target, addr);

	if (sym)
		*offset = addr - sym->addr;
	return sym ? sym->name : NULL;
}

static bool stack_of(void *arg, uint64_t number, struct ki_stack *out)
{
	return !ki_stacks_get(((struct stat_by *)arg)->stacks, number, out);
}

/* Behind the first stand return addresses: what called is before them. */
static char *frame_of(void *arg, const struct ki_stack *s, uint32_t k, char *text, size_t size)
{
	uint64_t offset = 0;
	const char *name = symbol_of(arg, s->addrs[k] - (k > 0), &offset);

	return field_code(name, offset + (k > 0), s->addrs[k], text, size);
}

const char *stat_by_key_text(struct stat_by *b, const uint64_t *key, unsigned int i,
			     char buf[FIELD_TEXT])
{
	const struct field_names names = {.arg = b,
					  .khz = ki_target_info(b->target)->tsc_khz,
					  .symbol = symbol_of,
					  .stack = stack_of,
					  .frame = frame_of};

	return field_text(&names, &b->key.fields[i], key + i,
			  field_words(b->key.fields, b->key.n, i), buf);
}
