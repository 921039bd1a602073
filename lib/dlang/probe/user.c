// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/probe/user.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/run/run.h"
#include "kerninst/process.h"

#define DISPATCHER "uprobe_dispatcher"
#define PMU	   "/sys/bus/event_source/devices/uprobe/type"
#define SEMAPHORE  32 /* the lowest bit of its place in a configuration of that */

void ki_d_user_free(struct ki_d_user *u)
{
	if (u)
		free(u->path);
	free(u);
}

/* ---- processes ---- */

void ki_d_process_end(struct ki_d_process *p)
{
	ki_process_free(p->splice);
	ki_plan_free(p->plan);
	ki_target_free(p->t);
	ki_vec_free(&p->chunks);
	*p = (struct ki_d_process){0};
}

void ki_d_processes_free(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->processes.n; i++)
		ki_d_process_end(&d->processes.v[i]);
	ki_vec_free(&d->processes);
	ki_d_watch_free(d->watch);
}

/* Where p stands in the list; UINT32_MAX: out of memory. */
static uint32_t keep_process(struct ki_dlang *d, const struct ki_d_process *p)
{
	for (uint32_t i = 0; i < d->processes.n; i++)
		if (!d->processes.v[i].pid) {
			d->processes.v[i] = *p;
			return i;
		}
	return ki_vec_push(&d->processes, *p) ? UINT32_MAX : (uint32_t)d->processes.n - 1;
}

/* What comes later has a target of its own: the one before it shows the process as it was. */
static uint32_t opened_before(const struct ki_d_finding *f)
{
	const struct ki_dlang *d = f->m->d;

	if (f->m->later)
		return f->m->batch;
	for (uint32_t i = 0; i < d->processes.n; i++)
		if (d->processes.v[i].pid == f->pid)
			return i;
	return UINT32_MAX;
}

static int open_process(struct ki_d_finding *f, struct ki_err *why)
{
	struct ki_d_process p = {.pid = f->pid};
	struct ki_dlang *d = f->m->d;

	f->batch = opened_before(f);
	if (f->batch == UINT32_MAX) {
		if (ki_target_new_process(f->pid, &p.t, why))
			return -EINVAL;
		f->batch = keep_process(d, &p);
	}
	if (f->batch == UINT32_MAX) {
		ki_target_free(p.t);
		return ki_d_no_memory(f->m->err);
	}
	if (f->m->later)
		f->m->batch = f->batch;
	f->t = d->processes.v[f->batch].t;
	return 0;
}

static void name_program(struct ki_d_finding *f)
{
	char link[40], path[4096], *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", f->pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return;
	path[n] = 0;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (strlen(name) < sizeof(f->program))
		strcpy(f->program, name);
}

bool ki_d_finding_new(const struct ki_d_finding *f, uint64_t start, uint64_t end)
{
	const struct ki_d_stir *of = f->m->later;
	bool is = !of || of->all;

	for (size_t i = 0; !is && i < of->mapped.n; i++)
		is = start < of->mapped.v[i].end && end > of->mapped.v[i].start;
	return is;
}

/* A file that is new, and that the description means. */
static bool has_news(const struct ki_d_finding *f)
{
	for (size_t i = 0; i < f->maps.m.n; i++) {
		const struct ki_mapping *m = &f->maps.m.v[i];
		const char *slash = strrchr(ki_mapping_path(&f->maps, m), '/');

		if (m->executable && slash && ki_d_finding_new(f, m->start, m->end) &&
		    ki_d_user_module(f, slash + 1))
			return true;
	}
	return false;
}

int ki_d_finding_begin(struct ki_d_finding *f, struct ki_err *why)
{
	if (ki_mappings_read(&f->maps, f->pid))
		ki_mappings_free(&f->maps);
	name_program(f);
	if (f->m->later && !has_news(f))
		return -EINVAL;
	return open_process(f, why);
}

void ki_d_finding_end(struct ki_d_finding *f)
{
	ki_mappings_free(&f->maps);
}

/* libc.so.6 also as libc.so, libc; the program also as a.out. */
bool ki_d_user_module(const struct ki_d_finding *f, const char *module)
{
	const char *field = f->m->pattern->field[1];
	char part[256];
	size_t len = strlen(module);

	if (ki_d_field_matches(field, module) ||
	    (!strcmp(field, "a.out") && !strcmp(module, f->program)))
		return true;
	while (len && len < sizeof(part)) {
		memcpy(part, module, len);
		part[len] = 0;
		if (!strcmp(field, part))
			return true;
		for (len--; len && module[len] != '.'; len--)
			;
	}
	return false;
}

/* ---- probes ---- */

static const struct ki_mapping *mapping_at(const struct ki_d_finding *f, uint64_t addr)
{
	for (size_t i = 0; i < f->maps.m.n; i++)
		if (f->maps.m.v[i].executable && addr >= f->maps.m.v[i].start &&
		    addr < f->maps.m.v[i].end)
			return &f->maps.m.v[i];
	return NULL;
}

static void free_probe(struct ki_d_probe *p)
{
	if (p->hook)
		ki_d_user_free(p->hook->user);
	free(p->hook);
	free(p->owned);
}

/* All four in one piece. */
static int name_probe(const struct ki_d_user_names *n, struct ki_d_probe *p)
{
	const char *from[] = {n->provider, n->module, n->function, n->name};
	const char **to[] = {&p->called, &p->module, &p->function, &p->name};
	size_t len = 0;

	for (int i = 0; i < 4; i++)
		len += strlen(from[i]) + 1;
	p->owned = malloc(len);
	if (!p->owned)
		return -ENOMEM;
	len = 0;
	for (int i = 0; i < 4; i++) {
		*to[i] = strcpy(p->owned + len, from[i]);
		len += strlen(from[i]) + 1;
	}
	return 0;
}

