// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the file itself says, read by libelf: lib/target has its own reader.
 */
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "oracles.h"

static const char *section_name(const struct image *im, const GElf_Shdr *sh)
{
	size_t names;

	if (elf_getshdrstrndx(im->elf, &names))
		return "";
	return elf_strptr(im->elf, names, sh->sh_name) ?: "";
}

static bool is_code(const GElf_Shdr *sh)
{
	return sh->sh_type == SHT_PROGBITS && sh->sh_flags & SHF_ALLOC &&
	       sh->sh_flags & SHF_EXECINSTR;
}

static bool is_loaded(const GElf_Shdr *sh)
{
	return sh->sh_type != SHT_NULL && sh->sh_flags & SHF_ALLOC &&
	       !(sh->sh_flags & SHF_COMPRESSED) &&
	       !(sh->sh_type == SHT_NOBITS && sh->sh_flags & SHF_TLS);
}

/* Code, or the rest: sections of a relocatable file one after the other, as target.h has it. */
static uint64_t lay_out(struct image *im, bool code, uint64_t at)
{
	Elf_Scn *s = NULL;

	while ((s = elf_nextscn(im->elf, s))) {
		size_t i = elf_ndxscn(s);
		GElf_Shdr sh;

		if (!gelf_getshdr(s, &sh) || !is_loaded(&sh) || is_code(&sh) != code)
			continue;
		if (im->relocatable && sh.sh_addralign)
			at = (at + sh.sh_addralign - 1) / sh.sh_addralign * sh.sh_addralign;
		im->places[i] = im->relocatable ? at : 0;
		if (code)
			im->bases[i] = im->places[i];
		im->code |= code && sh.sh_size;
		at += sh.sh_size;
	}
	return (at + 4095) / 4096 * 4096;
}

static int find_bases(struct image *im)
{
	size_t n;

	if (elf_getshdrnum(im->elf, &n))
		return -EINVAL;
	im->bases = malloc((n + 1) * sizeof(*im->bases));
	im->places = malloc((n + 1) * sizeof(*im->places));
	if (!im->bases || !im->places)
		return -ENOMEM;
	memset(im->bases, 0xff, (n + 1) * sizeof(*im->bases));
	memset(im->places, 0xff, (n + 1) * sizeof(*im->places));
	lay_out(im, false, lay_out(im, true, 0));
	return 0;
}

uint64_t image_base(const struct image *im, const char *section)
{
	Elf_Scn *s = NULL;

	while ((s = elf_nextscn(im->elf, s))) {
		GElf_Shdr sh;

		if (gelf_getshdr(s, &sh) && is_code(&sh) &&
		    strcmp(section_name(im, &sh), section) == 0)
			return im->bases[elf_ndxscn(s)];
	}
	return UINT64_MAX;
}

static int read_symbols(struct image *im, Elf_Scn *s, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(s, NULL);
	GElf_Sym sym;

	for (int i = 0; d && gelf_getsym(d, i, &sym); i++) {
		struct elf_symbol f = {sym.st_value, sym.st_size,
				       elf_strptr(im->elf, sh->sh_link, sym.st_name)};

		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx >= SHN_LORESERVE ||
		    !sym.st_shndx || im->bases[sym.st_shndx] == UINT64_MAX)
			continue;
		f.addr += im->bases[sym.st_shndx];
		if (ki_vec_push(&im->symbols, f))
			return -ENOMEM;
	}
	return 0;
}

