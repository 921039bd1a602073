// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Probes that are written into a program: a nop, and a note about it in the section .note.stapsdt,
 * which says provider, name, where the nop is, and where the arguments are when it is executed.
 * (sys/sdt.h makes them; https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.)
 *
 * The semaphore is a counter of 16 bits; while it is 0 the program may skip what makes arguments.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/probe/notes.h"
#include "dlang/probe/user.h"
#include "target/elf.h"

#define NAME 128

/* A file of the process. */
struct file {
	struct ki_d_finding *f;
	struct ki_elf elf;
	const char *path, *module;
	uint64_t base; /* of .stapsdt.base; 0: there is none */
};

/* Where in the file stands what is at that address when the program runs; 0: nowhere. */
static uint64_t file_offset(const struct file *at, uint64_t addr)
{
	for (uint32_t i = 0; i < at->elf.nsh; i++) {
		const Elf64_Shdr *s = &at->elf.sh[i];

		if ((s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_NOBITS && addr >= s->sh_addr &&
		    addr - s->sh_addr < s->sh_size)
			return addr - s->sh_addr + s->sh_offset;
	}
	return 0;
}

static uint64_t process_address(const struct file *at, uint64_t offset)
{
	const struct ki_mappings *maps = &at->f->maps;

	for (size_t i = 0; i < maps->m.n; i++) {
		const struct ki_mapping *m = &maps->m.v[i];

		if (m->executable && offset >= m->off && offset - m->off < m->end - m->start &&
		    !strcmp(ki_mapping_path(maps, m), at->path))
			return m->start + (offset - m->off);
	}
	return 0;
}

/* Two underscores are how C writes a hyphen. */
static void probe_name(const char *from, char to[NAME])
{
	size_t n = 0;

	for (; *from && n + 1 < NAME; n++) {
		const bool hyphen = from[0] == '_' && from[1] == '_';

		to[n] = hyphen ? '-' : *from;
		from += hyphen ? 2 : 1;
	}
	to[n] = 0;
}

/* The clause may read args[] that this probe has not. */
static int check_args(const struct ki_d_match *m, const struct ki_d_note *n, const char *provider)
{
	const struct ki_d_clause *c = &m->d->clauses.v[m->clause];
	uint32_t has = 0;

	for (const char *p = n->args + strspn(n->args, " "); *p; p += strspn(p, " ")) {
		p += strcspn(p, " ");
		has++;
	}
	if (c->nwritten <= has)
		return 0;
	if (m->later)
		return -ENOENT;
	return ki_d_fail(m->d, m->err, c->written_at, "D_ARGS_IDX",
			 "%.60s:::%.60s has no args[%u]: it has %u", provider, n->name,
			 c->nwritten - 1, has);
}

static int take_note(void *arg, const struct ki_d_note *n)
{
	struct file *at = arg;
	const struct ki_d_pattern *d = at->f->m->pattern;
	const uint64_t moved = at->base ? at->base - n->base : 0;
	char provider[NAME], name[NAME];
	const struct ki_symbol *sym;
	struct ki_d_operand args[KI_D_USDT_ARGS];
	struct ki_d_user u = {.pid = at->f->pid, .is_written = true};
	uint64_t addr;

	snprintf(provider, sizeof(provider), "%.100s%d", n->provider, at->f->pid);
	probe_name(n->name, name);
	if (!ki_d_field_matches(d->field[0], provider) || !ki_d_field_matches(d->field[3], name))
		return 0;
	addr = process_address(at, file_offset(at, n->pc + moved));
	sym = addr ? ki_target_symbol_at(at->f->t, addr) : NULL;
	if (!addr || !ki_d_field_matches(d->field[2], sym ? sym->name : ""))
		return 0;
	if (check_args(at->f->m, n, provider))
		return at->f->m->later ? 0 : -ENOENT;
	u.semaphore = n->semaphore ? file_offset(at, n->semaphore + moved) : 0;
	u.semaphore_at = u.semaphore ? addr + (n->semaphore - n->pc) : 0;
	ki_d_operands(n->args, args, KI_D_USDT_ARGS);
	for (int i = 0; i < KI_D_USDT_ARGS; i++)
		if (args[i].kind == KI_D_IN_MEMORY)
			at->f->m->d->scratch_used = at->f->m->d->texts_used = true;
	return ki_d_user_found(
		at->f, &(struct ki_d_user_names){provider, at->module, sym ? sym->name : "", name},
		&u, &addr, 1, args);
}

static int look_into(struct file *at, ki_d_note_take *take)
{
	struct ki_err ignored = {0};
	uint8_t *bytes;
	int ret = 0;

	if (!ki_elf_open(&at->elf, at->path, &ignored))
		for (uint32_t i = 0; i < at->elf.nsh; i++)
			if (!strcmp(ki_elf_name(&at->elf, i), ".stapsdt.base"))
				at->base = at->elf.sh[i].sh_addr;
	for (uint32_t i = 0; !ignored.code && !ret && i < at->elf.nsh; i++) {
		if (strcmp(ki_elf_name(&at->elf, i), ".note.stapsdt") != 0 ||
		    ki_elf_read(&at->elf, i, &bytes))
			continue;
		ret = ki_d_notes_each(bytes, at->elf.sh[i].sh_size, take, at);
		free(bytes);
	}
	ki_elf_close(&at->elf);
	return ret;
}

/* Is it the first executable mapping of a file that the description means? */
static bool is_file(const struct ki_d_finding *f, size_t i, struct file *at)
{
	const struct ki_mapping *m = &f->maps.m.v[i];
	const char *slash;

	at->path = ki_mapping_path(&f->maps, m);
	slash = strrchr(at->path, '/');
	at->module = slash ? slash + 1 : "";
	if (!m->executable || !slash || !ki_d_user_module(f, at->module) ||
	    !ki_d_finding_new(f, m->start, m->end))
		return false;
	for (size_t k = 0; k < i; k++)
		if (f->maps.m.v[k].executable &&
		    !strcmp(ki_mapping_path(&f->maps, &f->maps.m.v[k]), at->path))
			return false;
	return true;
}

/* The number at the end of "python1234": of the target, if it ends so; 0: of any. */
static pid_t number_of(const struct ki_dlang *d, const char *field)
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
			ret = look_into(&at, take_note);
	}
	ki_d_finding_end(&f);
	return ret == -EINVAL ? 0 : ret; /* no such process: no such probe */
}

