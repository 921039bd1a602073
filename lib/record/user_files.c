// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A path in /proc/PID/maps is one of that process, whose root and mounts may be others than ours,
 * and anybody chooses it. So it is only looked up (O_PATH: opening a device may do something), and
 * believed if it leads to the file that is mapped. Which that is, the line says, and where the file
 * system gives files other numbers there (overlayfs, btrfs), the link in /proc/PID/map_files.
 *
 * A file that its path leads to is read when the first address in it is asked for; what only the
 * process can reach, at once: it may end soon. What cannot be read is not known.
 */
#include "record/user_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/elf.h"

#define BUILD_MAX  64		/* bytes of a build id */
#define TABLE_MOST (256u << 20) /* bytes of a table of symbols, or of their names */

struct symbol {
	uint64_t addr, size;
	const char *name;
};

struct section {
	uint64_t off, size, addr;
};

struct ki_user_file {
	char *path;
	dev_t dev; /* as stat() says */
	ino_t ino;
	bool done; /* it has been read, or cannot be */
	char build[2 * BUILD_MAX + 1];
	char *names;		       /* of the symbols */
	ki_vec(struct symbol) symbols; /* in order of address */
	ki_vec(struct section) sections;
};

static void free_file(struct ki_user_file *file)
{
	ki_vec_free(&file->symbols);
	ki_vec_free(&file->sections);
	free(file->names);
	free(file->path);
	free(file);
}

void ki_user_files_free(struct ki_user_files *f)
{
	for (size_t i = 0; i < f->v.n; i++)
		free_file(f->v.v[i]);
	ki_vec_free(&f->v);
}

const char *ki_user_file_path(const struct ki_user_file *file)
{
	return file->path;
}

/* ---- what is in it ---- */

/* Of several names of one place the last counts: malloc, not __libc_malloc. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t i = strspn(x->name, "_"), k = strspn(y->name, "_");

	if (x->addr != y->addr)
		return x->addr > y->addr ? 1 : -1;
	return i != k ? (i < k ? 1 : -1) : strcmp(y->name, x->name);
}

static int add_symbols(struct ki_user_file *file, const uint8_t *rows, uint64_t n, uint64_t len)
{
	int ret = 0;

	for (uint64_t i = 0; !ret && i < n; i++) {
		Elf64_Sym s;

		memcpy(&s, rows + i * sizeof(s), sizeof(s));
		if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx && s.st_name < len)
			ret = ki_vec_push(&file->symbols, (struct symbol){s.st_value, s.st_size,
									  file->names + s.st_name});
	}
	if (ret)
		file->symbols.n = 0;
	if (file->symbols.n)
		qsort(file->symbols.v, file->symbols.n, sizeof(*file->symbols.v), by_address);
	return ret;
}

/* Only a section with bytes in the file has as many of them as it says. */
static int read_symbols(struct ki_elf *e, struct ki_user_file *file, uint32_t section)
{
	const Elf64_Shdr *sh = &e->sh[section], *strings;
	uint8_t *rows = NULL, *names = NULL;
	int ret;

	if (sh->sh_link >= e->nsh)
		return -EINVAL;
	strings = &e->sh[sh->sh_link];
	if (strings->sh_type != SHT_STRTAB || strings->sh_size > TABLE_MOST ||
	    sh->sh_size > TABLE_MOST)
		return -EINVAL;
	ret = ki_elf_read(e, section, &rows);
	if (!ret)
		ret = ki_elf_read(e, sh->sh_link, &names);
	file->names = (char *)names;
	if (!ret)
		ret = add_symbols(file, rows, sh->sh_size / sizeof(Elf64_Sym), strings->sh_size);
	free(rows);
	return ret;
}

/* A note of "GNU": the sizes of its name and of the id, its kind, the name, the id. */
static void read_build(struct ki_elf *e, struct ki_user_file *file, uint32_t section)
{
	uint64_t len = e->sh[section].sh_size;
	uint32_t head[3];
	uint8_t *note;

	if (strcmp(ki_elf_name(e, section), ".note.gnu.build-id") || len < 16 ||
	    ki_elf_read(e, section, &note))
		return;
	memcpy(head, note, sizeof(head));
	for (uint32_t i = 0; i < head[1] && i < BUILD_MAX && i < len - 16; i++)
		snprintf(file->build + 2 * (size_t)i, 3, "%02x", note[16 + i]);
	free(note);
}

static uint32_t find_table(const struct ki_elf *e, uint32_t type)
{
	for (uint32_t i = 0; i < e->nsh; i++)
		if (e->sh[i].sh_type == type)
			return i;
	return e->nsh;
}

