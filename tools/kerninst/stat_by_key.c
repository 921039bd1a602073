// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of kerninst stat --by as they are shown: a text's words together, a stack as its frames, the
 * innermost first.
 */
#include <inttypes.h>
#include <string.h>

#include "record/users.h"
#include "stat_by.h"

/* Words of the key's field, the first and those without a name behind it. */
static unsigned int words_of(const struct record_values *v, unsigned int i)
{
	unsigned int n = 1;

	while (i + n < v->n && stat_by_key_goes_on(v, i + n))
		n++;
	return n;
}

bool stat_by_key_goes_on(const struct record_values *v, unsigned int i)
{
	return v->fields[i].show == KI_SHOW_TEXT && !*v->fields[i].name;
}

static int kernel_frame_text(const struct stat_by *b, uint64_t addr, bool returned, char *buf,
			     size_t len)
{
	const struct ki_symbol *sym = ki_target_symbol_at(b->target, addr - returned);

	if (!sym)
		return snprintf(buf, len, "0x%" PRIx64, addr);
	if (sym->addr == addr)
		return snprintf(buf, len, "%s", sym->name);
	return snprintf(buf, len, "%s+0x%" PRIx64, sym->name, addr - sym->addr);
}

/* Of a process: the file where no function is known. */
static int user_frame_text(const struct stat_by *b, const struct ki_stack *s, uint32_t k, char *buf,
			   size_t len)
{
	struct ki_user_frame f;
	const char *slash;

	if (!b->users || !ki_users_find(b->users, s->tgid, s->addrs[k] - (k > 0), &f))
		return snprintf(buf, len, "0x%" PRIx64, s->addrs[k]);
	slash = strrchr(f.path, '/');
	if (!*f.symbol)
		return snprintf(buf, len, "%s+0x%" PRIx64, slash ? slash + 1 : f.path,
				f.file_offset + (k > 0));
	return snprintf(buf, len, "%s+0x%" PRIx64, f.symbol, f.offset + (k > 0));
}

/* Behind the first stand return addresses: what called is before them. */
static int frame_text(const struct stat_by *b, const struct ki_stack *s, uint32_t k, char *buf,
		      size_t len)
{
	if (s->tgid)
		return user_frame_text(b, s, k, buf, len);
	return kernel_frame_text(b, s->addrs[k], k > 0, buf, len);
}

char *stat_by_stack_text(const struct stat_by *b, uint64_t number, char *buf, size_t len)
{
	struct ki_stack s = {0};
	size_t n = 0;

	*buf = 0;
	if (ki_stacks_get(b->stacks, number, &s))
		return buf;
	for (uint32_t k = 0; k < s.n && n < len - 1; k++) {
		if (k)
			buf[n++] = ';';
		n += (size_t)frame_text(b, &s, k, buf + n, len - n);
	}
	return buf;
}

const char *stat_by_key_text(const struct stat_by *b, const uint64_t *key, unsigned int i,
			     char *buf, size_t len)
{
	const struct ki_record_field *f = &b->key.fields[i];
	static const bool sign[KI_TYPES] = {
		[KI_I8] = true, [KI_I16] = true, [KI_I32] = true, [KI_I64] = true};

	if (f->show == KI_SHOW_STACK)
		return stat_by_stack_text(b, key[i], buf, len);
	if (f->show == KI_SHOW_TEXT)
		snprintf(buf, len, "%.*s", (int)(8 * words_of(&b->key, i)), (const char *)&key[i]);
	else if (f->show == KI_SHOW_HEX || f->show == KI_SHOW_CODE)
		snprintf(buf, len, "0x%" PRIx64, key[i]);
	else if (sign[f->type])
		snprintf(buf, len, "%" PRId64, (int64_t)key[i]);
	else
		snprintf(buf, len, "%" PRIu64, key[i]);
	return buf;
}
