// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Programs of Go. What its runtime has to know of functions (.gopclntab) is there when symbols have
 * been stripped, as they mostly are, and there is no .eh_frame: so names come from there.
 *
 * And what is put into a process must know that it is Go's. A goroutine begins with a return
 * address that no call has left, one after the beginning of runtime.goexit. And one that a signal
 * has preempted waits, on a stack that is no thread's, to go on at the instruction where it was.
 * And a function that has recovered from a panic goes on at its call of runtime.deferreturn, to
 * which nothing of its code need lead.
 */
#include "target/process.h"

#include <stdlib.h>
#include <string.h>

#include "target/elf.h"

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define MOST	   (1u << 22) /* functions */
#define NAME_MOST  1024u

/* From 1.18 on. */
struct header {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer;
	uint64_t functions, files, text;
	uint64_t names, units, file_table, pc_table, rows; /* from the table's beginning */
};

/* A row of the table, in order of address; and what it leads to, which begins so. */
struct row {
	uint32_t entry; /* from the text's beginning */
	uint32_t off;	/* from the rows' */
};

struct details {
	uint32_t entry;
	int32_t name; /* from the names' */
	int32_t arguments;
	uint32_t recovered; /* from the entry: where it goes on; 0: nowhere */
};

struct go_table {
	const uint8_t *bytes;
	uint64_t len;
	struct header h;
};

static bool get(const struct go_table *g, uint64_t off, void *out, size_t len)
{
	if (off > g->len || len > g->len - off)
		return false;
	memcpy(out, g->bytes + off, len);
	return true;
}

static bool is_known(struct go_table *g)
{
	const uint32_t *magic = &g->h.magic;

	return get(g, 0, &g->h, sizeof(g->h)) && (*magic == MAGIC_1_18 || *magic == MAGIC_1_20) &&
	       g->h.pointer == 8 && g->h.functions <= MOST && g->h.rows <= g->len &&
	       g->h.names <= g->len;
}

struct go_function {
	uint64_t addr, recovered; /* in the file's addresses; recovered: or 0 */
	const char *name;
	size_t len;
};

/* Function number i; false: none such. */
static bool function_of(const struct go_table *g, uint64_t i, struct go_function *f)
{
	struct details d;
	struct row r;
	uint64_t at;

	if (!get(g, g->h.rows + i * sizeof(r), &r, sizeof(r)) ||
	    !get(g, g->h.rows + r.off, &d, sizeof(d)) || d.name < 0)
		return false;
	at = g->h.names + (uint64_t)d.name;
	if (at >= g->len)
		return false;
	f->addr = g->h.text + r.entry;
	f->recovered = d.recovered ? f->addr + d.recovered : 0;
	f->name = (const char *)g->bytes + at;
	f->len = strnlen(f->name, g->len - at < NAME_MOST ? g->len - at : NAME_MOST);
	return f->len > 0;
}

static bool is_exit(const char *name, size_t len)
{
	static const char exit[] = "runtime.goexit";

	return (len == sizeof(exit) - 1 && !memcmp(name, exit, len)) ||
	       (len == sizeof(exit) + 4 && !memcmp(name, "runtime.goexit.abi0", len));
}

static int note_exit(struct ki_process *p, uint64_t addr)
{
	return ki_vec_push(&p->go_exits, addr) ? -ENOMEM : 0;
}

static int add_functions(const struct go_table *g, const struct ki_process_names *to)
{
	int ret = 0;

	for (uint64_t i = 0; !ret && i < g->h.functions; i++) {
		struct go_function f;

		if (!function_of(g, i, &f))
			continue;
		if (is_exit(f.name, f.len))
			ret = note_exit(to->process, f.addr + to->bias);
		if (!ret && f.recovered)
			ret = note_exit(to->process, f.recovered + to->bias);
		if (!ret && !ki_process_has_symbol(to->image, f.addr))
			ret = ki_symbol_list_add(to->list, f.addr + to->bias, f.name, f.len,
						 to->module);
	}
	return ret;
}

/* Those that the file names. */
static int note_named(const struct ki_process_names *to)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < to->image->nsymbols; i++) {
		const struct ki_symbol *s = &to->image->symbols[i];

		if (is_exit(s->name, strlen(s->name)))
			ret = note_exit(to->process, s->addr + to->bias);
	}
	return ret;
}

int ki_process_note_go(struct ki_elf *e, const struct ki_process_names *to)
{
	struct go_table g = {0};
	uint8_t *bytes;
	uint32_t i = 0;
	int ret;

	while (i < e->nsh &&
	       (!strstr(ki_elf_name(e, i), ".gopclntab") || e->sh[i].sh_type == SHT_NOBITS))
		i++;
	if (i == e->nsh)
		return 0;
	for (size_t k = 0; k < to->image->ranges.n; k++) {
		const struct ki_text_range *r = &to->image->ranges.v[k];
		const struct ki_process_area a = {r->start + to->bias, r->end - r->start};

		if (ki_vec_push(&to->process->go, a))
			return -ENOMEM;
	}
	ret = ki_elf_read(e, i, &bytes);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	g.bytes = bytes;
	g.len = e->sh[i].sh_size;
	if (is_known(&g))
		ret = add_functions(&g, to);
	free(bytes);
	return ret ? ret : note_named(to);
}

bool ki_process_is_go(const struct ki_process *p, uint64_t addr)
{
	for (size_t i = 0; i < p->go.n; i++)
		if (addr - p->go.v[i].addr < p->go.v[i].len)
			return true;
	return false;
}