/* What the relocation leads to, less what is after the field. */
static int read_relocs(struct image *im, Elf_Scn *s, const GElf_Shdr *sh, bool unwind)
{
	Elf_Data *d = elf_getdata(s, NULL),
		 *syms = elf_getdata(elf_getscn(im->elf, sh->sh_link), NULL);
	GElf_Shdr names;
	GElf_Rela r;

	gelf_getshdr(elf_getscn(im->elf, sh->sh_link), &names);
	for (int i = 0; d && gelf_getrela(d, i, &r); i++) {
		struct reloc x = {0};
		GElf_Sym sym;
		int ret;

		if (!gelf_getsym(syms, (int)GELF_R_SYM(r.r_info), &sym))
			return -EINVAL;
		if (!sym.st_shndx)
			x.external = elf_strptr(im->elf, names.sh_link, sym.st_name);
		else if (sym.st_shndx < SHN_LORESERVE && im->places[sym.st_shndx] != UINT64_MAX)
			x.target = im->places[sym.st_shndx] + sym.st_value + (uint64_t)r.r_addend;
		if (unwind) {
			ret = x.external ? 0 : ki_vec_push(&im->unwind, x.target);
		} else {
			x.addr = im->bases[sh->sh_info] + r.r_offset;
			x.target = x.external || !x.target ? 0 : x.target + 4;
			ret = ki_vec_push(&im->relocs, x);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int read_unwind(struct image *im, Elf_Scn *s, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(s, NULL);

	for (size_t i = 0; d && i + 4 <= d->d_size; i += 4) {
		int32_t off;

		memcpy(&off, (char *)d->d_buf + i, 4);
		if (ki_vec_push(&im->unwind, sh->sh_addr + i + (uint64_t)(int64_t)off))
			return -ENOMEM;
	}
	return 0;
}

/*
 * The table of replacements, 12 bytes each: the place of the instructions, relative to itself, and
 * at 10 their length.
 */
static int read_alternatives(struct image *im, Elf_Scn *s, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(s, NULL);

	if (sh->sh_size % 12)
		return -EINVAL;
	for (size_t i = 0; d && i + 12 <= d->d_size; i += 12) {
		const uint8_t *p = (uint8_t *)d->d_buf + i;
		struct span x;
		int32_t off;

		memcpy(&off, p, 4);
		x.start = sh->sh_addr + i + (uint64_t)(int64_t)off;
		x.end = x.start + p[10];
		if (ki_vec_push(&im->alternatives, x))
			return -ENOMEM;
	}
	return 0;
}

/* The same of a relocatable file: the places are in the relocations. */
static int read_alternative_relocs(struct image *im, Elf_Scn *s, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(s, NULL),
		 *table = elf_getdata(elf_getscn(im->elf, sh->sh_info), NULL);
	Elf_Data *syms = elf_getdata(elf_getscn(im->elf, sh->sh_link), NULL);
	GElf_Rela r;

	for (int i = 0; d && table && gelf_getrela(d, i, &r); i++) {
		struct span x;
		GElf_Sym sym;

		if (r.r_offset % 12 || r.r_offset + 12 > table->d_size ||
		    !gelf_getsym(syms, (int)GELF_R_SYM(r.r_info), &sym) ||
		    sym.st_shndx >= SHN_LORESERVE || im->bases[sym.st_shndx] == UINT64_MAX)
			continue;
		x.start = im->bases[sym.st_shndx] + sym.st_value + (uint64_t)r.r_addend;
		x.end = x.start + ((uint8_t *)table->d_buf)[r.r_offset + 10];
		if (ki_vec_push(&im->alternatives, x))
			return -ENOMEM;
	}
	return 0;
}

static int read_section(struct image *im, Elf_Scn *s, unsigned int symtab)
{
	GElf_Shdr sh;
	const char *name;

	if (!gelf_getshdr(s, &sh))
		return 0;
	name = section_name(im, &sh);
	if (sh.sh_type == symtab)
		return read_symbols(im, s, &sh);
	if (im->relocatable && sh.sh_type == SHT_RELA && im->bases[sh.sh_info] != UINT64_MAX)
		return read_relocs(im, s, &sh, false);
	if (im->relocatable && strcmp(name, ".rela.orc_unwind_ip") == 0)
		return read_relocs(im, s, &sh, true);
	if (!im->relocatable && strcmp(name, ".orc_unwind_ip") == 0)
		return read_unwind(im, s, &sh);
	if (!im->relocatable && strcmp(name, ".altinstructions") == 0)
		return read_alternatives(im, s, &sh);
	if (im->relocatable && strcmp(name, ".rela.altinstructions") == 0)
		return read_alternative_relocs(im, s, &sh);
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#define ORDER(vec) ((vec).n ? qsort((vec).v, (vec).n, sizeof(*(vec).v), by_addr) : (void)0)

static int read_all(struct image *im)
{
	unsigned int symtab = SHT_DYNSYM;
	Elf_Scn *s = NULL;
	GElf_Ehdr eh;
	int ret;

	if (!im->elf || !gelf_getehdr(im->elf, &eh))
		return -EINVAL;
	im->relocatable = eh.e_type == ET_REL;
	ret = find_bases(im);
	while (!ret && (s = elf_nextscn(im->elf, s))) {
		GElf_Shdr sh;

		if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_SYMTAB)
			symtab = SHT_SYMTAB;
	}
	im->whole = symtab == SHT_SYMTAB;
	while (!ret && (s = elf_nextscn(im->elf, s)))
		ret = read_section(im, s, symtab);
	ORDER(im->relocs);
	ORDER(im->symbols);
	ORDER(im->unwind);
	ORDER(im->alternatives);
	return ret;
}

int image_open(struct image *im, const char *path)
{
	elf_version(EV_CURRENT);
	*im = (struct image){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (im->fd < 0)
		return -errno;
	im->elf = elf_begin(im->fd, ELF_C_READ, NULL);
	return read_all(im);
}

void image_close(struct image *im)
{
	ki_vec_free(&im->relocs);
	ki_vec_free(&im->symbols);
	ki_vec_free(&im->unwind);
	ki_vec_free(&im->alternatives);
	free(im->bases);
	free(im->places);
	elf_end(im->elf);
	if (im->fd >= 0)
		close(im->fd);
}

bool image_is_empty(const struct image *im)
{
	return !im->code;
}

const struct reloc *image_reloc(const struct image *im, uint64_t start, uint64_t end)
{
	size_t lo = 0, hi = im->relocs.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (im->relocs.v[mid].addr < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < im->relocs.n && im->relocs.v[lo].addr < end ? &im->relocs.v[lo] : NULL;
}

bool image_alternative(const struct image *im, uint64_t addr)
{
	size_t lo = 0, hi = im->alternatives.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (im->alternatives.v[mid].start < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < im->alternatives.v[lo - 1].end;
}
