// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Descriptions to probes. Several clauses may mean one probe, which then has all of them, in the
 * order of the program.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/probe/probe.h"
#include "dlang/run/run.h"
#include "dlang/words/names.h"

/* A clause of a probe, and the description that says so. */
struct pair {
	uint32_t probe, clause, pattern;
};

struct ki_d_pairs {
	ki_vec(struct pair) all;
};

const char *ki_d_provider_name(const struct ki_d_probe *p)
{
	return p->called ? p->called : p->provider->name;
}

bool ki_d_field_matches(const char *field, const char *text)
{
	const size_t n = strcspn(field, "*?[\\");

	/* What stands before the first glob must be there. Without any, that is all. */
	if (!*field)
		return true;
	if (strncmp(field, text, n) != 0)
		return false;
	return field[n] ? !fnmatch(field, text, 0) : !text[n];
}

int ki_d_found_again(struct ki_d_match *m, uint32_t probe)
{
	if (ki_vec_push(&m->pairs->all, (struct pair){probe, m->clause, m->number}))
		return ki_d_no_memory(m->err);
	return 0;
}

int ki_d_found(struct ki_d_match *m, const struct ki_d_provider *p, const struct ki_symbol *sym,
	       const char *function, unsigned int side)
{
	static const char *const sides[] = {"entry", "return"};
	size_t n, i = (size_t)(sym - ki_target_symbols(m->t, &n));
	uint32_t *slot = &m->by_symbol[2 * (p->number * m->nsymbols + i) + side];
	struct ki_d_probe probe = {.provider = p,
				   .sym = sym,
				   .module = *sym->module ? sym->module : KI_D_KERNEL,
				   .function = function,
				   .name = sides[side],
				   .id = KI_D_FIRST_FUNCTION +
					 (uint32_t)(2 * (p->number * m->nsymbols + i)) + side};

	if (m->only && m->only != probe.id)
		return 0;
	if (!*slot) {
		if (ki_vec_push(&m->d->probes, probe))
			return ki_d_no_memory(m->err);
		*slot = (uint32_t)m->d->probes.n;
	}
	return ki_d_found_again(m, *slot - 1);
}

/* Those that all programs may have come first, then those that this one alone has. */
static uint32_t id_named(const struct ki_dlang *d, const char *name)
{
	static const char *const always[] = {"BEGIN", "END", "ERROR"};
	const uint32_t n = sizeof(always) / sizeof(*always);
	uint32_t others = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(name, always[i]))
			return i + 1;
	for (size_t i = 0; i < d->probes.n; i++)
		others += d->probes.v[i].id > n && d->probes.v[i].id < KI_D_FIRST_STABLE;
	return n + 1 + others;
}

int ki_d_found_named(struct ki_d_match *m, const struct ki_d_provider *p, const char *name,
		     uint64_t nanoseconds)
{
	const bool on_all = p->find == ki_d_find_cpc || !strncmp(name, "profile-", 8);
	struct ki_d_probe probe = {
		.provider = p,
		.module = "",
		.function = "",
		.nanoseconds = nanoseconds,
	};
	struct ki_d_hook *hook = on_all ? calloc(1, sizeof(*hook)) : NULL;

	probe.id = id_named(m->d, name);
	if (m->only && m->only != probe.id)
		return 0;
	for (uint32_t i = 0; i < m->d->probes.n; i++)
		if (m->d->probes.v[i].id < KI_D_FIRST_STABLE &&
		    !strcmp(m->d->probes.v[i].name, name))
			return ki_d_found_again(m, i);
	probe.owned = strdup(name);
	probe.name = probe.owned;
	probe.hook = hook;
	if (hook)
		hook->kind = KI_D_HOOK_PROFILE;
	if (!probe.owned || (on_all && !hook) || ki_vec_push(&m->d->probes, probe)) {
		free(hook);
		free(probe.owned);
		return ki_d_no_memory(m->err);
	}
	return ki_d_found_again(m, (uint32_t)m->d->probes.n - 1);
}

