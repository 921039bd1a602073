// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved text by name: uapi/kerninst_reserved.def, and what of it this kernel has.
 *
 * To look for a name takes some kernels milliseconds, and the table of reserved text is made again
 * whenever modules come or go: so what was found in the kernel's own text is remembered.
 */
#include <linux/kconfig.h>
#include <linux/lockdep.h>

#include "ki.h"
#include "symbols.h"
#include "text/unknown.h"

enum ki_need {
#define KI_RESERVED_NEED(need, how, when) KI_NEED_##need,
#define KI_RESERVED_RANGE(start, end, reason, need)
#define KI_RESERVED_FUNCTION(name, reason, need)
#include "uapi/kerninst_reserved.def"
#undef KI_RESERVED_NEED
#undef KI_RESERVED_RANGE
#undef KI_RESERVED_FUNCTION
	KI_NEEDS
};

enum ki_need_how { KI_NEED_EACH, KI_NEED_ONE, KI_NEED_MAY };

static const struct {
	u8 how;
	bool when;
} ki_needs[KI_NEEDS] = {
#define KI_RESERVED_NEED(need, how, when) {KI_NEED_##how, when},
#define KI_RESERVED_RANGE(start, end, reason, need)
#define KI_RESERVED_FUNCTION(name, reason, need)
#include "uapi/kerninst_reserved.def"
#undef KI_RESERVED_NEED
#undef KI_RESERVED_RANGE
#undef KI_RESERVED_FUNCTION
};

/* Pieces of core text, and single functions, which have no `end`. */
static struct ki_name {
	const char *name, *end;
	u32 reason;
	enum ki_need need;
	bool found;
	unsigned long addr,
		len; /* if it was found in the kernel's own text; a piece may be empty */
} ki_names[] = {
#define KI_RESERVED_NEED(need, how, when)
#define KI_RESERVED_RANGE(start, end, reason, need) {start, end, KI_R_##reason, KI_NEED_##need},
#define KI_RESERVED_FUNCTION(name, reason, need)    {name, NULL, KI_R_##reason, KI_NEED_##need},
#include "uapi/kerninst_reserved.def"
#undef KI_RESERVED_NEED
#undef KI_RESERVED_RANGE
#undef KI_RESERVED_FUNCTION
};

/*
 * What the table of reserved text is made of beside names: a table that is not found has no rows.
 */
static const char *const ki_table_names[] = {
	"kprobe_blacklist",	     "die_chain",
	"__start___jump_table",	     "__stop___jump_table",
	"__start_static_call_sites", "__stop_static_call_sites",
	"__start___ex_table",	     "__stop___ex_table",
	"__start___bug_table",	     "__stop___bug_table",
};

static unsigned long find_symbol(const char *name)
{
	return ki_pretends(name) ? 0 : ki_symbol(name);
}

static void find_range(struct ki_name *n)
{
	unsigned long start = find_symbol(n->name), end = find_symbol(n->end);

	n->found = start && end >= start;
	if (n->found) {
		n->addr = start;
		n->len = end - start;
	}
}

static void find_function(struct ki_name *n)
{
	unsigned long size, off, addr = find_symbol(n->name);

	n->found = addr && ki_call(kallsyms_lookup_size_offset)(addr, &size, &off);
	if (n->found) {
		n->addr = addr - off;
		n->len = size;
	}
}

static bool is_core_text(unsigned long addr)
{
	return addr >= ki_symbol("_stext") && addr < ki_symbol("_etext");
}

void ki_names_each(ki_named_fn call, void *arg)
{
	size_t i;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < ARRAY_SIZE(ki_names); i++) {
		struct ki_name *n = &ki_names[i];

		if (!n->addr)
			n->end ? find_range(n) : find_function(n);
		if (n->found && n->len)
			call(arg, n->addr, n->len, n->reason);
		if (!is_core_text(n->addr)) /* a module's, which may go */
			n->addr = n->len = 0;
	}
}

/* One of the names of a need that wants one; NULL: one has been found. */
static const char *none_of(enum ki_need need)
{
	const char *name = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ki_names); i++) {
		if (ki_names[i].need != need)
			continue;
		if (ki_names[i].found)
			return NULL;
		name = ki_names[i].name;
	}
	return name;
}

void ki_names_check(void)
{
	const char *name;
	size_t i;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < ARRAY_SIZE(ki_names); i++) {
		const struct ki_name *n = &ki_names[i];

		if (ki_needs[n->need].when && ki_needs[n->need].how == KI_NEED_EACH && !n->found)
			ki_unknown_note("no %s", n->name);
	}
	for (i = 0; i < KI_NEEDS; i++) {
		if (!ki_needs[i].when || ki_needs[i].how != KI_NEED_ONE)
			continue;
		name = none_of(i);
		if (name)
			ki_unknown_note("no %s, nor another name of it", name);
	}
	for (i = 0; i < ARRAY_SIZE(ki_table_names); i++)
		if (!find_symbol(ki_table_names[i]))
			ki_unknown_note("no %s", ki_table_names[i]);
}
