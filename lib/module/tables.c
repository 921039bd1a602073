// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where the tables are: the kernel's between marks of its linker script, a module's where its
 * struct module says. Each word that says where something is says how far it is from the word
 * itself.
 */
#include "module/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/types.h"
#include "target/image.h"
#include "target/names.h"

#define BUG_SIZE 12
#define MOST	 (16u << 20) /* bytes of a table */

enum table { JUMPS, CALLS, FAULTS, BUGS, TABLES };

static const size_t sizes[TABLES] = {16, 8, 12, BUG_SIZE};

struct place {
	uint64_t start, n; /* rows */
};

/* ---- where they are ---- */

static int find_live(struct place *places, struct ki_module_tables *out, struct ki_err *err)
{
	enum { ORC_IP = 2 * TABLES, ORC_IP_END, ORC, NAMES };
	static const char *const names[NAMES] = {
		"__start___jump_table",	    "__stop___jump_table", "__start_static_call_sites",
		"__stop_static_call_sites", "__start___ex_table",  "__stop___ex_table",
		"__start___bug_table",	    "__stop___bug_table",  "__start_orc_unwind_ip",
		"__stop_orc_unwind_ip",	    "__start_orc_unwind"};
	struct ki_structure bug = {.name = "bug_entry"};
	struct ki_err ignored = {0};
	uint64_t at[NAMES];
	int ret = ki_kernel_names(names, at, NAMES, err);

	if (ret)
		return ret;
	if (ki_kernel_types(NULL, 0, &bug, 1, &ignored) || bug.size != BUG_SIZE)
		at[2 * BUGS] = 0;
	for (int i = 0; i < TABLES; i++)
		if (at[2 * i] && at[2 * i + 1] > at[2 * i])
			places[i] =
				(struct place){at[2 * i], (at[2 * i + 1] - at[2 * i]) / sizes[i]};
	if (at[ORC_IP] && at[ORC_IP_END] > at[ORC_IP] && at[ORC]) {
		out->orc_ip = at[ORC_IP];
		out->orc = at[ORC];
		out->norcs = (at[ORC_IP_END] - at[ORC_IP]) / 4;
	}
	return 0;
}

/* Rows of BUGs are taken to have our size; nothing is installed in an image. */
static void find_image(const struct ki_target *t, struct place *places)
{
	static const enum ki_mark marks[TABLES] = {KI_MARK_JUMP, KI_MARK_STATIC_CALL,
						   KI_MARK_EXTABLE, KI_MARK_BUG};
	for (int i = 0; i < TABLES; i++) {
		uint64_t start, end;

		if (ki_image_marks(t, marks[i], &start, &end))
			places[i] = (struct place){start, (end - start) / sizes[i]};
	}
}

/* Where a module has its struct module. */
static int find_module(const char *module, uint64_t *addr, struct ki_err *err)
{
	unsigned long long at = 0;
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%.64s/sections/.gnu.linkonce.this_module",
		 module);
	f = fopen(path, "re");
	if (!f)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	if (fscanf(f, "%llx", &at) != 1 || !at)
		at = 0;
	fclose(f);
	*addr = at;
	return at ? 0
		  : ki_err_set(err, -EACCES, 0,
			       "%s: the kernel hides where the module is: run as root, and check "
			       "sysctl kernel.kptr_restrict",
			       path);
}

/* A member of struct module, of 4 or 8 bytes; one that it has not is 0. */
static int read_member(struct ki_target *t, uint64_t module, const struct ki_member *m, size_t size,
		       uint64_t *out, struct ki_err *err)
{
	*out = 0;
	return m->off == KI_NO_MEMBER ? 0 : ki_target_read_data(t, module + m->off, out, size, err);
}

static int find_of_module(struct ki_target *t, const char *name, struct place *places,
			  struct ki_module_tables *out, struct ki_err *err)
{
	enum { ORC_IP = 2 * TABLES, ORC, NORCS, MEMBERS };
	static const char arch[] = "mod_arch_specific";
	struct ki_member m[MEMBERS] = {
		{"module", "jump_entries", NULL, 0},
		{"module", "num_jump_entries", NULL, 0},
		{"module", "static_call_sites", NULL, 0},
		{"module", "num_static_call_sites", NULL, 0},
		{"module", "extable", NULL, 0},
		{"module", "num_exentries", NULL, 0},
		{"module", "bug_table", NULL, 0},
		{"module", "num_bugs", NULL, 0},
		{arch, "orc_unwind_ip", "module", 0},
		{arch, "orc_unwind", "module", 0},
		{arch, "num_orcs", "module", 0},
	};
	struct ki_structure bug = {.name = "bug_entry"};
	uint64_t module;
	int ret = ki_kernel_types(m, MEMBERS, &bug, 1, err);

