// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/select.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "kerninst/match.h"
#include "util/vec.h"

struct selecting {
	struct ki_err *err;
	struct ki_selection *out;
	const struct ki_pointspec *spec;
};

static int add(struct ki_selection *out, const struct ki_symbol *sym, uint64_t from)
{
	return ki_vec_push(out, ((struct ki_selected){sym, from})) ? -ENOMEM : 0;
}

static int take(void *ctx, const struct ki_symbol *sym)
{
	struct selecting *s = ctx;
	uint64_t offset = s->spec->suffix == KI_POINTSPEC_OFFSET ? s->spec->number : 0;

	if (offset && offset >= sym->size)
		return ki_err_set(s->err, -EINVAL, sym->addr,
				  "%s+0x%" PRIx64 ": the function has only 0x%" PRIx64
				  " bytes; kerninst list shows sizes",
				  sym->name, offset, sym->size);
	return add(s->out, sym, sym->addr + offset);
}

static int take_address(struct ki_target *t, uint64_t addr, struct ki_selection *out,
			struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_at(t, addr);

	if (sym)
		return add(out, sym, addr);
	return ki_err_reason(err, KI_R_NOT_TEXT, addr, "0x%" PRIx64, addr);
}

int ki_select(struct ki_target *t, const char *text, bool offsets, struct ki_selection *out,
	      struct ki_pointspec *spec, struct ki_err *err)
{
	struct selecting s = {err, out, spec};
	const char *why;
	size_t count;
	int ret;

	if (ki_pointspec_parse(text, spec, &why))
		return ki_err_set(err, -EILSEQ, 0, "%s", why);
	if (spec->suffix == KI_POINTSPEC_ADDRESS)
		return take_address(t, spec->number, out, err);
	if (spec->suffix != KI_POINTSPEC_NONE && !(offsets && spec->suffix == KI_POINTSPEC_OFFSET))
		return -EISDIR;
	ret = ki_match_each(t, spec, take, &s, &count);
	return !ret && !count ? -ENOENT : ret;
}

static int by_address(const void *a, const void *b)
{
	const struct ki_selected *x = a, *y = b;

	/* symbols are elements of one sorted table */
	if (x->sym != y->sym)
		return x->sym < y->sym ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

void ki_selection_sort(struct ki_selection *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_address);
	for (size_t i = 0; i < s->n; i++)
		if (!n || by_address(&s->v[n - 1], &s->v[i]))
			s->v[n++] = s->v[i];
	s->n = n;
}

int ki_selection_all(struct ki_selection *out, const struct ki_target *t)
{
	size_t n;
	const struct ki_symbol *syms = ki_target_symbols(t, &n);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		if (!ki_match_is_padding(&syms[i]) && (!i || syms[i].addr != syms[i - 1].addr))
			ret = add(out, &syms[i], syms[i].addr);
	return ret;
}