static void read_elf(struct ki_elf *e, struct ki_user_file *file)
{
	uint32_t table;

	for (uint32_t i = 0; i < e->nsh; i++) {
		const Elf64_Shdr *sh = &e->sh[i];

		if (sh->sh_type == SHT_NOTE)
			read_build(e, file, i);
		if (sh->sh_flags & SHF_EXECINSTR &&
		    ki_vec_push(&file->sections,
				(struct section){sh->sh_offset, sh->sh_size, sh->sh_addr}))
			break;
	}
	table = find_table(e, SHT_SYMTAB);
	if (table == e->nsh)
		table = find_table(e, SHT_DYNSYM);
	if (table < e->nsh)
		read_symbols(e, file, table);
}

/* ---- which file ---- */

/* What a path leads to, found and not opened: a descriptor, or -1 if it is no file. */
static int find(const char *path, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0 || (!fstat(fd, st) && S_ISREG(st->st_mode)))
		return fd;
	close(fd);
	return -1;
}

static bool is_same(const struct stat *st, dev_t dev, ino_t ino)
{
	return st->st_dev == dev && st->st_ino == ino;
}

static void read_found(struct ki_user_file *file, int fd)
{
	struct ki_err err = {0};
	struct ki_elf e;
	char path[40];

	file->done = true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!ki_elf_open(&e, path, &err))
		read_elf(&e, file);
	ki_elf_close(&e);
}

static void read_by_path(struct ki_user_file *file)
{
	struct stat st;
	int fd = find(file->path, &st);

	file->done = true;
	if (fd >= 0 && is_same(&st, file->dev, file->ino))
		read_found(file, fd);
	if (fd >= 0)
		close(fd);
}

/* It is new unless there is one like it. */
static struct ki_user_file *keep(struct ki_user_files *f, const char *path, dev_t dev, ino_t ino,
				 bool *is_new)
{
	struct ki_user_file *file;

	*is_new = false;
	for (size_t i = 0; i < f->v.n; i++) {
		file = f->v.v[i];
		if (file->ino == ino && file->dev == dev && !strcmp(file->path, path))
			return file;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	*file = (struct ki_user_file){.path = strdup(path), .dev = dev, .ino = ino};
	if (!file->path || ki_vec_push(&f->v, file)) {
		free_file(file);
		return NULL;
	}
	*is_new = true;
	return file;
}

struct ki_user_file *ki_user_file_of(struct ki_user_files *f, const struct ki_user_map *m)
{
	struct ki_user_file *file;
	struct stat there = {0}, mapped = {0};
	int by_path = *m->path == '/' ? find(m->path, &there) : -1, by_link = -1;
	bool is_new;
	char link[80];

	if (by_path >= 0 && is_same(&there, m->dev, m->ino)) {
		mapped = there;
	} else if (m->ino) {
		snprintf(link, sizeof(link), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, m->tgid,
			 m->start, m->end);
		by_link = find(link, &mapped);
		if (by_link < 0)
			mapped = (struct stat){0};
	}
	file = keep(f, m->path, mapped.st_dev, mapped.st_ino, &is_new);
	if (is_new && !mapped.st_ino)
		file->done = true;
	else if (is_new && !is_same(&there, mapped.st_dev, mapped.st_ino))
		read_found(file, by_link);
	if (by_path >= 0)
		close(by_path);
	if (by_link >= 0)
		close(by_link);
	return file;
}

/* ---- places in it ---- */

static const struct symbol *symbol_at(const struct ki_user_file *file, uint64_t off, uint64_t *addr)
{
	size_t low = 0, high = file->symbols.n, i = 0;

	while (i < file->sections.n && off - file->sections.v[i].off >= file->sections.v[i].size)
		i++;
	if (i == file->sections.n)
		return NULL;
	*addr = off - file->sections.v[i].off + file->sections.v[i].addr;
	while (low < high) { /* the first that begins after it */
		size_t mid = (low + high) / 2;

		if (file->symbols.v[mid].addr <= *addr)
			low = mid + 1;
		else
			high = mid;
	}
	/* of several at one address, one that reaches here */
	for (size_t k = low; k-- && low - k < 16;)
		if (*addr - file->symbols.v[k].addr < file->symbols.v[k].size)
			return &file->symbols.v[k];
	return NULL;
}

void ki_user_file_find(struct ki_user_file *file, uint64_t off, struct ki_user_frame *out)
{
	const struct symbol *s;
	uint64_t at;

	if (!file->done)
		read_by_path(file);
	*out = (struct ki_user_frame){
		.path = file->path, .build = file->build, .file_offset = off, .symbol = ""};
	s = symbol_at(file, off, &at);
	if (s) {
		out->symbol = s->name;
		out->offset = at - s->addr;
	}
}
