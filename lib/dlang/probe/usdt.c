// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Probes that are written into a program: a nop, and a note about it in the section .note.stapsdt
 * or .note.usdt, which says provider, name, where the nop is, and where the arguments are when it
 * is executed. (sys/sdt.h of SystemTap makes the first,
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation; sys/usdt.h of DTrace the
 * second.)
 *
 * The first have a semaphore, a counter of 16 bits; while it is 0 the program may skip what makes
 * arguments. The second have places where the program asks: a number of 32 bits is 0, and what is
 * put in there makes it 1.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/probe/usdt.h"
#include "dlang/probe/user.h"

#define NAME KI_D_USDT_NAME

/* A file of the process. */
struct file {
	struct ki_d_usdt_file in; /* the first: notes are told with it */
	struct ki_d_finding *f;
	const char *module;
};

static uint64_t process_address(const struct file *at, uint64_t offset)
{
	const struct ki_mappings *maps = &at->f->maps;

	for (size_t i = 0; i < maps->m.n; i++) {
		const struct ki_mapping *m = &maps->m.v[i];

		if (m->executable && offset >= m->off && offset - m->off < m->end - m->start &&
		    !strcmp(ki_mapping_path(maps, m), at->in.path))
			return m->start + (offset - m->off);
	}
	return 0;
}

/* The clause may read args[] that this probe has not. */
static int check_args(const struct ki_d_match *m, const struct ki_d_note *n, const char *provider,
		      uint32_t has)
{
	const struct ki_d_clause *c = &m->d->clauses.v[m->clause];

	if (c->nwritten <= has)
		return 0;
	if (m->later)
		return -ENOENT;
	return ki_d_fail(m->d, m->err, c->written_at, "D_ARGS_IDX",
			 "%.60s:::%.60s has no args[%u]: it has %u", provider, n->name,
			 c->nwritten - 1, has);
}

/* Where the arguments of the place are. How many of them programs of D see; -1: the program's notes
   contradict each other, and it is not known. */
static int arguments(const struct file *at, const struct ki_d_note *n,
		     struct ki_d_operand to[KI_D_USDT_ARGS])
{
	struct ki_d_operand own[KI_D_USDT_OWN];
	struct ki_d_noted noted;
	const enum ki_d_notes_have have = ki_d_usdt_noted(&at->in, n, &noted);
	const uint32_t has = ki_d_note_args(n);

	ki_d_operands(n->args, own, KI_D_USDT_OWN);
	memcpy(to, own, KI_D_USDT_ARGS * sizeof(*to));
	if (n->asks || !n->function || have == KI_D_NOTES_NOTHING)
		return (int)has;
	if (have == KI_D_NOTES_OTHERS || noted.own != has)
		return -1;
	ki_d_operands("", to, KI_D_USDT_ARGS);
	for (uint32_t i = 0; i < noted.n; i++)
		if (noted.args[i].from < KI_D_USDT_OWN)
			to[i] = own[noted.args[i].from];
	return (int)noted.n;
}

/* The function that the place is in; "": it is not known. */
static const char *function_name(struct file *at, const struct ki_d_note *n, uint64_t addr,
				 char name[NAME])
{
	const struct ki_symbol *sym;

	if (n->function && ki_d_usdt_string(&at->in, n->function, name))
		return name;
	sym = ki_target_symbol_at(at->f->t, addr);
	return sym ? sym->name : "";
}

static int take_note(void *arg, const struct ki_d_note *n)
{
	struct file *at = arg;
	const struct ki_d_pattern *d = at->f->m->pattern;
	const uint64_t moved = at->in.base && n->base ? at->in.base - n->base : 0;
	char provider[NAME], name[NAME], within[NAME];
	struct ki_d_user_place place = {.asks = n->asks};
	struct ki_d_user u = {.pid = at->f->pid, .is_written = true};
	const char *function;
	uint64_t addr;
	int has;

	ki_d_usdt_provider(n, at->f->pid, provider);
	ki_d_usdt_name(n, name);
	if (!ki_d_field_matches(d->field[0], provider) || !ki_d_field_matches(d->field[3], name))
		return 0;
	addr = process_address(at, ki_d_usdt_offset(&at->in, n->pc + moved));
	function = addr ? function_name(at, n, addr, within) : "";
	if (!addr || !ki_d_field_matches(d->field[2], function))
		return 0;
	has = arguments(at, n, place.args);
	if (has < 0)
		return 0;
	if (!n->asks && check_args(at->f->m, n, provider, (uint32_t)has))
		return at->f->m->later ? 0 : -ENOENT;
	u.semaphore = n->semaphore ? ki_d_usdt_offset(&at->in, n->semaphore + moved) : 0;
	u.semaphore_at = u.semaphore ? addr + (n->semaphore - n->pc) : 0;
	at->f->m->d->scratch_used |= n->asks;
	for (int i = 0; i < KI_D_USDT_ARGS; i++)
		at->f->m->d->scratch_used |= place.args[i].kind == KI_D_IN_MEMORY;
	at->f->m->d->texts_used |= at->f->m->d->scratch_used;
	return ki_d_user_found(at->f,
			       &(struct ki_d_user_names){provider, at->module, function, name}, &u,
			       &addr, 1, &place);
}

