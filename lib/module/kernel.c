// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a module must say of the kernel that runs: its vermagic, the version of module_layout, and
 * where struct module has its parts; and what its static branches were at first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "module/module.h"
#include "module/types.h"
#include "target/names.h"

/* Variables of the kernel, from kallsyms. */
enum name {
	VERMAGIC,
	LAYOUT,
	SYMBOLS,
	SYMBOLS_END,
	CRCS,
	GPL_SYMBOLS,
	GPL_SYMBOLS_END,
	GPL_CRCS,
	NAMES
};

static const char *const names[NAMES] = {
	[VERMAGIC] = "vermagic",
	[LAYOUT] = "module_layout",
	[SYMBOLS] = "__start___ksymtab",
	[SYMBOLS_END] = "__stop___ksymtab",
	[CRCS] = "__start___kcrctab",
	[GPL_SYMBOLS] = "__start___ksymtab_gpl",
	[GPL_SYMBOLS_END] = "__stop___ksymtab_gpl",
	[GPL_CRCS] = "__start___kcrctab_gpl",
};

/* A row of the exported symbols: each word says how far what it means is from the word. */
struct exported {
	int32_t value, name, space;
};

static int read_vermagic(struct ki_target *t, uint64_t addr, struct ki_module_kernel *out,
			 struct ki_err *err)
{
	struct utsname u;
	size_t n;
	int ret;

	if (!addr)
		return ki_err_set(err, -ENOTSUP, 0,
				  "the kernel takes no modules, or /proc/kallsyms has no variables "
				  "(CONFIG_MODULES, CONFIG_KALLSYMS_ALL): no vermagic");
	ret = ki_target_read_data(t, addr, out->vermagic, sizeof(out->vermagic) - 1, err);
	if (ret)
		return ret;
	out->vermagic[sizeof(out->vermagic) - 1] = 0;
	uname(&u);
	n = strlen(u.release);
	if (strncmp(out->vermagic, u.release, n) || out->vermagic[n] != ' ')
		return ki_err_set(err, -ENOTSUP, addr,
				  "the kernel's vermagic does not begin with its release, %.64s",
				  u.release);
	out->versions = strstr(out->vermagic, " modversions ");
	return 0;
}

/* The number of the symbol that is exported with that value: 0, -ENOENT. */
static int find_exported(struct ki_target *t, const uint64_t bounds[2], uint64_t value, size_t *at,
			 struct ki_err *err)
{
	const size_t n = (bounds[1] - bounds[0]) / sizeof(struct exported);
	struct exported *rows;
	int ret;

	if (!bounds[0] || bounds[1] <= bounds[0])
		return -ENOENT;
	rows = calloc(n, sizeof(*rows));
	if (!rows)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for exported symbols");
	ret = ki_target_read_data(t, bounds[0], rows, n * sizeof(*rows), err);
	for (*at = 0; !ret && *at < n; ++*at)
		if (bounds[0] + *at * sizeof(*rows) + (uint64_t)(int64_t)rows[*at].value == value)
			break;
	if (!ret && *at == n)
		ret = -ENOENT;
	free(rows);
	return ret;
}

static int read_crc(struct ki_target *t, const uint64_t addr[NAMES], struct ki_module_kernel *out,
		    struct ki_err *err)
{
	static const enum name tables[][2] = {{SYMBOLS, CRCS}, {GPL_SYMBOLS, GPL_CRCS}};
	int ret = -ENOENT;
	size_t at = 0;

	for (size_t i = 0; ret == -ENOENT && i < 2; i++) {
		const uint64_t crcs = addr[tables[i][1]];

		if (!crcs)
			continue;
		ret = find_exported(t, &addr[tables[i][0]], addr[LAYOUT], &at, err);
		if (!ret)
			ret = ki_target_read_data(t, crcs + at * sizeof(out->layout_crc),
						  &out->layout_crc, sizeof(out->layout_crc), err);
	}
	if (ret == -ENOENT)
		return ki_err_set(
			err, -ENOTSUP, addr[LAYOUT],
			"the version of module_layout is not found: the kernel asks for it");
	return ret;
}

static int read_types(struct ki_module_kernel *out, struct ki_err *err)
{
	struct ki_member name = {.in = "module", .name = "name"};
	struct ki_structure sizes[] = {{.name = "module"}, {.name = "bug_entry"}};
	int ret = ki_kernel_types(&name, 1, sizes, 2, err);

	if (ret)
		return ret;
	if (!sizes[0].size || name.off == KI_NO_MEMBER)
		return ki_err_set(err, -ENOTSUP, 0, "the kernel's types have no struct module");
	out->module_size = sizes[0].size;
	out->name_offset = name.off;
	out->bug_size = sizes[1].size;
	return 0;
}

static int only_live(const struct ki_target *t, struct ki_err *err)
{
	if (ki_target_kind(t) == KI_TARGET_LIVE)
		return 0;
	return ki_err_set(err, -ENOTSUP, 0, "modules are made for the running kernel only");
}

int ki_module_kernel_read(struct ki_target *t, struct ki_module_kernel *out, struct ki_err *err)
{
	uint64_t addr[NAMES];
	int ret = only_live(t, err);

	memset(out, 0, sizeof(*out));
	if (!ret)
		ret = read_types(out, err);
	if (!ret)
		ret = ki_kernel_names(names, addr, NAMES, err);
	if (!ret)
		ret = read_vermagic(t, addr[VERMAGIC], out, err);
	if (!ret && out->versions)
		ret = read_crc(t, addr, out, err);
	return ret;
}

/* ---- static branches ---- */

/* struct static_key: a count, then a word whose lowest bit says what the key was at first. */
#define KEY_WORD 8
#define KEY_TRUE 1
/* Lowest bits of the key in a row of the table: on which value of the key it jumps; in code that is
   freed after start. */
#define ROW_BRANCH 1
#define ROW_BITS   3

int ki_module_first_states(struct ki_target *t, struct ki_module_jump *jumps, size_t n,
			   struct ki_err *err)
{
	int ret = only_live(t, err);

	for (size_t i = 0; !ret && i < n; i++) {
		const uint64_t key = jumps[i].key & ~(uint64_t)ROW_BITS;
		uint64_t word;

		ret = ki_target_read_data(t, key + KEY_WORD, &word, sizeof(word), err);
		if (ret)
			return ret;
		jumps[i].first = (word & KEY_TRUE) ^ (jumps[i].key & ROW_BRANCH) ? KI_MODULE_JUMP
										 : KI_MODULE_NOP;
	}
	return ret;
}
