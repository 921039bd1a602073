/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a file that a process has mapped says about its code.
 *
 * Its symbols may be few: a library has those of its interface, a stripped program none. Taken
 * for all there is, each would reach to the next, over functions that are not its own. The table
 * by which exceptions find their way (.eh_frame_hdr) has a row for each function, and is not
 * stripped: where it knows of code at which no symbol stands, a symbol is made.
 */
#include "target/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/elf.h"
#include "target/kinds.h"

#define TABLE_OF_DATAREL_SDATA4 0x3b
#define UDATA4			0x03

int ki_process_file_bias(struct ki_elf *e, const struct ki_process_file *f, uint64_t *bias)
{
	for (unsigned int i = 0; i < e->eh.e_phnum; i++) {
		Elf64_Phdr ph;

		if (e->eh.e_phentsize != sizeof(ph) ||
		    ki_pread(e->fd, &ph, sizeof(ph), e->eh.e_phoff + i * sizeof(ph)))
			return -EINVAL;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    f->off + (f->end - f->map) <= ph.p_offset ||
		    ph.p_offset + ph.p_filesz <= f->off)
			continue;
		*bias = f->map - f->off + ph.p_offset - ph.p_vaddr;
		return 0;
	}
	return -ENOENT;
}

static int add_ranges(struct ki_target *t, const struct ki_target *image, ki_vec_u32 *modules,
		      const struct ki_process_file *f, uint64_t bias, uint32_t name)
{
	for (size_t i = 0; i < image->ranges.n; i++) {
		struct ki_text_range r = image->ranges.v[i];

		r.start += bias;
		r.end += bias;
		r.module = "";
		if (r.start < f->map)
			r.start = f->map;
		if (r.end > f->end)
			r.end = f->end;
		if (r.start >= r.end)
			continue;
		if (ki_vec_push(&t->ranges, r) || ki_vec_push(modules, name))
			return -ENOMEM;
	}
	return 0;
}

static int add_symbols(struct ki_symbol_list *l, const struct ki_target *image, uint64_t bias,
		       uint32_t module)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < image->nsymbols; i++) {
		const struct ki_symbol *s = &image->symbols[i];

		ret = ki_symbol_list_add(l, s->addr + bias, s->name, strlen(s->name), module);
		if (!ret)
			l->raw.v[l->raw.n - 1].local = s->local;
	}
	return ret;
}

bool ki_process_has_symbol(const struct ki_target *image, uint64_t addr)
{
	const struct ki_symbol *s = ki_target_symbol_at(image, addr);

	return (s && s->addr == addr) || !ki_target_range_at(image, addr);
}

struct eh_frame_hdr {
	uint8_t version, frame_enc, count_enc, table_enc;
	int32_t frame;
	uint32_t count;
};

/*
 * The row of what a handler of signals returns to begins a byte before it (unwinders look a byte
 * before where control comes back to, and nobody has called it).
 */
static bool has_name(const struct ki_process_names *to, uint64_t addr)
{
	return ki_process_is_named(to, addr) || ki_process_is_named(to, addr + 1);
}

/* Rows of .eh_frame_hdr at which no symbol stands. */
static int add_rows(const struct ki_process_names *to, const uint8_t *bytes, const Elf64_Shdr *sh)
{
	struct eh_frame_hdr h;
	int ret = 0;

	if (sh->sh_size < sizeof(h))
		return 0;
	memcpy(&h, bytes, sizeof(h));
	if (h.version != 1 || h.count_enc != UDATA4 || h.table_enc != TABLE_OF_DATAREL_SDATA4 ||
	    h.count > (sh->sh_size - sizeof(h)) / 8)
		return 0;
	for (uint32_t i = 0; !ret && i < h.count; i++) {
		char name[32];
		int32_t start;
		uint64_t addr;

		memcpy(&start, bytes + sizeof(h) + 8ull * i, sizeof(start));
		addr = sh->sh_addr + (uint64_t)(int64_t)start;
		if (has_name(to, addr))
			continue;
		snprintf(name, sizeof(name), KI_NAMELESS "%" PRIx64, addr);
		ret = ki_symbol_list_add(to->list, addr + to->bias, name, strlen(name), to->module);
	}
	return ret;
}

static int add_nameless(struct ki_elf *e, const struct ki_process_names *to)
{
	for (uint32_t i = 0; i < e->nsh; i++) {
		uint8_t *bytes;
		int ret;

		if (strcmp(ki_elf_name(e, i), ".eh_frame_hdr") || e->sh[i].sh_type == SHT_NOBITS)
			continue;
		ret = ki_elf_read(e, i, &bytes);
		if (ret)
			return ret == -ENOMEM ? ret : 0;
		ret = add_rows(to, bytes, &e->sh[i]);
		free(bytes);
		return ret;
	}
	return 0;
}

int ki_process_add_file(struct ki_target *t, struct ki_symbol_list *l, ki_vec_u32 *modules,
			const struct ki_process_file *f, struct ki_err *err)
{
	struct ki_process_names to = {.process = t->own, .list = l};
	struct ki_target *image = NULL;
	uint32_t module = 0;
	struct ki_elf e;
	uint64_t bias = 0;
	int ret = ki_elf_open(&e, f->path, err);

	if (!ret)
		ret = ki_process_file_bias(&e, f, &bias);
	if (!ret)
		ret = ki_image_open(f->path, NULL, &image, err);
	if (!ret)
		ret = ki_symbol_list_string(l, f->module, strlen(f->module), &module);
	if (!ret)
		ret = add_ranges(t, image, modules, f, bias, module);
	if (!ret)
		ret = add_symbols(l, image, bias, module);
	to.image = image;
	to.bias = bias;
	to.module = module;
	if (!ret)
		ret = ki_process_note_go(&e, &to);
	if (!ret)
		ret = ki_process_add_others(&e, &to);
	if (!ret)
		ret = add_nameless(&e, &to);
	if (!ret)
		ret = ki_process_note_rseq(t->own, &e, bias);
	ki_vec_free(&to.others);
	ki_target_free(image);
	ki_elf_close(&e);
	return ret;
}
