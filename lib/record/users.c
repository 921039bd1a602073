// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A process is looked at when it is first heard of, and again, but once a look at most, when an
 * address comes that lies in nothing that is known of it: it has loaded something, or has become
 * another program. What was known stays, unless its number has gone to another process.
 */
#include "record/users.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "record/user_files.h"
#include "util/search.h"

#define GONE_MOST 4096 /* mappings of a process that were there once */

struct mapping {
	uint64_t start, end, off;
	dev_t dev;
	ino_t ino;
	struct ki_user_file *file; /* NULL: code without one */
};

typedef ki_vec(struct mapping) mappings;

struct process {
	uint32_t tgid;
	bool again;	    /* its mappings may be read once more */
	uint64_t started;   /* 0: not known */
	mappings now, gone; /* as they were read last, in order; and before, the latest last */
};

struct ki_users {
	ki_vec(struct process *) processes;
	struct ki_user_files files;
};

int ki_users_new(struct ki_users **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void ki_users_free(struct ki_users *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->processes.n; i++) {
		ki_vec_free(&u->processes.v[i]->now);
		ki_vec_free(&u->processes.v[i]->gone);
		free(u->processes.v[i]);
	}
	ki_vec_free(&u->processes);
	ki_user_files_free(&u->files);
	free(u);
}

/* ---- what /proc says ---- */

/* In ticks after the boot; 0: it is not there. The name before may have anything in it. */
static uint64_t start_time(uint32_t tgid)
{
	char name[40], line[1024], *at;
	uint64_t time = 0;
	FILE *f;
	size_t n;

	snprintf(name, sizeof(name), "/proc/%u/stat", tgid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = 0;
	at = strrchr(line, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (at)
		sscanf(at, "%" SCNu64, &time);
	return time;
}

static const struct mapping *mapping_at(const mappings *m, uint64_t addr)
{
	size_t low = KI_FIRST(i, m->n, m->v[i].end > addr);

	return low < m->n && m->v[low].start <= addr ? &m->v[low] : NULL;
}

/* The same mapping of the same file, as it was read before; NULL. */
static const struct mapping *known(const struct process *p, const struct ki_user_map *line)
{
	const struct mapping *m = mapping_at(&p->now, line->start);

	return m && m->start == line->start && m->end == line->end && m->off == line->off &&
			       m->dev == line->dev && m->ino == line->ino && m->file &&
			       !strcmp(ki_user_file_path(m->file), line->path)
		       ? m
		       : NULL;
}

/* Code; what has no inode ("[vdso]" too) has no file. */
static int take_line(struct ki_users *u, const struct process *p, char *text, mappings *to)
{
	struct ki_user_map line = {.tgid = p->tgid};
	unsigned int major, minor;
	const struct mapping *old;
	struct mapping m;
	char flags[8];
	int path = 0;

	text[strcspn(text, "\n")] = 0;
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %lu %n", &line.start,
		   &line.end, flags, &line.off, &major, &minor, &line.ino, &path) < 7 ||
	    !path || !strchr(flags, 'x'))
		return 0;
	line.dev = makedev(major, minor);
	line.path = text + path;
	old = known(p, &line);
	m = (struct mapping){line.start, line.end, line.off, line.dev, line.ino, NULL};
	if (old)
		m.file = old->file;
	else if (*line.path)
		m.file = ki_user_file_of(&u->files, &line);
	return *line.path && !m.file ? -ENOMEM : ki_vec_push(to, m);
}

static int read_lines(struct ki_users *u, const struct process *p, mappings *to)
{
	char name[40], *line = NULL;
	size_t cap = 0;
	int ret = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/maps", p->tgid);
	f = fopen(name, "re");
	if (!f)
		return -errno;
	while (!ret && getline(&line, &cap, f) > 0)
		ret = take_line(u, p, line, to);
	free(line);
	fclose(f);
	return ret;
}

/* ---- processes ---- */

/* What has a file and is not there any more. Both are in order. */
static void keep_gone(struct process *p, const mappings *next)
{
	size_t k = 0;

	for (size_t i = 0; i < p->now.n; i++) {
		const struct mapping *m = &p->now.v[i];

		while (k < next->n && next->v[k].start < m->start)
			k++;
		if (!m->file ||
		    (k < next->n && next->v[k].start == m->start && next->v[k].end == m->end &&
		     next->v[k].file == m->file && next->v[k].off == m->off))
			continue;
		if (p->gone.n == GONE_MOST)
			p->gone.n = 0;
		if (ki_vec_push(&p->gone, *m))
			return;
	}
}

/* One that is ending has no mappings any more: then those that it had are what is known. */
static void read_maps(struct ki_users *u, struct process *p)
{
	uint64_t started = start_time(p->tgid);
	mappings next = {0};

	p->again = false;
	if (!started)
		return;
	if (started != p->started)
		p->now.n = p->gone.n = 0;
	p->started = started;
	read_lines(u, p, &next);
	if (!next.n) {
		ki_vec_free(&next);
		return;
	}
	keep_gone(p, &next);
	ki_vec_free(&p->now);
	p->now = next;
}

static struct process *find_process(struct ki_users *u, uint32_t tgid)
{
	for (size_t i = u->processes.n; i--;)
		if (u->processes.v[i]->tgid == tgid)
			return u->processes.v[i];
	return NULL;
}

static struct process *add_process(struct ki_users *u, uint32_t tgid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->tgid = tgid;
	if (ki_vec_push(&u->processes, p)) {
		free(p);
		return NULL;
	}
	read_maps(u, p);
	p->again = true;
	return p;
}

void ki_users_read(struct ki_users *u, uint32_t tgid)
{
	struct process *p = find_process(u, tgid);

	if (!p)
		p = add_process(u, tgid);
	else
		read_maps(u, p);
	if (p)
		p->again = true;
}

void ki_users_look(struct ki_users *u, uint32_t tgid)
{
	struct process *p = find_process(u, tgid);
	uint64_t started;

	if (!p) {
		add_process(u, tgid);
		return;
	}
	p->again = true;
	started = start_time(tgid);
	if (started && started != p->started)
		read_maps(u, p);
}

static const struct mapping *find_mapping(const struct process *p, uint64_t addr)
{
	const struct mapping *m = mapping_at(&p->now, addr);

	for (size_t i = p->gone.n; !m && i--;)
		if (addr >= p->gone.v[i].start && addr < p->gone.v[i].end)
			m = &p->gone.v[i];
	return m;
}

bool ki_users_find(struct ki_users *u, uint32_t tgid, uint64_t addr, struct ki_user_frame *out)
{
	struct process *p = find_process(u, tgid);
	const struct mapping *m;

	if (!p)
		p = add_process(u, tgid);
	m = p ? find_mapping(p, addr) : NULL;
	if (p && !m && p->again) {
		read_maps(u, p);
		m = find_mapping(p, addr);
	}
	if (!m || !m->file)
		return false;
	ki_user_file_find(m->file, addr - m->start + m->off, out);
	return true;
}
