// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlang/print/show.h"
#include "dlang/probe/probe.h"
#include "dlang/probe/user.h"
#include "dlang/run/run.h"
#include "record/stacks.h"
#include "record/users.h"

/* ---- the kernel ---- */

static const char *module_of(const struct ki_symbol *sym)
{
	return *sym->module ? sym->module : KI_D_KERNEL;
}

static const struct ki_symbol *symbol_at(const struct ki_dlang *d, uint64_t addr)
{
	return d->run ? ki_target_symbol_at(d->run->t, addr) : NULL;
}

static const char *unknown(uint64_t addr, char text[KI_D_ADDRESS])
{
	snprintf(text, KI_D_ADDRESS, "0x%" PRIx64, addr);
	return text;
}

/* A variable of the kernel that the program names, at that address; NULL: there is none. */
static const char *variable_at(const struct ki_dlang *d, uint64_t addr)
{
	for (size_t i = 0; i < d->symbols.n; i++)
		if (d->symbols.v[i]->value == addr)
			return d->symbols.v[i]->text;
	return NULL;
}

static const char *no_function(const struct ki_dlang *d, uint64_t addr, char text[KI_D_ADDRESS])
{
	const char *name = addr ? variable_at(d, addr) : NULL;

	if (!name)
		return unknown(addr, text);
	snprintf(text, KI_D_ADDRESS, "%s%s", *name == '`' ? KI_D_KERNEL : "", name);
	return text;
}

const char *ki_d_address(const struct ki_dlang *d, uint64_t addr, char text[KI_D_ADDRESS])
{
	const struct ki_symbol *sym = symbol_at(d, addr);

	if (!sym)
		return no_function(d, addr, text);
	if (addr == sym->addr)
		snprintf(text, KI_D_ADDRESS, "%s`%s", module_of(sym), sym->name);
	else
		snprintf(text, KI_D_ADDRESS, "%s`%s+0x%" PRIx64, module_of(sym), sym->name,
			 addr - sym->addr);
	return text;
}

/* The module's first symbol: they are in order of their addresses. */
static uint64_t module_begin(const struct ki_dlang *d, const struct ki_symbol *of)
{
	size_t n;
	const struct ki_symbol *all = ki_target_symbols(d->run->t, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].module, of->module))
			return all[i].addr;
	return of->addr;
}

/* ---- processes ---- */

static struct ki_users *users_of(struct ki_dlang *d)
{
	if (d->run->stacks)
		return d->run->stacks->looked->users;
	if (!d->run->users && ki_users_new(&d->run->users))
		return NULL;
	return d->run->users;
}

void ki_d_place_look(struct ki_dlang *d, uint32_t tgid)
{
	struct ki_users *users = users_of(d);

	if (users)
		ki_users_read(users, tgid);
}