static struct ki_d_user *copy_user(const struct ki_d_user *from, const char *path, uint32_t n)
{
	struct ki_d_user *u = calloc(1, sizeof(*u) + n * sizeof(*u->places));

	if (!u)
		return NULL;
	*u = *from;
	u->n = 0;
	u->path = strdup(path);
	if (!u->path) {
		free(u);
		return NULL;
	}
	return u;
}

static uint32_t found_before(const struct ki_d_match *m, const struct ki_d_probe *p)
{
	for (size_t i = 0; i < m->d->probes.n; i++) {
		const struct ki_d_probe *q = &m->d->probes.v[i];

		if (q->called && !strcmp(q->called, p->called) && !strcmp(q->module, p->module) &&
		    !strcmp(q->function, p->function) && !strcmp(q->name, p->name))
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

/* One that is there already: of the same name, which may be in several places. */
static int found_again(struct ki_d_finding *f, uint32_t before, const struct ki_d_probe *p)
{
	struct ki_d_probe *q = &f->m->d->probes.v[before];
	struct ki_d_user *had = q->hook->user, *more;
	struct ki_d_user *u = p->hook->user;

	if (had->gone) {
		q->hook->user = u;
		p->hook->user = had;
		q->reason = KI_R_OK;
		return ki_d_found_again(f->m, before);
	}
	for (uint32_t i = 0; i < had->n; i++)
		if (had->places[i].addr == u->places[0].addr)
			return ki_d_found_again(f->m, before);
	if (!u->is_written || had->batch != u->batch || strcmp(had->path, u->path) != 0)
		return ki_d_found_again(f->m, before);
	more = realloc(had, sizeof(*had) + (had->n + 1) * sizeof(*had->places));
	if (!more)
		return ki_d_no_memory(f->m->err);
	more->places[more->n++] = u->places[0];
	q->hook->user = more;
	return ki_d_found_again(f->m, before);
}

static void add_places(struct ki_d_user *u, const struct ki_mapping *map, const uint64_t *addrs,
		       uint32_t n, const struct ki_d_user_place *as)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ki_d_user_place *at = &u->places[u->n++];

		if (as)
			*at = *as;
		at->addr = addrs[i];
		at->offset = addrs[i] - map->start + map->off;
	}
}

int ki_d_user_found(struct ki_d_finding *f, const struct ki_d_user_names *names,
		    const struct ki_d_user *u, const uint64_t *addrs, uint32_t n,
		    const struct ki_d_user_place *as)
{
	const struct ki_mapping *map = mapping_at(f, addrs[0]);
	struct ki_d_match *m = f->m;
	struct ki_d_probe p = {.provider = f->provider,
			       .id = (uint32_t)(KI_D_FIRST_FUNCTION +
						2 * KI_D_FUNCTION_PROVIDERS * (m->nsymbols + 1) +
						m->d->probes.n)};
	uint32_t before;
	int ret;

	if (!map || !*ki_mapping_path(&f->maps, map))
		return 0;
	p.hook = calloc(1, sizeof(*p.hook));
	if (!p.hook || name_probe(names, &p) ||
	    !(p.hook->user = copy_user(u, ki_mapping_path(&f->maps, map), n))) {
		free_probe(&p);
		return ki_d_no_memory(m->err);
	}
	p.hook->kind = KI_D_HOOK_USER;
	p.hook->user->batch = f->batch;
	add_places(p.hook->user, map, addrs, n, as);
	f->any = true;
	before = found_before(m, &p);
	if (before == UINT32_MAX && !ki_vec_push(&m->d->probes, p))
		return ki_d_found_again(m, (uint32_t)m->d->probes.n - 1);
	ret = before == UINT32_MAX ? ki_d_no_memory(m->err) : found_again(f, before, &p);
	free_probe(&p);
	return ret;
}

/* ---- putting them in ---- */

uint32_t ki_d_hook_places(const struct ki_d_probe *p)
{
	if (p->hook && p->hook->there)
		return ki_d_stable_places(p);
	return p->hook && p->hook->user ? p->hook->user->n : 1;
}

/* The number of perf's uprobes; 0: the kernel has none. */
static uint32_t uprobe_type(void)
{
	FILE *f = fopen(PMU, "re");
	unsigned int type = 0;

	if (f && fscanf(f, "%u", &type) != 1)
		type = 0;
	if (f)
		fclose(f);
	return type;
}

int ki_d_user_open(struct ki_dlang *d, struct ki_d_probe *p)
{
	const struct ki_d_user *u = p->hook->user;
	struct perf_event_attr attr = {.type = uprobe_type(),
				       .size = sizeof(attr),
				       .config = u->semaphore << SEMAPHORE,
				       .disabled = 1,
				       .uprobe_path = (uint64_t)(uintptr_t)u->path};
	int ret = 0;

	p->sym = ki_target_symbol_named(d->run->t, "", DISPATCHER, NULL);
	for (uint32_t i = 0; !ret && i < u->n; i++) {
		if (u->places[i].stub)
			continue;
		if (!p->sym || !attr.type)
			return -ENOENT;
		attr.probe_offset = u->places[i].offset;
		ret = ki_d_hook_event(p->hook, &attr, u->pid, -1);
	}
	return ret;
}
