// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names of a process's code that are not in its symbol tables: those of a file of debugging
 * information, which is found by the build id that both have, and of the PLT's entries. An entry is
 * called as the function that it jumps to, with "@plt": it is where calls of one module to others
 * go, and what is spliced there sees those of this module alone.
 */
#include "target/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/elf.h"

#define NAME_MOST 480u
#define ID_MOST	  64u
#define DEBUG	  "/usr/lib/debug"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool ki_process_is_named(const struct ki_process_names *to, uint64_t addr)
{
	return ki_process_has_symbol(to->image, addr) ||
	       (to->others.n && bsearch(&addr, to->others.v, to->others.n, sizeof(addr), by_value));
}

static int add(struct ki_process_names *to, uint64_t addr, const char *name, size_t len)
{
	if (ki_vec_push(&to->others, addr))
		return -ENOMEM;
	return ki_symbol_list_add(to->list, addr + to->bias, name, len, to->module);
}

/* The section that another one names by its number; NULL if it has none like that. */
static const Elf64_Shdr *linked(const struct ki_elf *e, uint32_t number, uint32_t type)
{
	return number < e->nsh && e->sh[number].sh_type == type ? &e->sh[number] : NULL;
}

/* A table of symbols and its names. */
struct table {
	Elf64_Sym *syms;
	uint64_t n;
	char *names; /* with a 0 after them */
	uint64_t names_len;
};

static void free_table(struct table *t)
{
	free(t->syms);
	free(t->names);
}

static int read_table(struct ki_elf *e, uint32_t number, struct table *t)
{
	const Elf64_Shdr *sh = &e->sh[number], *names = linked(e, sh->sh_link, SHT_STRTAB);
	int ret = names && sh->sh_entsize == sizeof(*t->syms) ? 0 : -EINVAL;
	uint8_t *syms = NULL, *strings = NULL;

	if (!ret)
		ret = ki_elf_read(e, number, &syms);
	if (!ret)
		ret = ki_elf_read(e, sh->sh_link, &strings);
	*t = (struct table){(Elf64_Sym *)(void *)syms, sh->sh_size / sizeof(*t->syms),
			    (char *)strings, names ? names->sh_size : 0};
	if (ret)
		free_table(t);
	return ret;
}

static const char *name_of(const struct table *t, uint64_t i)
{
	return i < t->n && t->syms[i].st_name < t->names_len ? t->names + t->syms[i].st_name : "";
}

/* ---- files of debugging information ---- */

static size_t build_id(struct ki_elf *e, uint8_t id[ID_MOST])
{
	for (uint32_t i = 0; i < e->nsh; i++) {
		Elf64_Nhdr h;
		uint8_t *bytes;
		size_t len = 0;

		if (e->sh[i].sh_type != SHT_NOTE || e->sh[i].sh_size < sizeof(h) + 4 ||
		    strcmp(ki_elf_name(e, i), ".note.gnu.build-id") || ki_elf_read(e, i, &bytes))
			continue;
		memcpy(&h, bytes, sizeof(h));
		if (h.n_namesz == 4 && h.n_descsz > 1 && h.n_descsz <= ID_MOST &&
		    h.n_descsz <= e->sh[i].sh_size - sizeof(h) - 4) {
			len = h.n_descsz;
			memcpy(id, bytes + sizeof(h) + 4, len);
		}
		free(bytes);
		return len;
	}
	return 0;
}

/* What .gnu_debuglink says, or "". */
static void debug_link(struct ki_elf *e, char name[NAME_MOST])
{
	uint8_t *bytes;

	*name = 0;
	for (uint32_t i = 0; i < e->nsh; i++)
		if (!strcmp(ki_elf_name(e, i), ".gnu_debuglink") && !ki_elf_read(e, i, &bytes)) {
			snprintf(name, NAME_MOST, "%s", (char *)bytes);
			free(bytes);
			return;
		}
}

/* Open, and of the same build? */
static bool is_same(struct ki_elf *debug, const char *path, const uint8_t *id, size_t len)
{
	uint8_t other[ID_MOST];

	if (!access(path, R_OK) && !ki_elf_open(debug, path, NULL) &&
	    build_id(debug, other) == len && !memcmp(id, other, len))
		return true;
	ki_elf_close(debug);
	return false;
}

/* The folder of a file; of /proc/PID/exe of what that leads to. */
static int folder_of(const char *file, char *out, size_t room)
{
	const char *slash = strrchr(file, '/');
	const int dir = slash ? (int)(slash - file) : 0;
	int at = snprintf(out, room, "%.*s", dir, file);
	ssize_t n;

	if (strncmp(file, "/proc/", 6) || !slash || strcmp(slash, "/exe"))
		return at;
	at += snprintf(out + at, room - (size_t)at, "/root");
	n = readlink(file, out + at, room - (size_t)at - 1);
	out[n < 0 ? at : at + (int)n] = 0;
	return (int)(strrchr(out, '/') - out);
}

