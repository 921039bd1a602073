// SPDX-License-Identifier: GPL-2.0-only
#include "select.h"

#include <inttypes.h>
#include <stdlib.h>

#include "kerninst/match.h"

struct selecting {
	ki_selection *out;
	const struct ki_pointspec *spec;
};

static int add(ki_selection *out, const struct ki_symbol *sym, uint64_t from)
{
	return ki_vec_push(out, ((struct selected){sym, from})) ? cli_no_memory() : CLI_OK;
}

static int take(void *ctx, const struct ki_symbol *sym)
{
	struct selecting *s = ctx;
	uint64_t offset = s->spec->suffix == KI_POINTSPEC_OFFSET ? s->spec->number : 0;

	if (offset && offset >= sym->size)
		return cli_error("%s+0x%" PRIx64 ": the function has only 0x%" PRIx64
				 " bytes; kerninst list shows sizes",
				 sym->name, offset, sym->size);
	return add(s->out, sym, sym->addr + offset);
}

static int take_address(struct ki_target *t, uint64_t addr, ki_selection *out)
{
	const struct ki_symbol *sym = ki_target_symbol_at(t, addr);
	struct ki_err err = {0};

	if (sym)
		return add(out, sym, addr);
	ki_err_reason(&err, KI_R_NOT_TEXT, addr, "0x%" PRIx64, addr);
	return cli_fail(&err);
}

static int select_one(struct ki_target *t, const struct verb *self, const char *text, bool offsets,
		      ki_selection *out)
{
	struct ki_pointspec spec;
	struct selecting s = {out, &spec};
	const char *why;
	size_t count;
	int ret;

	if (ki_pointspec_parse(text, &spec, &why))
		return cli_misuse(self, "'%s': %s", text, why);
	if (spec.suffix == KI_POINTSPEC_ADDRESS)
		return take_address(t, spec.number, out);
	if (spec.suffix != KI_POINTSPEC_NONE && !(offsets && spec.suffix == KI_POINTSPEC_OFFSET))
		return cli_misuse(self, "'%s': %s takes functions, not points", text, self->name);
	ret = ki_match_each(t, &spec, take, &s, &count);
	return !ret && !count ? cli_nothing(t, &spec) : ret;
}

static int by_address(const void *a, const void *b)
{
	const struct selected *x = a, *y = b;

	/* symbols are elements of one sorted table */
	if (x->sym != y->sym)
		return x->sym < y->sym ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void sort(ki_selection *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_address);
	for (size_t i = 0; i < s->n; i++)
		if (!n || by_address(&s->v[n - 1], &s->v[i]))
			s->v[n++] = s->v[i];
	s->n = n;
}

int select_functions(struct ki_target *t, const struct verb *self, char **args, int n, bool offsets,
		     ki_selection *out)
{
	int ret = CLI_OK;

	for (int i = 0; !ret && i < n; i++)
		ret = select_one(t, self, args[i], offsets, out);
	sort(out);
	return ret;
}
