// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A process is looked at when it is first heard of, and again when an address comes that lies in
 * nothing that is known of it (it has loaded something, or has become another program); what was
 * known stays. Files are read when the first address in them is asked for. What cannot be read, or
 * is not there any more, is not known: a stack has its addresses in any case.
 */
#include "record/users.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "util/vec.h"

#define LINE	  4300
#define BUILD_MAX 64 /* bytes of a build id */

struct symbol {
	uint64_t addr, size;
	const char *name;
};

struct section {
	uint64_t off, size, addr;
};

struct image {
	char *path;
	bool read;
	char build[2 * BUILD_MAX + 1];
	char *names;		       /* of the symbols */
	ki_vec(struct symbol) symbols; /* in order of address */
	ki_vec(struct section) sections;
};

struct mapping {
	uint64_t start, end, off;
	size_t image;
};

struct process {
	uint32_t tgid;
	ki_vec(struct mapping) maps; /* those that were read last come last */
};

struct ki_users {
	ki_vec(struct process *) processes;
	ki_vec(struct image *) images;
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
		ki_vec_free(&u->processes.v[i]->maps);
		free(u->processes.v[i]);
	}
	for (size_t i = 0; i < u->images.n; i++) {
		ki_vec_free(&u->images.v[i]->symbols);
		ki_vec_free(&u->images.v[i]->sections);
		free(u->images.v[i]->names);
		free(u->images.v[i]->path);
		free(u->images.v[i]);
	}
	ki_vec_free(&u->processes);
	ki_vec_free(&u->images);
	free(u);
}

/* ---- processes ---- */

static int image_of(struct ki_users *u, const char *path, size_t *out)
{
	struct image *im;

	for (*out = 0; *out < u->images.n; ++*out)
		if (!strcmp(u->images.v[*out]->path, path))
			return 0;
	im = calloc(1, sizeof(*im));
	if (im)
		im->path = strdup(path);
	if (im && im->path && !ki_vec_push(&u->images, im))
		return 0;
	if (im)
		free(im->path);
	free(im);
	return -ENOMEM;
}

static int take_line(struct ki_users *u, struct process *p, char *line)
{
	struct mapping m = {0};
	char flags[8];
	int path = 0, ret;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.start, &m.end,
		   flags, &m.off, &path) < 4 ||
	    !path || !line[path] || !strchr(flags, 'x'))
		return 0;
	ret = image_of(u, line + path, &m.image);
	return ret ? ret : ki_vec_push(&p->maps, m);
}

static void read_maps(struct ki_users *u, struct process *p)
{
	char name[40], line[LINE];
	int ret = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/maps", p->tgid);
	f = fopen(name, "re");
	while (f && !ret && fgets(line, sizeof(line), f))
		ret = take_line(u, p, line);
	if (f)
		fclose(f);
}

static struct process *process_of(struct ki_users *u, uint32_t tgid)
{
	struct process *p;

	for (size_t i = u->processes.n; i--;)
		if (u->processes.v[i]->tgid == tgid)
			return u->processes.v[i];
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->tgid = tgid;
	if (ki_vec_push(&u->processes, p)) {
		free(p);
		return NULL;
	}
	read_maps(u, p);
	return p;
}

void ki_users_look(struct ki_users *u, uint32_t tgid)
{
	process_of(u, tgid);
}

static const struct mapping *mapping_at(const struct process *p, uint64_t addr)
{
	for (size_t i = p->maps.n; i--;)
		if (addr >= p->maps.v[i].start && addr < p->maps.v[i].end)
			return &p->maps.v[i];
	return NULL;
}