/* The names of an event, which are its hook's, too. */
static char *copy_owned(struct ki_d_probe *p)
{
	size_t module = strlen(p->module) + 1, name = strlen(p->name) + 1;
	char *owned = malloc(module + name);

	if (!owned)
		return NULL;
	memcpy(owned, p->module, module);
	memcpy(owned + module, p->name, name);
	p->module = p->hook->group = owned;
	p->name = p->hook->event = owned + module;
	return owned;
}

int ki_d_found_probe(struct ki_d_match *m, const struct ki_d_probe *p)
{
	struct ki_d_probe copy = *p;

	if (p->id >= KI_D_FIRST_FUNCTION || (m->only && m->only != p->id))
		return 0;
	if (m->by_id[p->id])
		return ki_d_found_again(m, m->by_id[p->id] - 1);
	copy.hook = malloc(sizeof(*copy.hook));
	if (copy.hook)
		*copy.hook = *p->hook;
	if (copy.hook && copy.owned)
		copy.owned = copy_owned(&copy);
	if (!copy.hook || (p->owned && !copy.owned) || ki_vec_push(&m->d->probes, copy)) {
		free(copy.hook);
		if (copy.owned != p->owned)
			free(copy.owned);
		return ki_d_no_memory(m->err);
	}
	m->by_id[p->id] = (uint32_t)m->d->probes.n;
	return ki_d_found_again(m, m->by_id[p->id] - 1);
}

const char *ki_d_match_events(struct ki_d_match *m)
{
	if (!m->events && !m->no_events)
		m->events = ki_d_hook_events();
	m->no_events = !m->events;
	return m->events;
}

/* A name that is a number, and nothing else: the probe that is listed as that. */
static uint32_t id_of(const struct ki_d_pattern *p)
{
	const char *name = p->field[3];
	unsigned long id;

	if (*p->field[0] || *p->field[1] || *p->field[2] || !*name ||
	    name[strspn(name, "0123456789")])
		return 0;
	id = strtoul(name, NULL, 10);
	return id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* NAME and digits, with no glob in them; NAME "": any that no other has. */
static bool names_process(const char *field, const char *name)
{
	const size_t n = strlen(name), len = strlen(field);
	size_t digits;

	if (n && strncmp(field, name, n) != 0)
		return false;
	digits = strspn(field + n, "0123456789");
	if (n)
		return digits && !field[n + digits];
	return len && isdigit((unsigned char)field[len - 1]) && !isdigit((unsigned char)*field) &&
	       !strpbrk(field, "*?[") && !names_process(field, "pid");
}

bool ki_d_means_processes(const char *field)
{
	const size_t n = strcspn(field, "*?[");

	if (!n || !field[n])
		return false;
	for (const struct ki_d_provider *p = ki_d_providers; p->name; p++)
		if (!p->of_process && ki_d_field_matches(field, p->name))
			return false;
	return true;
}

bool ki_d_lists_target(const struct ki_dlang *d, const char *field)
{
	return d->o.lists && d->o.target > 0 && (!*field || strpbrk(field, "*?["));
}

/* pid* and the like: of the target alone. */
static bool means_target(const struct ki_dlang *d, const char *field)
{
	char name[24];

	snprintf(name, sizeof(name), "pid%d", d->o.target);
	return d->o.target > 0 && ki_d_means_processes(field) && ki_d_field_matches(field, name);
}

static bool is_asked(const struct ki_dlang *d, const struct ki_d_pattern *pattern,
		     const struct ki_d_provider *p)
{
	const char *field = pattern->field[0];

	if (!p->of_process)
		return ki_d_field_matches(field, p->name);
	if (names_process(field, p->name) || (!*p->name && ki_d_lists_target(d, field)))
		return true;
	return *p->name ? means_target(d, field) : ki_d_means_processes(field);
}

bool ki_dlang_wants_process(const struct ki_dlang *d)
{
	for (size_t i = 0; i < d->patterns.n; i++)
		for (const struct ki_d_provider *p = ki_d_providers; p->name; p++)
			if (p->of_process && is_asked(d, &d->patterns.v[i], p))
				return true;
	return false;
}

/* A provider of any name: of probes that are written into programs. */
static bool means_written(const struct ki_dlang *d)
{
	for (size_t i = 0; i < d->patterns.n; i++)
		for (const struct ki_d_provider *p = ki_d_providers; p->name; p++)
			if (p->of_process && !*p->name && is_asked(d, &d->patterns.v[i], p))
				return true;
	return false;
}

static int ask_all(struct ki_d_match *m)
{
	int ret = 0;

	for (const struct ki_d_provider *p = ki_d_providers; !ret && p->name; p++)
		if (is_asked(m->d, m->pattern, p))
			ret = p->find(m, p);
	return ret;
}

static int find(struct ki_d_match *m, struct ki_d_pattern *pattern)
{
	static char nothing[] = "";
	const struct ki_d_pattern any = {.field = {nothing, nothing, nothing, nothing},
					 .at = pattern->at};
	const size_t before = m->pairs->all.n;
	const char *hint;
	int ret;

	m->only = id_of(pattern);
	m->pattern = m->only ? &any : pattern;
	ret = ask_all(m);
	pattern->matched = m->pairs->all.n - before;
	if (ret || pattern->matched || m->d->set.zdefs)
		return ret;
	hint = ki_d_elsewhere_probe((const char *const *)pattern->field);
	ki_d_fail(m->d, m->err, pattern->at, "D_PDESC_ZERO",
		  "probe description %s:%s:%s:%s does not match any probes%s%s", pattern->field[0],
		  pattern->field[1], pattern->field[2], pattern->field[3], hint ? ": " : "",
		  hint ? hint : "");
	return -ENOENT;
}

static int by_probe(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->probe != y->probe)
		return x->probe < y->probe ? -1 : 1;
	if (x->clause != y->clause)
		return x->clause < y->clause ? -1 : 1;
	return x->pattern < y->pattern ? -1 : x->pattern > y->pattern;
}

