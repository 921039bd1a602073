// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pidN: the functions of a process.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/probe/user.h"

#define NAME	  20
#define MOST_PIDS 4194304
#define GLOBS	  "*?["

struct in_process {
	struct ki_d_finding f;
	char provider[NAME];
	const struct ki_symbol *sym;
	struct ki_function *fn;
};

static int refuse(const struct in_process *p, const char *tag, const char *why)
{
	const struct ki_d_pattern *d = p->f.m->pattern;

	if (p->f.m->later) /* it may still come */
		return 0;
	return ki_d_fail(p->f.m->d, p->f.m->err, d->at, tag, "%.40s:%.60s:%.60s:%.40s: %s",
			 d->field[0], d->field[1], d->field[2], d->field[3], why);
}

static int found_as(struct in_process *p, const char *function, const char *name,
		    const uint64_t *addrs, size_t n)
{
	const struct ki_d_user_names names = {p->provider, p->sym->module, function, name};
	const struct ki_d_user u = {
		.pid = p->f.pid, .start = p->fn->start, .is_return = !strcmp(name, "return")};

	return ki_d_user_found(&p->f, &names, &u, addrs, (uint32_t)n, NULL);
}

static int found(struct in_process *p, const char *name, const uint64_t *addrs, size_t n)
{
	return found_as(p, p->sym->name, name, addrs, n);
}

/* Returns, and jumps out of the function for good, if they are unconditional. */
static int find_return(struct in_process *p)
{
	const struct ki_function *fn = p->fn;
	uint64_t *addrs = malloc((fn->nedges + 1) * sizeof(*addrs));
	size_t n = 0;
	int ret = 0;

	if (!addrs)
		return ki_d_no_memory(p->f.m->err);
	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];
		const struct ki_block *b = &fn->blocks[e->block];
		const struct ki_insn *last = &fn->insns[b->first + b->count - 1];

		if ((e->kind == KI_EDGE_RETURN || e->kind == KI_EDGE_TAIL ||
		     e->kind == KI_EDGE_TAIL_INDIRECT) &&
		    last->kind != KI_INSN_JCC)
			addrs[n++] = last->addr;
	}
	if (n)
		ret = found(p, "return", addrs, n);
	free(addrs);
	return ret;
}

static int find_offsets(struct in_process *p)
{
	const char *field = p->f.m->pattern->field[3];
	char name[NAME];
	int ret = 0;

	for (uint32_t i = 0; !ret && i < p->fn->ninsns; i++) {
		const struct ki_insn *in = &p->fn->insns[i];

		snprintf(name, sizeof(name), "%" PRIx64, in->addr - p->fn->start);
		if (in->kind != KI_INSN_PAD && ki_d_field_matches(field, name))
			ret = found(p, name, &in->addr, 1);
	}
	return ret;
}

static bool is_offset(const char *field)
{
	return *field && !field[strspn(field, "0123456789abcdefABCDEF")];
}

static bool may_be_offset(const char *field)
{
	if (!strcmp(field, "entry"))
		return false;
	return !*field || is_offset(field) || strpbrk(field, GLOBS);
}

static int in_function(struct in_process *p)
{
	const char *field = p->f.m->pattern->field[3];
	struct ki_err ignored = {0};
	int ret = 0;

	if (ki_function_analyze(p->f.t, p->sym, &p->fn, &ignored))
		return ignored.code == -ENOMEM ? ki_d_no_memory(p->f.m->err) : 0;
	if (ki_d_field_matches(field, "entry"))
		ret = found(p, "entry", &p->fn->start, 1);
	if (!ret && ki_d_field_matches(field, "return"))
		ret = find_return(p);
	if (!ret && may_be_offset(field))
		ret = find_offsets(p);
	ki_function_free(p->fn);
	p->fn = NULL;
	return ret;
}

/* Where the program has what its file has at that address; 0: nowhere. */
static uint64_t in_program(const struct in_process *p, uint64_t addr)
{
	const struct ki_mappings *maps = &p->f.maps;
	uint64_t start = 0;

	for (size_t i = 0; i < maps->m.n; i++) {
		const struct ki_mapping *m = &maps->m.v[i];
		const char *name = strrchr(ki_mapping_path(maps, m), '/');

		if (!name || strcmp(name + 1, p->f.program) != 0)
			continue;
		if (!m->off)
			start = m->start;
		if (m->executable && addr >= m->start && addr < m->end)
			return addr;
		if (m->executable && start && start + addr >= m->start && start + addr < m->end)
			return start + addr;
	}
	return 0;
}