/* ---- files ---- */

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int read_symbols(struct ki_elf *e, struct image *im, uint32_t section)
{
	const Elf64_Shdr *sh = &e->sh[section];
	uint64_t len = sh->sh_link < e->nsh ? e->sh[sh->sh_link].sh_size : 0;
	uint8_t *rows = NULL, *names = NULL;
	int ret = len ? ki_elf_read(e, section, &rows) : -EINVAL;

	if (!ret)
		ret = ki_elf_read(e, sh->sh_link, &names);
	for (uint64_t i = 0; !ret && i < sh->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;

		memcpy(&s, rows + i * sizeof(s), sizeof(s));
		if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx && s.st_name < len)
			ret = ki_vec_push(&im->symbols, (struct symbol){s.st_value, s.st_size,
									(char *)names + s.st_name});
	}
	free(rows);
	if (ret) {
		im->symbols.n = 0;
		free(names);
		return ret;
	}
	im->names = (char *)names;
	if (im->symbols.n)
		qsort(im->symbols.v, im->symbols.n, sizeof(*im->symbols.v), by_address);
	return 0;
}

/* A note of "GNU": the sizes of its name and of the id, its kind, the name, the id. */
static void read_build(struct ki_elf *e, struct image *im, uint32_t section)
{
	uint64_t len = e->sh[section].sh_size;
	uint32_t head[3];
	uint8_t *note;

	if (strcmp(ki_elf_name(e, section), ".note.gnu.build-id") || len < 16 ||
	    ki_elf_read(e, section, &note))
		return;
	memcpy(head, note, sizeof(head));
	for (uint32_t i = 0; i < head[1] && i < BUILD_MAX && i < len - 16; i++)
		snprintf(im->build + 2 * (size_t)i, 3, "%02x", note[16 + i]);
	free(note);
}

static uint32_t find_table(const struct ki_elf *e, uint32_t type)
{
	for (uint32_t i = 0; i < e->nsh; i++)
		if (e->sh[i].sh_type == type)
			return i;
	return e->nsh;
}

static void read_image(struct image *im)
{
	struct ki_err err = {0};
	struct ki_elf e;
	uint32_t table;

	im->read = true;
	if (ki_elf_open(&e, im->path, &err)) {
		ki_elf_close(&e);
		return;
	}
	for (uint32_t i = 0; i < e.nsh; i++) {
		const Elf64_Shdr *sh = &e.sh[i];

		if (sh->sh_type == SHT_NOTE)
			read_build(&e, im, i);
		if (sh->sh_flags & SHF_EXECINSTR &&
		    ki_vec_push(&im->sections,
				(struct section){sh->sh_offset, sh->sh_size, sh->sh_addr}))
			break;
	}
	table = find_table(&e, SHT_SYMTAB);
	if (table == e.nsh)
		table = find_table(&e, SHT_DYNSYM);
	if (table < e.nsh && read_symbols(&e, im, table))
		im->symbols.n = 0;
	ki_elf_close(&e);
}

static const struct symbol *symbol_at(const struct image *im, uint64_t off, uint64_t *addr)
{
	size_t low = 0, high = im->symbols.n, i = 0;

	while (i < im->sections.n && off - im->sections.v[i].off >= im->sections.v[i].size)
		i++;
	if (i == im->sections.n)
		return NULL;
	*addr = off - im->sections.v[i].off + im->sections.v[i].addr;
	while (low < high) { /* the first that begins behind it */
		size_t mid = (low + high) / 2;

		if (im->symbols.v[mid].addr <= *addr)
			low = mid + 1;
		else
			high = mid;
	}
	/* of several at one address, one that reaches here */
	for (size_t k = low; k-- && low - k < 16;)
		if (*addr - im->symbols.v[k].addr < im->symbols.v[k].size)
			return &im->symbols.v[k];
	return NULL;
}

bool ki_users_find(struct ki_users *u, uint32_t tgid, uint64_t addr, struct ki_user_frame *out)
{
	struct process *p = process_of(u, tgid);
	const struct mapping *m = p ? mapping_at(p, addr) : NULL;
	const struct symbol *s;
	struct image *im;
	uint64_t at;

	if (p && !m) {
		read_maps(u, p);
		m = mapping_at(p, addr);
	}
	if (!m)
		return false;
	im = u->images.v[m->image];
	if (!im->read)
		read_image(im);
	*out = (struct ki_user_frame){.path = im->path,
				      .build = im->build,
				      .file_offset = addr - m->start + m->off,
				      .symbol = ""};
	s = symbol_at(im, out->file_offset, &at);
	if (s) {
		out->symbol = s->name;
		out->offset = at - s->addr;
	}
	return true;
}