static bool in_order(const struct ki_d_pairs *p)
{
	for (size_t i = 1; i < p->all.n; i++)
		if (by_probe(&p->all.v[i - 1], &p->all.v[i]) > 0)
			return false;
	return true;
}

uint32_t ki_d_probe_named(const struct ki_dlang *d, const char *name)
{
	for (uint32_t i = 0; i < d->probes.n; i++)
		if (!ki_d_has_place(&d->probes.v[i]) && !strcmp(d->probes.v[i].name, name))
			return i;
	return UINT32_MAX;
}

uint32_t ki_d_epid(const struct ki_dlang *d, uint32_t probe, uint32_t clause)
{
	const struct ki_d_probe *p = &d->probes.v[probe];
	uint32_t i = p->first;

	while (i + 1 < p->first + p->n && d->uses.v[i] != clause)
		i++;
	return i + 2; /* the reader's own is the first */
}

/* Each probe's clauses, each once for each description that means the probe. */
static int gather_clauses(struct ki_dlang *d, struct ki_d_pairs *pairs, struct ki_err *err)
{
	const struct pair *v = pairs->all.v;

	if (!in_order(pairs))
		qsort(pairs->all.v, pairs->all.n, sizeof(*v), by_probe);
	for (size_t i = 0; i < pairs->all.n; i++) {
		struct ki_d_probe *p = &d->probes.v[v[i].probe];

		if (i && !by_probe(&v[i], &v[i - 1]))
			continue;
		if (!p->n++)
			p->first = (uint32_t)d->uses.n;
		if (ki_vec_push(&d->uses, v[i].clause) || ki_vec_push(&d->statements, v[i].pattern))
			return ki_d_no_memory(err);
	}
	return 0;
}

int ki_dlang_match(struct ki_dlang *d, struct ki_target *t, struct ki_err *err)
{
	struct ki_d_pairs pairs = {0};
	struct ki_d_match m = {.d = d, .t = t, .err = err, .pairs = &pairs};
	int ret = 0;

	/* Before it is looked what they have: what comes meanwhile is told. */
	if (ki_dlang_wants_process(d) && !d->watch)
		d->no_watch = ki_d_watch_new(&d->watch);
	/* What comes later may have arguments in memory. */
	if (means_written(d))
		d->scratch_used = d->texts_used = true;
	ki_target_symbols(t, &m.nsymbols);
	m.by_symbol = calloc(2 * KI_D_FUNCTION_PROVIDERS * (m.nsymbols + 1), sizeof(*m.by_symbol));
	m.by_id = calloc(KI_D_FIRST_FUNCTION, sizeof(*m.by_id));
	if (!m.by_symbol || !m.by_id) {
		free(m.by_symbol);
		free(m.by_id);
		return ki_d_no_memory(err);
	}
	for (uint32_t c = 0; !ret && c < d->clauses.n; c++) {
		m.clause = c;
		for (uint32_t i = 0; !ret && i < d->clauses.v[c].n; i++) {
			m.number = d->clauses.v[c].first + i;
			ret = find(&m, &d->patterns.v[m.number]);
		}
	}
	if (!ret)
		ret = gather_clauses(d, &pairs, err);
	if (ret && d->o.where)
		*d->o.where = d->where;
	ki_d_listed_free(&m);
	free(m.events);
	free(m.by_id);
	free(m.by_symbol);
	ki_vec_free(&pairs.all);
	return ret;
}

