/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who calls whom, and whose part a function is.
 */
#include <stdio.h>
#include <string.h>

#include "code/program/program.h"

static int make_callers(struct ki_program *p)
{
	uint32_t *first = calloc(p->nfunctions + 2ull, sizeof(*first));
	uint32_t *v = malloc((p->ncalls + 1ull) * sizeof(*v));

	p->callers = (struct ki_links){first, v};
	if (!first || !v)
		return -ENOMEM;
	for (uint32_t c = 0; c < p->ncalls; c++)
		if (p->calls[c].callee != KI_NONE)
			first[p->calls[c].callee + 2]++;
	for (uint32_t f = 0; f < p->nfunctions; f++)
		first[f + 2] += first[f + 1];
	for (uint32_t c = 0; c < p->ncalls; c++)
		if (p->calls[c].callee != KI_NONE)
			v[first[p->calls[c].callee + 1]++] = c;
	return 0;
}

/* What compilers append to the name of the function that they take apart. */
static const struct {
	const char *suffix;
	uint16_t flag;
} part_suffixes[] = {
	{".cold", KI_FUNCTION_COLD},  {".part", KI_FUNCTION_CLONE},
	{".isra", KI_FUNCTION_CLONE}, {".constprop", KI_FUNCTION_CLONE},
	{".llvm", KI_FUNCTION_CLONE},
};

/* The last suffix of a name: "f.part.0.cold" is the cold part of "f.part.0". */
static uint16_t find_suffix(const char *name, size_t *base)
{
	uint16_t flag = 0;

	*base = 0;
	for (size_t i = 0; i < sizeof(part_suffixes) / sizeof(*part_suffixes); i++) {
		const char *at = strstr(name, part_suffixes[i].suffix);
		size_t len = strlen(part_suffixes[i].suffix);

		if (at && at != name && (!at[len] || at[len] == '.') &&
		    (size_t)(at - name) > *base) {
			*base = (size_t)(at - name);
			flag = part_suffixes[i].flag;
		}
	}
	return flag;
}

/* Does code of `from` jump into, or call, function `to`? *work grows by what that took. */
static bool leads_to(const struct ki_program *p, uint32_t from, uint32_t to, uint64_t *work)
{
	const struct ki_program_function *f = &p->functions[from];
	uint32_t end = p->blocks[f->first_block + f->nblocks].first_edge;

	*work += end - p->blocks[f->first_block].first_edge + f->ncalls;
	for (uint32_t e = p->blocks[f->first_block].first_edge; e < end; e++) {
		uint32_t b = p->edges[e].to_block;

		if (b != KI_NONE && p->blocks[b].function == to)
			return true;
	}
	for (uint32_t c = f->first_call; c < f->first_call + f->ncalls; c++)
		if (p->calls[c].callee == to)
			return true;
	return false;
}

/*
 * Of the functions of that name: the one that leads to the part; else the only one. Where so many
 * have the name that it would take too long, nobody is.
 */
static uint32_t find_parent(const struct ki_program *p, uint32_t part, const char *name,
			    uint64_t *work)
{
	const struct ki_symbol *sym = NULL;
	const char *module = p->functions[part].symbol->module;
	uint64_t most = 1000000 + 16ull * ((uint64_t)p->nedges + p->ncalls + p->nfunctions);
	uint32_t found = KI_NONE, n = 0;

	while ((sym = ki_target_symbol_named(p->target, module, name, sym))) {
		uint32_t f = ki_program_function_at(p, sym->addr);

		if ((*work)++ > most)
			return KI_NONE;
		if (f == KI_NONE || f == part)
			continue;
		if (leads_to(p, f, part, work))
			return f;
		found = f;
		n++;
	}
	return n == 1 ? found : KI_NONE;
}

static void find_parents(struct ki_program *p)
{
	uint64_t work = 0;

	for (uint32_t f = 0; f < p->nfunctions; f++) {
		struct ki_program_function *pf = &p->functions[f];
		char name[512];
		uint32_t parent;
		size_t base;
		uint16_t flag;

		if (!strchr(pf->symbol->name, '.'))
			continue;
		flag = find_suffix(pf->symbol->name, &base);
		if (!flag || base >= sizeof(name))
			continue;
		pf->flags |= flag;
		snprintf(name, sizeof(name), "%.*s", (int)base, pf->symbol->name);
		parent = find_parent(p, f, name, &work);
		if (parent == KI_NONE)
			continue;
		pf->parent = parent;
		p->totals.parts++;
		if (flag == KI_FUNCTION_COLD)
			p->compiled[f] |= p->compiled[parent];
	}
}

int ki_program_connect(struct ki_program *p, struct ki_err *err)
{
	int ret = make_callers(p);

	if (!ret) {
		find_parents(p);
		ret = ki_program_noreturn(p);
	}
	return ret ? ki_err_set(err, ret, 0, "out of memory for the call graph") : 0;
}
