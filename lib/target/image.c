/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An ELF image: vmlinux, a kernel module, a program. Its code is copied out, so that the file may
 * change afterwards; data is read when it is asked for (a kernel has more data than code, and
 * few of it is), but for relocatable files. Nothing in the file is believed.
 *
 * A relocatable file has no addresses. It gets some: sections of code from 0 on, then, from the
 * next page on, the others, then a page for each 256 symbols, where those that are defined
 * elsewhere are said to be.
 *
 * Sections of data may lie on each other (a kernel's per-CPU data is linked at 0; a file may
 * lie): the one with the higher address then hides the rest of the other. Code must not overlap.
 */
#include "target/image.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "target/kinds.h"
#include "util/search.h"

#define PAGE	  4096u
#define ALIGN_MAX (2u << 20)

const struct ki_piece *ki_pieces_at(const ki_pieces *p, uint64_t addr)
{
	size_t lo = KI_FIRST(i, p->n, p->v[i].addr > addr);

	return lo && addr - p->v[lo - 1].addr < p->v[lo - 1].len ? &p->v[lo - 1] : NULL;
}

static int image_read(struct ki_target *t, uint64_t addr, void *buf, size_t len, enum ki_view view,
		      struct ki_err *err)
{
	const struct ki_image *im = t->own;
	const struct ki_piece *p = ki_pieces_at(&im->text, addr);

	(void)view;
	(void)err;
	memcpy(buf, p->bytes + (addr - p->addr), len);
	return 0;
}

static const uint8_t *image_view(struct ki_target *t, uint64_t addr, size_t len)
{
	const struct ki_image *im = t->own;
	const struct ki_piece *p = ki_pieces_at(&im->text, addr);

	return p && len <= p->len - (addr - p->addr) ? p->bytes + (addr - p->addr) : NULL;
}

const uint8_t *ki_image_bytes(struct ki_image *im, const struct ki_piece *piece)
{
	struct ki_piece *p = (struct ki_piece *)(uintptr_t)piece;
	uint8_t *bytes = __atomic_load_n(&p->bytes, __ATOMIC_ACQUIRE);

	if (bytes || !p->off)
		return bytes;
	pthread_mutex_lock(&im->lock);
	bytes = p->bytes;
	if (!bytes && (bytes = malloc(p->len)) && ki_pread(im->fd, bytes, p->len, p->off)) {
		free(bytes);
		bytes = NULL;
	}
	__atomic_store_n(&p->bytes, bytes, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&im->lock);
	return bytes;
}

static int image_read_data(struct ki_target *t, uint64_t addr, void *buf, size_t len,
			   struct ki_err *err)
{
	struct ki_image *im = t->own;

	while (len) {
		const struct ki_piece *p = ki_pieces_at(&im->text, addr);
		const uint8_t *bytes;
		size_t n;

		if (!p)
			p = ki_pieces_at(&im->data, addr);
		if (!p)
			return ki_err_set(err, -EFAULT, addr,
					  "0x%llx is in no loaded section of the image",
					  (unsigned long long)addr);
		n = p->len - (addr - p->addr) < len ? p->len - (addr - p->addr) : len;
		bytes = ki_image_bytes(im, p);
		if (!bytes && p->off)
			return ki_err_set(err, -EIO, addr, "the file cannot be read any more");
		if (bytes)
			memcpy(buf, bytes + (addr - p->addr), n);
		else
			memset(buf, 0, n);
		addr += n;
		buf = (char *)buf + n;
		len -= n;
	}
	return 0;
}

static void free_pieces(ki_pieces *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].bytes);
	ki_vec_free(p);
}

static void image_close(struct ki_target *t)
{
	struct ki_image *im = t->own;

	if (!im)
		return;
	free_pieces(&im->text);
	free_pieces(&im->data);
	ki_vec_free(&im->kinds);
	ki_vec_free(&im->tables);
	if (im->fd >= 0)
		close(im->fd);
	pthread_mutex_destroy(&im->lock);
	free(im);
}

static const struct ki_target_ops image_ops = {
	.read = image_read,
	.view = image_view,
	.read_data = image_read_data,
	.reserved = ki_image_reserved,
	.close = image_close,
};

bool ki_image_marks(const struct ki_target *t, enum ki_mark first, uint64_t *start, uint64_t *end)
{
	const struct ki_image *im = t->own;

	return t->ops == &image_ops && ki_marks_pair(&im->marks, (int)first, start, end);
}

static bool is_loaded(const Elf64_Shdr *sh)
{
	/* A thread's zeros take no room in the image. */
	bool tbss = sh->sh_type == SHT_NOBITS && (sh->sh_flags & SHF_TLS);

	return sh->sh_type != SHT_NULL && (sh->sh_flags & SHF_ALLOC) &&
	       !(sh->sh_flags & SHF_COMPRESSED) && !tbss;
}

static bool is_text(const Elf64_Shdr *sh)
{
	return is_loaded(sh) && sh->sh_type == SHT_PROGBITS && (sh->sh_flags & SHF_EXECINSTR);
}

/* Where a section of a relocatable file stands: after the one before it. */
static int lay_out(struct ki_image_reader *r, Elf64_Shdr *sh)
{
	uint64_t align = sh->sh_addralign ? sh->sh_addralign : 1;

	if (r->elf.eh.e_type != ET_REL)
		return 0;
	if ((align & (align - 1)) || align > ALIGN_MAX)
		return ki_elf_bad(&r->elf, "a section's alignment is not a small power of two");
	sh->sh_addr = (r->end + align - 1) & ~(align - 1);
	if (sh->sh_addr > INT64_MAX || sh->sh_size > INT64_MAX)
		return ki_elf_bad(&r->elf, "its sections are too large");
	r->end = sh->sh_addr + sh->sh_size;
	return 0;
}