static bool find(struct ki_dlang *d, uint32_t tgid, uint64_t addr, struct ki_user_frame *out)
{
	struct ki_users *users = users_of(d);
	const struct ki_symbol *sym = NULL;

	if (users && ki_users_find(users, tgid, addr, out))
		return true;
	/* It has ended, and has probes: so what it was is known. */
	for (size_t i = 0; !sym && i < d->processes.n; i++)
		if ((uint32_t)d->processes.v[i].pid == tgid)
			sym = ki_target_symbol_at(d->processes.v[i].t, addr);
	if (sym)
		*out = (struct ki_user_frame){
			.symbol = sym->name, .offset = addr - sym->addr, .path = sym->module};
	return sym;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *ki_d_user_address(struct ki_dlang *d, uint32_t tgid, uint64_t addr,
			      char text[KI_D_ADDRESS])
{
	struct ki_user_frame u;

	if (!find(d, tgid, addr, &u))
		return unknown(addr, text);
	if (d->set.noresolve)
		snprintf(text, KI_D_ADDRESS, "%s:0x%" PRIx64, base_of(u.path), addr);
	else if (!*u.symbol)
		snprintf(text, KI_D_ADDRESS, "%s`0x%" PRIx64, base_of(u.path), addr);
	else if (!u.offset)
		snprintf(text, KI_D_ADDRESS, "%s`%s", base_of(u.path), u.symbol);
	else
		snprintf(text, KI_D_ADDRESS, "%s`%s+0x%" PRIx64, base_of(u.path), u.symbol,
			 u.offset);
	return text;
}

/* The first address of this file of the process that has been asked for. */
static uint64_t file_first(struct ki_dlang *d, uint32_t tgid, const char *path, uint64_t addr)
{
	const struct ki_d_file file = {path, addr, tgid};

	for (size_t i = 0; i < d->run->files.n; i++)
		if (d->run->files.v[i].tgid == tgid && !strcmp(d->run->files.v[i].path, path))
			return d->run->files.v[i].addr;
	return ki_vec_push(&d->run->files, file) ? addr : file.addr;
}

/* ---- both ---- */

void ki_d_place_first(struct ki_dlang *d, enum ki_d_place place, uint64_t *words)
{
	const bool user = place >= KI_D_USYM;
	const struct ki_symbol *sym = user ? NULL : symbol_at(d, *words);
	struct ki_user_frame u;

	if (sym)
		*words = place == KI_D_SYM ? sym->addr : module_begin(d, sym);
	if (!user || place == KI_D_UADDR || !find(d, (uint32_t)words[0], words[1], &u))
		return;
	if (d->set.noresolve && place == KI_D_USYM)
		return;
	words[1] = place == KI_D_USYM ? words[1] - u.offset
				      : file_first(d, (uint32_t)words[0], u.path, words[1]);
}

const char *ki_d_place_text(struct ki_dlang *d, enum ki_d_place place, const uint64_t *words,
			    char text[KI_D_ADDRESS])
{
	const struct ki_symbol *sym = place < KI_D_USYM ? symbol_at(d, *words) : NULL;
	uint64_t first[2] = {words[0], place < KI_D_USYM ? 0 : words[1]};
	struct ki_user_frame u;

	switch (place) {
	case KI_D_SYM:
		if (!sym)
			return no_function(d, *words, text);
		snprintf(text, KI_D_ADDRESS, "%s`%s", module_of(sym), sym->name);
		return text;
	case KI_D_MOD:
		if (sym)
			return module_of(sym);
		no_function(d, *words, text);
		text[strcspn(text, "`")] = '\0';
		return text;
	case KI_D_USYM:
		ki_d_place_first(d, place, first);
		break;
	case KI_D_UMOD:
		return find(d, (uint32_t)words[0], words[1], &u) ? base_of(u.path)
								 : unknown(words[1], text);
	default:
		break;
	}
	return ki_d_user_address(d, (uint32_t)first[0], first[1], text);
}

/* ---- stacks ---- */

static bool begin_alike(const struct ki_stack *a, const struct ki_stack *b, unsigned int frames)
{
	const uint32_t n = a->n < frames ? a->n : frames, m = b->n < frames ? b->n : frames;

	return a->tgid == b->tgid && n == m && !memcmp(a->addrs, b->addrs, n * sizeof(*a->addrs));
}

static uint64_t hash_of(const struct ki_stack *s, unsigned int frames)
{
	return ki_d_hash(s->addrs, (s->n < frames ? s->n : frames) * sizeof(*s->addrs)) + s->tgid;
}

/* A stack while it is looked for among others. */
struct looked_for {
	struct ki_dlang *d;
	const struct ki_stack *s;
	unsigned int frames;
};

static bool is_it(const void *numbers, uint32_t i, const void *arg)
{
	const uint64_t *const *v = numbers;
	const struct looked_for *l = arg;
	struct ki_stack s;

	return !ki_d_stack_get(l->d, *v[i], &s) && begin_alike(&s, l->s, l->frames);
}

void ki_d_stacks_first(struct ki_dlang *d, unsigned int frames, uint64_t *words, size_t n,
		       size_t stride)
{
	struct ki_d_index index = {0};
	ki_vec(const uint64_t *) seen = {0};

	for (size_t i = 0; i < n; i++, words += stride) {
		struct ki_stack s;
		const struct looked_for l = {d, &s, frames};
		uint32_t found;

		if (ki_d_stack_get(d, *words, &s))
			continue;
		found = ki_d_index_find(&index, hash_of(&s, frames), is_it, seen.v, &l);
		if (found != UINT32_MAX)
			*words = *seen.v[found];
		else if (!ki_vec_push(&seen, (const uint64_t *)words))
			ki_d_index_add(&index, hash_of(&s, frames), (uint32_t)seen.n - 1);
	}
	ki_d_index_free(&index);
	ki_vec_free(&seen);
}
