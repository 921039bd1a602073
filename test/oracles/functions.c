// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions: where the file's own symbols say that they begin and end.
 */
#include <string.h>

#include "oracles.h"

/* With padding: compilers count none of it; assembly may. */
static bool ends_at(const struct oracles *o, uint32_t f, uint64_t end)
{
	const struct ki_program_function *pf = &o->functions[f];
	uint64_t code = pf->symbol->addr + pf->code_size;
	const struct listing *l = &o->listing;

	if (code == end)
		return true;
	if (code > end)
		return false;
	for (size_t i = listing_from(l, code); i < l->lines.n && l->lines.v[i].addr < end; i++)
		if (l->lines.v[i].kind != LINE_PAD)
			return false;
	return true;
}

/* Nothing but padding up to an aligned place, where there is code. */
static bool is_new_start(const struct oracles *o, uint64_t addr)
{
	const struct listing *l = &o->listing;

	for (size_t i = listing_from(l, addr); i < l->lines.n; i++)
		if (l->lines.v[i].kind != LINE_PAD)
			return l->lines.v[i].addr % 16 == 0 && l->lines.v[i].addr - addr < 16;
	return false;
}

/* Stripped programs, and some functions of modules: after the symbol's own code stand functions
 * without a symbol. */
static void check_size(struct oracles *o, uint32_t f, const struct elf_symbol *s)
{
	const struct ki_program_function *pf = &o->functions[f];
	uint64_t end = s->addr + s->size;

	if (!s->size || !pf->nblocks || ends_at(o, f, end))
		return;
	if (ki_program_insn_at(o->p, end) || ki_program_block_at(o->p, end) == KI_NONE) {
		if (end > s->addr + pf->symbol->size) {
			differ(o, CAUSE_INNER_SYMBOL, end, "symbols inside of %s", s->name);
			return;
		}
		if (end < s->addr + pf->code_size && (!o->image.whole || is_new_start(o, end))) {
			differ(o, CAUSE_NO_SYMBOL, end, "functions without a symbol");
			return;
		}
	}
	differ(o, CAUSE_SIZE, end, "its code ends at +%u, its symbol at +%u", pf->code_size,
	       (unsigned int)s->size);
}

static uint64_t largest(const struct oracles *o, size_t *i)
{
	const struct elf_symbol *s = &o->image.symbols.v[*i];
	uint64_t size = 0, addr = s->addr;

	for (; *i < o->image.symbols.n && o->image.symbols.v[*i].addr == addr; ++*i)
		if (o->image.symbols.v[*i].size > size)
			size = o->image.symbols.v[*i].size;
	return size;
}

static void check_symbols(struct oracles *o)
{
	for (size_t i = 0; i < o->image.symbols.n;) {
		struct elf_symbol s = o->image.symbols.v[i];
		uint32_t f = ki_program_function_at(o->p, s.addr);

		s.size = largest(o, &i);
		looked(o, 1);
		if (f == KI_NONE || o->functions[f].symbol->addr != s.addr)
			differ(o, CAUSE_START, s.addr, "no function begins where %s does", s.name);
		else
			check_size(o, f, &s);
	}
}

/* Every text symbol of the target's once. */
static void check_starts(struct oracles *o)
{
	const struct ki_symbol *s;
	uint32_t f = 0;
	size_t n;

	s = ki_target_symbols(o->t, &n);
	for (size_t i = 0; i < n; i++) {
		if (i && s[i].addr == s[i - 1].addr)
			continue;
		if (f >= o->nfunctions || o->functions[f].symbol->addr != s[i].addr)
			differ(o, CAUSE_START, s[i].addr, "%s is not a function", s[i].name);
		else
			f++;
	}
	looked(o, f);
	if (f != o->nfunctions)
		differ(o, CAUSE_START, 0, "%u functions, %u symbols", o->nfunctions, f);
}

void check_functions(struct oracles *o)
{
	check_starts(o);
	if (!o->map)
		check_symbols(o);
}

void check_parsed(struct oracles *o)
{
	for (uint32_t f = 0; f < o->nfunctions; f++) {
		const struct ki_program_function *pf = &o->functions[f];

		looked(o, 1);
		o->nall++;
		o->nparsed += !!(pf->flags & KI_FUNCTION_PARSED);
		if (!(pf->flags & KI_FUNCTION_PARSED))
			differ(o, CAUSE_UNPARSED, pf->symbol->addr, "%s",
			       ki_reason_tag(pf->unparsed));
	}
}

/* Does a direct branch of objdump's lead from function `from` into function `to`? */
static bool branches(const struct oracles *o, uint32_t from, uint32_t to)
{
	const struct ki_symbol *s = o->functions[from].symbol, *d = o->functions[to].symbol;
	const struct listing *l = &o->listing;

	for (size_t i = listing_from(l, s->addr);
	     i < l->lines.n && l->lines.v[i].addr < s->addr + s->size; i++)
		if (l->lines.v[i].target - d->addr < d->size)
			return true;
	return false;
}

/* Some function whose name is the part's without its end, and which branches into it. */
static uint32_t find_brancher(const struct oracles *o, uint32_t part, const char *name)
{
	const struct ki_symbol *s = NULL;

	while ((s = ki_target_symbol_named(o->t, NULL, name, s))) {
		uint32_t f = ki_program_function_at(o->p, s->addr);

		if (f != KI_NONE && f != part && branches(o, f, part))
			return f;
	}
	return KI_NONE;
}

static void check_cold(struct oracles *o, uint32_t f, const char *cold)
{
	const struct ki_program_function *pf = &o->functions[f];
	uint32_t parent;
	char name[512];

	snprintf(name, sizeof(name), "%.*s", (int)(cold - pf->symbol->name), pf->symbol->name);
	parent = find_brancher(o, f, name);
	looked(o, 1);
	if (!(pf->flags & KI_FUNCTION_COLD))
		differ(o, CAUSE_PARENT, pf->symbol->addr, "not a cold part");
	else if (parent == KI_NONE)
		differ(o, CAUSE_LOST_PARENT, pf->symbol->addr, "no %s branches to it", name);
	else if (pf->parent != parent && !branches(o, pf->parent, f))
		differ(o, CAUSE_PARENT, pf->symbol->addr, "its parent is %s",
		       o->functions[pf->parent].symbol->name);
}

void check_parents(struct oracles *o)
{
	for (uint32_t f = 0; f < o->nfunctions; f++) {
		const char *name = o->functions[f].symbol->name;
		size_t len = strlen(name);

		if (len > 5 && strcmp(name + len - 5, ".cold") == 0)
			check_cold(o, f, name + len - 5);
	}
}