static bool find_debug(struct ki_elf *e, struct ki_elf *debug, char *path, size_t room)
{
	char folder[4400];
	const int dir = folder_of(e->path, folder, sizeof(folder));
	uint8_t id[ID_MOST];
	size_t len = build_id(e, id), n;
	char link[NAME_MOST];

	*debug = (struct ki_elf){.fd = -1};
	if (!len)
		return false;
	n = (size_t)snprintf(path, room, DEBUG "/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < len; i++)
		n += (size_t)snprintf(path + n, room - n, "%02x", id[i]);
	snprintf(path + n, room - n, ".debug");
	if (is_same(debug, path, id, len))
		return true;
	debug_link(e, link);
	if (!*link || strchr(link, '/'))
		return false;
	snprintf(path, room, "%.*s/%s", dir, folder, link);
	if (is_same(debug, path, id, len))
		return true;
	snprintf(path, room, "%.*s/.debug/%s", dir, folder, link);
	return is_same(debug, path, id, len);
}

static int add_debug_symbols(struct ki_elf *debug, uint32_t number, struct ki_process_names *to)
{
	struct table t;
	int ret = read_table(debug, number, &t);

	if (ret)
		return ret == -ENOMEM ? ret : 0;
	for (uint64_t i = 1; !ret && i < t.n; i++) {
		const Elf64_Sym *s = &t.syms[i];
		const int type = ELF64_ST_TYPE(s->st_info);
		const char *name = name_of(&t, i);
		const size_t len = strnlen(name, NAME_MOST);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF &&
		    len && len < NAME_MOST && !ki_process_has_symbol(to->image, s->st_value))
			ret = add(to, s->st_value, name, len);
	}
	free_table(&t);
	return ret;
}

static int add_debug(struct ki_elf *e, struct ki_process_names *to)
{
	struct ki_elf debug;
	char path[5000];
	int ret = 0;

	if (!find_debug(e, &debug, path, sizeof(path)))
		return 0;
	for (uint32_t i = 0; !ret && i < debug.nsh; i++)
		if (debug.sh[i].sh_type == SHT_SYMTAB)
			ret = add_debug_symbols(&debug, i, to);
	ki_elf_close(&debug);
	return ret;
}

/* ---- the PLT ---- */

struct filled {
	struct table names;
	Elf64_Rela *rela;
	uint64_t n;
};

/* Is the word at this address one that such a relocation fills in? sym: with which symbol; 0. */
static bool is_filled_in(const struct filled *f, uint64_t addr, uint32_t *sym)
{
	for (uint64_t i = 0; i < f->n; i++) {
		const uint64_t type = ELF64_R_TYPE(f->rela[i].r_info);

		*sym = (uint32_t)ELF64_R_SYM(f->rela[i].r_info);
		if (f->rela[i].r_offset == addr &&
		    (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
		     type == R_X86_64_IRELATIVE))
			return true;
	}
	return false;
}

/* The word that `jmp *disp(%rip)` of an entry reads, after an endbr64 or the prefix bnd; 0. */
static uint64_t word_of_entry(const uint8_t *entry, size_t len, uint64_t addr)
{
	size_t at = len >= 4 && !memcmp(entry, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
	int32_t disp;

	at += at < len && entry[at] == 0xf2;
	if (at + 6 > len || entry[at] != 0xff || entry[at + 1] != 0x25)
		return 0;
	memcpy(&disp, entry + at + 2, sizeof(disp));
	return addr + at + 6 + (uint64_t)(int64_t)disp;
}

/* One that is filled in with what the loader computes has no name. */
static int add_entry(struct ki_process_names *to, uint64_t addr, const char *name)
{
	char entry[NAME_MOST + 8];

	if (strnlen(name, NAME_MOST) == NAME_MOST || ki_process_has_symbol(to->image, addr))
		return 0;
	if (*name)
		snprintf(entry, sizeof(entry), "%s@plt", name);
	else
		snprintf(entry, sizeof(entry), KI_NAMELESS "%" PRIx64, addr);
	return add(to, addr, entry, strlen(entry));
}

static int add_entries(struct ki_elf *e, uint32_t number, const struct filled *f,
		       struct ki_process_names *to)
{
	const Elf64_Shdr *sh = &e->sh[number];
	const uint64_t step = sh->sh_entsize == 8 ? 8 : 16;
	uint8_t *bytes;
	int ret = ki_elf_read(e, number, &bytes);

	if (ret)
		return ret == -ENOMEM ? ret : 0;
	for (uint64_t at = 0; !ret && at + step <= sh->sh_size; at += step) {
		const uint64_t addr = sh->sh_addr + at,
			       word = word_of_entry(bytes + at, step, addr);
		uint32_t sym;

		if (word && is_filled_in(f, word, &sym))
			ret = add_entry(to, addr, sym ? name_of(&f->names, sym) : "");
	}
	free(bytes);
	return ret;
}

/* By the relocations of section `number`: entries of all PLTs. */
static int add_filled(struct ki_elf *e, uint32_t number, struct ki_process_names *to)
{
	struct filled f = {.n = e->sh[number].sh_size / sizeof(*f.rela)};
	uint8_t *bytes;
	int ret;

	if (e->sh[number].sh_entsize != sizeof(*f.rela) ||
	    !linked(e, e->sh[number].sh_link, SHT_DYNSYM))
		return 0;
	ret = ki_elf_read(e, number, &bytes);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	f.rela = (Elf64_Rela *)(void *)bytes;
	ret = read_table(e, e->sh[number].sh_link, &f.names);
	for (uint32_t i = 0; !ret && i < e->nsh; i++)
		if (!strncmp(ki_elf_name(e, i), ".plt", 4) && e->sh[i].sh_type == SHT_PROGBITS)
			ret = add_entries(e, i, &f, to);
	free_table(&f.names);
	free(bytes);
	return ret == -ENOMEM ? ret : 0;
}

int ki_process_add_others(struct ki_elf *e, struct ki_process_names *to)
{
	int ret = add_debug(e, to);

	for (uint32_t i = 0; !ret && i < e->nsh; i++)
		if (e->sh[i].sh_type == SHT_RELA && (!strcmp(ki_elf_name(e, i), ".rela.plt") ||
						     !strcmp(ki_elf_name(e, i), ".rela.dyn")))
			ret = add_filled(e, i, to);
	if (to->others.n)
		qsort(to->others.v, to->others.n, sizeof(*to->others.v), by_value);
	return ret;
}
