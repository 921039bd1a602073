// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/probe/usdt.h"

static const Elf64_Shdr *section_at(const struct ki_d_usdt_file *at, uint64_t addr)
{
	for (uint32_t i = 0; i < at->elf.nsh; i++) {
		const Elf64_Shdr *s = &at->elf.sh[i];

		if ((s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_NOBITS && addr >= s->sh_addr &&
		    addr - s->sh_addr < s->sh_size)
			return s;
	}
	return NULL;
}

uint64_t ki_d_usdt_offset(const struct ki_d_usdt_file *at, uint64_t addr)
{
	const Elf64_Shdr *s = section_at(at, addr);

	return s ? addr - s->sh_addr + s->sh_offset : 0;
}

bool ki_d_usdt_string(struct ki_d_usdt_file *at, uint64_t addr, char to[KI_D_USDT_NAME])
{
	const Elf64_Shdr *s = section_at(at, addr);
	uint64_t left;

	if (!s)
		return false;
	left = s->sh_size - (addr - s->sh_addr);
	left = left < KI_D_USDT_NAME ? left : KI_D_USDT_NAME;
	if (ki_pread(at->elf.fd, to, left, addr - s->sh_addr + s->sh_offset))
		return false;
	return *to && memchr(to, 0, left);
}

void ki_d_usdt_provider(const struct ki_d_note *n, pid_t pid, char to[KI_D_USDT_NAME])
{
	snprintf(to, KI_D_USDT_NAME, "%.100s%d", n->provider, pid);
}

/* Two underscores are how C writes a hyphen. */
void ki_d_usdt_name(const struct ki_d_note *note, char to[KI_D_USDT_NAME])
{
	const char *from = note->name;
	size_t n = 0;

	for (; *from && n + 1 < KI_D_USDT_NAME; n++) {
		const bool hyphen = from[0] == '_' && from[1] == '_';

		to[n] = hyphen ? '-' : *from;
		from += hyphen ? 2 : 1;
	}
	to[n] = 0;
}

enum ki_d_notes_have ki_d_usdt_noted(const struct ki_d_usdt_file *at, const struct ki_d_note *n,
				     struct ki_d_noted *out)
{
	return ki_d_notes_types(at->types, at->types_len, n, out);
}

/* What stands beside notes, wherever it does in the file. */
static void look_around(struct ki_d_usdt_file *at)
{
	for (uint32_t i = 0; i < at->elf.nsh; i++) {
		const char *name = ki_elf_name(&at->elf, i);

		if (!strcmp(name, ".stapsdt.base"))
			at->base = at->elf.sh[i].sh_addr;
		if (!strcmp(name, ".note.usdt") && !at->types &&
		    !ki_elf_read(&at->elf, i, &at->types))
			at->types_len = at->elf.sh[i].sh_size;
	}
}

int ki_d_usdt_look(struct ki_d_usdt_file *at, ki_d_note_take *take)
{
	struct ki_err ignored = {0};
	uint8_t *bytes;
	int ret = 0;

	if (!ki_elf_open(&at->elf, at->path, &ignored))
		look_around(at);
	if (at->types)
		ret = ki_d_notes_each(at->types, at->types_len, take, at);
	for (uint32_t i = 0; !ignored.code && !ret && i < at->elf.nsh; i++) {
		if (strcmp(ki_elf_name(&at->elf, i), ".note.stapsdt") != 0 ||
		    ki_elf_read(&at->elf, i, &bytes))
			continue;
		ret = ki_d_notes_each(bytes, at->elf.sh[i].sh_size, take, at);
		free(bytes);
	}
	free(at->types);
	at->types = NULL;
	ki_elf_close(&at->elf);
	return ret;
}

int ki_d_usdt_each(pid_t pid, ki_d_usdt_wants *wants, ki_d_note_take *take, void *arg)
{
	struct ki_mappings maps = {0};
	const bool readable = !ki_mappings_read(&maps, pid);
	const char *before = "";
	int ret = 0;

	for (size_t i = 0; readable && !ret && i < maps.m.n; i++) {
		const struct ki_mapping *map = &maps.m.v[i];
		struct ki_d_usdt_file at = {.path = ki_mapping_path(&maps, map), .arg = arg};

		if (*at.path != '/' || !map->executable || !strcmp(at.path, before) ||
		    (wants && !wants(arg, map)))
			continue;
		before = at.path;
		ret = ki_d_usdt_look(&at, take);
	}
	ki_mappings_free(&maps);
	return ret;
}