/* The function -: an instruction of the program itself, by its address in the file. */
static int find_address(struct in_process *p)
{
	const char *name = p->f.m->pattern->field[3];
	struct ki_err ignored = {0};
	uint64_t addr;
	int ret = 0;

	if (!is_offset(name))
		return refuse(p, "D_PROC_NAME", "behind - an address in the program is expected");
	if (!ki_d_user_module(&p->f, p->f.program))
		return refuse(p, "D_PROC_LIB", "- is the program's alone: a.out");
	addr = in_program(p, strtoull(name, NULL, 16));
	p->sym = addr ? ki_target_symbol_at(p->f.t, addr) : NULL;
	if (p->sym && ki_function_analyze(p->f.t, p->sym, &p->fn, &ignored))
		return ignored.code == -ENOMEM ? ki_d_no_memory(p->f.m->err) : 0;
	for (uint32_t i = 0; !ret && p->fn && i < p->fn->ninsns; i++)
		if (p->fn->insns[i].addr == addr)
			ret = found_as(p, "-", name, &addr, 1);
	ki_function_free(p->fn);
	p->fn = NULL;
	return ret || p->f.any ? ret : refuse(p, "D_PROC_OFF", "no instruction begins there");
}

static bool has_module(const struct in_process *p)
{
	const struct ki_text_range *r;
	size_t n;

	r = ki_target_ranges(p->f.t, &n);
	for (size_t i = 0; i < n; i++)
		if (ki_d_user_module(&p->f, r[i].module))
			return true;
	return false;
}

/* Of a description without globs what is missing has a tag of its own. */
static int why_none(const struct in_process *p, bool has_function)
{
	char *const *field = p->f.m->pattern->field;

	if (p->f.any || p->f.m->d->set.zdefs || strpbrk(field[0], GLOBS))
		return 0;
	if (!strpbrk(field[1], GLOBS) && !has_module(p))
		return refuse(p, "D_PDESC_ZERO", "the process has no such module");
	if (!has_function && *field[2] && !strpbrk(field[2], GLOBS))
		return refuse(p, "D_PROC_FUNC", "no such function");
	if (has_function && may_be_offset(field[3]))
		return refuse(p, "D_PROC_OFF", "no instruction begins there");
	if (has_function && !strpbrk(field[3], GLOBS))
		return refuse(p, "D_PROC_NAME", "entry, return, or an offset");
	return 0;
}

static bool is_better(const struct ki_symbol *a, const struct ki_symbol *b)
{
	if (a->local != b->local)
		return b->local;
	return strspn(a->name, "_") < strspn(b->name, "_");
}

/*
 * Of several names of one place, one that other files see; then the one with the fewest underscores
 * before it.
 */
static const struct ki_symbol *best_name(const struct ki_symbol *all, size_t n, size_t i)
{
	const struct ki_symbol *best = &all[i], *s = best;

	while (s > all && s[-1].addr == best->addr)
		s--;
	for (; s < all + n && s->addr == best->addr; s++)
		if (is_better(s, best))
			best = s;
	return best;
}

/* Of the table of jumps to other files' functions: no function of the program. */
static bool is_jump(const char *name)
{
	const char *at = strchr(name, '@');

	return at && !strcmp(at, "@plt");
}

static int find_all(struct in_process *p)
{
	const char *field = p->f.m->pattern->field[2];
	const bool several = !*field || strpbrk(field, GLOBS);
	const struct ki_symbol *all;
	bool has_function = false;
	size_t n;
	int ret = 0;

	all = ki_target_symbols(p->f.t, &n);
	for (size_t i = 0; !ret && i < n; i++) {
		if (several && all[i].alias)
			continue;
		p->sym = best_name(all, n, i);
		if (several && is_jump(p->sym->name) && !strchr(field, '@'))
			continue;
		if (!ki_d_field_matches(field, several ? p->sym->name : all[i].name) ||
		    !ki_d_user_module(&p->f, all[i].module) ||
		    !ki_d_finding_new(&p->f, all[i].addr, all[i].addr + 1))
			continue;
		has_function = true;
		ret = in_function(p);
	}
	return ret ? ret : why_none(p, has_function);
}

int ki_d_find_pid(struct ki_d_match *m, const struct ki_d_provider *self)
{
	struct in_process p = {.f = {.m = m, .provider = self}};
	struct ki_err why = {0};
	const char *field = m->pattern->field[0];
	char nothing = 0, *end = &nothing;
	unsigned long pid = strpbrk(field, GLOBS) ? (unsigned long)m->d->o.target
						  : strtoul(field + strlen("pid"), &end, 10);
	int ret;

	if (*end || !pid || pid > MOST_PIDS)
		return refuse(&p, "D_PROC_BADPID", "pid and the number of a process");
	p.f.pid = (pid_t)pid;
	if (m->later && m->later->pid != p.f.pid)
		return 0;
	snprintf(p.provider, sizeof(p.provider), "pid%d", p.f.pid);
	ret = ki_d_finding_begin(&p.f, &why);
	if (ret == -EINVAL)
		ret = refuse(&p, "D_PROC_GRAB", why.msg);
	if (!ret && p.f.t)
		ret = strcmp(m->pattern->field[2], "-") ? find_all(&p) : find_address(&p);
	ki_d_finding_end(&p.f);
	return ret;
}