static int add_section(struct ki_image_reader *r, uint32_t i, bool text)
{
	Elf64_Shdr *sh = &r->elf.sh[i];
	struct ki_piece s = {.len = sh->sh_size};
	int ret = lay_out(r, sh);

	if (ret)
		return ret;
	s.addr = sh->sh_addr;
	r->places[i] = (struct ki_image_place){.addr = s.addr, .loaded = true};
	if (!s.len)
		return 0;
	if (s.len > UINT64_MAX - s.addr)
		return ki_elf_bad(&r->elf, "a section ends behind the last address");
	if (sh->sh_type != SHT_NOBITS && !text && r->elf.eh.e_type != ET_REL && sh->sh_offset) {
		ret = ki_elf_check(&r->elf, i);
		s.off = sh->sh_offset;
	} else if (sh->sh_type != SHT_NOBITS) {
		ret = ki_elf_read(&r->elf, i, &s.bytes);
	}
	if (ret)
		return ret;
	if (ki_vec_push(text ? &r->image->text : &r->image->data, s)) {
		free(s.bytes);
		return ki_elf_no_memory(&r->elf);
	}
	r->places[i] = (struct ki_image_place){s.addr, s.len, s.bytes, text, true};
	return text ? ki_image_note_section(r, i) : 0;
}

static int read_sections(struct ki_image_reader *r, bool text)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < r->elf.nsh; i++) {
		const Elf64_Shdr *sh = &r->elf.sh[i];

		if (is_loaded(sh) && is_text(sh) == text)
			ret = add_section(r, i, text);
	}
	r->end = (r->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return ret;
}

static int by_addr(const void *a, const void *b)
{
	const struct ki_piece *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int make_ranges(struct ki_image_reader *r)
{
	ki_pieces *text = &r->image->text;

	if (!text->n)
		return ki_elf_bad(&r->elf, "no code in it");
	qsort(text->v, text->n, sizeof(*text->v), by_addr);
	for (size_t i = 0; i < text->n; i++) {
		const struct ki_piece *s = &text->v[i];
		struct ki_text_range range = {s->addr, s->addr + s->len, ""};

		if (i && s->addr < s[-1].addr + s[-1].len)
			return ki_elf_bad(&r->elf, "two sections of code overlap");
		if (ki_vec_push(&r->t->ranges, range))
			return ki_elf_no_memory(&r->elf);
	}
	return 0;
}

static void order_data(ki_pieces *data)
{
	if (data->n)
		qsort(data->v, data->n, sizeof(*data->v), by_addr);
	for (size_t i = 0; i + 1 < data->n; i++)
		if (data->v[i].len > data->v[i + 1].addr - data->v[i].addr)
			data->v[i].len = data->v[i + 1].addr - data->v[i].addr;
}

static int fill(struct ki_image_reader *r, const char *system_map)
{
	int ret;

	r->image = calloc(1, sizeof(*r->image));
	if (!r->image)
		return ki_elf_no_memory(&r->elf);
	r->t->own = r->image;
	pthread_mutex_init(&r->image->lock, NULL);
	r->image->fd = fcntl(r->elf.fd, F_DUPFD_CLOEXEC, 0);
	r->places = calloc((size_t)r->elf.nsh + 1, sizeof(*r->places));
	if (!r->places)
		return ki_elf_no_memory(&r->elf);
	if (r->image->fd < 0)
		return ki_err_set(r->elf.err, -errno, 0, "%s: %s", r->elf.path, strerror(errno));
	ret = read_sections(r, true);
	if (!ret)
		ret = read_sections(r, false);
	if (!ret)
		ret = make_ranges(r);
	if (ret)
		return ret;
	order_data(&r->image->data);
	ret = system_map ? ki_image_read_map(r, system_map) : ki_image_read_symbols(r);
	if (!ret && r->elf.eh.e_type == ET_REL)
		ret = ki_image_relocate(r);
	if (!ret && r->elf.eh.e_type == ET_DYN)
		ret = ki_image_relocate_relative(r);
	if (!ret)
		ret = ki_image_find_tables(r);
	if (!ret)
		ret = ki_target_finish(r->t, &r->list, NULL, r->elf.err);
	if (!ret && system_map && !r->t->nsymbols)
		ret = ki_err_set(
			r->elf.err, -EINVAL, 0,
			"%s: no symbol of it lies in the code of %s: take the map of that kernel",
			system_map, r->elf.path);
	return ret;
}

int ki_image_open(const char *path, const char *system_map, struct ki_target **out,
		  struct ki_err *err)
{
	struct ki_image_reader r = {0};
	int ret = ki_target_new(&r.t, KI_TARGET_IMAGE, &image_ops, err);

	if (ret)
		return ret;
	ret = ki_elf_open(&r.elf, path, err);
	if (!ret)
		ret = fill(&r, system_map);
	ki_elf_close(&r.elf);
	free(r.places);
	free(r.syms);
	free(r.more);
	ki_symbol_list_free(&r.list);
	if (ret)
		ki_target_free(r.t);
	else
		*out = r.t;
	return ret;
}
