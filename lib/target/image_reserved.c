/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reserved text of an image: the rows that the driver (kmod/text/reserved.c) makes of the same
 * tables in the running kernel, with two differences. Code that is freed after start is text here,
 * so its rows are here too, and it has one over its whole length. And what only a running kernel
 * knows is missing: who is told of breakpoints, and what was added to the kprobes' list.
 *
 * A linked kernel has its tables between symbols of the linker script; a relocatable file has
 * each in a section of its own. A table that does not lie in the file, and an entry that does not
 * lead to code, are left out.
 */
#include "target/image.h"

#include <string.h>

#define ANY_TYPE 0xffff
#define ZEROPAD	 20 /* EX_TYPE_ZEROPAD of the kernel's asm/extable_fixup_types.h */
#define INSN_MAX 15

/* Sections of code of a special kind; in files of one type only, or of any. */
static const struct {
	const char *name;
	uint16_t type;
	uint16_t reason;
} kinds[] = {
	{".noinstr.text", ANY_TYPE, KI_R_NOINSTR},
	{".entry.text", ANY_TYPE, KI_R_ENTRY_TEXT},
	{".cpuidle.text", ANY_TYPE, KI_R_IDLE_TEXT},
	{".kprobes.text", ANY_TYPE, KI_R_KPROBES_BLACKLIST},
	{".static_call.text", ANY_TYPE, KI_R_STATIC_CALL},
	{".init.text", ANY_TYPE, KI_R_INIT_TEXT},
	{".exit.text", ET_EXEC, KI_R_INIT_TEXT},
	{".altinstr_aux", ET_EXEC, KI_R_INIT_TEXT},
	{".altinstr_replacement", ET_EXEC, KI_R_INIT_TEXT},
};

struct builder {
	struct ki_target *t;
	struct ki_image *im;
	ki_vec(struct ki_reserved_row) rows;
	int ret;
};

/* len bytes of the file at addr, or NULL. */
static const uint8_t *bytes_at(struct ki_image *im, uint64_t addr, uint64_t len)
{
	const struct ki_piece *p = ki_pieces_at(&im->text, addr);
	const uint8_t *bytes;

	if (!p)
		p = ki_pieces_at(&im->data, addr);
	bytes = p ? ki_image_bytes(im, p) : NULL;
	if (!bytes || len > p->len - (addr - p->addr))
		return NULL;
	return bytes + (addr - p->addr);
}

static void add(struct builder *b, uint64_t addr, uint64_t len, unsigned int reason,
		uint64_t target)
{
	const struct ki_piece *p = ki_pieces_at(&b->im->text, addr);
	struct ki_reserved_row row = {.addr = addr, .reason = reason, .target = target};

	if (!p || !len || b->ret)
		return;
	row.len = (uint32_t)(len < p->len - (addr - p->addr) ? len : p->len - (addr - p->addr));
	b->ret = ki_vec_push(&b->rows, row);
}

/* Where the 32-bit number at p, which stands at addr, leads: it is relative to itself. */
static uint64_t relative(const uint8_t *p, uint64_t addr)
{
	int32_t off;

	memcpy(&off, p, sizeof(off));
	return addr + (uint64_t)(int64_t)off;
}

static uint64_t text_or_0(const struct builder *b, uint64_t addr)
{
	return ki_pieces_at(&b->im->text, addr) ? addr : 0;
}

static bool is_bug(const struct builder *b, uint64_t addr)
{
	const uint8_t *p = bytes_at(b->im, addr, 2);

	return p && p[0] == 0x0f && (p[1] == 0x0b || p[1] == 0xb9 || p[1] == 0xff);
}

/* The size of an entry depends on the kernel's configuration: the one that leads to most ud. */
static size_t bug_size(const struct builder *b, const uint8_t *p, uint64_t addr, uint64_t len)
{
	static const uint8_t sizes[] = {12, 8, 16};
	size_t best = 0, best_hits = 0;

	for (size_t k = 0; k < sizeof(sizes); k++) {
		uint64_t n = len / sizes[k];
		size_t hits = 0;

		if (len % sizes[k])
			continue;
		for (uint64_t i = 0; i < n; i++)
			hits += is_bug(b, relative(p + i * sizes[k], addr + i * sizes[k]));
		if (hits > n / 2 && hits > best_hits) {
			best_hits = hits;
			best = sizes[k];
		}
	}
	return best;
}

static void add_bug(struct builder *b, const uint8_t *p, uint64_t addr)
{
	uint64_t site = relative(p, addr);

	if (is_bug(b, site))
		add(b, site, 2, KI_R_BUG_SITE, 0);
}

/* An instruction that the kernel decodes to mend its fault, its end the fixup, stays whole. */
static void add_exception(struct builder *b, const uint8_t *p, uint64_t addr)
{
	uint64_t at = relative(p, addr), fixup = relative(p + 4, addr + 4);
	bool decoded = p[8] == ZEROPAD && fixup > at && fixup - at <= INSN_MAX;

	add(b, at, decoded ? fixup - at : 1, KI_R_EXTABLE, text_or_0(b, fixup));
}

/* A static branch is a nop or a jmp, of 2 or of 5 bytes. */
static void add_jump(struct builder *b, const uint8_t *p, uint64_t addr)
{
	uint64_t site = relative(p, addr);
	const uint8_t *code = bytes_at(b->im, site, 2);

	if (code)
		add(b, site, code[0] == 0xeb || (code[0] == 0x66 && code[1] == 0x90) ? 2 : 5,
		    KI_R_JUMP_LABEL, text_or_0(b, relative(p + 4, addr + 4)));
}

static void add_static_call(struct builder *b, const uint8_t *p, uint64_t addr)
{
	add(b, relative(p, addr), 5, KI_R_STATIC_CALL, 0);
}