/* ---- in any process ---- */

static int is_meant(void *arg, const struct ki_d_note *n)
{
	const struct file *at = arg;
	char provider[NAME];

	snprintf(provider, sizeof(provider), "%.100s%d", n->provider, at->f->pid);
	return ki_d_field_matches(at->f->m->pattern->field[0], provider);
}

/* Before the process is looked at with all its symbols. */
static bool may_have(struct ki_d_match *m, pid_t pid)
{
	struct ki_d_finding f = {.m = m, .pid = pid};
	const bool readable = !ki_mappings_read(&f.maps, pid);
	const char *before = "";
	bool has = false;

	for (size_t i = 0; readable && !has && i < f.maps.m.n; i++) {
		const struct ki_mapping *map = &f.maps.m.v[i];
		struct file at = {.f = &f, .path = ki_mapping_path(&f.maps, map)};

		if (*at.path != '/' || !map->executable || !strcmp(at.path, before) ||
		    !ki_d_finding_new(&f, map->start, map->end))
			continue;
		before = at.path;
		has = look_into(&at, is_meant);
	}
	ki_mappings_free(&f.maps);
	return has;
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
	const pid_t pid = number_of(m->d, m->pattern->field[0]);

	if (!m->later)
		return pid ? find_in(m, self, pid) : find_anywhere(m, self);
	if ((pid && pid != m->later->pid) || !may_have(m, m->later->pid))
		return 0;
	return find_in(m, self, m->later->pid);
}

bool ki_d_means_pid(const struct ki_dlang *d, pid_t pid)
{
	for (size_t i = 0; i < d->patterns.n; i++)
		if (number_of(d, d->patterns.v[i].field[0]) == pid)
			return true;
	return false;
}

bool ki_d_means_any(const struct ki_dlang *d)
{
	for (size_t i = 0; i < d->patterns.n; i++) {
		const char *field = d->patterns.v[i].field[0];

		if (ki_d_means_processes(field) && !number_of(d, field))
			return true;
	}
	return false;
}
