/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Relocations of a relocatable file, so that its calls lead to what they call and its tables
 * hold addresses. Only what the compiler makes for kernel modules; others leave the bytes as
 * they are in the file (those for a global offset table, or thread-local storage).
 *
 * And of a position-independent program, those that make pointers of its tables, as if it were
 * loaded at 0.
 */
#include "target/image.h"

#include <string.h>

enum check { ANY, SIGNED, UNSIGNED, EITHER };

static const struct kind {
	uint8_t size;
	bool relative;
	enum check check;
} kinds[] = {
	[R_X86_64_64] = {8, false, ANY},      [R_X86_64_PC64] = {8, true, ANY},
	[R_X86_64_PC32] = {4, true, SIGNED},  [R_X86_64_PLT32] = {4, true, SIGNED},
	[R_X86_64_32] = {4, false, UNSIGNED}, [R_X86_64_32S] = {4, false, SIGNED},
	[R_X86_64_16] = {2, false, EITHER},   [R_X86_64_PC16] = {2, true, SIGNED},
	[R_X86_64_8] = {1, false, EITHER},    [R_X86_64_PC8] = {1, true, SIGNED},
};

static bool fits(uint64_t value, const struct kind *k)
{
	unsigned int bits = k->size * 8u;
	bool as_signed, as_unsigned;

	if (bits == 64)
		return true;
	as_signed = value + (1ull << (bits - 1)) < 1ull << bits;
	as_unsigned = value < 1ull << bits;
	switch (k->check) {
	case SIGNED:
		return as_signed;
	case UNSIGNED:
		return as_unsigned;
	default:
		return as_signed || as_unsigned;
	}
}

/* A symbol's address. false: it has none, such as one in a section that is not loaded. */
static bool value_of(const struct ki_image_reader *r, uint32_t symbol, uint64_t *value)
{
	const Elf64_Sym *s = &r->syms[symbol];
	uint32_t section = ki_image_section_of(r, symbol);

	if (s->st_shndx == SHN_UNDEF && symbol)
		*value = ki_image_external(r, symbol);
	else if (s->st_shndx == SHN_ABS || !symbol)
		*value = s->st_value;
	else if (r->places[section].loaded)
		*value = r->places[section].addr + s->st_value;
	else
		return false;
	return true;
}

static int apply(const struct ki_image_reader *r, const struct ki_image_place *to,
		 const Elf64_Rela *rela)
{
	uint64_t type = ELF64_R_TYPE(rela->r_info), symbol = ELF64_R_SYM(rela->r_info), value;
	const struct kind *k;

	if (type >= sizeof(kinds) / sizeof(*kinds) || !kinds[type].size)
		return 0;
	k = &kinds[type];
	if (rela->r_offset > to->len || k->size > to->len - rela->r_offset)
		return ki_elf_bad(&r->elf, "a relocation lies outside its section");
	if (symbol >= r->nsyms)
		return ki_elf_bad(&r->elf, "a relocation is for a symbol that is not there");
	if (!value_of(r, (uint32_t)symbol, &value))
		return 0;
	value += (uint64_t)rela->r_addend;
	if (k->relative)
		value -= to->addr + rela->r_offset;
	if (!fits(value, k))
		return ki_elf_bad(&r->elf, "a relocation leads too far for its %u bytes", k->size);
	memcpy(to->bytes + rela->r_offset, &value, k->size);
	return 0;
}

static int apply_section(struct ki_image_reader *r, uint32_t section)
{
	const Elf64_Shdr *sh = &r->elf.sh[section];
	const struct ki_image_place *to = &r->places[sh->sh_info];
	uint64_t n = sh->sh_size / sizeof(Elf64_Rela);
	uint8_t *bytes;
	int ret;

	if (sh->sh_entsize != sizeof(Elf64_Rela))
		return ki_elf_bad(&r->elf, "relocations of an unknown size");
	ret = ki_elf_read(&r->elf, section, &bytes);
	if (ret)
		return ret;
	for (uint64_t i = 0; !ret && i < n; i++)
		ret = apply(r, to, (const Elf64_Rela *)(void *)bytes + i);
	free(bytes);
	return ret;
}

/* Where in the image's data the pointer at addr stands, or NULL. */
static uint8_t *pointer_at(struct ki_image *im, const struct ki_piece **last, uint64_t addr)
{
	const struct ki_piece *p = *last;
	const uint8_t *bytes;

	if (!p || addr < p->addr || addr - p->addr >= p->len)
		p = ki_pieces_at(&im->data, addr);
	*last = p;
	if (!p || p->len - (addr - p->addr) < sizeof(uint64_t))
		return NULL;
	bytes = ki_image_bytes(im, p);
	return bytes ? (uint8_t *)(uintptr_t)bytes + (addr - p->addr) : NULL;
}

static int apply_relative(struct ki_image_reader *r, uint32_t section)
{
	uint64_t n = r->elf.sh[section].sh_size / sizeof(Elf64_Rela);
	const struct ki_piece *last = NULL;
	uint8_t *bytes;
	int ret = ki_elf_read(&r->elf, section, &bytes);

	if (ret)
		return ret;
	for (uint64_t i = 0; i < n; i++) {
		const Elf64_Rela *rela = (const Elf64_Rela *)(void *)bytes + i;
		uint8_t *to = NULL;

		if (ELF64_R_TYPE(rela->r_info) == R_X86_64_RELATIVE)
			to = pointer_at(r->image, &last, rela->r_offset);
		if (to)
			memcpy(to, &rela->r_addend, sizeof(rela->r_addend));
	}
	free(bytes);
	return 0;
}

int ki_image_relocate_relative(struct ki_image_reader *r)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < r->elf.nsh; i++) {
		const Elf64_Shdr *sh = &r->elf.sh[i];

		if (sh->sh_type == SHT_RELA && (sh->sh_flags & SHF_ALLOC) &&
		    sh->sh_entsize == sizeof(Elf64_Rela))
			ret = apply_relative(r, i);
	}
	return ret;
}

int ki_image_relocate(struct ki_image_reader *r)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < r->elf.nsh; i++) {
		const Elf64_Shdr *sh = &r->elf.sh[i];

		if (sh->sh_type == SHT_RELA && sh->sh_info < r->elf.nsh && r->syms &&
		    sh->sh_link == r->symtab && r->places[sh->sh_info].bytes)
			ret = apply_section(r, i);
	}
	return ret;
}