static void add_blacklisted(struct builder *b, const uint8_t *p, uint64_t addr)
{
	const struct ki_symbol *sym;
	uint64_t func;

	(void)addr;
	memcpy(&func, p, sizeof(func));
	sym = ki_target_symbol_at(b->t, func);
	if (sym)
		add(b, func, sym->addr + sym->size - func, KI_R_KPROBES_BLACKLIST, 0);
}

static const struct {
	enum ki_mark mark;
	const char *section;
	size_t size; /* of an entry; 0: to be found out */
	void (*add)(struct builder *b, const uint8_t *p, uint64_t addr);
} tables[] = {
	{KI_MARK_EXTABLE, "__ex_table", 12, add_exception},
	{KI_MARK_BUG, "__bug_table", 0, add_bug},
	{KI_MARK_JUMP, "__jump_table", 16, add_jump},
	{KI_MARK_STATIC_CALL, ".static_call_sites", 8, add_static_call},
	{KI_MARK_BLACKLIST, "_kprobe_blacklist", 8, add_blacklisted},
};

#define TABLES (sizeof(tables) / sizeof(*tables))

int ki_image_note_section(struct ki_image_reader *r, uint32_t section)
{
	const struct ki_image_place *s = &r->places[section];
	const char *name = ki_elf_name(&r->elf, section);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct ki_image_kind kind = {s->addr, s->addr + s->len, kinds[i].reason};

		if (kinds[i].type != ANY_TYPE && kinds[i].type != r->elf.eh.e_type)
			continue;
		if (strcmp(kinds[i].name, name) == 0 && ki_vec_push(&r->image->kinds, kind))
			return ki_elf_no_memory(&r->elf);
	}
	return 0;
}

static int find_sections(struct ki_image_reader *r, size_t table)
{
	for (uint32_t i = 0; i < r->elf.nsh; i++) {
		const struct ki_image_place *s = &r->places[i];
		struct ki_image_table t = {s->addr, s->addr + s->len, table};

		if (s->len && r->elf.sh[i].sh_type != SHT_NOBITS &&
		    strcmp(ki_elf_name(&r->elf, i), tables[table].section) == 0 &&
		    ki_vec_push(&r->image->tables, t))
			return ki_elf_no_memory(&r->elf);
	}
	return 0;
}

int ki_image_find_tables(struct ki_image_reader *r)
{
	for (size_t i = 0; i < TABLES; i++) {
		struct ki_image_table t = {.table = i};
		int ret = 0;

		if (!ki_marks_pair(&r->image->marks, tables[i].mark, &t.start, &t.end))
			ret = find_sections(r, i);
		else if (ki_vec_push(&r->image->tables, t))
			ret = ki_elf_no_memory(&r->elf);
		if (ret)
			return ret;
	}
	return 0;
}

static void add_table(struct builder *b, const struct ki_image_table *t)
{
	uint64_t len = t->end - t->start;
	const uint8_t *p = bytes_at(b->im, t->start, len);
	size_t size = tables[t->table].size;

	if (p && !size)
		size = bug_size(b, p, t->start, len);
	if (!p || !size)
		return;
	for (uint64_t i = 0; i < len / size; i++)
		tables[t->table].add(b, p + i * size, t->start + i * size);
}

/* Text between symbols of the linker script; whether there is any: it is a kernel. */
static bool add_ranges(struct builder *b)
{
#define KI_RESERVED_NEED(need, how, when)
#define KI_RESERVED_RANGE(start, end, reason, need) KI_R_##reason,
#define KI_RESERVED_FUNCTION(name, reason, need)
	static const uint16_t reasons[] = {
#include "uapi/kerninst_reserved.def"
	};
#undef KI_RESERVED_NEED
#undef KI_RESERVED_RANGE
#undef KI_RESERVED_FUNCTION
	bool any = false;

	_Static_assert(KI_MARK_RANGES + 2 * sizeof(reasons) / sizeof(*reasons) <= KI_MARK_COUNT,
		       "room for all ranges");
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		uint64_t start, end;

		if (!ki_marks_pair(&b->im->marks, KI_MARK_RANGES + 2 * (int)i, &start, &end))
			continue;
		add(b, start, end - start, reasons[i], 0);
		any = true;
	}
	return any;
}

static void add_functions(struct builder *b)
{
#define KI_RESERVED_NEED(need, how, when)
#define KI_RESERVED_RANGE(start, end, reason, need)
#define KI_RESERVED_FUNCTION(name, reason, need) {name, KI_R_##reason},
	static const struct {
		const char *name;
		uint16_t reason;
	} functions[] = {
#include "uapi/kerninst_reserved.def"
	};
#undef KI_RESERVED_NEED
#undef KI_RESERVED_RANGE
#undef KI_RESERVED_FUNCTION

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const struct ki_symbol *s =
			ki_target_symbol_named(b->t, "", functions[i].name, NULL);

		if (s)
			add(b, s->addr, s->size, functions[i].reason, 0);
	}
}

int ki_image_reserved(struct ki_target *t, struct ki_rows *rows, struct ki_err *err)
{
	struct builder b = {.t = t, .im = t->own};

	for (size_t i = 0; i < b.im->kinds.n; i++) {
		const struct ki_image_kind *k = &b.im->kinds.v[i];

		add(&b, k->start, k->end - k->start, k->reason, 0);
	}
	if (add_ranges(&b))
		add_functions(&b);
	for (size_t i = 0; i < b.im->tables.n; i++)
		add_table(&b, &b.im->tables.v[i]);
	if (b.ret) {
		ki_vec_free(&b.rows);
		return ki_err_set(err, b.ret, 0, "out of memory for the reserved text");
	}
	rows->v = b.rows.v;
	rows->n = b.rows.n;
	return 0;
}
