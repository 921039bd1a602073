// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Is what is asked for possible? Nothing that the kernel would stumble over is built: some of its
 * own checks of a module's tables end in a BUG.
 */
#include <ctype.h>
#include <string.h>

#include "module/file.h"

#define MOST	  (16u << 20) /* bytes of code */
#define NAME_MOST 55
#define BUG_SIZE  12 /* of the rows that are written here */

static int bad(struct ki_err *err, const struct ki_module_code *c, const char *what, size_t i)
{
	return ki_err_set(err, -EINVAL, 0, "module %.*s: %s %zu is out of its range or order",
			  NAME_MOST, c->name, what, i);
}

static int check_name(const char *name, struct ki_err *err)
{
	size_t n = 0;

	while (name && (isalnum((unsigned char)name[n]) || name[n] == '_'))
		n++;
	if (name && n && n <= NAME_MOST && !name[n])
		return 0;
	return ki_err_set(err, -EINVAL, 0,
			  "'%.80s' is no name for a module: 1 to %d letters, digits and _",
			  name ? name : "", NAME_MOST);
}

struct table {
	const char *what;
	const void *rows;
	size_t n, size, off; /* rows, bytes of one, where its offset in the code is */
	uint32_t room;	     /* bytes of code that a row is about, at the least */
};

/* Each in order, and after what the one before is about. */
static int check_table(const struct ki_module_code *c, const struct table *t, struct ki_err *err)
{
	uint64_t next = 0;

	for (size_t i = 0; i < t->n; i++) {
		uint32_t off;

		memcpy(&off, (const char *)t->rows + i * t->size + t->off, sizeof(off));
		if (off < next || (uint64_t)off + t->room > c->len)
			return bad(err, c, t->what, i);
		next = (uint64_t)off + t->room;
	}
	return 0;
}

#define TABLE(what, field, room)                                                                   \
	{                                                                                          \
		what, c->field, c->n##field, sizeof(*c->field),                                    \
			offsetof(__typeof__(*c->field), off), room                                 \
	}

static int check_tables(const struct ki_module_code *c, struct ki_err *err)
{
	const struct table tables[] = {
		TABLE("fix", fixes, 4),	 TABLE("function", functions, 0), TABLE("row", rows, 0),
		TABLE("jump", jumps, 2), TABLE("call", calls, 5),	  TABLE("fault", faults, 1),
		TABLE("bug", bugs, 2),
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		int ret = check_table(c, &tables[i], err);

		if (ret)
			return ret;
	}
	return 0;
}
#undef TABLE

static bool is_place(const struct ki_module_code *c, const struct ki_module_place *p)
{
	return !p->inside || p->at < c->len;
}

static int check_rows(const struct ki_module_code *c, struct ki_err *err)
{
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct ki_module_function *f = &c->functions[i];

		if (!f->name || !*f->name || (uint64_t)f->off + f->size > c->len)
			return bad(err, c, "function", i);
	}
	for (size_t i = 0; i < c->nfixes; i++) {
		const struct ki_module_fix *f = &c->fixes[i];

		if (f->kind > KI_MODULE_ABS64 || (f->inside && f->target > c->len) ||
		    (f->kind == KI_MODULE_ABS64 && (uint64_t)f->off + 8 > c->len))
			return bad(err, c, "fix", i);
		if (i && f[-1].kind == KI_MODULE_ABS64 && f->off < (uint64_t)f[-1].off + 8)
			return bad(err, c, "fix", i);
	}
	for (size_t i = 0; i < c->njumps; i++)
		if (!is_place(c, &c->jumps[i].target) || !(c->jumps[i].key & ~3ull))
			return bad(err, c, "jump", i);
	for (size_t i = 0; i < c->ncalls; i++)
		if (!(c->calls[i].key & ~3ull))
			return bad(err, c, "call", i);
	for (size_t i = 0; i < c->nfaults; i++)
		if (!is_place(c, &c->faults[i].fixup))
			return bad(err, c, "fault", i);
	return 0;
}

int ki_module_check(const struct ki_module_kernel *k, const struct ki_module_code *c,
		    struct ki_err *err)
{
	int ret = check_name(c->name, err);

	if (ret)
		return ret;
	if (!c->code || !c->len || c->len > MOST)
		return ki_err_set(err, -EINVAL, 0, "module %s: %zu bytes of code: 1 to %u", c->name,
				  c->len, MOST);
	if (c->nrows && (!c->row_size || c->row_size > sizeof(c->rows->row)))
		return ki_err_set(err, -EINVAL, 0, "module %s: %zu bytes for a row of the unwinder",
				  c->name, c->row_size);
	if (!*k->vermagic || k->name_offset + NAME_MOST >= k->module_size)
		return ki_err_set(err, -EINVAL, 0, "module %s: the kernel is not known", c->name);
	if (c->nbugs && k->bug_size != BUG_SIZE)
		return ki_err_set(err, -ENOTSUP, 0,
				  "module %s: this kernel's rows of BUGs have %u bytes, not %d",
				  c->name, k->bug_size, BUG_SIZE);
	ret = check_tables(c, err);
	return ret ? ret : check_rows(c, err);
}
