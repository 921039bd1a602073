/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Instructions as text.
 */
#include "kerninst/code.h"

#include <stdarg.h>
#include <stdio.h>

#include "code/decode/decode.h"

/* "vfs_read", "do_sys_openat2+0x44"; nothing for what is no text */
static bool name_of(const void *ctx, uint64_t addr, char *buf, size_t len)
{
	const struct ki_function *fn = ctx;
	const struct ki_symbol *sym = ki_target_symbol_at(fn->target, addr);

	if (addr >= fn->start && addr < fn->end)
		sym = fn->symbol;
	if (!sym)
		return false;
	if (sym->addr == addr)
		snprintf(buf, len, "%s", sym->name);
	else
		snprintf(buf, len, "%s+0x%llx", sym->name, (unsigned long long)(addr - sym->addr));
	return true;
}

void ki_insn_format_as(const struct ki_function *fn, const struct ki_insn *in, const uint8_t *bytes,
		       enum ki_syntax syntax, char *buf, size_t len)
{
	char text[KI_DECODE_TEXT];

	if (!len)
		return;
	if (!bytes)
		bytes = fn->bytes + (in->addr - fn->start);
	if (ki_decode_text(bytes, in->len, in->addr, syntax, &(struct ki_namer){name_of, fn}, text))
		snprintf(buf, len, "(bad) 0x%02x", *bytes);
	else
		snprintf(buf, len, "%s", text);
}

void ki_insn_format(const struct ki_function *fn, const struct ki_insn *in, char *buf, size_t len)
{
	ki_insn_format_as(fn, in, NULL, KI_SYNTAX_INTEL, buf, len);
}

struct out {
	char *buf;
	size_t len, n; /* n: what it would have, were it long enough */
};

static void put(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *format, ...)
{
	bool full = o->n >= o->len;
	va_list ap;

	va_start(ap, format);
	o->n += (size_t)vsnprintf(full ? NULL : o->buf + o->n, full ? 0 : o->len - o->n, format,
				  ap);
	va_end(ap);
}

static const struct {
	const char *whole, *word, *low, *high;
} names[16] = {
	{"rax", "ax", "al", "ah"},	     {"rcx", "cx", "cl", "ch"},
	{"rdx", "dx", "dl", "dh"},	     {"rbx", "bx", "bl", "bh"},
	{"rsp", "sp", "spl", "rsp:8-15"},    {"rbp", "bp", "bpl", "rbp:8-15"},
	{"rsi", "si", "sil", "rsi:8-15"},    {"rdi", "di", "dil", "rdi:8-15"},
	{"r8", "r8w", "r8b", "r8:8-15"},     {"r9", "r9w", "r9b", "r9:8-15"},
	{"r10", "r10w", "r10b", "r10:8-15"}, {"r11", "r11w", "r11b", "r11:8-15"},
	{"r12", "r12w", "r12b", "r12:8-15"}, {"r13", "r13w", "r13b", "r13:8-15"},
	{"r14", "r14w", "r14b", "r14:8-15"}, {"r15", "r15w", "r15b", "r15:8-15"},
};

static const char *between(const struct out *o)
{
	return o->n ? ", " : "";
}

static void put_register(struct out *o, unsigned int r, ki_regset set)
{
	bool low = set & KI_REGSET_LOW(r), high = set & KI_REGSET_HIGH(r);

	if ((set & KI_REGSET_REG(r)) == KI_REGSET_REG(r)) {
		put(o, "%s%s", between(o), names[r].whole);
		return;
	}
	if (low && high)
		put(o, "%s%s", between(o), names[r].word);
	else if (low || high)
		put(o, "%s%s", between(o), low ? names[r].low : names[r].high);
	if (set & KI_REGSET_UPPER(r))
		put(o, "%s%s:16-63", between(o), names[r].whole);
}

char *ki_regset_format(ki_regset set, char *buf, size_t len)
{
	static const char *const flags[] = {"cf", "pf", "af", "zf", "sf", "of"};
	bool all = (set & KI_REGSET_FLAGS) == KI_REGSET_FLAGS;
	struct out o = {.buf = buf, .len = len};

	for (unsigned int r = 0; r < 16; r++)
		put_register(&o, r, set);
	if (all)
		put(&o, "%sflags", between(&o));
	for (unsigned int i = 0; i < 6 && !all; i++)
		if (set & KI_REGSET_CF << i)
			put(&o, "%s%s", between(&o), flags[i]);
	if (!o.n)
		put(&o, "-");
	return buf;
}
