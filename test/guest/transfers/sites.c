// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places that the kernel rewrites while it boots, from the tables of its image. A place may be
 * in more than one table, and what it is between two of them stands neither in the image nor in
 * the kernel at the end; in init code, which is freed, not even the end can be seen.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "graph.h"

struct table {
	const uint8_t *data;
	size_t size;
	uint64_t addr; /* of the section */
};

/* The place that a row names, and its length (0: that of its instruction). */
struct place {
	uint64_t addr;
	uint32_t len;
};

typedef struct place (*row_fn)(const struct table *t, size_t off);

static uint64_t relative(const struct table *t, size_t off)
{
	int32_t rel;

	memcpy(&rel, t->data + off, sizeof(rel));
	return t->addr + off + (uint64_t)(int64_t)rel;
}

/* Kernels before 6.3 have 16 bits for the CPU's feature, newer ones 32. */
static struct place old_alternative(const struct table *t, size_t off)
{
	return (struct place){relative(t, off), t->data[off + 10]};
}

static struct place new_alternative(const struct table *t, size_t off)
{
	return (struct place){relative(t, off), t->data[off + 12]};
}

static struct place paravirt(const struct table *t, size_t off)
{
	struct place p;

	memcpy(&p.addr, t->data + off, sizeof(p.addr));
	p.len = t->data[off + 9];
	return p;
}

static struct place instruction(const struct table *t, size_t off)
{
	return (struct place){relative(t, off), 0};
}

static const struct kind {
	const char *section;
	size_t row;
	row_fn place;
} kinds[] = {
	{".altinstructions", 12, old_alternative}, {".altinstructions", 14, new_alternative},
	{".parainstructions", 16, paravirt},	   {".retpoline_sites", 4, instruction},
	{".return_sites", 4, instruction},
};

static uint8_t *mark_of(struct graph_range *ranges, uint32_t n, struct place p)
{
	for (uint32_t i = 0; i < n; i++)
		if (p.addr >> 32 == GRAPH_BASE >> 32 && (uint32_t)p.addr >= ranges[i].start &&
		    (uint32_t)p.addr + p.len <= ranges[i].end)
			return ranges[i].marks + ((uint32_t)p.addr - ranges[i].start);
	return NULL;
}

/* All rows must name instructions, or the table is of another format. */
static bool is_of_kind(const struct kind *k, const struct table *t, struct graph_range *ranges,
		       uint32_t n)
{
	if (t->size % k->row)
		return false;
	for (size_t off = 0; off < t->size; off += k->row) {
		const uint8_t *m = mark_of(ranges, n, k->place(t, off));

		if (!m || !(*m & MARK_INSN))
			return false;
	}
	return true;
}

static uint32_t insn_len(const uint8_t *marks)
{
	uint32_t len = 1;

	while (len < 15 && !(marks[len] & (MARK_INSN | MARK_END)))
		len++;
	return len;
}

/* With the byte after: a call may have stood in the place, and come back there. */
static void mark_table(const struct kind *k, const struct table *t, struct graph_range *ranges,
		       uint32_t n)
{
	for (size_t off = 0; off < t->size; off += k->row) {
		struct place p = k->place(t, off);
		uint8_t *m = mark_of(ranges, n, p);

		for (uint32_t i = 0; i <= (p.len ? p.len : insn_len(m)); i++)
			m[i] |= MARK_SITE;
	}
}

static bool find_table(Elf *elf, const char *name, struct table *t)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;
		const char *own;

		if (!gelf_getshdr(scn, &sh))
			continue;
		own = elf_strptr(elf, names, sh.sh_name);
		data = elf_rawdata(scn, NULL);
		if (!own || strcmp(own, name) || !data)
			continue;
		*t = (struct table){data->d_buf, data->d_size, sh.sh_addr};
		return true;
	}
	return false;
}

size_t sites_mark(const char *image, struct graph_range *ranges, uint32_t n)
{
	int fd = open(image, O_RDONLY);
	struct table t;
	size_t rows = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		test_die(image, "no ELF file");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		if (!find_table(elf, kinds[k].section, &t) || !is_of_kind(&kinds[k], &t, ranges, n))
			continue;
		mark_table(&kinds[k], &t, ranges, n);
		rows += t.size / kinds[k].row;
	}
	elf_end(elf);
	close(fd);
	return rows;
}
