/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The symbols of an image: .symtab, else .dynsym, else what a System.map tells.
 *
 * The table's strings are taken over as one piece. A made-up file could let each of a million
 * symbols point into one long string: copying the names would take terabytes, so they are not
 * copied, and a name that is longer than any honest one is none.
 */
#include "target/image.h"

#include <string.h>

#include "target/sysmap.h"

#define NAME_LEN_MAX 4095

uint32_t ki_image_section_of(const struct ki_image_reader *r, uint32_t symbol)
{
	uint32_t ndx = r->syms[symbol].st_shndx;

	if (ndx == SHN_XINDEX)
		ndx = r->more ? r->more[symbol] : 0;
	else if (ndx >= SHN_LORESERVE)
		ndx = 0;
	return ndx < r->elf.nsh ? ndx : 0;
}

uint64_t ki_image_external(const struct ki_image_reader *r, uint32_t symbol)
{
	return r->end + (uint64_t)symbol * KI_EXTERNAL_SIZE;
}

/* The extended section numbers that belong to the symbol table, if there are any. */
static int read_extended(struct ki_image_reader *r)
{
	for (uint32_t i = 0; i < r->elf.nsh; i++) {
		const Elf64_Shdr *sh = &r->elf.sh[i];
		uint8_t *bytes;
		int ret;

		if (sh->sh_type != SHT_SYMTAB_SHNDX || sh->sh_link != r->symtab ||
		    sh->sh_size / sizeof(*r->more) < r->nsyms)
			continue;
		ret = ki_elf_read(&r->elf, i, &bytes);
		if (!ret)
			r->more = (void *)bytes;
		return ret;
	}
	return 0;
}

/* The list's strings: "", then the table's; *names is where they begin. */
static int read_names(struct ki_image_reader *r, uint32_t *names)
{
	uint32_t strings = r->elf.sh[r->symtab].sh_link, empty;
	uint8_t *bytes;
	int ret;

	if (strings >= r->elf.nsh || r->elf.sh[strings].sh_type != SHT_STRTAB)
		return ki_elf_bad(&r->elf, "the symbol table has no names");
	ret = ki_elf_read(&r->elf, strings, &bytes);
	if (ret)
		return ret;
	ret = r->list.strings.n ? 0 : ki_symbol_list_string(&r->list, "", 0, &empty);
	if (!ret)
		ret = ki_symbol_list_string(&r->list, (char *)bytes, r->elf.sh[strings].sh_size,
					    names);
	free(bytes);
	return ret ? ki_elf_no_memory(&r->elf) : 0;
}

static bool code_symbol(const Elf64_Sym *sym)
{
	int type = ELF64_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC;
}

static bool is_external(const struct ki_image_reader *r, uint32_t i)
{
	return i && r->elf.eh.e_type == ET_REL && r->syms[i].st_shndx == SHN_UNDEF;
}

static int add_symbol(struct ki_image_reader *r, uint32_t i, const char *name)
{
	const Elf64_Sym *sym = &r->syms[i];
	const struct ki_image_place *s = &r->places[ki_image_section_of(r, i)];
	struct ki_raw_symbol raw = {.addr = sym->st_value,
				    .local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL};
	size_t len = strnlen(name, NAME_LEN_MAX + 1);

	/* Assemblers' and annotators' local labels: .L12, .annobin_lto */
	if (!len || len > NAME_LEN_MAX || *name == '.')
		return 0;
	raw.name = (uint32_t)(name - r->list.strings.v);
	if (is_external(r, i)) {
		raw.addr = ki_image_external(r, i);
		return ki_vec_push(&r->list.raw, raw);
	}
	if (r->elf.eh.e_type == ET_REL)
		raw.addr += s->addr;
	else
		ki_marks_note(&r->image->marks, name, raw.addr);
	if (!code_symbol(sym) || !s->text || raw.addr < s->addr || raw.addr - s->addr >= s->len)
		return 0;
	return ki_vec_push(&r->list.raw, raw);
}

static int add_symbols(struct ki_image_reader *r)
{
	uint32_t names, names_len;
	int ret = read_names(r, &names);

	if (ret)
		return ret;
	names_len = (uint32_t)(r->list.strings.n - names);
	if (r->elf.eh.e_type == ET_REL)
		r->t->externals_at = r->end;
	for (uint32_t i = 0; !ret && i < r->nsyms; i++)
		if (r->syms[i].st_name < names_len)
			ret = add_symbol(r, i, r->list.strings.v + names + r->syms[i].st_name);
	return ret ? ki_elf_no_memory(&r->elf) : 0;
}

static int read_table(struct ki_image_reader *r, uint32_t section)
{
	const Elf64_Shdr *sh = &r->elf.sh[section];
	uint8_t *bytes;
	int ret;

	if (sh->sh_entsize != sizeof(*r->syms) || sh->sh_size / sizeof(*r->syms) >= UINT32_MAX / 32)
		return ki_elf_bad(&r->elf, "the symbol table has entries of an unknown size");
	free(r->syms);
	free(r->more);
	r->syms = NULL;
	r->more = NULL;
	ret = ki_elf_read(&r->elf, section, &bytes);
	if (ret)
		return ret;
	r->syms = (void *)bytes;
	r->nsyms = (uint32_t)(sh->sh_size / sizeof(*r->syms));
	r->symtab = section;
	ret = read_extended(r);
	return ret ? ret : add_symbols(r);
}

int ki_image_read_symbols(struct ki_image_reader *r)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	uint32_t empty;

	for (size_t k = 0; k < 2 && !r->list.raw.n; k++) {
		uint32_t i = 0;
		int ret;

		while (i < r->elf.nsh && r->elf.sh[i].sh_type != types[k])
			i++;
		ret = i < r->elf.nsh ? read_table(r, i) : 0;
		if (ret)
			return ret;
	}
	if (!r->list.strings.n && ki_symbol_list_string(&r->list, "", 0, &empty))
		return ki_elf_no_memory(&r->elf);
	return 0;
}

/* Does the map's text end where the section that holds its start does, or on that page? */
static bool fits(const struct ki_image_reader *r)
{
	const struct ki_piece *text;
	uint64_t start, end;

	if (!ki_marks_pair(&r->image->marks, KI_MARK_STEXT, &start, &end))
		return true;
	text = ki_pieces_at(&r->image->text, start);
	return text && end - text->addr >= text->len && end - text->addr - text->len < 4096;
}

int ki_image_read_map(struct ki_image_reader *r, const char *system_map)
{
	int ret;

	if (r->elf.eh.e_type == ET_REL)
		return ki_elf_bad(&r->elf, "a relocatable file has no addresses for %s to name",
				  system_map);
	ret = ki_sysmap_read(system_map, &r->list, &r->image->marks, r->elf.err);
	if (!ret && !fits(r))
		ret = ki_err_set(
			r->elf.err, -EINVAL, 0,
			"%s: its text ends elsewhere than that of %s: take the map of that kernel",
			system_map, r->elf.path);
	return ret;
}
