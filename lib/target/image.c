/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An ELF image: vmlinux, a kernel module, a program. Text and symbols are copied out, so that
 * the file may change or vanish afterwards. Nothing in the file is believed.
 */
#include "target/priv.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct section {
	uint64_t addr, len;
	uint8_t *bytes;
};

/* In order of address, so that section i is the target's range i. */
struct image {
	ki_vec(struct section) text;
};

/* What the symbols need to know of the sections, by number in the file. */
struct place {
	uint64_t addr, len; /* len 0: not text */
};

struct reader {
	Elf *elf;
	GElf_Ehdr eh;
	struct place *places;
	size_t nplaces;
	struct image *image;
	struct ki_target *t;
	struct ki_symbol_list list;
	const char *path;
	struct ki_err *err;
};

static int image_read(struct ki_target *t, uint64_t addr, void *buf, size_t len, enum ki_view view,
		      struct ki_err *err)
{
	const struct image *im = t->own;
	const struct ki_text_range *r = ki_target_range_at(t, addr);

	(void)view;
	(void)err;
	memcpy(buf, im->text.v[r - t->ranges.v].bytes + (addr - r->start), len);
	return 0;
}

static void image_close(struct ki_target *t)
{
	struct image *im = t->own;

	if (!im)
		return;
	for (size_t i = 0; i < im->text.n; i++)
		free(im->text.v[i].bytes);
	ki_vec_free(&im->text);
	free(im);
}

static const struct ki_target_ops image_ops = {
	.read = image_read,
	.close = image_close,
};

static int bad(const struct reader *r, const char *what)
{
	return ki_err_set(r->err, -EINVAL, 0, "%s: %s", r->path, what);
}

static int no_memory(const struct reader *r)
{
	return ki_err_set(r->err, -ENOMEM, 0, "%s: out of memory", r->path);
}

static bool is_text(const GElf_Shdr *sh)
{
	return sh->sh_type == SHT_PROGBITS && (sh->sh_flags & SHF_EXECINSTR) &&
	       (sh->sh_flags & SHF_ALLOC) && !(sh->sh_flags & SHF_COMPRESSED) && sh->sh_size;
}

/* Where a section of a relocatable file stands: behind the one before it. */
static int lay_out(const struct reader *r, GElf_Shdr *sh, uint64_t *end)
{
	uint64_t align = sh->sh_addralign ? sh->sh_addralign : 1;

	if (r->eh.e_type != ET_REL)
		return 0;
	if ((align & (align - 1)) || align > 1 << 20)
		return bad(r, "a section's alignment is not a small power of two");
	sh->sh_addr = (*end + align - 1) & ~(align - 1);
	*end = sh->sh_addr + sh->sh_size;
	return 0;
}

static int add_section(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh)
{
	struct section s = {.addr = sh->sh_addr, .len = sh->sh_size};
	Elf_Data *d = elf_rawdata(scn, NULL);

	if (!d || !d->d_buf || d->d_size != s.len)
		return bad(r, "a section lies outside the file");
	if (s.len > UINT64_MAX - s.addr)
		return bad(r, "a section ends behind the last address");
	s.bytes = malloc(s.len);
	if (!s.bytes)
		return no_memory(r);
	memcpy(s.bytes, d->d_buf, s.len);
	if (ki_vec_push(&r->image->text, s)) {
		free(s.bytes);
		return no_memory(r);
	}
	r->places[elf_ndxscn(scn)] = (struct place){s.addr, s.len};
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int make_ranges(struct reader *r)
{
	struct image *im = r->image;

	if (!im->text.n)
		return bad(r, "no code in it");
	qsort(im->text.v, im->text.n, sizeof(*im->text.v), by_addr);
	for (size_t i = 0; i < im->text.n; i++) {
		const struct section *s = &im->text.v[i];
		struct ki_text_range range = {s->addr, s->addr + s->len, ""};

		if (i && s->addr < s[-1].addr + s[-1].len)
			return bad(r, "two sections of code overlap");
		if (ki_vec_push(&r->t->ranges, range))
			return no_memory(r);
	}
	return 0;
}

static int read_text(struct reader *r)
{
	Elf_Scn *scn = NULL;
	uint64_t end = 0;
	int ret;

	if (elf_getshdrnum(r->elf, &r->nplaces))
		return bad(r, elf_errmsg(-1));
	r->places = calloc(r->nplaces + 1, sizeof(*r->places));
	if (!r->places)
		return no_memory(r);
	while ((scn = elf_nextscn(r->elf, scn))) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			return bad(r, elf_errmsg(-1));
		if (!is_text(&sh) || elf_ndxscn(scn) >= r->nplaces)
			continue;
		ret = lay_out(r, &sh, &end);
		if (!ret)
			ret = add_section(r, scn, &sh);
		if (ret)
			return ret;
	}
	return make_ranges(r);
}