	if (!ret)
		ret = find_module(name, &module, err);
	for (int i = 0; i < TABLES && !ret; i++) {
		ret = read_member(t, module, &m[2 * i], 8, &places[i].start, err);
		if (!ret)
			ret = read_member(t, module, &m[2 * i + 1], 4, &places[i].n, err);
	}
	if (!ret && bug.size != BUG_SIZE)
		places[BUGS].n = 0;
	if (!ret)
		ret = read_member(t, module, &m[ORC_IP], 8, &out->orc_ip, err);
	if (!ret)
		ret = read_member(t, module, &m[ORC], 8, &out->orc, err);
	return ret ? ret : read_member(t, module, &m[NORCS], 4, &out->norcs, err);
}

/* ---- what they say ---- */

static uint64_t near(const uint8_t *row, size_t off, uint64_t addr)
{
	int32_t far;

	memcpy(&far, row + off, sizeof(far));
	return addr + off + (uint64_t)(int64_t)far;
}

static int add_row(struct ki_module_tables *x, enum table table, const uint8_t *row, uint64_t addr)
{
	struct ki_bug_row bug = {.addr = near(row, 0, addr)};
	struct ki_fault_row fault = {.addr = bug.addr};
	struct ki_key_row key = {.addr = bug.addr};
	uint64_t word;

	switch (table) {
	case JUMPS:
		memcpy(&word, row + 8, sizeof(word));
		key.key = (addr + 8 + (word & ~3ull)) | (word & 3);
		return ki_vec_push(&x->jumps, key);
	case CALLS:
		key.key = near(row, 4, addr);
		return ki_vec_push(&x->calls, key);
	case FAULTS:
		fault.fixup = near(row, 4, addr);
		memcpy(&fault.data, row + 8, sizeof(fault.data));
		return ki_vec_push(&x->faults, fault);
	default:
		bug.file = near(row, 4, addr);
		memcpy(&bug.line, row + 8, sizeof(bug.line));
		memcpy(&bug.flags, row + 10, sizeof(bug.flags));
		return ki_vec_push(&x->bugs, bug);
	}
}

static int read_table(struct ki_target *t, enum table table, const struct place *p,
		      struct ki_module_tables *out, struct ki_err *err)
{
	const size_t size = sizes[table];
	uint8_t *rows;
	int ret;

	if (!p->start || !p->n)
		return 0;
	if (p->n > MOST / size)
		return ki_err_set(err, -E2BIG, p->start, "a table of the kernel's has %llu rows",
				  (unsigned long long)p->n);
	rows = malloc(p->n * size);
	ret = rows ? ki_target_read_data(t, p->start, rows, p->n * size, err) : -ENOMEM;
	for (uint64_t i = 0; !ret && i < p->n; i++)
		ret = add_row(out, table, rows + i * size, p->start + i * size);
	free(rows);
	return ret == -ENOMEM ? ki_err_set(err, ret, p->start, "tables: out of memory") : ret;
}

/* Each row begins with its address. */
static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#define SORT(x)	      ((x).n ? qsort((x).v, (x).n, sizeof(*(x).v), by_address) : (void)0)
#define FIND(x, addr) ((x).n ? bsearch(&(addr), (x).v, (x).n, sizeof(*(x).v), by_address) : NULL)

int ki_module_tables_read(struct ki_target *t, const char *module, struct ki_module_tables *out,
			  struct ki_err *err)
{
	struct place places[TABLES] = {0};
	int ret = 0;

	*out = (struct ki_module_tables){0};
	if (ki_target_kind(t) == KI_TARGET_LIVE && *module)
		ret = find_of_module(t, module, places, out, err);
	else if (ki_target_kind(t) == KI_TARGET_LIVE)
		ret = find_live(places, out, err);
	else if (ki_target_kind(t) == KI_TARGET_IMAGE && !*module)
		find_image(t, places);
	for (int i = 0; i < TABLES && !ret; i++)
		ret = read_table(t, (enum table)i, &places[i], out, err);
	SORT(out->jumps);
	SORT(out->calls);
	SORT(out->faults);
	SORT(out->bugs);
	return ret;
}

void ki_module_tables_free(struct ki_module_tables *x)
{
	ki_vec_free(&x->jumps);
	ki_vec_free(&x->calls);
	ki_vec_free(&x->faults);
	ki_vec_free(&x->bugs);
}

const struct ki_key_row *ki_module_jump_at(const struct ki_module_tables *x, uint64_t addr)
{
	return FIND(x->jumps, addr);
}

const struct ki_key_row *ki_module_call_at(const struct ki_module_tables *x, uint64_t addr)
{
	return FIND(x->calls, addr);
}

const struct ki_fault_row *ki_module_fault_at(const struct ki_module_tables *x, uint64_t addr)
{
	return FIND(x->faults, addr);
}

const struct ki_bug_row *ki_module_bug_at(const struct ki_module_tables *x, uint64_t addr)
{
	return FIND(x->bugs, addr);
}
