// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sections, relocations and symbols to a file. What lies outside is named by no symbol: a
 * relocation without one has the address as its addend.
 */
#include <string.h>

#include "module/file.h"

#define ALIGN_OF_FILE 8

/* Section numbers of the file: the code is 1; symbol 1 is the code's beginning. */
#define TEXT_SYMBOL 1

struct kind {
	const char *name;
	uint64_t flags, align, entsize;
};

static const struct kind kinds[KI_MODULE_SECTIONS] = {
	[KI_MODULE_TEXT] = {".text", SHF_ALLOC | SHF_EXECINSTR, 64, 0},
	[KI_MODULE_THIS] = {".gnu.linkonce.this_module", SHF_ALLOC | SHF_WRITE, 64, 0},
	[KI_MODULE_INFO] = {".modinfo", SHF_ALLOC, 1, 0},
	[KI_MODULE_VERSIONS] = {"__versions", SHF_ALLOC, 32, 0},
	[KI_MODULE_ORC_IP] = {".orc_unwind_ip", SHF_ALLOC, 4, 0},
	[KI_MODULE_ORC] = {".orc_unwind", SHF_ALLOC, 2, 0},
	[KI_MODULE_FAULTS] = {"__ex_table", SHF_ALLOC, 4, 0},
	[KI_MODULE_BUGS] = {"__bug_table", SHF_ALLOC | SHF_WRITE, 4, 0},
	[KI_MODULE_JUMPS] = {"__jump_table", SHF_ALLOC | SHF_WRITE, 8, 0},
	[KI_MODULE_CALLS] = {".static_call_sites", SHF_ALLOC | SHF_WRITE, 4, 0},
};

struct writer {
	ki_vec(uint8_t) out;
	ki_vec(Elf64_Shdr) headers;
	ki_vec(char) names;
};

int ki_module_put(struct ki_module_file *f, enum ki_module_section s, const void *bytes, size_t n)
{
	struct ki_module_part *p = &f->parts[s];

	if (ki_vec_reserve(&p->bytes, n))
		return -ENOMEM;
	if (bytes && n)
		memcpy(p->bytes.v + p->bytes.n, bytes, n);
	else if (n)
		memset(p->bytes.v + p->bytes.n, 0, n);
	p->bytes.n += n;
	return 0;
}

int ki_module_refer(struct ki_module_file *f, enum ki_module_section s, uint32_t type, uint64_t off,
		    const struct ki_module_place *place, int64_t addend)
{
	Elf64_Rela r = {.r_offset = off,
			.r_info = ELF64_R_INFO((uint64_t)(place->inside ? TEXT_SYMBOL : 0), type),
			.r_addend = (int64_t)(place->at + (uint64_t)addend)};

	return ki_vec_push(&f->parts[s].relas, r);
}

static int put_string(struct ki_module_file *f, const char *s, uint32_t *at)
{
	const size_t n = strlen(s) + 1;

	if (ki_vec_reserve(&f->strings, n))
		return -ENOMEM;
	*at = (uint32_t)f->strings.n;
	memcpy(f->strings.v + f->strings.n, s, n);
	f->strings.n += n;
	return 0;
}

int ki_module_name(struct ki_module_file *f, enum ki_module_section s, unsigned int type,
		   const char *name, uint64_t off, uint64_t size)
{
	Elf64_Sym sym = {.st_info = ELF64_ST_INFO(STB_LOCAL, type),
			 .st_shndx = (uint16_t)(s + 1),
			 .st_value = off,
			 .st_size = size};

	if (put_string(f, name, &sym.st_name))
		return -ENOMEM;
	return ki_vec_push(&f->symbols, sym);
}

int ki_module_file_init(struct ki_module_file *f)
{
	memset(f, 0, sizeof(*f));
	if (ki_vec_push(&f->strings, 0) || ki_vec_push(&f->symbols, (Elf64_Sym){0}))
		return -ENOMEM;
	return ki_vec_push(&f->symbols, (Elf64_Sym){
						.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
						.st_shndx = KI_MODULE_TEXT + 1,
					});
}

void ki_module_file_free(struct ki_module_file *f)
{
	for (int s = 0; s < KI_MODULE_SECTIONS; s++) {
		ki_vec_free(&f->parts[s].bytes);
		ki_vec_free(&f->parts[s].relas);
	}
	ki_vec_free(&f->symbols);
	ki_vec_free(&f->strings);
}

/* ---- the file ---- */

static int put(struct writer *w, const void *bytes, size_t n, size_t align)
{
	const size_t pad = (align - w->out.n % align) % align;

	if (ki_vec_reserve(&w->out, pad + n))
		return -ENOMEM;
	memset(w->out.v + w->out.n, 0, pad);
	if (n)
		memcpy(w->out.v + w->out.n + pad, bytes, n);
	w->out.n += pad + n;
	return 0;
}