/* The section of extended section numbers that belongs to symbol table `symtab`, or NULL. */
static Elf_Data *extended_numbers(struct reader *r, size_t symtab)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(r->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB_SHNDX &&
		    sh.sh_link == symtab)
			return elf_getdata(scn, NULL);
	return NULL;
}

static bool code_symbol(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC;
}

static int add_symbol(struct reader *r, const GElf_Sym *sym, size_t ndx, size_t strings)
{
	const struct place *s;
	const char *name;
	uint64_t addr = sym->st_value;

	if (!code_symbol(sym) || ndx >= r->nplaces || !r->places[ndx].len)
		return 0;
	s = &r->places[ndx];
	if (r->eh.e_type == ET_REL)
		addr += s->addr;
	if (addr < s->addr || addr - s->addr >= s->len)
		return 0;
	name = elf_strptr(r->elf, strings, sym->st_name);
	/* Assemblers' and annotators' local labels: .L12, .annobin_lto */
	if (!name || !*name || *name == '.')
		return 0;
	return ki_symbol_list_add(&r->list, addr, name, strlen(name), 0) ? no_memory(r) : 0;
}

static int add_symbols(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	Elf_Data *extended = extended_numbers(r, elf_ndxscn(scn));
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;

	if (!d)
		return bad(r, "the symbol table lies outside the file");
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Sym sym;
		Elf32_Word more = 0;
		int ret;

		if (!gelf_getsymshndx(d, extended, (int)i, &sym, &more))
			return bad(r, "the symbol table is cut off");
		ret = add_symbol(r, &sym, sym.st_shndx == SHN_XINDEX ? more : sym.st_shndx,
				 sh->sh_link);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_symbols(struct reader *r)
{
	static const GElf_Word types[] = {SHT_SYMTAB, SHT_DYNSYM};

	for (int i = 0; i < 2 && !r->list.raw.n; i++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr sh;

		while ((scn = elf_nextscn(r->elf, scn))) {
			int ret;

			if (!gelf_getshdr(scn, &sh) || sh.sh_type != types[i])
				continue;
			ret = add_symbols(r, scn, &sh);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int read_elf(struct reader *r)
{
	uint32_t empty;
	int ret;

	if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &r->eh))
		return bad(r, "not an ELF file");
	if (r->eh.e_machine != EM_X86_64 || gelf_getclass(r->elf) != ELFCLASS64 ||
	    r->eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return bad(r, "not for x86-64");
	if (r->eh.e_type != ET_EXEC && r->eh.e_type != ET_DYN && r->eh.e_type != ET_REL)
		return bad(r, "neither a program nor a library nor a relocatable file");
	r->image = r->t->own = calloc(1, sizeof(*r->image));
	if (!r->image || ki_symbol_list_string(&r->list, "", 0, &empty))
		return no_memory(r);
	ret = read_text(r);
	if (!ret)
		ret = read_symbols(r);
	if (!ret)
		ret = ki_target_finish(r->t, &r->list, NULL, r->err);
	return ret;
}

static int read_file(struct reader *r, int fd)
{
	int ret;

	elf_version(EV_CURRENT);
	r->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!r->elf)
		return bad(r, elf_errmsg(-1));
	ret = read_elf(r);
	elf_end(r->elf);
	free(r->places);
	ki_symbol_list_free(&r->list);
	return ret;
}

int ki_target_open_image(const char *path, struct ki_target **out, struct ki_err *err)
{
	struct reader r = {.path = path, .err = err};
	struct stat st;
	int ret, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return ki_err_set(err, -EINVAL, 0, "%s: not a regular file", path);
	}
	ret = ki_target_new(&r.t, KI_TARGET_IMAGE, &image_ops, err);
	if (!ret) {
		ret = read_file(&r, fd);
		if (ret)
			ki_target_close(r.t);
		else
			*out = r.t;
	}
	close(fd);
	return ret;
}