/* Is it the first executable mapping of a file that the description means? */
static bool is_file(const struct ki_d_finding *f, size_t i, struct file *at)
{
	const struct ki_mapping *m = &f->maps.m.v[i];
	const char *slash;

	at->in.path = ki_mapping_path(&f->maps, m);
	slash = strrchr(at->in.path, '/');
	at->module = slash ? slash + 1 : "";
	if (!m->executable || !slash || !ki_d_user_module(f, at->module) ||
	    !ki_d_finding_new(f, m->start, m->end))
		return false;
	for (size_t k = 0; k < i; k++)
		if (f->maps.m.v[k].executable &&
		    !strcmp(ki_mapping_path(&f->maps, &f->maps.m.v[k]), at->in.path))
			return false;
	return true;
}

pid_t ki_d_usdt_pid(const struct ki_dlang *d, const char *field)
{
	const size_t len = strlen(field);
	size_t from = len;
	char target[20];
	size_t n = (size_t)snprintf(target, sizeof(target), "%d", d->o.target);

	if (d->o.target > 0 && n < len && !strcmp(field + len - n, target))
		return (pid_t)d->o.target;
	if (strpbrk(field, "*?["))
		return 0;
	while (from && isdigit((unsigned char)field[from - 1]))
		from--;
	return from && len - from < 8 ? (pid_t)strtol(field + from, NULL, 10) : 0;
}

static int find_in(struct ki_d_match *m, const struct ki_d_provider *self, pid_t pid)
{
	struct ki_d_finding f = {.m = m, .provider = self, .pid = pid};
	struct ki_err why = {0};
	int ret = ki_d_finding_begin(&f, &why);

	for (size_t i = 0; !ret && i < f.maps.m.n; i++) {
		struct file at = {.f = &f};

		if (is_file(&f, i, &at))
			ret = ki_d_usdt_look(&at.in, take_note);
	}
	ki_d_finding_end(&f);
	return ret == -EINVAL ? 0 : ret; /* no such process: no such probe */
}

/* ---- in any process ---- */

struct meant {
	const struct ki_d_match *m;
	pid_t pid;
};

static int is_meant(void *arg, const struct ki_d_note *n)
{
	const struct ki_d_usdt_file *at = arg;
	const struct meant *by = at->arg;
	char provider[NAME];

	ki_d_usdt_provider(n, by->pid, provider);
	return ki_d_field_matches(by->m->pattern->field[0], provider);
}

static bool is_new(void *arg, const struct ki_mapping *map)
{
	const struct meant *by = arg;
	const struct ki_d_finding f = {.m = (struct ki_d_match *)(uintptr_t)by->m};

	return ki_d_finding_new(&f, map->start, map->end);
}

/* Before the process is looked at with all its symbols. */
static bool may_have(struct ki_d_match *m, pid_t pid)
{
	struct meant by = {m, pid};

	return ki_d_usdt_each(pid, is_new, is_meant, &by) != 0;
}

static int find_anywhere(struct ki_d_match *m, const struct ki_d_provider *self)
{
	DIR *all = opendir("/proc");
	const struct dirent *e;
	int ret = 0;

	while (all && !ret && (e = readdir(all))) {
		const pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && may_have(m, pid))
			ret = find_in(m, self, pid);
	}
	if (all)
		closedir(all);
	return ret;
}

int ki_d_find_usdt(struct ki_d_match *m, const struct ki_d_provider *self)
{
	const char *field = m->pattern->field[0];
	const pid_t named = ki_d_usdt_pid(m->d, field),
		    pid = named || !ki_d_lists_target(m->d, field) ? named : m->d->o.target;

	if (!m->later)
		return pid ? find_in(m, self, pid) : find_anywhere(m, self);
	if ((pid && pid != m->later->pid) || !may_have(m, m->later->pid))
		return 0;
	return find_in(m, self, m->later->pid);
}

bool ki_d_means_pid(const struct ki_dlang *d, pid_t pid)
{
	for (size_t i = 0; i < d->patterns.n; i++)
		if (ki_d_usdt_pid(d, d->patterns.v[i].field[0]) == pid)
			return true;
	return false;
}

bool ki_d_means_any(const struct ki_dlang *d)
{
	for (size_t i = 0; i < d->patterns.n; i++) {
		const char *field = d->patterns.v[i].field[0];

		if (ki_d_means_processes(field) && !ki_d_usdt_pid(d, field))
			return true;
	}
	return false;
}