/* The header says all but name, place and size. */
static int put_section(struct writer *w, const char *prefix, const char *name, Elf64_Shdr h,
		       const void *bytes, size_t n)
{
	const size_t len[2] = {strlen(prefix), strlen(name) + 1};

	if (put(w, bytes, n, h.sh_addralign) || ki_vec_reserve(&w->names, len[0] + len[1]))
		return -ENOMEM;
	h.sh_name = (uint32_t)w->names.n;
	h.sh_offset = w->out.n - n;
	h.sh_size = n;
	memcpy(w->names.v + w->names.n, prefix, len[0]);
	memcpy(w->names.v + w->names.n + len[0], name, len[1]);
	w->names.n += len[0] + len[1];
	return ki_vec_push(&w->headers, h);
}

static int put_parts(struct writer *w, const struct ki_module_file *f,
		     uint32_t number[KI_MODULE_SECTIONS])
{
	for (int s = 0; s < KI_MODULE_SECTIONS; s++) {
		const Elf64_Shdr h = {.sh_type = SHT_PROGBITS,
				      .sh_flags = kinds[s].flags,
				      .sh_addralign = kinds[s].align,
				      .sh_entsize = kinds[s].entsize};

		number[s] = (uint32_t)w->headers.n;
		if (!f->parts[s].bytes.n)
			continue;
		if (put_section(w, "", kinds[s].name, h, f->parts[s].bytes.v, f->parts[s].bytes.n))
			return -ENOMEM;
	}
	return 0;
}

static int put_relas(struct writer *w, const struct ki_module_file *f,
		     const uint32_t number[KI_MODULE_SECTIONS])
{
	uint32_t symtab = (uint32_t)w->headers.n;

	for (int s = 0; s < KI_MODULE_SECTIONS; s++)
		symtab += f->parts[s].relas.n > 0;
	for (int s = 0; s < KI_MODULE_SECTIONS; s++) {
		const Elf64_Shdr h = {.sh_type = SHT_RELA,
				      .sh_flags = SHF_INFO_LINK,
				      .sh_link = symtab,
				      .sh_info = number[s],
				      .sh_addralign = 8,
				      .sh_entsize = sizeof(Elf64_Rela)};
		const size_t n = f->parts[s].relas.n * sizeof(Elf64_Rela);

		if (n && put_section(w, ".rela", kinds[s].name, h, f->parts[s].relas.v, n))
			return -ENOMEM;
	}
	return 0;
}

static int put_symbols(struct writer *w, const struct ki_module_file *f)
{
	const Elf64_Shdr symtab = {.sh_type = SHT_SYMTAB,
				   .sh_link = (uint32_t)w->headers.n + 1,
				   .sh_info = (uint32_t)f->symbols.n,
				   .sh_addralign = 8,
				   .sh_entsize = sizeof(Elf64_Sym)};
	const Elf64_Shdr strtab = {.sh_type = SHT_STRTAB, .sh_addralign = 1};

	if (put_section(w, "", ".symtab", symtab, f->symbols.v, f->symbols.n * sizeof(Elf64_Sym)))
		return -ENOMEM;
	return put_section(w, "", ".strtab", strtab, f->strings.v, f->strings.n);
}

/* The names of the sections, their own too, and then the headers. */
static int put_headers(struct writer *w)
{
	static const char own[] = ".shstrtab";
	Elf64_Shdr h = {.sh_type = SHT_STRTAB, .sh_addralign = 1, .sh_name = (uint32_t)w->names.n};
	Elf64_Ehdr e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT},
			.e_type = ET_REL,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(e),
			.e_shentsize = sizeof(Elf64_Shdr)};

	if (ki_vec_reserve(&w->names, sizeof(own)))
		return -ENOMEM;
	memcpy(w->names.v + w->names.n, own, sizeof(own));
	w->names.n += sizeof(own);
	h.sh_offset = w->out.n;
	h.sh_size = w->names.n;
	if (put(w, w->names.v, w->names.n, 1) || ki_vec_push(&w->headers, h) ||
	    put(w, w->headers.v, w->headers.n * sizeof(h), ALIGN_OF_FILE))
		return -ENOMEM;
	e.e_shoff = w->out.n - w->headers.n * sizeof(h);
	e.e_shnum = (uint16_t)w->headers.n;
	e.e_shstrndx = (uint16_t)(w->headers.n - 1);
	memcpy(w->out.v, &e, sizeof(e));
	return 0;
}

int ki_module_write(const struct ki_module_file *f, void **out, size_t *size)
{
	static const Elf64_Ehdr room;
	uint32_t number[KI_MODULE_SECTIONS];
	struct writer w = {0};
	int ret = 0;

	if (ki_vec_push(&w.names, 0) || ki_vec_push(&w.headers, (Elf64_Shdr){0}) ||
	    put(&w, &room, sizeof(room), 1) || put_parts(&w, f, number) ||
	    put_relas(&w, f, number) || put_symbols(&w, f) || put_headers(&w)) {
		ki_vec_free(&w.out);
		ret = -ENOMEM;
	} else {
		*out = w.out.v;
		*size = w.out.n;
	}
	ki_vec_free(&w.headers);
	ki_vec_free(&w.names);
	return ret;
}
