/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Instructions as text.
 */
#include "kerninst/code.h"

#include <stdio.h>

#include "code/decode.h"

/* "vfs_read", "do_sys_openat2+0x44", "0xffffffffc0001000" */
static void name_of(const struct ki_function *fn, uint64_t addr, char *buf, size_t len)
{
	const struct ki_symbol *sym = ki_target_symbol_at(fn->target, addr);

	if (addr >= fn->start && addr < fn->end)
		sym = fn->symbol;
	if (!sym)
		snprintf(buf, len, "0x%llx", (unsigned long long)addr);
	else if (sym->addr == addr)
		snprintf(buf, len, "%s", sym->name);
	else
		snprintf(buf, len, "%s+0x%llx", sym->name, (unsigned long long)(addr - sym->addr));
}

void ki_insn_format(const struct ki_function *fn, const struct ki_insn *in, char *buf, size_t len)
{
	const uint8_t *p = fn->bytes + (in->addr - fn->start);
	char text[KI_DECODE_TEXT], name[256];
	bool direct;
	uint64_t target;

	if (!len)
		return;
	if (ki_decode_text(p, in->len, in->addr, text, &direct, &target)) {
		snprintf(buf, len, "(bad) 0x%02x", *p);
		return;
	}
	if (direct) {
		name_of(fn, target, name, sizeof(name));
		snprintf(buf, len, "%s %s", text, name);
	} else {
		snprintf(buf, len, "%s", text);
	}
}