/* ---- while it runs ---- */

static int ask_later(struct ki_d_match *m)
{
	int ret = 0;

	for (const struct ki_d_provider *p = ki_d_providers; !ret && p->name; p++)
		if (p->of_process && !id_of(m->pattern) && is_asked(m->d, m->pattern, p))
			ret = p->find(m, p);
	return ret;
}

/* One that was there has its clauses. */
static void leave_new(struct ki_d_pairs *pairs, uint32_t first)
{
	size_t n = 0;

	for (size_t i = 0; i < pairs->all.n; i++)
		if (pairs->all.v[i].probe >= first)
			pairs->all.v[n++] = pairs->all.v[i];
	pairs->all.n = n;
}

int ki_d_match_later(struct ki_dlang *d, const struct ki_d_stir *of, uint32_t *batch,
		     struct ki_err *err)
{
	struct ki_d_pairs pairs = {0};
	struct ki_d_match m = {.d = d,
			       .t = d->run->t,
			       .err = err,
			       .pairs = &pairs,
			       .later = of,
			       .batch = UINT32_MAX};
	const uint32_t first = (uint32_t)d->probes.n;
	int ret = 0;

	ki_target_symbols(m.t, &m.nsymbols);
	for (uint32_t c = 0; !ret && c < d->clauses.n; c++) {
		m.clause = c;
		for (uint32_t i = 0; !ret && i < d->clauses.v[c].n; i++) {
			m.number = d->clauses.v[c].first + i;
			m.pattern = &d->patterns.v[m.number];
			ret = ask_later(&m);
		}
	}
	leave_new(&pairs, first);
	if (!ret)
		ret = gather_clauses(d, &pairs, err);
	ki_vec_free(&pairs.all);
	*batch = m.batch;
	return ret;
}

size_t ki_dlang_probes(const struct ki_dlang *d)
{
	return d->probes.n;
}

void ki_dlang_probe(const struct ki_dlang *d, size_t i, struct ki_dlang_probe *out)
{
	const struct ki_d_probe *p = &d->probes.v[i];

	*out = (struct ki_dlang_probe){.id = p->id,
				       .provider = ki_d_provider_name(p),
				       .module = p->module,
				       .function = p->function,
				       .name = p->name,
				       .reason = p->reason};
}

size_t ki_dlang_matched(const struct ki_dlang *d, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < d->patterns.n; i++)
		if (d->patterns.v[i].at >= from && d->patterns.v[i].at < to)
			n += d->patterns.v[i].matched;
	return n;
}

bool ki_dlang_is_destructive(const struct ki_dlang *d)
{
	return d->set.destructive;
}

bool ki_dlang_is_quiet(const struct ki_dlang *d)
{
	return d->set.quiet;
}

bool ki_dlang_at_exec(const struct ki_dlang *d)
{
	return d->set.evaltime == KI_D_AT_EXEC;
}

bool ki_dlang_at_main(const struct ki_dlang *d)
{
	return d->set.evaltime == KI_D_AT_MAIN;
}

size_t ki_dlang_descriptions(const struct ki_dlang *d)
{
	return d->patterns.n;
}

size_t ki_dlang_description(const struct ki_dlang *d, size_t i, char *text, size_t size)
{
	const struct ki_d_pattern *p = &d->patterns.v[i];

	snprintf(text, size, "%s:%s:%s:%s", p->field[0], p->field[1], p->field[2], p->field[3]);
	return p->matched;
}
